//! `totalrecall import`: what other programs learned and remembered.

mod kept;

use std::{fmt::Write as _, path::PathBuf};

use super::{Context, Outcome, ui, work};
use crate::{
    import::{self, Matter, Report, Source, Waiting},
    paths::Home,
    store::{Store, StoreError},
};

/// Things of one sort that are listed; the rest is counted.
const SHOWN: usize = 20;

/// Take over what another program learned or remembered
#[derive(Debug, clap::Args)]
pub(super) struct Import {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, clap::Subcommand)]
enum From {
    /// The patterns, proposals and rules of a home of the Python TotalRecall
    Totalrecall(Totalrecall),
    /// The insights and chunks of RLM: its folder `context`
    #[command(after_help = AFTER_RLM)]
    Rlm(kept::What),
    /// The observations, summaries and prompts of claude-mem: the folder that holds claude-mem.db
    #[command(after_help = AFTER_CLAUDE_MEM)]
    ClaudeMem(kept::What),
    /// Memories and chunks in a file of our own form
    #[command(after_help = AFTER_JSON)]
    Json(kept::What),
}

const AFTER_RLM: &str = "The folder is only read. What was taken over before is not taken over again; what you have forgotten here stays forgotten.
Secrets are taken out of every text, and what is broken is told and left out. docs/import.md says what becomes of what.

Examples:
  totalrecall import rlm ~/.claude/rlm/context --dry-run   what would be taken over
  totalrecall import rlm ~/.claude/rlm/context";

const AFTER_CLAUDE_MEM: &str = "The database is only read, also while claude-mem runs. What its model wrote is kept with little trust. What was taken over before
is not taken over again; what you have forgotten here stays forgotten. Secrets are taken out of every text, and what is broken is
told and left out. docs/import.md says what becomes of what.

Examples:
  totalrecall import claude-mem ~/.claude-mem --dry-run   what would be taken over
  totalrecall import claude-mem ~/.claude-mem";

const AFTER_JSON: &str = "The file is an object with the lists `memories` and `chunks`, as docs/import.md shows them. What says the same as a memory that is
here is not taken over again. Secrets are taken out of every text, and what is broken is told and left out.

Examples:
  totalrecall import json memories.json --dry-run   what would be taken over
  totalrecall import json memories.json";

/// The patterns, proposals and rules of a home of the Python TotalRecall
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The folder is only read. What was taken over before is not taken over again; what a person did here since stays.
Its settings are shown with what they are called here, and not changed. docs/import.md says what becomes of what.

Examples:
  totalrecall import totalrecall ~/.totalrecall-python --dry-run   what would be taken over
  totalrecall import totalrecall ~/.totalrecall-python"
)]
struct Totalrecall {
    /// Its state folder, which holds ledger.json and patterns
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Write nothing, only say what would be taken over
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Import {
    pub(super) fn run(&self, home: Option<PathBuf>) -> anyhow::Result<Outcome> {
        match &self.from {
            From::Totalrecall(command) => command.run(home),
            From::Rlm(what) => what.run(Source::Rlm, &Context::new(home)?),
            From::ClaudeMem(what) => what.run(Source::ClaudeMem, &Context::new(home)?),
            From::Json(what) => what.run(Source::Json, &Context::new(home)?),
        }
    }
}

impl Totalrecall {
    fn run(&self, home: Option<PathBuf>) -> anyhow::Result<Outcome> {
        // Before the settings are read: in a shared folder they are the other program's.
        if let Some(home) = Home::choose(home.clone()) {
            import::refuse_own(&self.folder, home.path())?;
        }
        let context = Context::new(home)?;
        let redactor = context.config.redactor();
        let import =
            import::Import { folder: &self.folder, config: &context.config, redactor: &redactor, now: context.now };
        // Before the store is opened: for a folder that is no home, none is made.
        let import = import.open()?;
        let report = if self.dry_run {
            match Store::open_read_only(context.home.path()) {
                Ok(store) => import.rehearse(Some(&store))?,
                Err(StoreError::Missing { .. }) => import.rehearse(None)?,
                Err(error) => return Err(error.into()),
            }
        } else {
            let mut store = work::open(&context)?;
            let report = import.run(&mut store)?;
            store.finish()?;
            report
        };
        if self.json {
            let mut value = serde_json::to_value(&report)?;
            value["dry_run"] = self.dry_run.into();
            ui::print_json(&value)?;
        } else {
            ui::print(&text(&report))?;
            ui::say(&last(&report, self.dry_run, &context));
        }
        let is_empty = report.patterns.found == 0 && report.proposals.counted.found == 0;
        Ok(if is_empty { Outcome::NothingFound } else { Outcome::Done })
    }
}

fn last(report: &Report, dry_run: bool, context: &Context) -> String {
    let changed = |it: &import::Counted| it.new + it.changed;
    if dry_run {
        "Nothing was written: --dry-run.".to_owned()
    } else if changed(&report.patterns) + changed(&report.findings) + changed(&report.proposals.counted) == 0 {
        "Nothing new: all of it was taken over before.".to_owned()
    } else {
        let page = context.home.insights();
        format!("Kept. `totalrecall insights --renew` writes {} anew.", page.display())
    }
}

fn text(report: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{bold}{}{bold:#}", line(&report.folder), bold = ui::BOLD);
    let _ = writeln!(out, "patterns     {}", report.patterns);
    let sessions = ui::counted(report.sessions as u64, "session", "sessions");
    let _ = writeln!(out, "findings     {}, of {sessions}", report.findings);
    let proposals = &report.proposals;
    let _ = writeln!(
        out,
        "proposals    {}: {} drafted, {} applied, {} rejected, {} reverted, {} stale",
        proposals.counted,
        proposals.drafted,
        proposals.applied,
        proposals.rejected,
        proposals.reverted,
        proposals.stale
    );
    if let Some(rules) = &report.rules_file {
        let state = match (rules.is_there, rules.is_imported) {
            (false, _) => "is not there".to_owned(),
            (true, Some(false)) => {
                format!("holds {}, and CLAUDE.md does not import it", ui::counted(rules.rules as u64, "rule", "rules"))
            }
            (true, _) => format!("holds {}; it stays as it is", ui::counted(rules.rules as u64, "rule", "rules")),
        };
        let _ = writeln!(out, "rules file   {} {state}", line(&rules.path));
    }
    for (name, waiting) in
        [("done", &report.ledger.done), ("pending", &report.ledger.pending), ("queue", &report.ledger.queued)]
    {
        if waiting.all > 0 {
            let _ = writeln!(out, "{name:<12} {}", told(waiting));
        }
    }
    if report.ledger.done.all > 0 {
        let _ = writeln!(
            out,
            "             It took failed analyses for done, so none of them counts as looked at: `totalrecall reconcile` finds those that are there."
        );
    }
    let repaired = report.repaired.iter().map(|it| (format!("{} → {}", it.old, it.new), it.why.clone()));
    list(&mut out, "New ids", repaired);
    let differences = report
        .differences
        .iter()
        .map(|it| (it.pattern.clone(), format!("{} sessions, it had counted {}: {}", it.now, it.then, it.why)));
    list(&mut out, "Counted differently", differences);
    list(&mut out, "Notes", report.notes.iter().map(matter));
    list(&mut out, "Not taken over", report.skipped.iter().map(matter));
    list(&mut out, "Settings that were changed there", report.settings.changed.iter().map(matter));
    if !report.settings.lines.is_empty() {
        let _ = writeln!(out, "\n{bold}To have them here, add to config.toml{bold:#}\n", bold = ui::BOLD);
        for setting in &report.settings.lines {
            let _ = writeln!(out, "{}", line(setting));
        }
    }
    out
}

fn told(waiting: &Waiting) -> String {
    let mut text = format!("{}: {} there", ui::counted(waiting.all as u64, "transcript", "transcripts"), waiting.there);
    if waiting.copies > 0 {
        let _ = write!(text, ", {} copied from OpenCode, whose database is read instead", waiting.copies);
    }
    if !waiting.gone.is_empty() {
        let _ = write!(text, ", {} gone", waiting.gone.len());
    }
    text
}

fn matter(matter: &Matter) -> (String, String) {
    (matter.what.clone(), matter.why.clone())
}

fn list(out: &mut String, title: &str, rows: impl Iterator<Item = (String, String)>) {
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{bold}{title}{bold:#}", bold = ui::BOLD);
    for (what, why) in rows.iter().take(SHOWN) {
        let _ = writeln!(out, "  {}\n    {}", line(what), line(why));
    }
    if rows.len() > SHOWN {
        let _ = writeln!(out, "  and {} more: --json lists them", rows.len() - SHOWN);
    }
}

/// Text of others on one line.
fn line(text: &str) -> String {
    ui::line(text)
}
