//! `totalrecall forget`: memories and chunks, for good.

use std::{collections::BTreeSet, fmt::Write as _};

use super::{
    Context, Outcome,
    recall::day,
    remember::{self, nothing_yet},
    ui, work,
};
use crate::{
    chunk::Chunk,
    memory::{
        self, Memory,
        recall::searched,
        terms::{fold, terms},
    },
    store::{Origin, Store, StoreError},
};

/// Forget memories and chunks, for good
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall forget 1f3a77c2
  totalrecall forget 2026-11-30_ledger_001
  totalrecall forget --matching 'old vault' --dry-run      what has all of these words
  totalrecall forget --matching 'old vault' --yes

It shows what it would forget, and asks. What is forgotten is overwritten in the database, and search leaves it out; what was
imported is not taken over again. Sessions are not touched.")]
pub(super) struct Forget {
    /// Ids of memories or chunks
    #[arg(value_name = "ID", required_unless_present = "matching")]
    ids: Vec<String>,
    /// Everything that has all of these words, in its text, summary or tags
    #[arg(long, value_name = "WORDS", conflicts_with = "ids")]
    matching: Option<String>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Show what would be forgotten, and forget nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Print JSON; forgets nothing without --yes
    #[arg(long)]
    json: bool,
}

#[derive(Default)]
struct Found {
    memories: Vec<Memory>,
    chunks: Vec<Chunk>,
    unknown: Vec<String>,
}

impl Found {
    fn of_ids(store: &Store, ids: &[String]) -> Result<Self, StoreError> {
        let mut found = Self::default();
        for id in ids.iter().collect::<BTreeSet<_>>() {
            if let Some(memory) = store.memory(id)? {
                found.memories.push(memory);
            } else if let Some(chunk) = store.chunk(id)? {
                found.chunks.push(chunk);
            } else {
                found.unknown.push(id.clone());
            }
        }
        Ok(found)
    }

    fn matching(store: &Store, words: &BTreeSet<String>) -> Result<Self, StoreError> {
        let has_all = |text: &str| words.iter().all(|word| text.contains(word.as_str()));
        let memories = store.memories()?.into_iter().filter(|memory| has_all(&searched(memory))).collect();
        let mut found = Self { memories, ..Self::default() };
        for chunk in store.chunks()? {
            let mut text = format!("{}\n{}\n{}", chunk.id, chunk.summary, chunk.tags.join("\n"));
            text += &store.kept_chunk_text(chunk.row)?.unwrap_or_default();
            for entity in store.marks(Origin::Chunk, chunk.row, "entity")? {
                text += &format!("\n{entity}");
            }
            if has_all(&fold(&text)) {
                found.chunks.push(chunk);
            }
        }
        Ok(found)
    }

    fn count(&self) -> usize {
        self.memories.len() + self.chunks.len()
    }

    fn ids(&self) -> Vec<&str> {
        let memories = self.memories.iter().map(|memory| memory.id.as_str());
        memories.chain(self.chunks.iter().map(|chunk| chunk.id.as_str())).collect()
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for memory in &self.memories {
            let day = day(memory.created_at);
            let _ = writeln!(out, "{}  {day}  {}", memory.id, short(&memory.content));
        }
        for chunk in &self.chunks {
            let archived = if chunk.archived { " (archived)" } else { "" };
            let _ = writeln!(out, "{}  {}{archived}", ui::line(&chunk.id), short(&chunk.summary));
        }
        out
    }
}

/// Characters of a text that tell what it is.
const SHORT: usize = 100;

fn short(text: &str) -> String {
    let line = ui::line(text);
    match line.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

impl Forget {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let store = match Store::open_read_only(context.home.path()) {
            Ok(store) => store,
            Err(StoreError::Missing { .. }) => return Ok(nothing_yet()),
            Err(error) => return Err(error.into()),
        };
        let found = match &self.matching {
            Some(words) => {
                let words = terms(words);
                if words.is_empty() {
                    return Err(super::Usage("there are no words to match: give --matching some".to_owned()).into());
                }
                Found::matching(&store, &words)?
            }
            None => Found::of_ids(&store, &self.ids)?,
        };
        drop(store);
        for id in &found.unknown {
            ui::warn(&format!("there is no memory and no chunk {}", ui::line(id)));
        }
        let count = found.count();
        if count == 0 {
            ui::say("Nothing of that is remembered; nothing was forgotten.");
            return Ok(Outcome::NothingFound);
        }
        let asks = !self.yes && !self.dry_run && !self.json;
        if !self.json {
            context.print_of(&serde_json::json!({ "ids": found.ids() }), &found.text())?;
        }
        let question = format!(
            "Forget {}, for good? [y/N] ",
            if count == 1 { "this".to_owned() } else { format!("these {count}") }
        );
        let goes = self.yes || (asks && ui::ask(&question)?);
        if goes {
            let mut store = work::open(context)?;
            memory::forget(&mut store, found.ids())?;
            remember::follow(context, &store, None);
            work::take_out_of_indexes(context, &mut store);
        }
        if self.json {
            ui::print_json(&serde_json::json!({ "forgotten": goes, "found": found.ids(), "unknown": found.unknown }))?;
        }
        ui::say(&match goes {
            true => format!("{} forgotten.", ui::counted(count as u64, "is", "are")),
            false => "Nothing was forgotten.".to_owned(),
        });
        Ok(Outcome::Done)
    }
}
