//! `search`, `grep`, `timeline`, `show` and `reindex`.

mod text;

use std::{sync::atomic::Ordering, time::Duration};

use super::{Context, Outcome, Usage, progress, ui, work};
use crate::{
    clean::clean,
    digest, embedding,
    index::Renewal,
    leftovers,
    passage::Kind,
    search::{self, Answer, Asked, AskedError, Away, Confidence, Grep, Reference, Request, SearchError, Searcher},
    store::{Store, StoreError},
};

/// Find what was said, done, remembered or saved, by words and by meaning
#[derive(Debug, clap::Args)]
#[command(
    alias = "access",
    after_help = "Examples:
  totalrecall search retry limit                     any of the words, best first
  totalrecall search '\"connection refused\" postgr*'  a phrase that must be there, and a beginning of words
  totalrecall search --project --since 30d flaky test
  totalrecall search --kind prompt,memory --path src/price.rs rounding
  totalrecall search --json --limit 50 deploy | jq .hits[].id

A word that nothing holds is taken for the nearest that something does. Every hit has a reference such as e12.345, which
`totalrecall show` takes. Exit code 3: nothing relevant was found."
)]
pub(super) struct Search {
    /// Words; in quotes a phrase that must be there; with * a beginning
    #[arg(value_name = "WORDS", required_unless_present = "query")]
    words: Vec<String>,
    /// The words, as `access` of other tools takes them
    #[arg(long, value_name = "WORDS", hide = true, conflicts_with = "words")]
    query: Option<String>,
    #[command(flatten)]
    asked: Asked,
    /// Most hits
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Find lines that match a regular expression, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall grep 'E0[0-9]{3}'
  totalrecall grep --kind result --since 7d 'panicked at'
  totalrecall grep --fuzzy 'conection refusd'       lines that are nearly so

Letter case does not count, unless with --case. What is no regular expression is looked for as it stands.")]
pub(super) struct GrepLines {
    /// A regular expression
    pattern: String,
    #[command(flatten)]
    asked: Asked,
    /// Letter case counts
    #[arg(long)]
    case: bool,
    /// Lines that nearly hold the pattern, taken as it stands; with a value, to that degree of 100
    #[arg(long, value_name = "DEGREE", num_args = 0..=1, require_equals = true, default_missing_value = "80", value_parser = clap::value_parser!(u8).range(1..=100))]
    fuzzy: Option<u8>,
    /// Most lines; all are counted
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    limit: u16,
    /// Stop after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    budget: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What happened, newest first: sessions, memories, chunks
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall timeline --project --since 7d
  totalrecall timeline --kind prompt --session s12      what the person said in a session")]
pub(super) struct Timeline {
    #[command(flatten)]
    asked: Asked,
    /// Most moments
    #[arg(long, short = 'n', value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    limit: u16,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Show what a reference such as e12.345 or s12 stands for
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall show e12.345 --context 5
  totalrecall show s12
  totalrecall show 2026-11-30_ledger_001")]
pub(super) struct Show {
    /// References, as `search` and the others give them
    #[arg(required = true, value_name = "REFERENCE")]
    references: Vec<String>,
    /// Steps of the session before and after an event
    #[arg(long, short = 'C', value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(0..=100))]
    context: u16,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Make the indexes of search anew from the database
#[derive(Debug, clap::Args)]
#[command(after_help = "Needed only where `doctor` or a search says so; otherwise the worker keeps them up to date.")]
pub(super) struct Reindex {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Search {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(store) = store(context)? else { return Ok(Outcome::NothingFound) };
        let query = self.query.clone().unwrap_or_else(|| self.words.join(" "));
        let filter = filter(&self.asked, &store, context)?;
        let answer = ask(context, &store, &Request { query, filter, limit: usize::from(self.limit) })?;
        if self.json {
            context.print_json(&answer)?;
        } else {
            context.print_of(&answer, &text::answer(&answer))?;
            tell_of(context, &answer);
        }
        Ok(if answer.hits.is_empty() || answer.confidence == Confidence::Nothing {
            Outcome::NothingFound
        } else {
            Outcome::Done
        })
    }
}

/// Searches, and says what has to be done without.
pub(super) fn ask(context: &Context, store: &Store, request: &Request) -> anyhow::Result<Answer> {
    let model = embedding::in_use(&context.home).unwrap_or_else(|error| {
        ui::warn(&format!("{error}; searching by words alone"));
        None
    });
    let searcher = Searcher::open(&context.home.index(), model)?;
    for trouble in searcher.troubles(store)? {
        ui::warn(&format!("{}; run: totalrecall reindex", clean(&trouble)));
    }
    match searcher.search(store, request, context.now) {
        Err(SearchError::Empty) => Err(Usage(SearchError::Empty.to_string()).into()),
        answer => Ok(answer?),
    }
}

/// Says what there is to say of an answer besides its hits.
pub(super) fn tell_of(context: &Context, answer: &Answer) {
    for note in text::notes(answer) {
        ui::say(&context.shown(&note));
    }
}

impl GrepLines {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        if self.asked.kinds.contains(&Kind::Session) {
            return Err(Usage(
                "grep looks through what was said, remembered and saved; a session has no text of its own: `totalrecall \
                 search --kind session` looks through titles, tags and files"
                    .to_owned(),
            )
            .into());
        }
        let Some(store) = store(context)? else { return Ok(Outcome::NothingFound) };
        let grep = Grep {
            pattern: self.pattern.clone(),
            case: self.case,
            fuzzy: self.fuzzy,
            filter: filter(&self.asked, &store, context)?,
            limit: usize::from(self.limit),
            budget: Duration::from_secs(self.budget),
        };
        let found = grep.run(&store)?;
        if self.json {
            context.print_json(&found)?;
        } else {
            context.print_of(&found, &text::lines(&found))?;
            for note in text::line_notes(&found) {
                ui::say(&context.shown(&note));
            }
        }
        Ok(if found.lines.is_empty() { Outcome::NothingFound } else { Outcome::Done })
    }
}

impl Timeline {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(store) = store(context)? else { return Ok(Outcome::NothingFound) };
        let filter = filter(&self.asked, &store, context)?;
        let (moments, more) = search::timeline(&store, &filter, usize::from(self.limit))?;
        if self.json {
            context.print_json(&serde_json::json!({ "moments": moments, "more": more }))?;
        } else {
            context.print_of(&moments, &text::moments(&moments))?;
            if more > 0 {
                ui::say(&format!("{more} more; --limit {} shows all.", moments.len() + more));
            }
        }
        Ok(if moments.is_empty() { Outcome::NothingFound } else { Outcome::Done })
    }
}

impl Show {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(store) = store(context)? else { return Ok(Outcome::NothingFound) };
        let mut shown = Vec::new();
        for reference in &self.references {
            let reference: Reference =
                reference.parse().map_err(|error: search::ReferenceError| Usage(error.to_string()))?;
            match self.one(&store, &reference)? {
                Some(one) => shown.push(one),
                None => ui::warn(&missing(&store, &reference)?),
            }
        }
        let (values, texts): (Vec<_>, Vec<_>) = shown.into_iter().unzip();
        if self.json {
            context.print_json(&values)?;
        } else {
            context.print_of(&values, &texts.join("\n"))?;
        }
        Ok(if values.is_empty() { Outcome::NothingFound } else { Outcome::Done })
    }

    fn one(&self, store: &Store, reference: &Reference) -> anyhow::Result<Option<(serde_json::Value, String)>> {
        Ok(match reference {
            Reference::Event(event) => search::around(store, *event, usize::from(self.context))?
                .map(|around| anyhow::Ok((serde_json::to_value(&around)?, text::around(&around))))
                .transpose()?,
            Reference::Session(session) => digest::digest(store, *session)?
                .map(|digest| anyhow::Ok((serde_json::to_value(&digest)?, text::digest(&digest))))
                .transpose()?,
            Reference::Memory(name) => store
                .memory(name)?
                .map(|memory| anyhow::Ok((serde_json::to_value(&memory)?, text::memory(&memory))))
                .transpose()?,
            Reference::Chunk(name) => match store.chunk(name)? {
                None => None,
                Some(chunk) => {
                    let content = store.chunk_text(chunk.row)?;
                    let mut json = serde_json::to_value(&chunk)?;
                    json["content"] = content.clone().into();
                    Some((json, text::chunk(&chunk, content.as_deref())))
                }
            },
        })
    }
}

impl Reindex {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        context.stop_on_ctrl_c();
        let mut store = work::open(context)?;
        let Some(_lock) = work::lock(context, false)? else { return Ok(Outcome::Done) };
        // What cannot be made anew stays.
        let model = embedding::in_use(&context.home)?;
        let folder = context.home.index();
        leftovers::remove(&context.home, &mut store)?;
        store.clear_trigrams()?;
        let bar = progress::count_bar(store.last_passage()?.0.cast_unsigned());
        let stop = || context.stop.load(Ordering::Relaxed);
        let renewal = Renewal { folder: &folder, model: model.as_ref(), stop: &stop, beside: false };
        let renewed = renewal.run(&mut store, &mut |done| bar.inc(done));
        bar.finish_and_clear();
        let renewed = renewed?;
        store.finish()?;
        if self.json {
            ui::print_json(&renewed)?;
        } else {
            let passages = ui::counted(renewed.passages, "passage", "passages");
            ui::say(&format!("{passages} indexed by words, {} by meaning", renewed.vectors));
        }
        anyhow::ensure!(!renewed.stopped, "interrupted: the rest is indexed by the next run of the worker");
        Ok(Outcome::Done)
    }
}

/// Why there is nothing to show.
fn missing(store: &Store, reference: &Reference) -> anyhow::Result<String> {
    let away = match reference {
        Reference::Event(event) => search::put_away(store, *event)?,
        _ => None,
    };
    Ok(match away {
        None => format!("there is no {reference} (any more)"),
        Some(Away { session, at, is_purged: true }) => {
            format!("{reference} was thrown away on {} with all that was said in s{}", ui::local_time(at), session.0)
        }
        Some(Away { session, at, is_purged: false }) => format!(
            "{reference} was put away on {} with its session; run: totalrecall restore s{}",
            ui::local_time(at),
            session.0
        ),
    })
}

/// The store, for reading. None: there is none, which has been said.
fn store(context: &Context) -> anyhow::Result<Option<Store>> {
    match Store::open_read_only(context.home.path()) {
        Ok(store) => Ok(Some(store)),
        Err(StoreError::Missing { .. }) => {
            ui::say("Nothing has been read yet. Run: totalrecall reconcile && totalrecall worker");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn filter(asked: &Asked, store: &Store, context: &Context) -> anyhow::Result<search::Filter> {
    match asked.filter(store, &std::env::current_dir()?, context.now) {
        Ok(filter) => Ok(filter),
        Err(AskedError::Store(error)) => Err(error.into()),
        Err(error) => Err(Usage(error.to_string()).into()),
    }
}
