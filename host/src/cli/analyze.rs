//! `totalrecall analyze`: the signals of transcripts that lie anywhere. Needs no home and keeps nothing.

use std::{collections::BTreeMap, fmt::Write as _, path::PathBuf, sync::atomic::AtomicBool};

use super::{Context, Outcome, Usage, progress, ui};
use crate::{
    clean::clean,
    config::Config,
    guests::{Guests, Installed},
    redact::{self, Redactor},
    report::{self, SessionReport},
};

/// Report the signals of transcripts, without a home
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall analyze ~/.claude/projects/-home-me-app
  totalrecall analyze --format json session.jsonl | jq .counts

With --format json each line is one session: tool, session_id, path, project, started_at, ended_at,
stats, counts (main conversation), counts_subagents, signals and tally. A signal's line is the record
of the transcript that it is seen in.")]
pub(super) struct Analyze {
    /// Transcripts, or folders of them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// The tool that wrote them, instead of telling by place and content
    #[arg(long)]
    tool: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object a session
    Json,
}

impl Analyze {
    pub(super) fn run(self, home: Option<PathBuf>) -> anyhow::Result<Outcome> {
        // Settings count where there is a home; where there is none, or none that can be used, there are the defaults.
        let (config, home) = match Context::new(home) {
            Ok(context) => (context.config, Some(context.home)),
            Err(_) => (Config::default(), None),
        };
        let guests = Guests::load(&config, home.as_ref())?;
        if let Some(tool) = &self.tool
            && guests.of_tool(tool).is_none()
        {
            let known: Vec<_> = guests.adapters.iter().map(Installed::tool).collect();
            let known = known.join(", ");
            return Err(Usage(format!("no adapter reads transcripts of {tool:?}; known tools: {known}")).into());
        }
        let found = report::find(&guests, &self.paths, self.tool.as_deref());
        let bar = progress::bytes_bar(found.candidates.iter().map(|candidate| candidate.found.stamp.size).sum());
        let redactor = Redactor::new(&redact::Settings { text_limit: config.transcripts.text_limit as usize });
        let read = report::read(&guests, &redactor, &found, &AtomicBool::new(false), &mut |bytes, path| {
            bar.inc(bytes);
            bar.set_message(clean(&path.to_string_lossy()).into_owned());
        });
        bar.finish_and_clear();
        for problem in found.problems.iter().chain(&read.problems) {
            ui::warn(&clean(problem));
        }
        if read.sessions.is_empty() {
            ui::say("No transcript was found there that an adapter recognises.");
            return Ok(if read.problems.is_empty() && found.problems.is_empty() {
                Outcome::NothingFound
            } else {
                anyhow::bail!("nothing could be read")
            });
        }
        match if self.json { Format::Json } else { self.format } {
            Format::Json => {
                for session in &read.sessions {
                    let mut line = serde_json::to_string(session)?;
                    line.push('\n');
                    ui::print(&line)?;
                }
            }
            Format::Text => ui::print(&text(&read.sessions))?,
        }
        Ok(Outcome::Done)
    }
}

fn text(sessions: &[SessionReport]) -> String {
    let mut out = String::new();
    let mut totals = BTreeMap::<&str, u64>::new();
    for session in sessions {
        let day = session.started_at.as_deref().and_then(|at| at.get(..10)).unwrap_or("no date");
        let _ = writeln!(
            out,
            "{bold}{id}{bold:#}  {day}  {project}",
            bold = ui::BOLD,
            id = clean(&session.session_id),
            project = clean(session.project.as_deref().unwrap_or(&session.path)),
        );
        for signal in &session.signals {
            *totals.entry(&signal.kind).or_default() += 1;
            let aside = if signal.thread.is_some() { " (sub-agent)" } else { "" };
            let _ = writeln!(
                out,
                "  {dim}line {line:>5}{dim:#}  {kind:<20} {detail}{aside}",
                dim = ui::DIM,
                line = signal.line,
                kind = signal.kind,
                detail = clean(&signal.detail),
            );
        }
        if session.signals.is_empty() {
            let _ = writeln!(out, "  {dim}no friction seen{dim:#}", dim = ui::DIM);
        }
        if !session.tally.unknown.is_empty() || session.tally.broken > 0 {
            let unknown: Vec<_> =
                session.tally.unknown.iter().map(|(what, count)| format!("{} ×{count}", clean(what))).collect();
            let _ = writeln!(
                out,
                "  {warn}not understood:{warn:#} {} broken, unknown types: {}",
                session.tally.broken,
                if unknown.is_empty() { "none".to_owned() } else { unknown.join(", ") },
                warn = ui::WARN,
            );
        }
    }
    let totals: Vec<_> = totals.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let _ = writeln!(
        out,
        "\n{}: {}",
        ui::counted(sessions.len() as u64, "session", "sessions"),
        if totals.is_empty() { "no friction seen".to_owned() } else { totals.join(", ") },
    );
    out
}
