//! Memories and chunks of other programs on their way into the store. What cannot be taken over is told with its place, and
//! costs nothing else; all the rest is kept as a whole or not at all.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{ImportError, Matter};
use crate::{
    chunk::{self, NewChunk, Prepared},
    event::is_plausible,
    memory::{self, NewMemory, TAG_LIMIT, TAGS},
    redact::{self, Redactor},
    store::{Origin, Store, StoreError, Taken},
};

/// Most bytes of all texts together. A store of ten years of daily use has some ten megabytes.
const ALL: usize = 512 << 20;

/// Something to be taken over.
#[derive(Debug)]
pub(super) struct Entry {
    /// Where it was found, for a person.
    pub(super) place: String,
    /// The program, and its name there: told by this, it is taken over once. See [`Entries::named_by_folder`].
    pub(super) origin: String,
    pub(super) thing: Thing,
    /// Its id there, and what became of it, where that program tells.
    pub(super) id: String,
    pub(super) done_at: Option<i64>,
    pub(super) superseded: Option<(Option<String>, i64)>,
    /// How often it was looked at, and when last.
    pub(super) looks: (u64, Option<i64>),
}

#[derive(Debug)]
pub(super) enum Thing {
    Memory(NewMemory),
    Chunk(NewChunk),
}

impl Thing {
    /// Of what it says, and where that holds. `secrets` knows no `[privacy]`, which changes while what is said there does not.
    fn hash(&self, secrets: &Redactor) -> String {
        let without = |text: &str| secrets.kept(text, &mut redact::Counts::default());
        match self {
            Self::Memory(new) => {
                let project = new.project.as_deref().unwrap_or_default();
                chunk::hash(&format!("{project}\n{}", without(new.content.trim())))
            }
            Self::Chunk(new) => chunk::hash(&without(&new.content)),
        }
    }
}

/// What was read of another program.
#[derive(Debug)]
pub struct Entries {
    folder: String,
    /// Another folder may give the same ids to other things, so what an entry says is part of what it is told by.
    is_named_by_folder: bool,
    entries: Vec<Entry>,
    bytes: usize,
    skipped: Vec<Matter>,
    notes: Vec<Matter>,
}

impl Entries {
    /// Of a program whose ids are the same thing wherever they stand.
    pub(super) fn new(folder: String) -> Self {
        Self {
            folder,
            is_named_by_folder: false,
            entries: Vec::new(),
            bytes: 0,
            skipped: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Of a program that counts anew in every folder.
    pub(super) fn named_by_folder(folder: String) -> Self {
        Self { is_named_by_folder: true, ..Self::new(folder) }
    }

    /// Something that cannot be taken over.
    pub(super) fn skip(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.skipped.push(Matter { what: what.into(), why: why.into() });
    }

    /// Something that a person should know.
    pub(super) fn note(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.notes.push(Matter { what: what.into(), why: why.into() });
    }

    /// Adds a memory; one that is too long for that becomes a chunk.
    pub(super) fn memory(&mut self, place: String, origin: String, id: &str, mut new: NewMemory) -> Option<&mut Entry> {
        if new.content.len() > memory::CONTENT_LIMIT {
            self.note(
                &*place,
                format!("it is longer than a memory may be ({} bytes), so it is a chunk", new.content.len()),
            );
            let NewMemory { content, tags, project, session, domain, ticket, created_at, .. } = new;
            let chunk = NewChunk { content, tags, project, session, domain, ticket, created_at, ..NewChunk::default() };
            return self.chunk(place, origin, id, chunk);
        }
        self.fit(&place, &mut new.tags, [&mut new.domain, &mut new.ticket], &mut new.project, &mut new.created_at);
        if new.expires_at.is_some_and(|end| !is_plausible(end)) {
            new.expires_at = None;
        }
        new.confidence = new.confidence.filter(|confidence| (0.0..=1.0).contains(confidence));
        let bytes = new.content.len();
        self.push(place, origin, id, Thing::Memory(new), bytes)
    }

    /// Adds a chunk; one that is too long becomes several.
    pub(super) fn chunk(&mut self, place: String, origin: String, id: &str, mut new: NewChunk) -> Option<&mut Entry> {
        self.fit(&place, &mut new.tags, [&mut new.domain, &mut new.ticket], &mut new.project, &mut new.created_at);
        if new.content.len() > chunk::CONTENT_LIMIT {
            let whole = std::mem::take(&mut new.content);
            let parts = parts(&whole);
            self.note(&*place, format!("it is longer than a chunk may be, so it is {} chunks", parts.len()));
            for (number, part) in (1..).zip(&parts) {
                let summary = format!("{} (part {number} of {})", new.summary, parts.len());
                let origin = format!("{origin}#{number}");
                let new = NewChunk { content: (*part).to_owned(), summary: summary.trim().to_owned(), ..new.clone() };
                self.push(format!("{place} (part {number})"), origin, id, Thing::Chunk(new), part.len());
            }
            return self.entries.last_mut();
        }
        let bytes = new.content.len();
        self.push(place, origin, id, Thing::Chunk(new), bytes)
    }

    fn push(&mut self, place: String, origin: String, id: &str, thing: Thing, bytes: usize) -> Option<&mut Entry> {
        if self.bytes + bytes > ALL {
            self.skip(place, format!("more than {} MiB of text are not taken over at once", ALL >> 20));
            return None;
        }
        self.bytes += bytes;
        let id = id.to_owned();
        self.entries.push(Entry { place, origin, thing, id, done_at: None, superseded: None, looks: (0, None) });
        self.entries.last_mut()
    }

    /// Leaves out what is no tag, no time, no project, and says so.
    fn fit(
        &mut self,
        place: &str,
        tags: &mut Vec<String>,
        words: [&mut Option<String>; 2],
        project: &mut Option<String>,
        at: &mut Option<i64>,
    ) {
        let is_tag = |tag: &str| !tag.is_empty() && tag.len() <= TAG_LIMIT && !tag.contains(char::is_control);
        let given: Vec<String> = tags
            .iter()
            .flat_map(|tag| tag.split(','))
            .map(|tag| tag.trim().to_owned())
            .filter(|tag| !tag.is_empty())
            .collect();
        let mut known = BTreeSet::new();
        let kept: Vec<String> =
            given.iter().filter(|tag| is_tag(tag) && known.insert(tag.as_str())).take(TAGS).cloned().collect();
        if given.iter().collect::<BTreeSet<_>>().len() > kept.len() {
            self.note(place, "it keeps only those of its tags that are no longer than tags here may be");
        }
        *tags = kept;
        for word in words {
            *word = word.take().map(|word| word.trim().replace(',', " ")).filter(|word| !word.is_empty());
            if word.as_deref().is_some_and(|word| !is_tag(word)) {
                *word = None;
                self.note(place, "its domain or ticket is left out: it is too long, or has control characters");
            }
        }
        let is_project =
            |name: &str| !name.trim().is_empty() && name.len() <= 1_000 && !name.contains(char::is_control);
        *project = project.take().filter(|name| is_project(name));
        if at.is_some_and(|at| !is_plausible(at)) {
            *at = None;
            self.note(place, "it has a time that is none; it counts as of today");
        }
    }

    /// Takes all of it over.
    ///
    /// # Errors
    /// Those of the store; nothing was kept then.
    pub fn run(self, store: &mut Store, redactor: &Redactor, now: i64) -> Result<Kept, ImportError> {
        store.all_or_nothing(|store| {
            let plan = Plan::new(self, Some(store), redactor, now)?;
            Ok(plan.carry_out(store, now)?)
        })
    }

    /// What [`Entries::run`] would do. No store: there is none yet.
    ///
    /// # Errors
    /// Those of the store.
    pub fn rehearse(self, store: Option<&Store>, redactor: &Redactor, now: i64) -> Result<Kept, ImportError> {
        Ok(Plan::new(self, store, redactor, now)?.report)
    }
}

/// Parts of a text that are no longer than a chunk, cut at ends of lines where there are any.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while rest.len() > chunk::CONTENT_LIMIT {
        let most = rest.floor_char_boundary(chunk::CONTENT_LIMIT);
        let cut = rest[..most].rfind('\n').map_or(most, |end| end + 1);
        let (part, after) = rest.split_at(cut);
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// What was taken over, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Where it was.
    pub folder: String,
    /// Its memories.
    pub memories: Counts,
    /// Its chunks.
    pub chunks: Counts,
    /// Secrets that were taken out of them.
    pub redacted: u64,
    /// What a person should know of single things that were taken over.
    pub notes: Vec<Matter>,
    /// What could not be taken over.
    pub skipped: Vec<Matter>,
}

/// Numbers of things that were taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All that there are.
    pub found: usize,
    /// Those that were not known here.
    pub new: usize,
    /// Those that were taken over before and have changed there since.
    pub changed: usize,
    /// Those that are here already.
    pub known: usize,
    /// Those that were taken over before, and that a person has forgotten since. They stay forgotten.
    pub forgotten: usize,
}

/// What says the same as an entry.
enum Twin {
    /// What has this name here.
    Here(String),
    /// Another entry, which is told by this.
    Entry(String),
}

/// What is to be done with each.
enum Act {
    Remember(Box<NewMemory>),
    Save(Box<Prepared>),
    /// Save it in place of the chunk of this name.
    Replace(String, Box<Prepared>),
}

impl Act {
    fn set_origin(&mut self, origin: &str) {
        *match self {
            Self::Remember(new) => &mut new.origin,
            Self::Save(prepared) | Self::Replace(_, prepared) => &mut prepared.new.origin,
        } = Some(origin.to_owned());
    }
}

struct Plan {
    acts: Vec<(Entry, Act)>,
    /// Names here of entries that are here already, by their ids there.
    names: BTreeMap<String, String>,
    /// By what entries are told that something else says, and that.
    twins: Vec<(String, Twin)>,
    report: Kept,
}

impl Plan {
    fn new(read: Entries, store: Option<&Store>, redactor: &Redactor, now: i64) -> Result<Self, StoreError> {
        let taken = store.map_or_else(|| Ok(BTreeMap::new()), Store::taken)?;
        let mut report = Kept { folder: read.folder, notes: read.notes, skipped: read.skipped, ..Kept::default() };
        let secrets = Redactor::new(&redact::Settings::default());
        let (mut acts, mut names, mut twins) = (Vec::new(), BTreeMap::new(), Vec::new());
        let (mut seen, mut gone, mut replaced) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        for mut entry in read.entries {
            if read.is_named_by_folder {
                entry.origin = format!("{} {}", entry.origin, entry.thing.hash(&secrets));
            }
            let (prepared, is_memory) = match &mut entry.thing {
                Thing::Memory(new) => (prepare_memory(redactor, std::mem::take(new)), true),
                Thing::Chunk(new) => (prepare_chunk(redactor, std::mem::take(new)), false),
            };
            let (mut act, redacted) = match prepared {
                Ok(prepared) => prepared,
                Err(why) => {
                    report.skipped.push(Matter { what: entry.place, why });
                    continue;
                }
            };
            let counts = if is_memory { &mut report.memories } else { &mut report.chunks };
            counts.found += 1;
            act.set_origin(&entry.origin);
            // What something else takes the place of says nothing any more.
            let stays = |name: &String| !replaced.contains(name);
            let here = here(store, &act, &entry, now)?.filter(stays);
            let taken = taken.get(&entry.origin).filter(|it| !matches!(it, Taken::Twin(name, _) if !stays(name)));
            // One that is told by its text, too, is another once that has changed.
            let has_changed = !read.is_named_by_folder && here.is_none() && has_changed(store, taken, &act, redactor)?;
            let act = match (taken, act) {
                (Some(Taken::Forgotten), act) => {
                    gone.insert(same(&act));
                    counts.forgotten += 1;
                    continue;
                }
                (Some(Taken::Chunk(name, _)), Act::Save(prepared)) if has_changed => {
                    counts.changed += 1;
                    replaced.insert(name.clone());
                    Act::Replace(name.clone(), prepared)
                }
                (Some(Taken::Memory(name) | Taken::Chunk(name, _) | Taken::Twin(name, _)), _) if !has_changed => {
                    counts.known += 1;
                    names.insert(entry.id, name.clone());
                    continue;
                }
                (_, act) => {
                    let same = same(&act);
                    let twin = here.map(Twin::Here).or_else(|| seen.get(&same).cloned().map(Twin::Entry));
                    if let Some(twin) = twin {
                        counts.known += 1;
                        if let Twin::Here(name) = &twin {
                            names.insert(entry.id, name.clone());
                        }
                        twins.push((entry.origin, twin));
                        continue;
                    }
                    if gone.contains(&same) {
                        counts.forgotten += 1;
                        continue;
                    }
                    counts.new += 1;
                    seen.insert(same, entry.origin.clone());
                    act
                }
            };
            report.redacted += redacted;
            acts.push((entry, act));
        }
        Ok(Self { acts, names, twins, report })
    }

    fn carry_out(self, store: &mut Store, now: i64) -> Result<Kept, StoreError> {
        let Self { acts, mut names, twins, mut report } = self;
        let (mut done, mut superseded, mut kept) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (entry, act) in acts {
            let name = match act {
                Act::Remember(new) => match store.add_memory(&new, now) {
                    Ok((name, _)) => name,
                    Err(memory::MemoryError::Store(error)) => return Err(error),
                    Err(error) => {
                        report.skipped.push(Matter { what: entry.place, why: error.to_string() });
                        continue;
                    }
                },
                Act::Save(prepared) => save(store, &entry, &prepared, now)?,
                Act::Replace(old, prepared) => {
                    store.replace_chunk(&old)?;
                    save(store, &entry, &prepared, now)?
                }
            };
            done.extend(entry.done_at.map(|at| (name.clone(), at)));
            superseded.extend(entry.superseded.map(|(by, at)| (name.clone(), by, at)));
            kept.insert(entry.origin, name.clone());
            names.insert(entry.id, name);
        }
        for (origin, twin) in twins {
            let name = match &twin {
                Twin::Here(name) => Some(name),
                Twin::Entry(other) => kept.get(other).filter(|_| *other != origin),
            };
            if let Some(name) = name {
                store.put_twin(&origin, name)?;
            }
        }
        for (name, at) in done {
            store.set_done(&name, at)?;
        }
        for (name, by, at) in superseded {
            let by = by.and_then(|by| names.get(&by).cloned()).unwrap_or_default();
            store.set_superseded(&name, &by, at)?;
        }
        Ok(report)
    }
}

fn save(store: &mut Store, entry: &Entry, prepared: &Prepared, now: i64) -> Result<String, StoreError> {
    /// Looks beyond this many tell nothing more.
    const LOOKS: u64 = 10;
    let (chunk, _) = store.add_chunk(prepared, now)?;
    let (looks, at) = entry.looks;
    let at = at.filter(|at| is_plausible(*at) && *at <= now).unwrap_or(chunk.created_at);
    for _ in 0..looks.min(LOOKS) {
        store.note_access(Origin::Chunk, chunk.row, at)?;
    }
    Ok(chunk.id)
}

fn prepare_memory(redactor: &Redactor, new: NewMemory) -> Result<(Act, u64), String> {
    let (new, redacted) = memory::prepare(redactor, new).map_err(|error| error.to_string())?;
    Ok((Act::Remember(Box::new(new)), redacted))
}

fn prepare_chunk(redactor: &Redactor, new: NewChunk) -> Result<(Act, u64), String> {
    let (prepared, redacted) = chunk::prepare(redactor, new).map_err(|error| error.to_string())?;
    Ok((Act::Save(Box::new(prepared)), redacted))
}

/// What is here and says the same, by its name.
fn here(store: Option<&Store>, act: &Act, entry: &Entry, now: i64) -> Result<Option<String>, StoreError> {
    let Some(store) = store else { return Ok(None) };
    match act {
        Act::Remember(new) => {
            // One that does not hold any more is the same under its own name only.
            let named = store.memory(&entry.id)?.filter(|memory| memory.content == new.content);
            match named {
                Some(memory) => Ok(Some(memory.id)),
                None => store.says(&new.content, new.project.as_deref(), now),
            }
        }
        Act::Save(prepared) | Act::Replace(_, prepared) => store.chunk_of_hash(&prepared.hash),
    }
}

/// Is what it was taken over as another text than it has there now? What `[privacy]` takes out of that today makes it no other.
fn has_changed(
    store: Option<&Store>,
    taken: Option<&Taken>,
    act: &Act,
    redactor: &Redactor,
) -> Result<bool, StoreError> {
    let (Some(store), Some(Taken::Chunk(name, hash) | Taken::Twin(name, hash)), Act::Save(prepared)) =
        (store, taken, act)
    else {
        return Ok(false);
    };
    if *hash == prepared.hash {
        return Ok(false);
    }
    let Some(chunk) = store.chunk(name)? else { return Ok(true) };
    let text = store.kept_chunk_text(chunk.row)?;
    Ok(text.is_none_or(|text| chunk::hash(&redactor.redact(&text)) != prepared.hash))
}

/// Two of the same import that have this in common say the same.
fn same(act: &Act) -> (String, Option<String>) {
    match act {
        Act::Remember(new) => (new.content.clone(), new.project.clone()),
        Act::Save(prepared) | Act::Replace(_, prepared) => (prepared.hash.clone(), None),
    }
}
