//! The way from a query to its hits.

use std::{
    cell::{OnceCell, RefCell},
    collections::{HashMap, HashSet},
    path::Path,
};

use totalrecall_retrieval::{
    Scored,
    embed::Model,
    filter::{Filter as Admitted, Kinds},
    fuse::{self, Evidence, Legs, Parts, Ranked},
    vectors::{Vectors, VectorsError},
    words::{self, Document, Plan, Query, Scorer, WordIndex, scan},
};

use super::{Answer, Archived, Filter, Hit, Reference, Request, Source, excerpt::excerpt, hit::outdated};
use crate::{
    digest::short,
    index::{Folders, document, has_meaning},
    passage::{Group, Kind, Passage},
    store::{PassageId, Store, StoreError},
};

/// Passages that are taken from each ranking before they are put together, at least.
const CANDIDATES: usize = 300;
/// Passages that no index has yet and that are looked through all the same, the newest ones.
const TAIL: usize = 4_000;
/// Of these, those that are compared by their meaning: it takes some 50 µs each.
const TAIL_MEANT: usize = 400;
/// Cosine from which on a passage is found by its meaning alone. Of the built-in model: texts about different things have .15
/// at most, the same said in other words .3 to .7.
const NEAR: f32 = 0.3;
/// Longest title of something archived, in characters.
const TITLE: usize = 160;
/// Passages that are read for each hit that is wanted: others may say the same, or be newer.
const FOLDED: usize = 3;
/// Passages that are read together with their neighbours.
const READ: usize = 50;
/// Passages that are asked how much of the query they have.
const ASKED: usize = 10;

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

/// The indexes, open. Opening takes a millisecond; what is committed later is seen after [`Searcher::reload`].
pub struct Searcher {
    words: WordIndex,
    groups: WordIndex,
    vectors: Option<Vectors>,
    model: Option<Model>,
    /// An index that is missing or cannot be used, and why.
    troubles: Vec<String>,
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
        Ok(Self { words, groups, vectors, model, troubles })
    }

    /// Indexes that cannot be used, as sentences.
    pub fn troubles(&self) -> &[String] {
        &self.troubles
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
        let mut answer = Answer::default();
        let Some(admitted) = admitted(store, &request.filter)? else { return Ok(answer) };
        let plan = self.words.plan(&query)?;
        answer.corrected = corrections(&plan);
        let texts = Texts::of(store);
        let tail = Tail::read(store, &self.words, &mut answer)?;
        let vector = OnceCell::new();
        let vector =
            || vector.get_or_init(|| self.model.as_ref().and_then(|model| model.embed(&request.query))).as_deref();

        let most = request.limit.max(CANDIDATES);
        let mut passages = self.words.search_verified(&plan, &admitted, most, |id| {
            !query.has_phrases() || texts.text(id).is_some_and(|text| query.holds(&text))
        })?;
        merge(&mut passages, scan(&plan, tail.documents(), &admitted, most), most);
        let groups = self.groups(&query, &admitted, &tail)?;
        let mut dense = match (&self.vectors, vector()) {
            (Some(vectors), Some(vector)) => vectors.search(vector, most, &admitted),
            _ => Vec::new(),
        };
        if let (Some(model), Some(vector)) = (&self.model, vector()) {
            merge(&mut dense, tail.by_meaning(model, vector, &admitted), most);
        }
        // Something is always nearest, though it is not near.
        let by_words: HashSet<u64> = passages.iter().map(|found| found.id).collect();
        dense.retain(|found| found.score >= NEAR || by_words.contains(&found.id));
        if query.has_phrases() {
            // What was asked for in these words is not answered in others.
            dense.retain(|found| texts.text(found.id).is_some_and(|text| query.holds(&text)));
        }
        answer.meaning = self.coverage(store)?;
        answer.is_more = passages.len() >= most;
        let (contexts, evidence) = in_context(store, &plan, &passages)?;
        answer.confidence = evidence.confidence().into();
        let weights = evidence.weights();
        let legs = Legs { sessions: &groups, passages: &passages, contexts: &contexts, dense: &dense };
        let mut ranked = fuse::passages(&legs, &weights);
        // Those that have no chance are not even read.
        ranked.truncate(most);
        self.hits(store, request, &plan, ranked, &weights, now, &mut answer)?;
        Ok(answer)
    }

    /// Sessions, memories and chunks by all that they say.
    fn groups(&self, query: &Query, admitted: &Admitted, tail: &Tail) -> Result<Vec<Scored>, SearchError> {
        let plan = self.groups.plan(query)?;
        // A session is found by what it says whenever and in whatever way that was said.
        let of_groups = Admitted { sessions: admitted.sessions.clone(), ..Admitted::default() };
        let mut groups = self.groups.search(&plan, &of_groups, CANDIDATES)?;
        merge(&mut groups, scan(&plan, tail.groups(), &of_groups, CANDIDATES), CANDIDATES);
        Ok(groups)
    }

    /// Passages of the store that the words do not cover yet.
    ///
    /// # Errors
    /// Those of the store.
    pub fn behind(&self, store: &Store) -> Result<u64, SearchError> {
        Ok(store.last_passage()?.0.cast_unsigned().saturating_sub(self.words.covered().passages))
    }

    /// Share of passages that have a vector where they should, 0 to 1.
    ///
    /// # Errors
    /// Those of the store.
    pub fn coverage(&self, store: &Store) -> Result<f32, SearchError> {
        let all = store.last_passage()?.0;
        let covered = self.vectors.as_ref().map_or(0, |vectors| vectors.covered().passages.cast_signed());
        Ok(if all == 0 { 1.0 } else { (covered as f32 / all as f32).min(1.0) })
    }

    #[expect(clippy::too_many_arguments, reason = "it is the last step of the one above")]
    fn hits(
        &self,
        store: &Store,
        request: &Request,
        plan: &Plan,
        mut ranked: Vec<Ranked>,
        weights: &Parts,
        now: i64,
        answer: &mut Answer,
    ) -> Result<(), SearchError> {
        let mut read = HashMap::new();
        let mut gone = 0;
        let enough = request.limit.saturating_mul(FOLDED).max(READ);
        for found in &ranked {
            if read.len() >= enough {
                break;
            }
            let passage = store.passage(PassageId(found.id.cast_signed()))?;
            let outdated = passage.as_ref().map(|it| outdated(store, it, &request.filter, now)).transpose()?;
            match passage.zip(outdated.and_then(Result::ok)) {
                Some(it) => drop(read.insert(found.id, it)),
                None => gone += 1,
            }
        }
        // Those that are not read are counted as they are.
        answer.total = ranked.len() - gone - read.len();
        ranked.retain(|found| read.contains_key(&found.id));
        let age = |found: &Ranked| Some(now - read.get(&found.id)?.0.at?);
        fuse::prefer_recent(&mut ranked, weights, age);
        let texts: Vec<&str> =
            ranked.iter().filter_map(|found| read.get(&found.id)).map(|(passage, _)| passage.text.as_str()).collect();
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
            let Some((passage, outdated)) = read.get(&found.id).filter(|_| answer.hits.len() < request.limit) else {
                continue;
            };
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
                excerpt: excerpt(plan, &passage.text),
                why: found.why(plan, &passage.text),
                similar: 0,
                outdated: *outdated,
            });
        }
        Ok(())
    }
}

/// Reads the best passages with what stands before and after them. Gives their scores so, and what speaks for there being an
/// answer.
fn in_context(store: &Store, plan: &Plan, passages: &[Scored]) -> Result<(Vec<Scored>, Evidence), StoreError> {
    let mut scorer = Scorer::new(plan);
    let mut evidence = Evidence { share: 0.0, unspaced: plan.unspaced() };
    let mut contexts = Vec::new();
    for (place, found) in passages.iter().take(READ).enumerate() {
        let around = store.passage_in_context(PassageId(found.id.cast_signed()))?;
        let texts: Vec<&str> = around.iter().map(String::as_str).collect();
        contexts.push(Scored { score: scorer.score(&texts), ..*found });
        if place < ASKED {
            evidence.share = evidence.share.max(plan.matched(&texts.join("\n")).share);
        }
    }
    contexts.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok((contexts, evidence))
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
    let sessions: Option<HashSet<u64>> = store.groups(filter)?.map(|groups| groups.into_iter().collect());
    if sessions.as_ref().is_some_and(HashSet::is_empty) {
        return Ok(None);
    }
    let kinds: Kinds = filter.kinds.iter().map(|kind| *kind as u8).collect();
    let kinds = (!filter.kinds.is_empty()).then_some(kinds);
    Ok(Some(Admitted { sessions, kinds, from: filter.since, until: filter.until }))
}

fn corrections(plan: &Plan) -> Vec<(String, String)> {
    plan.corrections().map(|(word, term)| (word.to_owned(), term.to_owned())).collect()
}

/// Puts two lists together, best first, at most so many.
fn merge(into: &mut Vec<Scored>, other: Vec<Scored>, most: usize) {
    if !other.is_empty() {
        into.extend(other);
        into.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
        into.truncate(most);
    }
}

/// Texts of passages, read when they are asked for.
struct Texts<'s> {
    store: &'s Store,
    known: RefCell<HashMap<u64, Option<String>>>,
}

impl<'s> Texts<'s> {
    fn of(store: &'s Store) -> Self {
        Self { store, known: RefCell::default() }
    }

    /// The text of a passage. None: it is gone, or cannot be read; then it is not found.
    fn text(&self, id: u64) -> Option<String> {
        let read = || self.store.passage(PassageId(id.cast_signed())).ok().flatten().map(|passage| passage.text);
        self.known.borrow_mut().entry(id).or_insert_with(read).clone()
    }
}

/// Passages that are newer than the indexes.
struct Tail {
    passages: Vec<Passage>,
}

impl Tail {
    fn read(store: &Store, words: &WordIndex, answer: &mut Answer) -> Result<Self, SearchError> {
        let covered = words.covered().passages.cast_signed();
        let last = store.last_passage()?.0;
        // Most of these numbers may be gone or of events that are not found; they are bounded, not counted.
        let from = covered.max(last - TAIL as i64);
        answer.unindexed = (from - covered).cast_unsigned();
        let mut passages = Vec::new();
        let mut after = PassageId(from);
        while after.0 < last {
            let spans = store.spans_after(after, 256)?;
            let Some(end) = spans.last() else { break };
            after = PassageId(end.first.0 + end.count - 1);
            for span in spans {
                store.read_span::<StoreError>(span, &mut |passage| {
                    passages.push(passage);
                    Ok(())
                })?;
            }
        }
        Ok(Self { passages })
    }

    fn documents(&self) -> impl Iterator<Item = Document<'_>> {
        self.passages.iter().map(document)
    }

    /// Memories and chunks as wholes, roughly: by their parts.
    fn groups(&self) -> impl Iterator<Item = Document<'_>> {
        let is_whole = |passage: &&Passage| matches!(passage.kind, Kind::Memory | Kind::Chunk | Kind::Session);
        self.passages.iter().filter(is_whole).map(document)
    }

    fn by_meaning(&self, model: &Model, query: &[f32], admitted: &Admitted) -> Vec<Scored> {
        let meant = self.passages.iter().rev().filter(|passage| has_meaning(passage.kind));
        meant
            .take(TAIL_MEANT)
            .filter(|passage| admitted.admits(passage.group.map_or(0, Group::number), passage.kind as u8, passage.at))
            .filter_map(|passage| {
                let vector = model.embed(&passage.text)?;
                let score = vector.iter().zip(query).map(|(a, b)| a * b).sum();
                let Document { id, session, .. } = document(passage);
                Some(Scored { id, session, score })
            })
            .collect()
    }
}
