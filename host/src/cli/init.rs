//! `totalrecall init`: the home, and what a first run would do.

use anyhow::Context as _;

use super::{Context, Outcome, ui, work};
use crate::{config::TEMPLATE, files, guests::Guests};

/// A full run reads about so many bytes in a second of one core: the slowest of the figures in docs/performance.md,
/// halved for slower machines.
const BYTES_PER_SECOND: u64 = 10_000_000;

/// Create the home; show what there is to read and what reading it would cost
#[derive(Debug, clap::Args)]
#[command(after_help = "Nothing is read yet: that is `totalrecall reconcile && totalrecall worker`.")]
pub(super) struct Init {
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
        let home = context.home.path().display().to_string();
        // Opening makes the home.
        drop(work::open(context)?);
        let config = context.home.config();
        let is_new = !config.exists();
        if is_new {
            files::write_atomically(&config, TEMPLATE.as_bytes())
                .with_context(|| format!("could not write {}", config.display()))?;
        }
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
            ui::print_json(&serde_json::json!({ "home": home, "created": is_new, "tools": all }))?;
            return Ok(Outcome::Done);
        }
        let mut text = format!("{} {home}\n", if is_new { "Created" } else { "There already:" });
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
