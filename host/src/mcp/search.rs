//! `search`: what was said, found by words and by meaning.

use std::fmt::Write as _;

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    about::About,
    desk::Desk,
    tool::{Answer, Effect, Refusal, Tool},
    words::{Limit, Room, cut, line, number, when, yes},
};
use crate::{
    chunk::tokens,
    digest::digest,
    passage::Kind,
    search::{self, Hit, Reference, Request, Source},
    store::{Origin, Store, StoreError},
};

/// Most hits of one search.
const MOST: u32 = 50;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Search {
    /// Words of which any may be there, "phrases in quotes" that must be, and prefixes*
    query: String,
    /// At most so many hits
    #[serde(default = "number::<5>")]
    limit: u32,
    /// Memories, too
    #[serde(default = "yes")]
    include_insights: bool,
    /// Memories that were superseded, have expired or are done, too
    #[serde(default)]
    outdated: bool,
    #[serde(flatten)]
    about: About,
}

/// What was found.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Found {
    /// The best, best first
    hits: Vec<Told>,
    /// How many are relevant in all, as far as was looked
    total: u64,
    /// Nothing of it is about what was asked
    nothing_relevant: bool,
    /// What was put away and is about it
    #[serde(skip_serializing_if = "Vec::is_empty")]
    archived: Vec<Archived>,
    #[serde(skip)]
    notices: Vec<String>,
}

/// A hit.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Told {
    /// For get: e12.345, s12, a memory or a chunk
    id: String,
    /// prompt, reply, reasoning, call, result, memory, chunk, session
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(flatten)]
    place: Place,
    /// The part that was found
    excerpt: String,
    /// What getting all of it costs
    tokens: u64,
    /// Others that say nearly the same and are left out
    #[serde(skip_serializing_if = "is_zero")]
    similar: usize,
    /// Why it does not hold any more
    #[serde(skip_serializing_if = "Option::is_none")]
    outdated: Option<String>,
    /// 1 is the best there can be
    score: f32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes what it has")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Where something was said.
#[derive(Debug, Default, Clone, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Place {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    /// Title of the session
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
}

impl Place {
    pub(super) fn of(source: &Source) -> Self {
        Self {
            session: source.session.as_ref().map(ToString::to_string),
            tool: source.tool.clone(),
            title: source.title.as_deref().map(line),
            project: source.project.clone(),
        }
    }

    /// ` claude-code s12 "Title" /project`, each where it is known.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for part in [&self.tool, &self.session].into_iter().flatten() {
            let _ = write!(text, " {part}");
        }
        if let Some(title) = &self.title {
            let _ = write!(text, " \"{title}\"");
        }
        if let Some(project) = &self.project {
            let _ = write!(text, " {project}");
        }
        text
    }
}

/// Something that was put away.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Archived {
    id: String,
    title: String,
}

impl Tool for Search {
    const NAME: &'static str = "search";
    const TITLE: &'static str = "Search earlier sessions";
    const DESCRIPTION: &'static str = "Searches everything that was said and done in earlier sessions of all coding agents here, and what was saved: by words and by \
        meaning, in any language, typing errors forgiven. Use it before working something out that may have been worked out: an error \
        seen before, why something is as it is, where something was left. Answers with short excerpts, some 100 tokens each; `get` with \
        the ids gives the whole, and `tokens` says what that costs. Says so when nothing is relevant. For exact text use grep.";
    const EFFECT: Effect = Effect::Reads;
    type Answer = Found;

    fn run(self, desk: &Desk) -> Result<Found, Refusal> {
        let store = desk.store()?;
        let mut filter = self.about.filter(&store, desk)?;
        if self.outdated {
            filter.holding_at = None;
        }
        if !self.include_insights {
            let all = if filter.kinds.is_empty() { Kind::ALL.to_vec() } else { filter.kinds };
            filter.kinds = all.into_iter().filter(|kind| *kind != Kind::Memory).collect();
            // No kind would mean all of them.
            if filter.kinds.is_empty() {
                return Err(Refusal::new(
                    "`kinds` asks for memories only, and `include_insights` leaves them out",
                    "Leave one of the two out.",
                ));
            }
        }
        let limit = Limit { asked: self.limit, most: MOST }.count();
        let (answer, troubles) = desk.search(&store, &Request { query: self.query, filter, limit })?;
        let hits = answer.hits.iter().map(|hit| told(&store, hit)).collect::<Result<Vec<_>, _>>()?;
        let hits = Room::default().first(hits, limit, Told::text);
        let found = Found {
            total: answer.total as u64,
            nothing_relevant: is_beside_the_point(&answer),
            notices: troubles.into_iter().chain(notices(&answer, hits.len())).collect(),
            archived: answer
                .archived
                .iter()
                .map(|it| Archived { id: it.id.to_string(), title: line(&it.title) })
                .collect(),
            hits,
        };
        let looked_at = answer.hits.iter().filter_map(|hit| kept(&store, &hit.id));
        desk.note(&looked_at.collect::<Vec<_>>());
        Ok(found)
    }
}

/// What a reference is to whoever counts looks: memories and chunks, which are put away when nobody looks at them.
fn kept(store: &Store, id: &Reference) -> Option<(Origin, i64)> {
    match id {
        Reference::Memory(name) => Some((Origin::Memory, store.memory(name).ok()??.row)),
        Reference::Chunk(name) => Some((Origin::Chunk, store.chunk(name).ok()??.row)),
        Reference::Event(_) | Reference::Session(_) => None,
    }
}

fn told(store: &Store, hit: &Hit) -> Result<Told, StoreError> {
    Ok(Told {
        id: hit.id.to_string(),
        kind: hit.kind.name().to_owned(),
        at: hit.at.map(when),
        place: Place::of(&hit.source),
        excerpt: hit.excerpt.clone(),
        tokens: cost(store, &hit.id)?,
        similar: hit.similar,
        outdated: hit.outdated.map(str::to_owned),
        score: (hit.score * 1000.0).round() / 1000.0,
    })
}

/// Tokens of the whole.
fn cost(store: &Store, id: &Reference) -> Result<u64, StoreError> {
    Ok(match id {
        Reference::Event(event) => store.event_text(*event)?.map_or(0, |text| tokens(&text)),
        Reference::Memory(name) => store.memory(name)?.map_or(0, |memory| tokens(&memory.content)),
        Reference::Chunk(name) => store.chunk(name)?.map_or(0, |chunk| chunk.tokens),
        Reference::Session(session) => {
            digest(store, *session)?.map_or(0, |digest| tokens(&super::sessions::text_of(&digest)))
        }
    })
}

/// Nothing of what was found answers what was asked.
fn is_beside_the_point(answer: &search::Answer) -> bool {
    answer.confidence == search::Confidence::Nothing
}

fn notices(answer: &search::Answer, shown: usize) -> Vec<String> {
    let mut notices = Vec::new();
    let more = if answer.is_more { " or more" } else { "" };
    let counted = format!("hits{more}");
    if answer.hits.is_empty() {
        notices.push("Nothing was found.".to_owned());
    } else if is_beside_the_point(answer) {
        notices.push(
            "Nothing relevant was found; the hits below hold some of the words and are about something else."
                .to_owned(),
        );
    }
    notices.extend(cut(shown, answer.total as u64, &counted, "a higher limit or narrower filters show others"));
    for (word, used) in &answer.corrected {
        notices.push(format!("Nothing holds `{}`; looked for `{}`.", line(word), line(used)));
    }
    if !answer.archived.is_empty() {
        notices.push(format!(
            "{} archived, listed below.",
            super::words::counted(answer.archived.len() as u64, "match is", "matches are")
        ));
    }
    for prefix in &answer.cut_prefixes {
        notices.push(format!("Many words begin with `{}`; only the most frequent were looked for.", line(prefix)));
    }
    if let Some(looked_at) = answer.phrases_looked_up {
        notices.push(format!(
            "Only the best {looked_at} passages with the words of the phrase were looked at for it: grep looks at all."
        ));
    }
    if answer.meaning < 0.995 {
        notices.push(format!(
            "Only {:.0}% of what is stored could be found by its meaning, the rest by its words: `totalrecall worker` does it.",
            answer.meaning * 100.0
        ));
    }
    if answer.unindexed > 0 {
        notices.push(format!(
            "{} newer passages are not indexed yet and were not searched: `totalrecall worker` does it.",
            answer.unindexed
        ));
    }
    notices
}

impl Told {
    fn text(&self) -> String {
        let mut text = format!("{} {}", self.id, self.kind);
        if let Some(at) = &self.at {
            let _ = write!(text, " {at}");
        }
        let _ = write!(text, "{} ({} tokens)", self.place.text(), self.tokens);
        if self.similar > 0 {
            let _ = write!(text, ", {} more say nearly the same", self.similar);
        }
        if let Some(outdated) = &self.outdated {
            let _ = write!(text, ", {outdated}");
        }
        let _ = write!(text, "\n   {}", line(&self.excerpt));
        text
    }
}

impl Answer for Found {
    fn text(&self) -> String {
        let mut text = String::new();
        for (number, hit) in self.hits.iter().enumerate() {
            let _ = writeln!(text, "{}. {}", number + 1, hit.text());
        }
        for archived in &self.archived {
            let _ = writeln!(text, "archived: {} {}", archived.id, archived.title);
        }
        text
    }

    fn notices(&self) -> Vec<String> {
        self.notices.clone()
    }
}
