//! `totalrecall init`: the home, and what a first run would do.

pub(super) mod wiring;

use anyhow::Context as _;

use super::{Context, Outcome, ui, work};
use crate::{config::TEMPLATE, files, guests::Guests};

/// A full run reads about so many bytes in a second of one core: the slowest of the figures in docs/performance.md,
/// halved for slower machines.
const BYTES_PER_SECOND: u64 = 10_000_000;

/// Create the home; show what there is to read and what reading it would cost
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall init
  totalrecall init --hooks --dry-run       show what would be added to the settings of your tools
  totalrecall init --hooks                 have them call us, where you do not use the plugin
  totalrecall init --no-hooks              take that back

Nothing is read yet: that is `totalrecall reconcile && totalrecall worker`.

A tool's file keeps its comments, order and format; a copy of it is kept in the home's `backups`. Taking back leaves what was
there before, to the byte, and whatever else you have changed since.")]
pub(super) struct Init {
    #[command(flatten)]
    wiring: wiring::Arguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, serde::Serialize)]
struct Found {
    tool: String,
    folders: Vec<String>,
    transcripts: usize,
    bytes: u64,
    seconds: u64,
}

impl Init {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        if self.wiring.only() {
            let done = self.wiring.run(context, self.json)?;
            if self.json {
                ui::print_json(&serde_json::json!({ "hooks": done }))?;
            }
            return Ok(Outcome::Done);
        }
        let home = context.home.path().display().to_string();
        // Opening makes the home.
        drop(work::open(context)?);
        let config = context.home.config();
        let is_new = !config.exists();
        if is_new {
            files::write_atomically(&config, TEMPLATE.as_bytes())
                .with_context(|| format!("could not write {}", config.display()))?;
        }
        if !self.json {
            ui::print(&format!("{} {home}\n", if is_new { "Created" } else { "There already:" }))?;
        }
        let hooks = if self.wiring.hooks() { Some(self.wiring.run(context, self.json)?) } else { None };
        let guests = Guests::load(&context.config, Some(&context.home))?;
        let mut all = Vec::new();
        for installed in &guests.adapters {
            let (sources, mut unreadable) = installed.sources(guests.limits());
            let mut found = Vec::new();
            for source in &sources {
                let (more, problems) = source.discover();
                found.extend(more);
                unreadable.extend(problems);
            }
            for problem in &unreadable {
                ui::warn(&problem.to_string());
            }
            let bytes = found.iter().map(|found| found.stamp.size).sum::<u64>();
            all.push(Found {
                tool: installed.tool().to_owned(),
                folders: sources.iter().map(|source| source.path().display().to_string()).collect(),
                transcripts: found.len(),
                bytes,
                seconds: bytes.div_ceil(BYTES_PER_SECOND),
            });
        }
        if self.json {
            let mut json = serde_json::json!({ "home": home, "created": is_new, "tools": all });
            if let Some(hooks) = hooks {
                json["hooks"] = serde_json::to_value(hooks)?;
            }
            ui::print_json(&json)?;
            return Ok(Outcome::Done);
        }
        let mut text = String::new();
        let none: Vec<_> = all.iter().filter(|found| found.transcripts == 0).map(|found| found.tool.as_str()).collect();
        if !none.is_empty() {
            text += &format!("no transcripts found of {}\n", none.join(", "));
        }
        for found in all.iter().filter(|found| found.transcripts > 0) {
            // Sessions of a database have no size of their own.
            let size = if found.bytes > 0 { format!(", {}", ui::bytes(found.bytes)) } else { String::new() };
            text += &format!(
                "{}: {}{size} in {}; a first run takes about {} s and needs no model\n",
                found.tool,
                ui::counted(found.transcripts as u64, "transcript", "transcripts"),
                found.folders.join(", "),
                found.seconds.max(1),
            );
        }
        text += "Next: totalrecall reconcile && totalrecall worker\n";
        ui::print(&text)?;
        Ok(Outcome::Done)
    }
}
