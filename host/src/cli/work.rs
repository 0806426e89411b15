//! `reconcile`, `worker`, `ingest` and `retry`: everything that writes the store.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::{Context, Outcome, Usage, learn, pause, progress, synth, ui};
use crate::{
    clean::clean,
    files,
    guests::Guests,
    inbox, leftovers,
    model::Model,
    pipeline::{Pipeline, Reconciled, Worked},
    report, secrets,
    store::{LockError, Store, WorkerLock},
};

/// Find new and grown transcripts and queue them
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  totalrecall reconcile && totalrecall worker")]
pub(super) struct Reconcile {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Read everything that is queued, then renew insights.md
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Once you have agreed to it (`totalrecall learn`), a model then looks at the sessions that are due, within the budget.

Only one worker runs at a time; a second one says so and leaves the work to the first.
Ctrl-C ends it between two transcripts; what was not read stays queued."
)]
pub(super) struct Worker {
    /// Look for new transcripts first, as `reconcile` does
    #[arg(long)]
    reconcile: bool,
    /// Ask no model, though you have agreed to it
    #[arg(long)]
    no_model: bool,
    /// Say nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Read OpenCode's database now, then renew insights.md
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The same as `totalrecall worker --reconcile` for this one tool. Only sessions that have changed are read."
)]
pub(super) struct SyncOpencode {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Read these transcripts now, then renew insights.md
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall ingest session.jsonl
  totalrecall ingest --tool claude-code ~/old-transcripts

A session that is still going on is read as far as it goes.")]
pub(super) struct Ingest {
    /// Transcripts, or folders of them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The tool that wrote them, instead of telling by content
    #[arg(long)]
    tool: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Queue what failed once more
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  totalrecall retry && totalrecall worker")]
pub(super) struct Retry {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Reconcile {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        pause::remind(&context.home);
        let (guests, mut store) = (Guests::load(&context.config, Some(&context.home))?, open(context)?);
        reconcile(context, &guests, &mut store, false, self.json)
    }
}

fn reconcile(
    context: &Context,
    guests: &Guests,
    store: &mut Store,
    quiet: bool,
    json: bool,
) -> anyhow::Result<Outcome> {
    let pipeline = pipeline(context, guests)?;
    let reconciled = pipeline.reconcile(store)?;
    for problem in &reconciled.problems {
        ui::warn(&clean(problem));
    }
    if json {
        ui::print_json(&reconciled)?;
    } else if !quiet {
        let mut text = format!(
            "{} found, {} queued ({})",
            ui::counted(reconciled.found, "transcript", "transcripts"),
            reconciled.queued + reconciled.outdated,
            ui::bytes(reconciled.bytes)
        );
        for (count, what) in [
            (reconciled.settling, "left for later, being written to"),
            (reconciled.ignored, "ignored"),
            (reconciled.expired, "deleted by their tool; what is known of them stays"),
        ] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        ui::say(&text);
    }
    Ok(if reconciled.found == 0 { Outcome::NothingFound } else { Outcome::Done })
}

impl Worker {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        context.stop_on_ctrl_c();
        if !self.quiet {
            pause::remind(&context.home);
        }
        make_home(context)?;
        // Before anything is loaded: of many that are started at once all but one are to be gone at once.
        let Some(mut held) = lock(context, self.quiet)? else { return Ok(Outcome::Done) };
        let (guests, mut store) = (Guests::load(&context.config, Some(&context.home))?, open(context)?);
        if self.reconcile {
            reconcile(context, &guests, &mut store, self.quiet, false)?;
        }
        let mut all = Worked::default();
        loop {
            let before = inbox::names(context.home.path());
            let worked = work(context, &guests, &mut store)?;
            tell(context, &worked, self.quiet || self.json);
            all.add(worked);
            if !all.stopped && !self.no_model {
                self.ask(context, &guests, &mut store)?;
            }
            drop(held);
            // What came since was left by a hook whose own worker may have found the lock taken. What cannot be taken out of the
            // inbox was there before.
            if all.stopped || inbox::names(context.home.path()).is_subset(&before) {
                break;
            }
            // Whoever has it now has taken it after that, and sees it.
            let Some(again) = lock(context, true)? else { break };
            held = again;
        }
        if self.json {
            ui::print_json(&all)?;
        }
        ended(&all)
    }

    /// Has a model look at what is due, if the person has agreed to that.
    fn ask(&self, context: &Context, guests: &Guests, store: &mut Store) -> anyhow::Result<()> {
        let quiet = self.quiet || self.json;
        let mut model = Model::new(&context.config, &context.home, context.now, &context.stop);
        if let Some(learned) = learn::after_run(context, guests, store, &mut model)? {
            learn::tell(&learned, quiet);
        }
        if synth::after_run(context, store, &mut model, quiet)? {
            pipeline(context, guests)?.renew(store)?;
        }
        Ok(())
    }
}

impl SyncOpencode {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        context.stop_on_ctrl_c();
        pause::remind(&context.home);
        let (guests, mut store) = (Guests::load(&context.config, Some(&context.home))?, open(context)?);
        let Some(opencode) = guests.of_tool("opencode") else {
            return Err(Usage("the adapter opencode is switched off in the configuration".to_owned()).into());
        };
        let Some(_lock) = lock(context, false)? else { return Ok(Outcome::Done) };
        let mut reconciled = Reconciled::default();
        pipeline(context, &guests)?.reconcile_one(&mut store, &guests.adapters[opencode], &mut reconciled)?;
        for problem in &reconciled.problems {
            ui::warn(&clean(problem));
        }
        let worked = work(context, &guests, &mut store)?;
        give(context, &worked, self.json)?;
        anyhow::ensure!(reconciled.problems.is_empty(), "not everything of OpenCode could be looked at, see above");
        Ok(if reconciled.found == 0 { Outcome::NothingFound } else { Outcome::Done })
    }
}

impl Ingest {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        context.stop_on_ctrl_c();
        pause::remind(&context.home);
        let (guests, mut store) = (Guests::load(&context.config, Some(&context.home))?, open(context)?);
        if let Some(tool) = &self.tool
            && guests.of_tool(tool).is_none()
        {
            return Err(Usage(format!("no adapter reads transcripts of {tool:?}")).into());
        }
        let search = report::find(&guests, &self.paths, self.tool.as_deref());
        for problem in &search.problems {
            ui::warn(&clean(problem));
        }
        let found: Vec<_> = search.rows(&guests);
        if found.is_empty() {
            ui::say("No transcript was found there that an adapter recognises.");
            return Ok(Outcome::NothingFound);
        }
        for row in &found {
            if let Some(at) = store.deleted_at(row)? {
                ui::warn(&clean(&format!(
                    "{} is left unread: its session was deleted on {}; `totalrecall sessions undelete` with its path lifts that",
                    row.path,
                    ui::local_time(at)
                )));
            }
        }
        let queued = pipeline(context, &guests)?.enqueue(&mut store, &found)?;
        let Some(_lock) = lock(context, false)? else { return Ok(Outcome::Done) };
        if queued == 0 {
            ui::say("Nothing new: all of it was read before.");
        }
        let worked = work(context, &guests, &mut store)?;
        give(context, &worked, self.json)?;
        anyhow::ensure!(search.problems.is_empty(), "some of the paths could not be read, see above");
        Ok(Outcome::Done)
    }
}

impl Retry {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let mut store = open(context)?;
        let (queued, reviews) = (store.retry(context.now)?, store.retry_reviews(context.now)?);
        if self.json {
            ui::print_json(&serde_json::json!({ "queued": queued, "reviews": reviews }))?;
        } else {
            let mut text =
                format!("{} queued again", ui::counted(queued as u64, "failed transcript", "failed transcripts"));
            if reviews > 0 {
                let sessions = ui::counted(reviews as u64, "session", "sessions");
                text += &format!("; a model may be asked again about {sessions}");
            }
            ui::say(&text);
        }
        Ok(if queued + reviews == 0 { Outcome::NothingFound } else { Outcome::Done })
    }
}

/// Opens the store, making the home where there is none.
pub(super) fn open(context: &Context) -> anyhow::Result<Store> {
    make_home(context)?;
    let mut store = Store::open(context.home.path())?;
    secrets::begin(&mut store, &context.config.privacy.fingerprint())?;
    Ok(store)
}

fn make_home(context: &Context) -> anyhow::Result<()> {
    let home = context.home.path();
    files::make_private_folder(home).with_context(|| format!("could not create the home {}", home.display()))
}

/// Takes something that was just forgotten, or thrown away, out of the files of the indexes, too, or says who does.
pub(super) fn take_out_of_indexes(context: &Context, store: &mut Store) {
    let taken =
        WorkerLock::take(context.home.path()).map(|_lock| leftovers::take_out(&context.home, store, &context.stop));
    match taken {
        Ok(Ok(true)) => {}
        // A worker that is at it may be past its indexes; then the next one does it.
        Ok(Ok(false)) | Err(_) => tell_of_leftovers(),
        Ok(Err(error)) => ui::warn(&format!("its words may still stand in the indexes: {error}")),
    }
}

/// Says what becomes of what was deleted and is still in the indexes' files.
pub(super) fn tell_of_leftovers() {
    ui::say(
        "Search leaves it out; its words leave the files of the indexes with one of the next runs of the worker (`totalrecall reindex` does it now).",
    );
}

pub(super) fn pipeline<'a>(context: &'a Context, guests: &'a Guests) -> anyhow::Result<Pipeline<'a>> {
    for setting in guests.unknown_settings(&context.config) {
        ui::warn(&format!("no analyzer has the setting `{setting}` (in `[signals]` of the configuration)"));
    }
    Ok(Pipeline::new(&context.home, &context.config, guests, context.now, &context.stop)?)
}

/// None: another worker is at it, which has been said.
pub(super) fn lock(context: &Context, quiet: bool) -> anyhow::Result<Option<WorkerLock>> {
    match WorkerLock::take(context.home.path()) {
        Ok(lock) => Ok(Some(lock)),
        Err(busy @ LockError::Busy { .. }) => {
            if !quiet {
                ui::say(&format!("Nothing to do here: {busy}. What is queued is its work."));
            }
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn work(context: &Context, guests: &Guests, store: &mut Store) -> anyhow::Result<Worked> {
    let size = |path: &String| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let bar = progress::bytes_bar(store.waiting(context.now)?.iter().map(size).sum());
    let worked = pipeline(context, guests)?.work(store, &mut |bytes, path: &Path| {
        bar.inc(bytes);
        bar.set_message(clean(&path.file_name().unwrap_or_default().to_string_lossy()).into_owned());
    });
    bar.finish_and_clear();
    Ok(worked?)
}

/// What was done, as JSON or as talk; and whether it was done to its end.
fn give(context: &Context, worked: &Worked, json: bool) -> anyhow::Result<()> {
    tell(context, worked, json);
    if json {
        ui::print_json(worked)?;
    }
    ended(worked).map(drop)
}

fn ended(worked: &Worked) -> anyhow::Result<Outcome> {
    anyhow::ensure!(!worked.stopped, "interrupted: what was not read stays queued");
    Ok(Outcome::Done)
}

fn tell(context: &Context, worked: &Worked, quiet: bool) {
    for problem in worked.failed.iter().chain(&worked.problems) {
        ui::warn(&clean(problem));
    }
    if quiet {
        return;
    }
    let mut text = ui::counted(worked.read, "transcript read", "transcripts read");
    for (count, what) in [
        (worked.failed.len() as u64, "failed (see `totalrecall status`)"),
        (worked.skipped, "skipped"),
        (worked.vanished, "deleted by their tool before they were read"),
        (worked.reanalysed, "analysed again"),
        (worked.archived, "old ones put away (`totalrecall retention preview`)"),
        (worked.purged, "thrown away for room"),
    ] {
        if count > 0 {
            text += &format!(", {count} {what}");
        }
    }
    if worked.paused > 0 {
        text += &format!("; {} left out, said while paused", ui::counted(worked.paused, "event", "events"));
    }
    ui::say(&text);
    ui::say(&format!("{} is up to date", context.home.insights().display()));
}
