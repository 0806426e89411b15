//! `totalrecall spend`: what the calls of a model have cost, and what became of them.

use std::fmt::Write as _;

use super::{Context, Outcome, ui};
use crate::{
    model::Spending,
    store::{Store, StoreError},
};

/// Failures shown; the rest is counted.
const SHOWN: usize = 10;

/// What asking a model has cost, and what became of every call
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall spend
  totalrecall spend --days 30 --json

Days are those of UTC, as the budget's are. A sum with a `~` is estimated at least in part: by the prices in the settings where
a program does not say what it cost, and as all that was reserved where a call failed without a word about it.")]
pub(super) struct Spend {
    /// Days to sum up, today included
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: u32,
    /// Print JSON, with every failure
    #[arg(long)]
    json: bool,
}

impl Spend {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let store = match Store::open_read_only(context.home.path()) {
            Ok(store) => store,
            Err(StoreError::Missing { .. }) => {
                ui::say(&format!("There is nothing in {} yet: nothing was spent.", context.home.path().display()));
                return Ok(Outcome::NothingFound);
            }
            Err(error) => return Err(error.into()),
        };
        let spending = Spending::new(&store, &context.config.model, context.now, self.days)?;
        if self.json {
            ui::print_json(&spending)?;
        } else {
            ui::print(&self.text(&spending))?;
        }
        Ok(Outcome::Done)
    }

    fn text(&self, spending: &Spending) -> String {
        let mut text = String::new();
        if spending.sums.is_empty() {
            let _ = writeln!(text, "No calls in {}.", ui::counted(u64::from(self.days), "day", "days"));
        } else {
            let _ = writeln!(
                text,
                "{bold}day         purpose    calls    ok  empty  failed  input tokens  output tokens        USD{bold:#}",
                bold = ui::BOLD
            );
        }
        for sum in &spending.sums {
            let usd = usd(sum.usd, sum.is_estimated);
            let _ = write!(
                text,
                "{}  {:<9} {:>6} {:>5} {:>6} {:>7} {:>13} {:>14} {usd:>10}",
                sum.day, sum.purpose, sum.calls, sum.ok, sum.empty, sum.failed, sum.input_tokens, sum.output_tokens
            );
            let running = if sum.running > 0 { format!("  {} running or killed", sum.running) } else { String::new() };
            let _ = writeln!(text, "{running}");
        }
        let today = &spending.today;
        let _ = writeln!(
            text,
            "\ntoday        USD {:.3} of {:.2} spent, {:.3} left",
            today.spent_usd, today.limit_usd, today.left_usd
        );
        let agreed = match (&spending.agreement, &spending.not_agreed) {
            (Some(agreement), None) => format!(
                "{} to asking `{}`, up to USD {:.2} a day",
                ui::local_time(agreement.at),
                ui::line(&agreement.program.join(" ")),
                agreement.usd_per_day
            ),
            (_, Some(why)) => format!("no: {}. `totalrecall learn` asks", ui::line(why)),
            (None, None) => "no".to_owned(),
        };
        let _ = writeln!(text, "agreed       {agreed}");
        if let Some(waits) = &spending.waits {
            let _ = writeln!(
                text,
                "{warn}waits{warn:#}        until {}, after {}",
                ui::local_time(waits.until),
                ui::counted(u64::from(waits.failures), "failure in a row", "failures in a row"),
                warn = ui::WARN
            );
        }
        for call in spending.failures.iter().take(SHOWN) {
            let _ = writeln!(
                text,
                "{bad}failed{bad:#}       {} {} {}\n             {} ({})",
                ui::local_time(call.at),
                call.purpose,
                ui::line(&call.subject),
                ui::line(call.why.as_deref().unwrap_or_default()),
                call.kind.as_deref().unwrap_or_default(),
                bad = ui::BAD
            );
        }
        if spending.failures.len() > SHOWN {
            let _ = writeln!(text, "             and {} more: --json lists them", spending.failures.len() - SHOWN);
        }
        text
    }
}

fn usd(usd: f64, is_estimated: bool) -> String {
    format!("{}{usd:.3}", if is_estimated { "~" } else { "" })
}

/// The one line that `status` has for it.
pub(super) fn line(spending: &Spending) -> String {
    let today = &spending.today;
    let mut line = match &spending.not_agreed {
        Some(why) if today.calls == 0 => return format!("not asked: {} (`totalrecall learn`)", ui::line(why)),
        Some(why) => format!("not asked any more: {}; ", ui::line(why)),
        None => String::new(),
    };
    let _ = write!(
        line,
        "USD {:.3} of {:.2} spent today in {}",
        today.spent_usd,
        today.limit_usd,
        ui::counted(today.calls, "call", "calls")
    );
    if today.failed > 0 {
        let _ = write!(line, ", {} failed (`totalrecall spend` says why)", today.failed);
    }
    if let Some(waits) = &spending.waits {
        let _ = write!(line, "; the next one not before {}", ui::local_time(waits.until));
    }
    line
}
