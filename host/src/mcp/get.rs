//! `get`: all of what a reference stands for.

use std::fmt::Write as _;

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    desk::Desk,
    memories,
    search::Place,
    sessions::text_of,
    tool::{Answer, Effect, Refusal, Tool},
    words::{Room, Words, line, when},
};
use crate::{
    chunk::tokens,
    digest::digest,
    search::{Away, Reference, Step, around, put_away},
    store::{Origin, Store},
};

/// Most references at once.
const MOST: usize = 20;
/// Most steps before and after each.
const NEIGHBOURS: u32 = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Get {
    /// One or several references, separated by commas: e12.345 (something that was said), s12 (a session), 1f3a77c2 (a memory), 2026-11-30_name_001 (a chunk)
    ids: Words,
    /// So many steps before and after what was said, in short
    #[serde(default)]
    neighbours: u32,
    /// The character to begin with, to go on in a text that was too long; for one reference
    #[serde(default)]
    from: u32,
}

/// All of it.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Got {
    items: Vec<Item>,
    /// References to what is not there, or not any more
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
    /// Why they are not, where it is known.
    #[serde(skip)]
    away: Vec<String>,
}

/// One of them.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Item {
    id: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(flatten)]
    place: Place,
    /// Transcript and line
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// Tokens of the whole text
    tokens: u64,
    text: String,
    /// The text goes on there: ask for it with `from`
    #[serde(skip_serializing_if = "Option::is_none")]
    goes_on_at: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<Near>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<Near>,
    /// It is put away: its text is not found by searching
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    archived: bool,
    /// Steps around it that there was no room for
    #[serde(skip)]
    near_left_out: usize,
}

/// Something that was said near it, in short.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Near {
    id: String,
    kind: String,
    text: String,
}

impl Near {
    fn of(step: &Step) -> Self {
        Self { id: step.said.id.to_string(), kind: step.kind.name().to_owned(), text: step.said.text.clone() }
    }

    fn text(&self) -> String {
        format!("{} {}: {}", self.id, self.kind, self.text)
    }
}

impl Item {
    /// What stands above its text.
    fn heading(&self) -> String {
        let at = self.at.as_deref().map(|at| format!(" {at}")).unwrap_or_default();
        let mut text = format!("== {} {}{at}{} ({} tokens)", self.id, self.kind, self.place.text(), self.tokens);
        if let Some(source) = &self.source {
            let _ = write!(text, "\n   {source}");
        }
        text
    }

    /// Cuts its text to what there is room for.
    fn fit(&mut self, from: usize, room: &mut Room) {
        self.tokens = tokens(&self.text);
        room.spend(&self.heading());
        let (shown, next) = room.part(&self.text, from);
        (self.text, self.goes_on_at) = (shown.to_owned(), next);
    }

    /// Leaves of what stands around it what there is room for, the nearest first.
    fn fit_near(&mut self, room: &mut Room) {
        let all = self.before.len() + self.after.len();
        self.after = room.first(std::mem::take(&mut self.after), usize::MAX, Near::text);
        self.before.reverse();
        self.before = room.first(std::mem::take(&mut self.before), usize::MAX, Near::text);
        self.before.reverse();
        self.near_left_out = all - self.before.len() - self.after.len();
    }
}

impl Tool for Get {
    const NAME: &'static str = "get";
    const TITLE: &'static str = "Read what was found";
    const DESCRIPTION: &'static str = "The whole text behind references that other tools have answered with, and on request what stands around it. Use it after search, \
        grep or timeline, for the one or two hits that matter: `tokens` there says what it costs. At most some 6,000 tokens at once; a \
        longer text is cut, and says where it goes on.";
    const EFFECT: Effect = Effect::Reads;
    const OTHER_NAMES: &'static [(&'static str, &'static str)] = &[("id", "ids"), ("neighbors", "neighbours")];
    type Answer = Got;

    fn run(self, desk: &Desk) -> Result<Got, Refusal> {
        if self.ids.is_empty() || self.ids.0.len() > MOST {
            let count = self.ids.0.len();
            return Err(Refusal::new(
                format!("get takes 1 to {MOST} references, not {count}"),
                "search answers with some.",
            ));
        }
        let references = self.ids.0.iter().map(|id| id.parse()).collect::<Result<Vec<Reference>, _>>()?;
        let store = desk.store()?;
        let from = if references.len() == 1 { self.from as usize } else { 0 };
        let redactor = desk.redactor()?;
        let (mut got, mut room, mut looked_at) = (Got::default(), Room::default(), Vec::new());
        for id in &references {
            let Some(found) = read(&store, id, self.neighbours.min(NEIGHBOURS) as usize, desk.now)? else {
                got.away.extend(away(&store, id)?);
                got.missing.push(id.to_string());
                continue;
            };
            looked_at.extend(found.kept);
            let mut item = found.item;
            // Before it is cut: a key has several lines, and none of them alone is one.
            item.text = redactor.redact(&item.text).into_owned();
            item.fit(from, &mut room);
            got.items.push(item);
        }
        // What was asked for comes before what stands around it.
        got.items.iter_mut().for_each(|item| item.fit_near(&mut room));
        if got.items.is_empty() {
            let missing = got.missing.join(", ");
            let hint = if got.away.is_empty() {
                "References stand in what `search`, `grep`, `timeline`, `recall` and `sessions` answer.".to_owned()
            } else {
                got.away.join(" ")
            };
            return Err(Refusal::new(format!("there is nothing, or nothing any more, behind {missing}"), hint));
        }
        desk.note(&looked_at);
        Ok(got)
    }
}

/// Why there is nothing behind a reference, where it is known.
fn away(store: &Store, id: &Reference) -> Result<Option<String>, Refusal> {
    let Reference::Event(event) = id else { return Ok(None) };
    Ok(put_away(store, *event)?.map(|Away { session, is_purged, .. }| match is_purged {
        true => format!("What was said in s{} was thrown away.", session.0),
        false => format!("{id} was archived with its session: `restore` with s{} brings it back.", session.0),
    }))
}

/// What was read, and what that is a look at.
struct Read {
    item: Item,
    kept: Option<(Origin, i64)>,
}

fn read(store: &Store, id: &Reference, steps: usize, now: i64) -> Result<Option<Read>, Refusal> {
    let item = Item { id: id.to_string(), ..Item::default() };
    Ok(match id {
        Reference::Event(event) => around(store, *event, steps)?.map(|found| Read {
            item: Item {
                kind: found.kind.name().to_owned(),
                at: found.at.map(when),
                place: Place::of(&found.source),
                source: found
                    .source
                    .path
                    .as_ref()
                    .map(|path| format!("{path}:{}", found.source.line.unwrap_or_default())),
                text: found.text,
                before: found.before.iter().map(Near::of).collect(),
                after: found.after.iter().map(Near::of).collect(),
                ..item
            },
            kept: None,
        }),
        Reference::Session(session) => digest(store, *session)?.map(|digest| Read {
            item: Item {
                kind: "session".to_owned(),
                at: digest.ended_at.map(when),
                source: digest.path.clone(),
                text: text_of(&digest),
                ..item
            },
            kept: Some((Origin::Session, session.0)),
        }),
        Reference::Memory(name) => store.memory(name)?.map(|memory| Read {
            item: Item {
                kind: "memory".to_owned(),
                at: Some(when(memory.created_at)),
                text: memories::Told::of(&memory, now).text(),
                ..item
            },
            kept: Some((Origin::Memory, memory.row)),
        }),
        Reference::Chunk(name) => match store.chunk(name)? {
            None => None,
            Some(chunk) => Some(Read {
                item: Item {
                    kind: "chunk".to_owned(),
                    at: Some(when(chunk.created_at)),
                    text: super::chunks::text_of(store, &chunk)?,
                    archived: chunk.archived,
                    ..item
                },
                kept: Some((Origin::Chunk, chunk.row)),
            }),
        },
    })
}

impl Answer for Got {
    fn text(&self) -> String {
        let mut text = String::new();
        for item in &self.items {
            let _ = writeln!(text, "{}", item.heading());
            for near in &item.before {
                let _ = writeln!(text, " < {}", near.text());
            }
            let _ = writeln!(text, "{}", item.text);
            for near in &item.after {
                let _ = writeln!(text, " > {}", near.text());
            }
        }
        text
    }

    fn notices(&self) -> Vec<String> {
        let cut = self.items.iter().filter_map(|item| {
            let next = item.goes_on_at?;
            let all = item.tokens;
            Some(format!("{} is cut; it has {all} tokens: get it alone with from {next} for the rest.", item.id))
        });
        let missing = (!self.missing.is_empty()).then(|| format!("Not there: {}.", line(&self.missing.join(", "))));
        let archived = self.items.iter().filter(|item| item.archived).map(|item| super::chunks::archived(&item.id));
        let near: Vec<&Item> = self.items.iter().filter(|item| item.near_left_out > 0).collect();
        let near = (!near.is_empty()).then(|| {
            let count: usize = near.iter().map(|item| item.near_left_out).sum();
            let around = near.iter().map(|item| item.id.as_str()).collect::<Vec<_>>().join(", ");
            format!("There was no room for {count} more steps around {around}: get fewer at once.")
        });
        cut.chain(near).chain(archived).chain(missing).chain(self.away.iter().cloned()).collect()
    }
}
