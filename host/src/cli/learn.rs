//! `learn`: sessions are shown to a model, once the person has seen what that means.

use std::fmt::Write as _;

use super::{Context, Outcome, Usage, ui};
use crate::{
    clean::clean,
    finding::prompt,
    guests::Guests,
    review::{Due, Estimate, Plan, Reviewer},
    store::{Store, StoreError},
};

/// Have a model look at sessions, within the budget, once you have agreed to it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall learn --dry-run               what is due, what it would cost, what would leave this machine
  totalrecall learn --show-input 3cf2385f   exactly what would be sent of one session

Nothing is ever sent before you have agreed. docs/findings.md tells what is chosen of a session, and what is kept.")]
pub(super) struct Learn {
    /// Only show what is due and what it would cost
    #[arg(long)]
    dry_run: bool,
    /// Print what would be sent of a session (its id, or the beginning of it)
    #[arg(long, value_name = "SESSION", conflicts_with = "dry_run")]
    show_input: Option<String>,
    /// Only this session (its id, or the beginning of it), whether or not it is due
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// At most so many sessions
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Sessions, too, that were looked at with another prompt or model
    #[arg(long)]
    again: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Learn {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let store = match Store::open_read_only(context.home.path()) {
            Ok(store) => store,
            Err(StoreError::Missing { .. }) => {
                ui::say("Nothing was read yet. Run: totalrecall reconcile && totalrecall worker");
                return Ok(Outcome::NothingFound);
            }
            Err(error) => return Err(error.into()),
        };
        let guests = Guests::load(&context.config, Some(&context.home))?;
        let reviewer = Reviewer::new(&context.home, &context.config, guests.kinds(), context.now)?;
        if let Some(session) = &self.show_input {
            return self.show(&reviewer, &store, session);
        }
        let plan = self.plan(&reviewer, &store)?;
        self.offer(context, &reviewer, &store, &plan)
    }

    /// What is due, as far as the arguments ask for it.
    fn plan(&self, reviewer: &Reviewer<'_>, store: &Store) -> anyhow::Result<Plan> {
        let mut plan = reviewer.plan(store, self.again)?;
        if let Some(id) = &self.session {
            plan.due = vec![one(reviewer, store, id)?];
        }
        if let Some(limit) = self.limit {
            plan.due.truncate(limit);
        }
        Ok(plan)
    }

    fn show(&self, reviewer: &Reviewer<'_>, store: &Store, session: &str) -> anyhow::Result<Outcome> {
        let due = one(reviewer, store, session)?;
        let catalogue = reviewer.catalogue(store)?;
        let Some(question) = reviewer.question(store, &catalogue, due.session)? else {
            ui::say("Nothing in this session can be shown to a model.");
            return Ok(Outcome::NothingFound);
        };
        if self.json {
            ui::print_json(&serde_json::json!({
                "instructions": prompt::INSTRUCTIONS,
                "schema": prompt::schema(),
                "input": question.input,
                "tokens": question.tokens(),
                "left_out": question.excerpt.left_out,
            }))?;
        } else {
            let schema = serde_json::to_string(&prompt::schema())?;
            let (instructions, input) = (prompt::INSTRUCTIONS, clean(&question.input));
            ui::print(&format!("{instructions}\n{schema}\n\n{input}"))?;
            ui::say(&format!("About {} tokens.", question.tokens()));
        }
        Ok(Outcome::Done)
    }

    fn offer(&self, context: &Context, reviewer: &Reviewer<'_>, store: &Store, plan: &Plan) -> anyhow::Result<Outcome> {
        let estimate = reviewer.estimate(store, &plan.due)?;
        if self.json {
            ui::print_json(&serde_json::json!({ "plan": plan, "estimate": estimate }))?;
        } else {
            ui::print(&describe(context, plan, &estimate))?;
        }
        Ok(if plan.due.is_empty() { Outcome::NothingFound } else { Outcome::Done })
    }
}

/// The session of an id, or of the beginning of one.
fn one(reviewer: &Reviewer<'_>, store: &Store, id: &str) -> anyhow::Result<Due> {
    let mut found = reviewer.find(store, id)?;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => {
            Err(Usage(format!("no session has an id that begins with {id:?}; the page and `patterns show` name them"))
                .into())
        }
        several => {
            Err(Usage(format!("{several} sessions have an id that begins with {id:?}: write more of it")).into())
        }
    }
}

/// What is due and what that means, line by line.
fn describe(context: &Context, plan: &Plan, estimate: &Estimate) -> String {
    let settings = &context.config.model;
    let mut text = String::new();
    let _ = writeln!(text, "sessions     {}", tally(plan));
    if plan.due.is_empty() {
        return text;
    }
    let _ = writeln!(
        text,
        "calls        {}, one a session, the most valuable first; at most {} a run",
        estimate.calls, settings.calls_per_run
    );
    let basis = if estimate.built < plan.due.len() as u64 {
        format!("estimated from the windows of {} of the sessions", estimate.built)
    } else {
        "counted in the windows of all of them".to_owned()
    };
    let _ = writeln!(text, "input        about {} tokens ({basis})", estimate.input_tokens);
    let _ = writeln!(
        text,
        "cost         at most about USD {:.2} by the prices in the settings: {} at USD {:.2} a day",
        estimate.usd,
        ui::counted(estimate.days, "day", "days"),
        settings.usd_per_day
    );
    let program = if settings.command.is_empty() { "claude".to_owned() } else { settings.command.join(" ") };
    let _ = writeln!(
        text,
        "what leaves  excerpts of these sessions: what was said, calls and their results, without secrets;\n             \
         `totalrecall learn --show-input SESSION` shows them\n\
         to           the program `{}`, asked for the model {}, and whichever service that uses",
        clean(&program),
        clean(&settings.name)
    );
    text
}

/// `12 due, 3 skipped (2 ignored by the settings), …`
pub(super) fn tally(plan: &Plan) -> String {
    let mut text = format!("{} due", plan.due.len());
    let skipped: u64 = plan.skipped.values().sum();
    if skipped > 0 {
        let why: Vec<String> = plan.skipped.iter().map(|(why, count)| format!("{count} {why}")).collect();
        let _ = write!(text, ", {skipped} skipped ({})", why.join(", "));
    }
    for (count, what) in [
        (plan.waiting, "still going on or to be read"),
        (plan.later, "failed, to be tried again"),
        (plan.given_up, "given up (`totalrecall retry`)"),
        (plan.done, "done"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    text
}
