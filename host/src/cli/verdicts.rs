//! `totalrecall verdicts`: whether the rules in force work.

use std::fmt::Write as _;

use super::{Context, Outcome, library, ui};
use crate::{
    library::Library,
    verdict::{self, Advice, Exposure, Unit, Verdict},
};

/// Say of each rule in force whether it works, with the counts
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall verdicts
  totalrecall verdicts p-tool-error-edit-file-not-read-1c9f00aa27
  totalrecall verdicts --json | jq '.[] | select(.outcome == \"not-working\") | .proposal'

A verdict compares the sessions since the rule with those before, and is formed anew when there are 10, 30, 60, 100, … of them.
docs/verdicts.md explains what is counted and how sure it is.")]
pub(super) struct Verdicts {
    /// Only of this rule: the id of its proposal or of its pattern
    id: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Verdicts {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(store) = library::store(context)? else { return Ok(Outcome::NothingFound) };
        let (library, config) = (Library::load(&store)?, &context.config);
        let mut verdicts = verdict::of(&store, &library, &config.patterns, &config.rules, context.now)?;
        if let Some(id) = &self.id {
            verdicts.retain(|verdict| verdict.proposal == *id || verdict.pattern == *id);
        }
        if self.json {
            ui::print_json(&verdicts)?;
        } else if verdicts.is_empty() {
            ui::say(match self.id {
                Some(_) => "No rule in force has this id. `totalrecall verdicts` lists those that are.",
                None => "No rule is in force. `totalrecall propose` drafts some, `totalrecall apply` applies one.",
            });
        } else {
            ui::print(&text(&verdicts))?;
        }
        Ok(if verdicts.is_empty() { Outcome::NothingFound } else { Outcome::Done })
    }
}

fn text(verdicts: &[Verdict]) -> String {
    let mut out = String::new();
    for verdict in verdicts {
        let style = match verdict.outcome {
            verdict::Outcome::Working => ui::GOOD,
            verdict::Outcome::NotWorking => ui::WARN,
            verdict::Outcome::Worse => ui::BAD,
            verdict::Outcome::TooEarly | verdict::Outcome::NotEnoughData => ui::DIM,
        };
        let name = verdict.outcome.name().replace('-', " ");
        let _ = writeln!(
            out,
            "{style}{name}{style:#}  {bold}{}{bold:#}  {dim}{}{dim:#}",
            ui::line(&verdict.text),
            ui::line(&verdict.proposal),
            bold = ui::BOLD,
            dim = ui::DIM,
        );
        let _ = writeln!(out, "  {}", counts(verdict));
        if let Some(ratio) = verdict.ratio {
            let _ = writeln!(
                out,
                "  {:.2} times what it would be without the rule (90 %: {:.2} to {:.2}); expected {:.1}, seen {}",
                ratio.middle, ratio.low, ratio.high, verdict.expected, verdict.after.occurrences
            );
        }
        if let Some(next) = next(verdict) {
            let _ = writeln!(out, "  {next}");
        }
        let _ = writeln!(
            out,
            "  simple reading: {}; costs {} in every session{}",
            verdict.simple.name(),
            ui::counted(verdict.tokens.into(), "token", "tokens"),
            advice(verdict)
        );
    }
    out
}

/// `in 12 of 80 sessions before (15 %), in 2 of 30 since (7 %)`
fn counts(verdict: &Verdict) -> String {
    let unit = match verdict.unit {
        Unit::Sessions => "sessions",
        Unit::Calls => "calls",
    };
    let of = |exposure: &Exposure| {
        let percent =
            if exposure.opportunities > 0 { format!(" ({:.0} %)", exposure.rate() * 100.0) } else { String::new() };
        (format!("{} of {}", exposure.occurrences, exposure.opportunities), percent)
    };
    let looked = if verdict.ratio.is_some() { &verdict.after } else { &verdict.since };
    let ((before, before_rate), (after, after_rate)) = (of(&verdict.before), of(looked));
    let mut line = format!("in {before} {unit} before{before_rate}, in {after} since{after_rate}");
    if looked.opportunities < verdict.since.opportunities {
        let _ = write!(line, "; {} by now", of(&verdict.since).0);
    }
    line
}

/// What is waited for.
fn next(verdict: &Verdict) -> Option<String> {
    let unit = match verdict.unit {
        Unit::Sessions => "sessions",
        Unit::Calls => "calls",
    };
    let open = matches!(verdict.outcome, verdict::Outcome::TooEarly | verdict::Outcome::NotEnoughData);
    if !open {
        return None;
    }
    Some(match verdict.enough_at {
        _ if verdict.before.occurrences == 0 => {
            "it did not come up in the time that is compared with, so nothing can be shown".to_owned()
        }
        None => "it came up too rarely before: even if it never came up again, that could be chance".to_owned(),
        Some(enough) if verdict.since.opportunities < enough => format!(
            "even if it never came up again, {enough} {unit} are needed to tell that from chance; next look at {}",
            verdict.next_look
        ),
        Some(_) => format!("it could be chance either way; next look at {} {unit}", verdict.next_look),
    })
}

fn advice(verdict: &Verdict) -> String {
    let id = ui::line(&verdict.proposal);
    match verdict.advice {
        Advice::Keep => String::new(),
        Advice::Redraft => "\n  → totalrecall propose drafts it anew, or a stronger means".to_owned(),
        Advice::Revert => format!("\n  → totalrecall revert {id} takes it back"),
        Advice::Consider => {
            format!("\n  → it cannot be shown to do anything; totalrecall revert {id} saves its tokens")
        }
    }
}
