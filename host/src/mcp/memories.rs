//! `remember`, `recall`, `forget` and `done`: statements that are kept on purpose.

use std::{fmt::Write as _, path::Path, sync::atomic::AtomicBool};

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    desk::Desk,
    tool::{Answer, Effect, Refusal, Tool},
    words::{Limit, OneOf, Room, Words, counted, line, number, when},
};
use crate::{
    leftovers,
    memory::{
        self, Category, Importance, Memory, NewMemory, Trust,
        recall::{Wanted, is_of, recall},
        stale,
    },
    period,
    project::{self, Project},
    store::{Origin, Store, WorkerLock},
};

/// Most that are given at once.
const MOST: u32 = 500;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Remember {
    /// What is to be remembered, in one or a few sentences that can be understood without this conversation
    content: String,
    /// What sort of statement it is; general unless given
    #[serde(default)]
    category: OneOf<Category>,
    /// How much it matters; medium unless given. Critical ones are told to every session of the project
    #[serde(default)]
    importance: OneOf<Importance>,
    /// Words to find it by, separated by commas
    #[serde(default)]
    tags: Words,
    /// The project it holds in: a folder, or what it is called. Empty: the project of this session; `*`: everywhere
    #[serde(default)]
    project: String,
    /// Field of the project it is about
    #[serde(default)]
    domain: String,
    /// Issue it belongs to
    #[serde(default)]
    ticket: String,
    /// Whose word it is: person if they said it, tool if a tool printed it; agent unless given
    #[serde(default)]
    trust: OneOf<Trust>,
    /// How sure it is, 0 to 1; 1 unless given
    #[serde(default)]
    confidence: Option<f64>,
    /// When it ends to hold: a day (2026-12-31), or after so long (30d, 2w, 6m). Empty: never
    #[serde(default)]
    expires: String,
    /// Ids of memories that it takes the place of, separated by commas
    #[serde(default)]
    supersedes: Words,
    /// The tool's id of the session it was said in; this one, where the client tells
    #[serde(default)]
    session: String,
}

/// What became of it.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Remembered {
    /// Its id, or that of the one that says the same
    id: String,
    /// It was remembered already; nothing was added
    known: bool,
    /// Project it holds in
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// Secrets that were taken out before it was stored
    redacted: u64,
    /// Memories there are now
    total: u64,
    #[serde(skip)]
    paused: Option<String>,
}

impl Tool for Remember {
    const NAME: &'static str = "remember";
    const TITLE: &'static str = "Remember a statement";
    const DESCRIPTION: &'static str = "Keeps one statement for later sessions: a decision and its reason, a fact about the project that took work to find \
        out, what the person wants, what is still to be done. Use it when you learn something that the next session would have to find \
        out again. Not for what stands in the code, nor for long texts (use chunk). Secrets are taken out. Saying the same again adds \
        nothing. Costs some 50 tokens.";
    const EFFECT: Effect = Effect::Adds;
    type Answer = Remembered;

    fn run(self, desk: &Desk) -> Result<Remembered, Refusal> {
        // What cannot be remembered must not make a home.
        let expires_at = match self.expires.trim() {
            "" => None,
            text => Some(period::until(text, desk.now)?),
        };
        let redactor = desk.redactor()?;
        if self.content.trim().is_empty() {
            return Err(memory::MemoryError::Empty.into());
        }
        let mut store = desk.store_to_write()?;
        let project = desk.project_named(&self.project, &store.projects()?)?;
        let session = desk.session(&self.session);
        let word = |text: String| Some(text).filter(|text| !text.trim().is_empty());
        let new = NewMemory {
            content: self.content,
            category: self.category.0.unwrap_or_default(),
            importance: self.importance.0.unwrap_or_default(),
            trust: self.trust.0.unwrap_or_default(),
            confidence: self.confidence,
            tags: self.tags.0,
            project: project.clone(),
            session: session.clone(),
            domain: word(self.domain),
            ticket: word(self.ticket),
            expires_at,
            supersedes: self.supersedes.0,
            ..NewMemory::default()
        };
        let memory::Remembered { id, known, redacted, total } = memory::remember(&mut store, &redactor, new, desk.now)?;
        desk.follow(&store, session.as_deref().filter(|_| !known));
        Ok(Remembered { id, known, project, redacted, total, paused: desk.pause_notice() })
    }
}

impl Answer for Remembered {
    const QUOTES: bool = false;

    fn text(&self) -> String {
        let place =
            self.project.as_ref().map_or_else(|| " everywhere".to_owned(), |project| format!(" in {}", line(project)));
        let total = counted(self.total, "memory", "memories");
        if self.known {
            // Nothing of what was said besides is taken over, a higher importance neither.
            return format!(
                "{} says this already{place}, and stays as it is: `supersedes` puts another in its place. {total} in all.",
                self.id
            );
        }
        format!("Remembered as {}; it holds{place}. {total} in all.", self.id)
    }

    fn notices(&self) -> Vec<String> {
        let redacted = (self.redacted > 0).then(|| {
            format!("{} taken out before it was stored.", counted(self.redacted, "secret was", "secrets were"))
        });
        redacted.into_iter().chain(self.paused.clone()).collect()
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Recall {
    /// Words to look for, in any order, case, and with or without accents; any of them may be there. Empty: everything
    #[serde(default)]
    query: String,
    /// Only of this sort
    #[serde(default)]
    category: OneOf<Category>,
    /// Only what matters so much or more
    #[serde(default)]
    importance: OneOf<Importance>,
    /// At most so many
    #[serde(default = "number::<10>")]
    limit: u32,
    /// Whose memories: empty is this project's and those that hold everywhere; `*` is all; or a folder, or a project's name
    #[serde(default)]
    project: String,
    /// Only with this tag
    #[serde(default)]
    tag: String,
    /// Those that were superseded, have expired or are done, too
    #[serde(default)]
    outdated: bool,
}

/// What is remembered.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Recalled {
    /// They, in their order
    memories: Vec<Told>,
    /// How many there are that answer
    total: u64,
    /// How many more answer in other projects
    elsewhere: u64,
    #[serde(skip)]
    cut: Option<String>,
    /// What of them is shown matters less than some that are not
    #[serde(skip)]
    critical_left_out: usize,
}

/// A memory.
#[derive(Debug, Default, Clone, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Told {
    id: String,
    category: String,
    importance: String,
    /// Whose word it is: person, agent, tool
    trust: String,
    content: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// None: it holds everywhere
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    at: String,
    /// Why it does not hold any more
    #[serde(skip_serializing_if = "Option::is_none")]
    outdated: Option<String>,
}

impl Told {
    pub(super) fn of(memory: &Memory, now: i64) -> Self {
        let outdated = match memory {
            _ if memory.holds(now) => {
                let gone = stale::missing(memory, Path::exists);
                (!gone.is_empty()).then(|| format!("possibly outdated: {} not there any more", gone.join(", ")))
            }
            Memory { superseded_by: Some(other), .. } => Some(format!("superseded by {other}")),
            Memory { superseded_at: Some(at), .. } => Some(format!("superseded {}", when(*at))),
            Memory { done_at: Some(at), .. } => Some(format!("done {}", when(*at))),
            Memory { expires_at, .. } => Some(format!("expired {}", expires_at.map(when).unwrap_or_default())),
        };
        Self {
            id: memory.id.clone(),
            category: memory.category.name().to_owned(),
            importance: memory.importance.name().to_owned(),
            trust: memory.trust.name().to_owned(),
            content: memory.content.clone(),
            tags: memory.tags.clone(),
            project: memory.project.clone(),
            at: when(memory.created_at),
            outdated,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("{} {}, {}, {}", self.id, self.category, self.importance, self.at);
        if self.trust != Trust::Agent.name() {
            let _ = write!(text, ", said by {}", self.trust);
        }
        if let Some(outdated) = &self.outdated {
            let _ = write!(text, ", {outdated}");
        }
        if !self.tags.is_empty() {
            let _ = write!(text, " [{}]", self.tags.join(", "));
        }
        let _ = write!(text, "\n   {}", self.content.replace('\n', "\n   "));
        text
    }
}

impl Tool for Recall {
    const NAME: &'static str = "recall";
    const TITLE: &'static str = "Recall what was remembered";
    const DESCRIPTION: &'static str = "What was remembered on purpose: decisions, facts, preferences, findings, todos of this project and those that hold everywhere. \
        Use it at the beginning of a task, and before deciding something that may have been decided. Without a query, what matters most \
        comes first, then what is newest. Costs some 40 tokens for each memory. For what was only said in sessions, use search.";
    const EFFECT: Effect = Effect::Reads;
    type Answer = Recalled;

    fn run(self, desk: &Desk) -> Result<Recalled, Refusal> {
        let store = desk.store()?;
        let place = self.place(desk, &store)?;
        let holds = |memory: &Memory| match (&place, &memory.project) {
            (None, _) | (_, None) => true,
            (Some(place), Some(filed)) => is_of(filed, place),
        };
        let wanted = Wanted {
            words: &self.query,
            category: self.category.0,
            importance: self.importance.0,
            tag: Some(self.tag.trim()).filter(|tag| !tag.is_empty()),
            all: self.outdated,
            limit: usize::MAX,
            ..Wanted::default()
        };
        let found =
            recall(store.memories()?, &wanted, desk.now, |_| Vec::new()).memories.into_iter().map(|hit| hit.memory);
        let (mut found, elsewhere): (Vec<_>, Vec<_>) = found.partition(holds);
        let total = found.len() as u64;
        let (mut room, limit) = (Room::default(), Limit { asked: self.limit, most: MOST });
        let memories = found.iter().map(|memory| Told::of(memory, desk.now));
        let memories = room.first(memories, limit.count(), Told::text);
        let left_out = found.split_off(memories.len());
        if !self.query.trim().is_empty() {
            desk.note(&found.iter().map(|memory| (Origin::Memory, memory.row)).collect::<Vec<_>>());
        }
        Ok(Recalled {
            cut: limit.cut(&room, memories.len(), total, "memories"),
            memories,
            total,
            elsewhere: elsewhere.len() as u64,
            critical_left_out: left_out.iter().filter(|it| it.importance == Importance::Critical).count(),
        })
    }
}

impl Recall {
    /// The project that a memory must hold in. None: any.
    fn place(&self, desk: &Desk, store: &Store) -> Result<Option<Project>, Refusal> {
        let asked = match self.project.trim() {
            "*" => return Ok(None),
            "" | "." => None,
            named => Some(named),
        };
        Ok(Some(project::meant(asked, &desk.here, &store.projects()?)?))
    }
}

impl Answer for Recalled {
    fn text(&self) -> String {
        let mut text = String::new();
        for (number, memory) in self.memories.iter().enumerate() {
            let _ = writeln!(text, "{}. {}", number + 1, memory.text());
        }
        text
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if self.memories.is_empty() {
            notices.push("Nothing that is remembered answers this; `search` looks in what was said.".to_owned());
        }
        notices.extend(self.cut.clone());
        if self.critical_left_out > 0 {
            notices.push(format!("Among those that are not are {} critical ones.", self.critical_left_out));
        }
        if self.elsewhere > 0 {
            notices.push(format!("{} more in other projects: project `*` shows them.", self.elsewhere));
        }
        notices
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Forget {
    /// Id of a memory, as `recall` tells it, or of a chunk, as `list_chunks` does
    memory_id: String,
}

/// Whether it was there.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Changed {
    id: String,
    /// What became of it
    outcome: String,
}

impl Answer for Changed {
    const QUOTES: bool = false;

    fn text(&self) -> String {
        format!("{} is {}.", self.id, self.outcome)
    }
}

impl Tool for Forget {
    const NAME: &'static str = "forget";
    const TITLE: &'static str = "Forget a memory or a chunk for good";
    const DESCRIPTION: &'static str = "Takes one memory or one chunk away for good; what it said is overwritten. Use it when the person asks for it, or when a memory is \
        wrong and nothing takes its place. If something else holds now, use remember with `supersedes`; if a todo is done, use done: then it can still be looked up.";
    const EFFECT: Effect = Effect::Removes;
    const OTHER_NAMES: &'static [(&'static str, &'static str)] =
        &[("insight_id", "memory_id"), ("chunk_id", "memory_id"), ("id", "memory_id")];
    type Answer = Changed;

    fn run(self, desk: &Desk) -> Result<Changed, Refusal> {
        let id = self.memory_id.trim().to_owned();
        let unknown = || {
            Refusal::new(
                format!("there is no memory and no chunk `{}`", line(&id)),
                "`recall` and `list_chunks` tell their ids.",
            )
        };
        // What is not there is no reason to make a home.
        let store = desk.store()?;
        if store.memory(&id)?.is_none() && store.chunk(&id)?.is_none() {
            return Err(unknown());
        }
        // A reader would keep the log from being emptied.
        drop(store);
        let mut store = desk.store_to_write()?;
        if memory::forget(&mut store, [id.as_str()])?.is_empty() {
            return Err(unknown());
        }
        // Where a worker is at it, or this fails, the next worker does it.
        if let Ok(_lock) = WorkerLock::take(desk.home.path()) {
            let _ = leftovers::take_out(&desk.home, &mut store, &AtomicBool::new(false));
        }
        desk.follow(&store, None);
        Ok(Changed { id, outcome: "forgotten".to_owned() })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Done {
    /// Id of the todo, as `recall` tells it
    memory_id: String,
}

impl Tool for Done {
    const NAME: &'static str = "done";
    const TITLE: &'static str = "Note that a todo is done";
    const DESCRIPTION: &'static str = "Notes of a memory of the category todo that it is done: it is told to nobody any more, and can still be looked up \
        (recall with `outdated`).";
    const EFFECT: Effect = Effect::Adds;
    const OTHER_NAMES: &'static [(&'static str, &'static str)] = &[("insight_id", "memory_id"), ("id", "memory_id")];
    type Answer = Changed;

    fn run(self, desk: &Desk) -> Result<Changed, Refusal> {
        let id = self.memory_id.trim().to_owned();
        if desk.store()?.memory(&id)?.is_none() {
            return Err(Refusal::new(format!("there is no memory `{}`", line(&id)), "`recall` tells their ids."));
        }
        let mut store = desk.store_to_write()?;
        if store.set_done(&id, desk.now)? {
            desk.follow(&store, None);
            Ok(Changed { id, outcome: "done".to_owned() })
        } else {
            Err(Refusal::new(
                format!("{id} is no todo"),
                "Only todos are done; `remember` with `supersedes` replaces other memories.",
            ))
        }
    }
}
