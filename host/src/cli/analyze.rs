//! `totalrecall analyze`: the signals of transcripts that lie anywhere. Needs no home and keeps nothing.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use anyhow::Context as _;

use super::{Context, Outcome, Usage, progress, ui};
use crate::{
    clean::clean,
    config::{Config, ConfigError},
    files,
    gate::{Gate, Totals},
    guests::{Guests, Installed},
    paths,
    report::{self, SessionReport, View, junit, markdown, sarif},
    sandbox::Guest,
};

/// Report the signals of transcripts, without a home
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall analyze ~/.claude/projects/-home-me-app
  totalrecall analyze --json session.jsonl | jq .counts
  totalrecall analyze --fail-on 'tool-error>10,retry-loop>0' --github ~/.claude/projects
  totalrecall analyze --format sarif --output friction.sarif ~/.codex/sessions

With --format json each line is one session: tool, session_id, path, project, started_at,
ended_at, stats, counts (main conversation), counts_subagents, signals and tally. A signal's
line is the record of the transcript that it is seen in.

A gate (--fail-on) counts over all sessions, main conversations and sub-agents together. KIND
is one of docs/signals.md, or `any` for all signals, or `unreadable` for transcripts that could
not be read: none is allowed unless --allow-unreadable or a condition says otherwise. When a
condition holds, the report is written, the condition is told, and the exit code is 4.

docs/ci.md shows how to use it on GitHub, GitLab and elsewhere.")]
pub(super) struct Analyze {
    /// Transcripts, databases, or folders of them
    #[arg(required_unless_present = "grant")]
    paths: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write the report to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Append a summary in Markdown to this file, besides the report
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Append the summary to that of the GitHub step that this runs in ($GITHUB_STEP_SUMMARY)
    #[arg(long)]
    github: bool,
    /// Fail when one of these holds: KIND>N, KIND>=N or KIND=N, comma-separated
    #[arg(long, value_name = "CONDITIONS")]
    fail_on: Option<Gate>,
    /// Do not fail for transcripts that could not be read
    #[arg(long, requires = "fail_on")]
    allow_unreadable: bool,
    /// The tool that wrote them, instead of telling by place and content
    #[arg(long)]
    tool: Option<String>,
    /// Use this adapter component, for this run alone
    #[arg(long, value_name = "FILE")]
    adapter: Option<PathBuf>,
    /// What the adapter may have read: what it declares, but below this folder
    #[arg(long, value_name = "DIR", requires = "adapter")]
    grant: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object a session
    Json,
    /// For people, where Markdown is shown
    Markdown,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML, for the test reports of a CI
    Junit,
}

impl Analyze {
    pub(super) fn run(self, home: Option<PathBuf>) -> anyhow::Result<Outcome> {
        // Settings count where there is a home; where there is none, or none that can be used, there are the defaults.
        let (config, home) = match Context::new(home) {
            Ok(context) => (context.config, Some(context.home)),
            Err(error) => {
                // No home directory is as it should be in a CI; settings that make no sense are not.
                if error.is::<ConfigError>() {
                    ui::warn(&format!("the defaults are used: {}", ui::line(&error.to_string())));
                }
                (Config::default(), None)
            }
        };
        let guests = match &self.adapter {
            None => Guests::load(&config, home.as_ref())?,
            Some(file) => {
                let bytes = std::fs::read(file).with_context(|| format!("could not read {}", file.display()))?;
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                Guests::load_with(&config, &Guest::new(name, bytes), self.grant.as_deref())?
            }
        };
        for refused in &guests.refused {
            ui::warn(&ui::line(&format!("{} is not used: {}", refused.name, refused.why)));
        }
        if let Some(tool) = &self.tool
            && guests.of_tool(tool).is_none()
        {
            let known: Vec<_> = guests.adapters.iter().map(Installed::tool).collect();
            let known = known.join(", ");
            return Err(Usage(format!("no adapter reads transcripts of {tool:?}; known tools: {known}")).into());
        }
        let kinds = guests.kinds();
        if let Some(gate) = &self.fail_on {
            let known = kinds.iter().map(|kind| kind.name.as_str());
            gate.check(known).map_err(|error| Usage(format!("--fail-on: {error}")))?;
        }
        let mut found = report::find(&guests, &self.paths, self.tool.as_deref());
        if self.grant.is_some() {
            found.granted(&guests, 0);
        }
        let bar = progress::bytes_bar(found.candidates.iter().map(|candidate| candidate.found.stamp.size).sum());
        let redactor = config.redactor();
        let read = report::read(&guests, &redactor, &found, &AtomicBool::new(false), &mut |bytes, path| {
            bar.inc(bytes);
            bar.set_message(clean(&path.to_string_lossy()).into_owned());
        });
        bar.finish_and_clear();
        let not_understood = read.sessions.iter().filter_map(SessionReport::not_understood);
        let problems: Vec<_> = found.problems.into_iter().chain(read.problems).chain(not_understood).collect();
        for problem in &problems {
            ui::warn(&ui::line(problem));
        }
        let gate = self.fail_on.clone().map(|gate| if self.allow_unreadable { gate } else { gate.and_readable() });
        let verdict = gate.map(|gate| gate.judge(&Totals::new(&read.sessions, problems.len())));
        let here = Path::new(".").canonicalize().unwrap_or_default();
        let view = View { sessions: &read.sessions, problems: &problems, kinds, gate: verdict.as_ref(), here: &here };
        self.write(&view)?;
        if read.sessions.is_empty() {
            ui::say("No transcript was found there that an adapter recognises.");
            anyhow::ensure!(problems.is_empty(), "nothing could be read");
            return Ok(Outcome::NothingFound);
        }
        let violated: Vec<_> = verdict.iter().flat_map(|verdict| verdict.violated()).collect();
        for judged in &violated {
            ui::say(&judged.to_string());
        }
        Ok(if violated.is_empty() { Outcome::Done } else { Outcome::GateFailed })
    }

    /// Writes the report and the summaries to where they were asked for, those of nothing included: what a CI collects
    /// afterwards is there.
    fn write(&self, view: &View<'_>) -> anyhow::Result<()> {
        let report = match if self.json { Format::Json } else { self.format } {
            Format::Text => text(view.sessions),
            Format::Json => view
                .sessions
                .iter()
                .map(|it| Ok(serde_json::to_string(it)? + "\n"))
                .collect::<Result<_, serde_json::Error>>()?,
            Format::Markdown => markdown::write(view, markdown::STEP_SUMMARY),
            Format::Sarif => sarif::write(view),
            Format::Junit => junit::write(view),
        };
        match &self.output {
            Some(file) => {
                let plain = anstream::adapter::strip_str(&report).to_string();
                files::write_report(file, plain.as_bytes())
                    .with_context(|| format!("could not write the report to {}", file.display()))?;
                if !view.sessions.is_empty() {
                    ui::say(&totals(view.sessions));
                }
            }
            None => match ui::print(&report) {
                // That a reader has seen enough must not open the gate.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe && view.gate.is_some() => {}
                printed => printed?,
            },
        }
        let step = self.github.then(|| paths::variable("GITHUB_STEP_SUMMARY").map(PathBuf::from));
        if let Some(None) = step {
            ui::warn("GITHUB_STEP_SUMMARY is not set, so that no summary of the step is written");
        }
        for file in self.summary.iter().chain(step.flatten().as_ref()) {
            let there = file.metadata().map_or(0, |there| there.len() as usize);
            let summary = markdown::write(view, markdown::STEP_SUMMARY.saturating_sub(there));
            files::append(file, summary.as_bytes())
                .with_context(|| format!("could not write the summary to {}", file.display()))?;
        }
        Ok(())
    }
}

fn text(sessions: &[SessionReport]) -> String {
    if sessions.is_empty() {
        return String::new();
    }
    let mut out = String::new();
    for session in sessions {
        let day = session.started_at.as_deref().and_then(|at| at.get(..10)).unwrap_or("no date");
        let _ = writeln!(
            out,
            "{bold}{id}{bold:#}  {day}  {project}",
            bold = ui::BOLD,
            id = ui::line(&session.session_id),
            project = ui::line(session.project.as_deref().unwrap_or(&session.path)),
        );
        for signal in &session.signals {
            let aside = if signal.thread.is_some() { " (sub-agent)" } else { "" };
            let _ = writeln!(
                out,
                "  {dim}line {line:>5}{dim:#}  {kind:<20} {detail}{aside}",
                dim = ui::DIM,
                line = signal.line,
                kind = ui::line(&signal.kind),
                detail = ui::line(&signal.detail),
            );
        }
        if session.signals.is_empty() {
            let _ = writeln!(out, "  {dim}no friction seen{dim:#}", dim = ui::DIM);
        }
        if !session.tally.unknown.is_empty() || session.tally.broken > 0 {
            let unknown: Vec<_> =
                session.tally.unknown.iter().map(|(what, count)| format!("{} ×{count}", ui::line(what))).collect();
            let _ = writeln!(
                out,
                "  {warn}not understood:{warn:#} {} broken, unknown types: {}",
                session.tally.broken,
                if unknown.is_empty() { "none".to_owned() } else { unknown.join(", ") },
                warn = ui::WARN,
            );
        }
    }
    let _ = writeln!(out, "\n{}", totals(sessions));
    out
}

/// How many sessions there are, and how many signals of each kind.
fn totals(sessions: &[SessionReport]) -> String {
    let mut totals = BTreeMap::<&str, u64>::new();
    for signal in sessions.iter().flat_map(|session| &session.signals) {
        *totals.entry(&signal.kind).or_default() += 1;
    }
    let totals: Vec<_> = totals.iter().map(|(kind, count)| format!("{} {count}", ui::line(kind))).collect();
    format!(
        "{}: {}",
        ui::counted(sessions.len() as u64, "session", "sessions"),
        if totals.is_empty() { "no friction seen".to_owned() } else { totals.join(", ") },
    )
}
