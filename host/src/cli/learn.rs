//! `learn`: sessions are shown to a model, once the person has seen what that means.

use std::{fmt::Write as _, io::IsTerminal as _};

use super::{Context, Outcome, Usage, library, pause, progress, synth, ui, work};
use crate::{
    clean::clean,
    finding::prompt,
    guests::Guests,
    model::{self, Model},
    review::{Due, Estimate, Learned, Plan, Reviewer},
    store::Store,
};

/// Have a model look at sessions, within the budget, once you have agreed to it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall learn --dry-run               what is due, what it would cost, what would leave this machine
  totalrecall learn --show-input 3cf2385f   exactly what would be sent of one session
  totalrecall learn --yes                   agree, and have it done; from then on `worker` does it, too
  totalrecall learn --withdraw              take that back

Nothing is ever sent before you have agreed. docs/findings.md tells what is chosen of a session, and what is kept.
Ctrl-C ends it; sessions that were not answered stay due.")]
pub(super) struct Learn {
    /// Only show what is due and what it would cost
    #[arg(long)]
    dry_run: bool,
    /// Agree to what it shows, without being asked
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
    /// Take the agreement back: nothing is asked any more
    #[arg(long, conflicts_with_all = ["dry_run", "yes"])]
    withdraw: bool,
    /// Print what would be sent of a session (its id, or the beginning of it)
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["dry_run", "yes", "withdraw"])]
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
        let Some(store) = library::store(context)? else { return Ok(Outcome::NothingFound) };
        if self.withdraw {
            model::withdraw(&mut work::open(context)?)?;
            ui::say("Withdrawn: no model is asked any more. What was found stays.");
            return Ok(Outcome::Done);
        }
        pause::remind(&context.home);
        let guests = Guests::load(&context.config, Some(&context.home))?;
        let reviewer = Reviewer::new(&context.home, &context.config, guests.kinds(), context.now)?;
        if let Some(session) = &self.show_input {
            return self.show(&reviewer, &store, session);
        }
        let plan = self.plan(&reviewer, &store)?;
        let missing = model::not_agreed(&store, &context.config.model)?;
        if self.dry_run || (missing.is_some() && !self.yes) {
            self.offer(context, &reviewer, &store, &plan, missing.as_deref())?;
            if self.dry_run || !self.has_agreed(&plan)? {
                return Ok(if plan.due.is_empty() { Outcome::NothingFound } else { Outcome::Done });
            }
        }
        drop(store);
        let mut store = work::open(context)?;
        if missing.is_some() {
            model::agree(&mut store, &context.config.model, context.now)?;
        }
        context.stop_on_ctrl_c();
        let Some(_lock) = work::lock(context, false)? else { return Ok(Outcome::Done) };
        let mut model = Model::new(&context.config, &context.home, context.now, &context.stop);
        let limit = self.limit.unwrap_or(usize::MAX);
        let learned = ask(context, &reviewer, &mut store, &plan, limit, &mut model)?;
        synth::after_run(context, &mut store, &mut model, self.json)?;
        work::pipeline(context, &guests)?.renew(&mut store)?;
        store.finish()?;
        if self.json {
            ui::print_json(&learned)?;
        }
        tell(&learned, self.json);
        anyhow::ensure!(
            learned.failed.is_empty() || learned.asked > 0,
            "no session was answered, see above; they are tried again"
        );
        Ok(if plan.due.is_empty() { Outcome::NothingFound } else { Outcome::Done })
    }

    /// What is due, as far as the arguments ask for it.
    fn plan(&self, reviewer: &Reviewer<'_>, store: &Store) -> anyhow::Result<Plan> {
        let mut plan = reviewer.plan(store, self.again)?;
        if let Some(id) = &self.session {
            plan.due = vec![one(reviewer, store, id)?];
        }
        Ok(plan)
    }

    /// Asks the person, where there is one.
    fn has_agreed(&self, plan: &Plan) -> anyhow::Result<bool> {
        if plan.due.is_empty() || self.json {
            return Ok(false);
        }
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            ui::say("Nothing was sent. `totalrecall learn --yes` agrees to this, for later sessions, too.");
            return Ok(false);
        }
        let agreed = ui::ask("Send this, and later sessions at the end of each `worker`, within the budget? [y/N] ")?;
        if !agreed {
            ui::say("Nothing was sent.");
        }
        Ok(agreed)
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
                "places": question.excerpt.places,
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

    fn offer(
        &self,
        context: &Context,
        reviewer: &Reviewer<'_>,
        store: &Store,
        plan: &Plan,
        missing: Option<&str>,
    ) -> anyhow::Result<()> {
        let due = &plan.due[..plan.due.len().min(self.limit.unwrap_or(usize::MAX))];
        let estimate = reviewer.estimate(store, due)?;
        if self.json {
            ui::print_json(&serde_json::json!({
                "plan": plan,
                "estimate": estimate,
                "program": model::program(&context.config.model),
                "model": context.config.model.name,
                "agreed": missing.is_none(),
            }))?;
        } else {
            let mut text = describe(context, plan, due.len() as u64, &estimate);
            let agreed = missing.map_or_else(|| "yes".to_owned(), |why| format!("no: {why}"));
            let _ = writeln!(text, "agreed       {}", clean(&agreed));
            ui::print(&text)?;
        }
        Ok(())
    }
}

/// What `worker` does when everything is read: the same, if the person has agreed to it. None: they have not.
pub(super) fn after_run(
    context: &Context,
    guests: &Guests,
    store: &mut Store,
    model: &mut Model<'_>,
) -> anyhow::Result<Option<Learned>> {
    if model::not_agreed(store, &context.config.model)?.is_some() {
        return Ok(None);
    }
    let reviewer = Reviewer::new(&context.home, &context.config, guests.kinds(), context.now)?;
    let plan = reviewer.plan(store, false)?;
    let learned = ask(context, &reviewer, store, &plan, usize::MAX, model)?;
    if learned.asked > 0 {
        work::pipeline(context, guests)?.renew(store)?;
    }
    store.finish()?;
    Ok(Some(learned))
}

fn ask(
    context: &Context,
    reviewer: &Reviewer<'_>,
    store: &mut Store,
    plan: &Plan,
    limit: usize,
    model: &mut Model<'_>,
) -> anyhow::Result<Learned> {
    let bar = progress::count_bar(plan.due.len().min(limit) as u64);
    let learned = reviewer.run(store, plan, limit, model, &context.stop, &mut |done, due| {
        bar.set_position(done);
        bar.set_message(clean(&format!("{} {}", due.tool, due.native_id)).into_owned());
    });
    bar.finish_and_clear();
    Ok(learned?)
}

/// What came of asking: failures as warnings, the rest in a line.
pub(super) fn tell(learned: &Learned, quiet: bool) {
    for failed in &learned.failed {
        ui::warn(&clean(failed));
    }
    if quiet {
        return;
    }
    let mut text = format!(
        "a model answered about {}: {}",
        ui::counted(learned.asked, "session", "sessions"),
        ui::counted(learned.findings, "finding", "findings")
    );
    if learned.empty > 0 {
        let _ = write!(text, ", {} with nothing", learned.empty);
    }
    let skipped: u64 = learned.skipped.values().sum();
    if skipped > 0 {
        let why: Vec<String> = learned.skipped.iter().map(|(why, count)| format!("{count} {why}")).collect();
        let _ = write!(text, "; {skipped} skipped ({})", clean(&why.join(", ")));
    }
    if learned.unchanged > 0 {
        let _ = write!(text, "; {} went on with nothing new to show", learned.unchanged);
    }
    if !learned.dropped.is_empty() {
        let what: Vec<String> = learned.dropped.iter().map(|(what, count)| format!("{what} ×{count}")).collect();
        let _ = write!(text, "; taken out of the answers: {}", what.join(", "));
    }
    if !learned.failed.is_empty() {
        let _ = write!(text, "; {} failed", learned.failed.len());
    }
    let _ = write!(text, "; USD {:.3} spent", learned.spent_usd);
    if learned.left > 0 {
        let _ = write!(text, "; {} stay due", learned.left);
    }
    ui::say(&text);
    if let Some(why) = &learned.stopped {
        ui::say(&format!("stopped: {}", clean(why)));
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
fn describe(context: &Context, plan: &Plan, asked: u64, estimate: &Estimate) -> String {
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
    let basis = if estimate.built < asked {
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
    let _ = writeln!(
        text,
        "what leaves  excerpts of these sessions: what was said, calls and their results, without secrets;\n             \
         `totalrecall learn --show-input SESSION` shows them\n\
         to           the program `{}`, asked for the model {}, and whichever service that uses",
        clean(&model::program(settings).join(" ")),
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
