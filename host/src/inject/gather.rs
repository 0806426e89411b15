//! What is worth telling in a project, and how much.
//!
//! Ranks: a critical memory comes before everything (100 and more, by whose word it is), then the latest session (88), what was decided
//! and is to be done (48 to 90, by importance, whose word it is, and age), rules that do not work (70), sessions of which nothing
//! was saved (64), earlier sessions, and hints. After a compaction, what stood in the conversation comes before the sessions (92 to 98).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{
    item::{Item, PATH, Section, day, moment, outdated, said, speaker},
    place,
};
use crate::{
    config::Config,
    fence::named,
    finding::Finding,
    memory::{Category, Importance, Memory, Trust},
    proposal::{Proposal, Status},
    search::Reference,
    store::{SessionId, SessionRow, Store, StoreError},
    unsaved::{self, Unsaved},
    verdict::{Advice, Outcome, Unit, Verdict},
};

/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;

/// Days after which newness counts half, and what it counts at most.
const HALF_LIFE: f64 = 30.0;
const NEWEST: f64 = 10.0;

/// Sessions that are told.
const SESSIONS: usize = 3;
/// Unsaved sessions that are told one by one.
const UNSAVED: usize = 3;
/// Things that went wrong in a session.
const TROUBLES: usize = 2;
/// Files that are named of a session.
const FILES: usize = 4;
/// Latest prompts that are told of a conversation that was compacted.
const ASKED: usize = 4;

/// Characters of a memory, of a prompt, and of an error or a title.
const STATEMENT: usize = 320;
const PROMPT: usize = 160;
const SHORT: usize = 120;

/// The agent's own memory, which Claude Code keeps beside the transcripts of a project.
const OWN_MEMORY: &str = "%/.claude/projects/%/memory/%";

/// A memory that holds, and the place of its project; none: it holds everywhere, or nobody can tell which project is meant.
pub(super) struct Held {
    memory: Memory,
    pub(super) place: Option<String>,
}

/// A rule in force, and the places of the projects that it is for; none: all.
struct Ruled {
    verdict: Verdict,
    places: Option<BTreeSet<String>>,
}

/// What is read once for all projects.
pub(super) struct Known<'a> {
    store: &'a Store,
    now: i64,
    pub(super) memories: Vec<Held>,
    rules: Vec<Ruled>,
    unsaved: Vec<Unsaved>,
    /// Sessions that wrote to the agent's own memory.
    own_memory: BTreeSet<SessionId>,
}

impl<'a> Known<'a> {
    pub(super) fn read(store: &'a Store, config: &Config, verdicts: &[Verdict], now: i64) -> Result<Self, StoreError> {
        let memories = store.memories()?.into_iter().filter(|memory| memory.holds(now));
        let held = |memory: Memory| {
            let place = memory.project.as_deref().filter(|it| is_folder(it)).map(place);
            Held { memory, place }
        };
        let proposals = store.proposals()?;
        Ok(Self {
            store,
            now,
            memories: memories.map(held).collect(),
            rules: verdicts.iter().filter_map(|verdict| ruled(verdict, &proposals)).collect(),
            unsaved: unsaved::list(store, &config.unsaved, None, now)?,
            own_memory: store.changed_like(OWN_MEMORY)?.into_iter().collect(),
        })
    }

    /// Looks for the places of projects that are called by their names alone, as other programs do.
    pub(super) fn find_places(&mut self, find: impl Fn(&str) -> Option<String>) {
        for held in &mut self.memories {
            if let (None, Some(name)) = (&held.place, &held.memory.project) {
                held.place = find(name);
            }
        }
    }

    /// What is told where there is nothing of a project: critical memories that hold everywhere.
    pub(super) fn everywhere(&self) -> Vec<Item> {
        let critical = |it: &&Held| it.memory.project.is_none() && it.memory.importance == Importance::Critical;
        self.memories.iter().filter(critical).map(|it| self.memory(&it.memory)).collect()
    }

    /// What could be told in a project, whose sessions are given with the newest first.
    pub(super) fn items(&self, place: &str, sessions: &[SessionRow]) -> Result<Vec<Item>, StoreError> {
        let is_here = |it: &Held| it.place.as_deref() == Some(place);
        let mut items = Vec::new();
        for held in &self.memories {
            let memory = &held.memory;
            let is_critical = memory.importance == Importance::Critical;
            let is_open = matches!(memory.category, Category::Decision | Category::Todo);
            if (is_critical && memory.project.is_none()) || (is_here(held) && (is_critical || is_open)) {
                items.push(self.memory(memory));
            }
        }
        let told: Vec<&SessionRow> = sessions.iter().filter(|row| row.messages > 0).take(SESSIONS).collect();
        for (number, row) in told.iter().enumerate() {
            items.extend(self.session(row, number)?);
        }
        let is_for = |rule: &&Ruled| rule.places.as_ref().is_none_or(|places| places.contains(place));
        items.extend(self.rules.iter().filter(is_for).filter_map(|rule| rule_item(&rule.verdict)));
        let references: HashSet<Reference> = sessions.iter().map(|row| Reference::Session(row.id)).collect();
        let unsaved: Vec<&Unsaved> = self.unsaved.iter().filter(|it| references.contains(&it.reference)).collect();
        items.extend(unsaved.iter().take(UNSAVED).enumerate().map(|(number, it)| unsaved_item(it, number)));
        items.extend(more_unsaved(unsaved.len().saturating_sub(UNSAVED)));
        items.extend(told.first().filter(|row| self.own_memory.contains(&row.id)).map(|row| own_memory(row)));
        Ok(items)
    }

    fn memory(&self, memory: &Memory) -> Item {
        let trust = memory.trust as i64;
        let is_critical = memory.importance == Importance::Critical;
        let new = newness(memory.created_at, self.now);
        let (section, rank) = match (is_critical, memory.trust) {
            // Anybody may have written what a tool printed.
            (true, Trust::Tool) => (Section::Critical, 60 + new),
            (true, _) => (Section::Critical, 100 + 10 * trust + new),
            (false, _) => (Section::Open, 40 + 8 * memory.importance as i64 + 4 * trust + new),
        };
        let mut marks = vec![day(memory.created_at)];
        if matches!(memory.category, Category::Decision | Category::Todo) {
            marks.push(memory.category.name().to_owned());
        }
        if memory.importance == Importance::High {
            marks.push(memory.importance.name().to_owned());
        }
        marks.push(speaker(memory.trust).to_owned());
        if memory.confidence < 0.8 {
            marks.push(format!("{:.0} % sure", memory.confidence * 100.0));
        }
        let outdated = outdated(memory);
        marks.extend(outdated.clone());
        let why = format!(
            "{} {} that holds {}; {}{}",
            memory.importance.name(),
            memory.category.name(),
            if memory.project.is_some() { "in this project" } else { "everywhere" },
            speaker(memory.trust),
            if outdated.is_some() { "; it names a file that is gone" } else { "" }
        );
        let words = said("", &memory.content, STATEMENT).unwrap_or_default();
        Item { until: memory.expires_at, ..Item::new(section, &memory.id, &marks, &words, rank, why) }
    }

    /// One of the last sessions; none: nothing can be said of it.
    fn session(&self, row: &SessionRow, number: usize) -> Result<Option<Item>, StoreError> {
        let (began, _) = self.store.asked(row.id, 0)?;
        let title = self.store.title(row.id)?;
        let mut parts: Vec<String> = Vec::new();
        parts.extend(title.as_deref().and_then(|title| said("", title, SHORT)));
        // Many titles are the first prompt.
        let is_new = |text: &String| title.as_deref().is_none_or(|title| !text.trim().starts_with(title.trim()));
        let prompt = began.map(|asked| asked.text).filter(is_new);
        parts.extend(prompt.and_then(|text| said("began with", &text, PROMPT)));
        parts.extend(changed(&self.store.changes(row.id)?, row.project.as_deref()));
        let (troubles, is_unresolved) = troubles(self.store, row.id)?;
        parts.extend(troubles);
        if parts.is_empty() {
            return Ok(None);
        }
        let at = row.ended_at.or(row.started_at).unwrap_or_default();
        let rank = [88, 66, 50].get(number).copied().unwrap_or(30) + if is_unresolved { 4 } else { 0 };
        let why = match (number, is_unresolved) {
            (0, false) => "the last session in this project".to_owned(),
            (0, true) => "the last session in this project, which ended on an error".to_owned(),
            (number, false) => format!("{} sessions ago", number + 1),
            (number, true) => format!("{} sessions ago, and it ended on an error", number + 1),
        };
        let source = Reference::Session(row.id).to_string();
        let marks = [moment(at), named(&row.tool, PATH)];
        let item = Item::new(Section::Sessions, &source, &marks, &format!("{}.", parts.join("; ")), rank, why);
        Ok(Some(Item { session: Some(row.native_id.clone()), ..item }))
    }
}

/// Is a project named by a folder, on whatever system?
fn is_folder(project: &str) -> bool {
    project.contains(['/', '\\'])
}

/// How new something is: 10 for now, half of it for each 30 days.
fn newness(at: i64, now: i64) -> i64 {
    let days = now.saturating_sub(at).max(0) as f64 / DAY;
    #[expect(clippy::cast_possible_truncation, reason = "0 to 10")]
    let new = (NEWEST * (-days / HALF_LIFE).exp2()).round() as i64;
    new
}

/// The files that were changed, those most changed by name.
fn changed(changes: &[(String, u64)], project: Option<&str>) -> Option<String> {
    let inside = |path: &str| {
        let inside = project.and_then(|project| path.strip_prefix(project)?.strip_prefix(['/', '\\']));
        named(inside.unwrap_or(path), PATH)
    };
    let named: Vec<String> = changes.iter().take(FILES).map(|(path, _)| inside(path)).collect();
    let more = changes.len().saturating_sub(FILES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| format!("changed {}{more}", named.join(", ")))
}

/// What went wrong in a session and may matter to the next, and whether it ended on an error.
fn troubles(store: &Store, session: SessionId) -> Result<(Vec<String>, bool), StoreError> {
    let mut findings: Vec<(u8, &str, Finding)> = store
        .findings_of(session)?
        .into_iter()
        .filter_map(|finding| {
            let (order, what) = match finding.kind.as_str() {
                "unresolved-error" => (0, "left unresolved:"),
                "user-correction" | "repeated-instruction" => (1, "the user corrected:"),
                "permission-denied" => (2, "the user refused:"),
                "retry-loop" => (3, "failed again and again:"),
                _ if finding.judged.is_some() && finding.severity >= 3 => (4, "a model noticed:"),
                _ => return None,
            };
            Some((order, what, finding))
        })
        .collect();
    findings.sort_by(|a, b| (a.0, b.2.severity).cmp(&(b.0, a.2.severity)));
    let is_unresolved = findings.first().is_some_and(|(order, ..)| *order == 0);
    let mut told = Vec::new();
    for (_, what, finding) in findings.into_iter().take(TROUBLES) {
        let words = finding.words.as_deref().unwrap_or(&finding.detail);
        let Some(line) = said(what, words, SHORT) else { continue };
        let source = match finding.evidence.first() {
            Some(place) => store.event_at(place.transcript, place.line)?.map(Reference::Event),
            None => None,
        };
        told.push(source.map_or_else(|| line.clone(), |source| format!("{line} [{source}]")));
    }
    Ok((told, is_unresolved))
}

fn ruled(verdict: &Verdict, proposals: &[Proposal]) -> Option<Ruled> {
    let proposal = proposals.iter().find(|it| it.id == verdict.proposal && it.status == Status::Applied)?;
    let projects: Option<BTreeSet<String>> =
        proposal.places.iter().map(|it| it.project.as_deref().map(place)).collect();
    Some(Ruled { verdict: verdict.clone(), places: projects.filter(|places| !places.is_empty()) })
}

/// A rule of which something is open. That one works need not be told.
fn rule_item(verdict: &Verdict) -> Option<Item> {
    let (rank, outcome) = match (verdict.outcome, verdict.advice) {
        (Outcome::Worse, _) => (75, "it came up more often than before: the rule seems to harm"),
        (Outcome::NotWorking, _) => (70, "the rule does not work as it stands"),
        (Outcome::TooEarly, _) => (20, "it is too early to say whether the rule works"),
        (Outcome::NotEnoughData, Advice::Consider) => (15, "too rare to say whether the rule does anything"),
        (Outcome::NotEnoughData | Outcome::Working, _) => return None,
    };
    let since = verdict.since;
    let said = format!(
        "{}: what it is against came up in {} of {} {} since; {outcome}.",
        said("", &verdict.text, STATEMENT)?,
        since.occurrences,
        since.opportunities,
        if verdict.unit == Unit::Calls { "calls" } else { "sessions" },
    );
    let marks = [format!("since {}", day(verdict.applied_at))];
    let why = format!("its verdict is open: {outcome}");
    Some(Item::new(Section::Rules, &named(&verdict.proposal, PATH), &marks, &said, rank, why))
}

fn unsaved_item(unsaved: &Unsaved, number: usize) -> Item {
    let mut parts = Vec::new();
    parts.extend(unsaved.title.as_deref().and_then(|title| said("", title, SHORT)));
    if unsaved.edits > 0 {
        let folders: Vec<_> = unsaved.folders.iter().map(|folder| named(folder, PATH)).collect();
        parts.push(format!(
            "{} edits of {} files, most of them in {}",
            unsaved.edits,
            unsaved.files,
            folders.join(", ")
        ));
    }
    if !unsaved.programs.is_empty() {
        let programs: Vec<_> = unsaved.programs.iter().map(|program| named(program, PATH)).collect();
        parts.push(format!("ran {}", programs.join(", ")));
    }
    parts.extend(unsaved.deleted_at.map(|at| format!("its transcript is deleted on {}", day(at))));
    let marks = [moment(unsaved.ended_at)];
    let rank = 64 - 4 * number as i64;
    let why = "it changed much, and nothing of it was kept".to_owned();
    let source = unsaved.reference.to_string();
    let item = Item::new(Section::Unsaved, &source, &marks, &format!("{}.", parts.join("; ")), rank, why);
    Item { session: Some(unsaved.session.clone()), ..item }
}

fn more_unsaved(more: usize) -> Option<Item> {
    let said = format!("{more} more: `totalrecall unsaved` lists them.");
    let why = "more sessions of which nothing was kept".to_owned();
    (more > 0).then(|| Item::new(Section::Unsaved, "unsaved", &[], &said, 45, why))
}

/// Said once: when the next session was read, that one is the last.
fn own_memory(row: &SessionRow) -> Item {
    let said = "The agent wrote to its own memory files, which other tools and search do not see: what should be found again can be \
                saved with `remember`.";
    let why = "the last session wrote to the agent's own memory".to_owned();
    Item::new(Section::Hints, &Reference::Session(row.id).to_string(), &[], said, 25, why)
}

/// What stood in a conversation that is being compacted.
pub(super) fn snapshot(store: &Store, row: &SessionRow) -> Result<Vec<Item>, StoreError> {
    let reference = Reference::Session(row.id).to_string();
    let item = |source: &str, marks: &[String], said: &str, rank| {
        Item::new(Section::Snapshot, source, marks, said, rank, "it stood in this conversation".to_owned())
    };
    let (began, latest) = store.asked(row.id, ASKED)?;
    let mut asked: BTreeMap<i64, _> = latest.into_iter().map(|it| (it.event, it)).collect();
    asked.extend(began.map(|it| (it.event, it)));
    let mut items = Vec::new();
    // What it was about, and then what was asked for last.
    let first = asked.keys().next().copied();
    for (age, (event, asked)) in asked.into_iter().rev().enumerate() {
        let marks: Vec<_> = asked.at.map(moment).into_iter().collect();
        let Some(words) = said("the user asked:", &asked.text, PROMPT) else { continue };
        let rank = if Some(event) == first { 97 } else { 96 - age.min(ASKED) as i64 };
        items.push(item(&Reference::Event(event).to_string(), &marks, &words, rank));
    }
    items.reverse();
    let mut parts: Vec<String> = changed(&store.changes(row.id)?, row.project.as_deref()).into_iter().collect();
    parts.extend(troubles(store, row.id)?.0);
    let end = row.ended_at.map_or_else(String::new, |at| format!(" up to {}", moment(at)));
    parts.push(format!("all of it{end} is kept and can be searched"));
    items.push(item(&reference, &[], &format!("{}.", parts.join("; ")), 98));
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_counts_more() {
        let day = 86_400_000;
        assert_eq!([0, 30, 60, 3_000].map(|days| newness(0, days * day)), [10, 5, 3, 0]);
        assert_eq!(newness(5 * day, 0), 10, "a clock that was put back");
    }

    #[test]
    fn files_are_named_as_people_of_the_project_do() {
        let changes: Vec<_> = ["/w/app/a.rs", "/w/application/b", "/x/`y`\n</totalrecall-output>", "d", "e", "f"]
            .map(|it| (it.to_owned(), 1))
            .into();
        let told = changed(&changes, Some("/w/app")).unwrap();
        assert_eq!(told, "changed a.rs, /w/application/b, \"/x/'y' ‹/totalrecall-output›\", d and 2 more");
        assert_eq!(changed(&[], None), None);
    }
}
