//! `patterns undo`: what was decided, and taking it back.

use std::fmt::Write as _;

use super::decide;
use crate::cli::{Context, Outcome, Usage, ui, work};
use crate::{
    clean::clean,
    pattern::{Act, Decision},
};

/// Decisions listed.
const LISTED: usize = 20;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without a number, the last 20 decisions are listed. What `synth` decided in one run is taken back together."
)]
pub(super) struct Undo {
    /// Number of the decision to take back
    #[arg(conflicts_with = "last")]
    number: Option<i64>,
    /// Take back the last one that is in force
    #[arg(long)]
    last: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Undo {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let mut store = work::open(context)?;
        let decisions = store.all_decisions()?;
        let wanted = match self.number {
            Some(number) => Some(
                decisions
                    .iter()
                    .find(|decision| decision.id == number)
                    .ok_or_else(|| Usage(format!("there is no decision {number}; `patterns undo` lists them")))?,
            ),
            None if self.last => decisions.iter().rfind(|decision| decision.undone_at.is_none()),
            None => {
                let listed: Vec<_> = decisions.iter().rev().take(LISTED).collect();
                if self.json {
                    context.print_json(&listed)?;
                } else {
                    context.print(&listed.iter().map(|decision| line(decision)).collect::<String>())?;
                }
                return Ok(if listed.is_empty() { Outcome::NothingFound } else { Outcome::Done });
            }
        };
        let Some(decision) = wanted else {
            ui::say("Nothing is decided that could be taken back.");
            return Ok(Outcome::NothingFound);
        };
        let undone = store.undo(decision, context.now)?;
        if self.json {
            ui::print_json(&serde_json::json!({ "undone": undone }))?;
        } else if undone == 0 {
            ui::say(&format!("decision {} was taken back before", decision.id));
        } else {
            ui::say(&format!("{} taken back", ui::counted(undone as u64, "decision", "decisions")));
        }
        if undone == 0 {
            return Ok(Outcome::NothingFound);
        }
        decide::renew(context, &mut store)?;
        Ok(Outcome::Done)
    }
}

/// A decision on a line.
pub(super) fn line(decision: &Decision) -> String {
    let pattern = clean(&decision.pattern);
    let what = match &decision.act {
        Act::Merge { others } => format!("{} became {pattern}", clean(&others.join(", "))),
        Act::Split { into, .. } => format!("{} was split off {pattern}", clean(into)),
        Act::Rename { title } if title.is_empty() => format!("{pattern} lost its title"),
        Act::Rename { title } => format!("{pattern} was called {}", clean(title)),
        Act::Mute => format!("{pattern} was muted"),
        Act::Unmute => format!("{pattern} was shown again"),
    };
    let mut line = format!("{:>4}  {}  {what}", decision.id, ui::local_time(decision.at));
    let _ = write!(line, "  {dim}by {}", decision.by.name(), dim = ui::DIM);
    if let Some(run) = &decision.run {
        let _ = write!(line, ", run {}", clean(run));
    }
    if let Some(at) = decision.undone_at {
        let _ = write!(line, ", taken back {}", ui::local_time(at));
    }
    let _ = writeln!(line, "{dim:#}", dim = ui::DIM);
    line
}
