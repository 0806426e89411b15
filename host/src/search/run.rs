//! The way from a query to its hits.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    panic,
    path::Path,
    sync::OnceLock,
    thread,
};

use totalrecall_retrieval::{
    CANDIDATES, Scored,
    embed::Model,
    filter::{Filter as Admitted, Kinds},
    fuse::{self, Legs, Parts, Ranked},
    vectors::{Vectors, VectorsError},
    words::{self, Matcher, Plan, Query, WordIndex, scan},
};

use super::{
    Answer, Archived, Filter, Hit, Reference, Request, Source, excerpt::excerpt, hit::outdated, reader::Reader,
    tail::Tail,
};
use crate::{
    digest::short,
    index::{self, Folders},
    store::{Store, StoreError},
};

/// Passages with all words of a phrase that are looked at for whether these stand in its order, the best first: it takes some 20 µs
/// each.
const PHRASES: usize = 4_000;
/// Longest title of something archived, in characters.
const TITLE: usize = 160;
/// Passages that are read for each hit that is wanted: others may say the same, or be newer.
const FOLDED: usize = 3;
/// Passages that are read, at least.
const READ: usize = 15;

/// A search could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// There is nothing to search for.
    #[error("there is nothing to search for: give some words")]
    Empty,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An index of words failed while it was read.
    #[error("an index could not be read: {0}")]
    Words(#[from] words::Error),
}

impl SearchError {
    /// What the person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Empty => None,
            Self::Store(error) => error.hint(),
            Self::Words(_) => Some("Run `totalrecall reindex` to make the indexes anew."),
        }
    }
}

/// The indexes, open. Opening takes a millisecond; what is committed later is not seen.
pub struct Searcher {
    words: WordIndex,
    groups: WordIndex,
    vectors: Option<Vectors>,
    model: Option<Model>,
    /// An index that is missing or cannot be used, and why.
    troubles: Vec<String>,
    /// In place of an index of words that was made from another store.
    nothing: OnceLock<WordIndex>,
}

/// The indexes, as far as they were made from the store that is searched.
struct Indexes<'s> {
    words: &'s WordIndex,
    groups: &'s WordIndex,
    vectors: Option<&'s Vectors>,
    /// Those that were not, as sentences.
    foreign: Vec<String>,
}

impl Searcher {
    /// Opens the indexes in a folder. Without one, its part is left out of every search.
    ///
    /// # Errors
    /// None that can be expected.
    pub fn open(folder: &Path, model: Option<Model>) -> Result<Self, SearchError> {
        let folders = Folders::of(folder);
        let mut troubles = Vec::new();
        let mut open = |folder: &Path| match WordIndex::open(folder) {
            Err(words::Error::Missing) => Ok(WordIndex::empty()?),
            Err(error) => {
                troubles.push(error.to_string());
                Ok::<_, SearchError>(WordIndex::empty()?)
            }
            Ok(index) => Ok(index),
        };
        let (words, groups) = (open(&folders.words)?, open(&folders.groups)?);
        let vectors = match (&model, Vectors::open(&folders.vectors)) {
            // Vectors of two models cannot be compared; the next renewal makes them anew.
            (Some(model), Ok(vectors)) => Some(vectors).filter(|vectors| vectors.model() == model.id()),
            (None, _) | (_, Err(VectorsError::Absent(_))) => None,
            (_, Err(error)) => {
                troubles.push(error.to_string());
                None
            }
        };
        Ok(Self { words, groups, vectors, model, troubles, nothing: OnceLock::new() })
    }

    /// Indexes that cannot be used, as sentences.
    ///
    /// # Errors
    /// Those of the store.
    pub fn troubles(&self, store: &Store) -> Result<Vec<String>, SearchError> {
        Ok([self.troubles.clone(), self.of(store)?.foreign].concat())
    }

    fn of(&self, store: &Store) -> Result<Indexes<'_>, SearchError> {
        let mut foreign = Vec::new();
        let mut is_ours = |name, covered| -> Result<bool, StoreError> {
            let is_ours = index::is_sealed(store, name, covered)?;
            if !is_ours {
                foreign.push(format!("the index of {name} is of another database, or of one that was there before"));
            }
            Ok(is_ours)
        };
        let words = is_ours(index::WORDS, self.words.covered())?.then_some(&self.words);
        let groups = is_ours(index::GROUPS, self.groups.covered())?.then_some(&self.groups);
        let vectors = match &self.vectors {
            Some(vectors) => is_ours(index::VECTORS, vectors.covered())?.then_some(vectors),
            None => None,
        };
        let or_nothing = |index: Option<_>| index.map_or_else(|| self.nothing(), Ok);
        Ok(Indexes { words: or_nothing(words)?, groups: or_nothing(groups)?, vectors, foreign })
    }

    fn nothing(&self) -> Result<&WordIndex, SearchError> {
        if let Some(nothing) = self.nothing.get() {
            return Ok(nothing);
        }
        let nothing = WordIndex::empty()?;
        Ok(self.nothing.get_or_init(|| nothing))
    }

    /// Searches.
    ///
    /// # Errors
    /// See [`SearchError`].
    pub fn search(&self, store: &Store, request: &Request, now: i64) -> Result<Answer, SearchError> {
        let query = Query::parse(&request.query);
        if query.is_empty() {
            return Err(SearchError::Empty);
        }
        let mut answer = Answer { meaning: 1.0, ..Answer::default() };
        let _snapshot = store.snapshot()?;
        let Some(admitted) = admitted(store, &request.filter)? else { return Ok(answer) };
        let indexes = self.of(store)?;
        let tail = Tail::read(store, indexes.words.covered())?;
        answer.unindexed = tail.unread;
        let mut plan = indexes.words.plan(&query)?;
        plan.settle(tail.texts());
        answer.corrected = plan.corrections().map(|(word, term)| (word.to_owned(), term.to_owned())).collect();
        answer.cut_prefixes = plan.cut_prefixes().map(str::to_owned).collect();
        let reader = Reader::of(store);
        let mut matcher = plan.matcher();
        let vector = self.model.as_ref().and_then(|model| model.embed(&request.query));
        let most = request.limit.max(CANDIDATES);
        let wholes_and_meanings = || {
            let near = indexes.vectors.zip(vector.as_deref());
            let dense = near.map(|(vectors, vector)| vectors.search(vector, most, &admitted));
            Ok::<_, SearchError>((groups(indexes.groups, &query, &admitted, &tail)?, dense.unwrap_or_default()))
        };
        let mut passages = || {
            let (mut passages, looked_at) = indexes.passages(&plan, &query, &admitted, &reader, most)?;
            merge(&mut passages, scan(&plan, tail.documents(), &admitted, most), most);
            let evidence = reader.evidence(&mut matcher, &passages)?;
            Ok::<_, SearchError>((passages, looked_at, evidence))
        };
        let (passages, others) = thread::scope(|scope| {
            // The store is read by one thread alone.
            let beside = thread::Builder::new().spawn_scoped(scope, wholes_and_meanings);
            let passages = passages();
            let others = match beside {
                Ok(beside) => beside.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
                // A system that is short of threads is no reason to find nothing.
                Err(_) => wholes_and_meanings(),
            };
            (passages, others)
        });
        let (passages, looked_at, evidence) = passages?;
        let (groups, mut dense) = others?;
        answer.phrases_looked_up = looked_at;
        // What neither the vectors have nor the tail.
        let mut without_meaning = tail.from.saturating_sub(indexes.vectors.map_or(0, |it| it.covered().passages));
        if let (Some(model), Some(vector)) = (&self.model, &vector) {
            let (found, left_out) = tail.by_meaning(model, vector, &admitted);
            merge(&mut dense, found, most);
            without_meaning += left_out;
        } else if self.model.is_none() {
            without_meaning = tail.last;
        }
        answer.meaning = 1.0 - without_meaning as f32 / tail.last.max(1) as f32;
        let by_words: HashSet<u64> = passages.iter().map(|found| found.id).collect();
        dense.retain(|found| found.score >= evidence.near() || by_words.contains(&found.id));
        if query.has_phrases() {
            // What was asked for in these words is not answered in others.
            dense = reader.those_that_hold(dense, &query, most)?;
        }
        answer.is_more = passages.len() >= most;
        answer.confidence = evidence.confidence().into();
        let weights = evidence.weights();
        let legs = Legs { sessions: &groups, passages: &passages, dense: &dense };
        let mut ranked = fuse::passages(&legs, &weights);
        // Those that have no chance are not even read.
        ranked.truncate(most);
        hits(&reader, request, &mut matcher, ranked, &weights, now, &mut answer)?;
        Ok(answer)
    }

    /// Passages of the store that the words do not cover yet.
    ///
    /// # Errors
    /// Those of the store.
    pub fn behind(&self, store: &Store) -> Result<u64, SearchError> {
        Ok(store.last_passage()?.0.cast_unsigned().saturating_sub(self.of(store)?.words.covered().passages))
    }

    /// Share of passages that have a vector where they should, 0 to 1.
    ///
    /// # Errors
    /// Those of the store.
    pub fn coverage(&self, store: &Store) -> Result<f32, SearchError> {
        let all = store.last_passage()?.0;
        let covered = self.of(store)?.vectors.map_or(0, |vectors| vectors.covered().passages.cast_signed());
        Ok(if all == 0 { 1.0 } else { (covered as f32 / all as f32).min(1.0) })
    }
}

impl Indexes<'_> {
    /// The best passages by their words; and, if there may be more that hold the phrases of the query, how many were looked at.
    fn passages(
        &self,
        plan: &Plan,
        query: &Query,
        admitted: &Admitted,
        reader: &Reader<'_>,
        most: usize,
    ) -> Result<(Vec<Scored>, Option<usize>), SearchError> {
        if !query.has_phrases() {
            return Ok((self.words.search(plan, admitted, most)?, None));
        }
        let found = self.words.search(plan, admitted, PHRASES.max(most))?;
        let looked_at = found.len();
        let held = reader.those_that_hold(found, query, most)?;
        // Where there are enough there are simply more.
        let is_cut = looked_at >= PHRASES && held.len() < most;
        Ok((held, is_cut.then_some(looked_at)))
    }
}

/// Sessions, memories and chunks by all that they say.
fn groups(index: &WordIndex, query: &Query, admitted: &Admitted, tail: &Tail) -> Result<Vec<Scored>, SearchError> {
    let mut plan = index.plan(query)?;
    plan.settle(tail.texts());
    // A session is found by what it says whenever and in whatever way that was said.
    let of_groups = Admitted { kinds: None, from: None, until: None, ..admitted.clone() };
    let mut groups = index.search(&plan, &of_groups, CANDIDATES)?;
    merge(&mut groups, scan(&plan, tail.groups(), &of_groups, CANDIDATES), CANDIDATES);
    Ok(groups)
}

/// The best of what is ranked, as hits.
fn hits(
    reader: &Reader<'_>,
    request: &Request,
    matcher: &mut Matcher<'_>,
    mut ranked: Vec<Ranked>,
    weights: &Parts,
    now: i64,
    answer: &mut Answer,
) -> Result<(), SearchError> {
    let store = reader.store;
    let mut read = HashMap::new();
    let mut gone = 0;
    let enough = request.limit.saturating_mul(FOLDED).max(READ);
    for found in &ranked {
        if read.len() >= enough {
            break;
        }
        match reader.passage(found.id)? {
            Some(passage) => drop(read.insert(found.id, passage)),
            None => gone += 1,
        }
    }
    // Those that are not read are counted as they are.
    answer.total = ranked.len() - gone - read.len();
    ranked.retain(|found| read.contains_key(&found.id));
    let age = |found: &Ranked| Some(now - read.get(&found.id)?.at?);
    fuse::prefer_recent(&mut ranked, weights, age);
    let texts: Vec<&str> = ranked.iter().filter_map(|found| Some(read.get(&found.id)?.text.as_str())).collect();
    let same_as = fuse::alike(&texts);
    let mut places: HashMap<usize, usize> = HashMap::new();
    for (place, found) in ranked.iter().enumerate() {
        if let Some(first) = same_as.get(place).copied().flatten() {
            if let Some(hit) = places.get(&first).and_then(|at| answer.hits.get_mut(*at)) {
                hit.similar += 1;
            }
            continue;
        }
        answer.total += 1;
        let Some(passage) = read.get(&found.id).filter(|_| answer.hits.len() < request.limit) else { continue };
        let Some(id) = Reference::of(store, passage)? else { continue };
        places.insert(place, answer.hits.len());
        if is_archived(store, &id)? {
            let title = short(passage.text.lines().next().unwrap_or_default(), TITLE);
            answer.archived.push(Archived { id: id.clone(), title });
        }
        answer.hits.push(Hit {
            id,
            kind: passage.kind,
            score: found.score,
            at: passage.at,
            source: Source::of(store, passage)?,
            excerpt: excerpt(matcher, &passage.text),
            why: found.why(matcher, &passage.text),
            similar: 0,
            outdated: outdated(store, passage, now)?,
        });
    }
    Ok(())
}

/// Was it put away, so that it was found by its title, its marks and its summary alone?
fn is_archived(store: &Store, id: &Reference) -> Result<bool, StoreError> {
    Ok(match id {
        Reference::Session(session) => store.session(*session)?.is_some_and(|session| session.archived_at.is_some()),
        Reference::Chunk(name) => store.chunk(name)?.is_some_and(|chunk| chunk.archived),
        Reference::Event(_) | Reference::Memory(_) => false,
    })
}

/// What the indexes may give. None: nothing can be found.
fn admitted(store: &Store, filter: &Filter) -> Result<Option<Admitted>, StoreError> {
    // Of these the memories that do not hold are left out already.
    let sessions = if filter.is_about_groups() { store.groups(filter)? } else { None };
    if sessions.as_ref().is_some_and(BTreeSet::is_empty) {
        return Ok(None);
    }
    let without = if sessions.is_none() { store.outdated(filter)? } else { BTreeSet::new() };
    let kinds: Kinds = filter.kinds.iter().map(|kind| *kind as u8).collect();
    Ok(Some(Admitted {
        sessions: sessions.map(HashSet::from_iter),
        without: HashSet::from_iter(without),
        kinds: (!filter.kinds.is_empty()).then_some(kinds),
        from: filter.since,
        until: filter.until,
    }))
}

/// Puts two lists together, best first, at most so many.
fn merge(into: &mut Vec<Scored>, other: Vec<Scored>, most: usize) {
    if !other.is_empty() {
        into.extend(other);
        into.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
        into.truncate(most);
    }
}
