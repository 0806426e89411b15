//! Patterns: findings of several sessions that are the same friction.
//!
//! Findings are put together by what they are about: equal subjects (a file's within its project, everything else
//! everywhere), or, where a person spoke, words that say the same thing; a model's findings by the pattern they name, their
//! subject, or what they say (`join.rs`). Then what was decided is applied (`decision.rs`). All patterns are computed anew
//! from all findings: the result depends on what happened, not on the order in which it was read.

mod cluster;
mod decision;
mod find;
mod group;
mod id;
mod join;
mod known;
mod lexicon;
mod likeness;
mod trend;
mod view;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::finding::{Category, Finding, Form};

use group::{Group, SPOKEN};

pub use cluster::cluster;
pub use decision::{Act, By, Decision, SessionName, split_off};
pub use find::{FindError, about, find};
pub use id::{ID_LENGTH, is_id, normal, of as id_of};
pub use join::compatible;
pub use known::{Anchor, Known};
pub use likeness::{ALIKE, alikeness};
pub use trend::{Direction, Share, Trend, WEEKS, week, week_ends};
pub use view::View;
pub use words::{Words, fold};

/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// Findings that a pattern names as evidence; the newest are the ones a person looks up.
const EVIDENCE: usize = 20;

/// What the person may tune.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Days after which a pattern that did not come up again counts half.
    pub half_life_days: f64,
    /// Days after which it is fading.
    pub fading_days: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { half_life_days: 14.0, fading_days: 30 }
    }
}

/// A session as far as patterns are concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The tool's name: `claude-code`.
    pub tool: String,
    /// As the tool names it.
    pub id: String,
    /// Where it worked; empty if the tool does not say.
    pub project: String,
    /// Time of the first event; milliseconds since the Unix epoch. The transcript's own time where events have none.
    pub started_at: i64,
    /// Time of the last event, likewise.
    pub ended_at: i64,
}

/// A finding with the session it is of, as an index into the sessions.
#[derive(Debug, Clone, Copy)]
pub struct Incident<'a> {
    /// Index into the sessions.
    pub session: usize,
    /// What was found there.
    pub finding: &'a Finding,
}

/// Findings that are the same friction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// Safe in paths, at most 64 characters, the same for the same friction: `tool-error-edit-file-not-read-1c9f00aa27`.
    pub id: String,
    /// Kind of most of its findings.
    pub kind: String,
    /// The sort of friction.
    pub category: Category,
    /// The project it is bound to; none if it may come up anywhere.
    pub project: Option<String>,
    /// What it is about, as its findings most often say it. A person's words where a person spoke.
    pub subject: String,
    /// What the person calls it; shown in place of the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether the person does not want to see it where they did not ask for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub muted: bool,
    /// Other ids that it had, or that patterns had which are this one now; ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Whether `subject` is what a person said.
    pub spoken: bool,
    /// One line for a person: the newest finding's.
    pub description: String,
    /// What a model says to do about it: the newest finding's that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The part of the work that went another way, as a model most often says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// Of the most severe finding; 1 to 5.
    pub severity: u8,
    /// Distinct sessions.
    pub occurrences: u32,
    /// Signals in all of them.
    pub count: u32,
    /// Those of them in sub-agents.
    pub in_subagents: u32,
    /// Distinct projects.
    pub projects: u32,
    /// Milliseconds since the Unix epoch.
    pub first_seen: i64,
    /// Milliseconds since the Unix epoch.
    pub last_seen: i64,
    /// occurrences × 0.5^(days since last seen ÷ half-life) × severity ÷ 5.
    pub strength: f64,
    /// Whether it still comes up.
    pub status: Status,
    /// How often it came up lately.
    pub trend: Trend,
    /// Where to look it up: newest first, the 20 newest findings.
    pub evidence: Vec<Place>,
    /// Whether all of its own findings are a model's.
    #[serde(skip)]
    pub judged: bool,
    /// By what it is found again, whatever is read later.
    #[serde(skip)]
    pub anchor: Anchor,
    /// The sessions it came up in, as indices into those that it was made of; ascending.
    #[serde(skip)]
    pub seen_in: Vec<usize>,
}

/// Where a pattern was seen in one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The tool's name.
    pub tool: String,
    /// As the tool names it.
    pub session: String,
    /// Where it worked; empty if the tool does not say.
    pub project: String,
    /// Milliseconds since the Unix epoch.
    pub at: i64,
    /// The store's number of the transcript.
    pub transcript: i64,
    /// 1-based line of the file, or ordinal of the database row.
    pub line: u64,
    /// The sub-agent it happened in; none is the main conversation.
    pub thread: Option<String>,
    /// How often it was seen in this session.
    pub count: u32,
}

/// Whether a pattern still comes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It came up lately.
    Active,
    /// It has not come up for a while.
    Fading,
}

impl Pattern {
    /// Whether it came back: in more than one session.
    pub fn recurs(&self) -> bool {
        self.occurrences > 1
    }

    /// What it is called: the person's title, or else what it is about.
    pub fn name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.subject)
    }
}

/// occurrences × 0.5^(days ÷ half-life) × severity ÷ 5: after one half-life without a new occurrence a pattern weighs
/// exactly half.
pub fn strength(occurrences: u32, idle_days: f64, severity: u8, half_life_days: f64) -> f64 {
    f64::from(occurrences) * 0.5_f64.powf(idle_days.max(0.0) / half_life_days) * f64::from(severity) / 5.0
}

/// All patterns, strongest first. `now` is in milliseconds since the Unix epoch. Incidents whose session is not among
/// `sessions` are left out.
pub fn patterns(
    sessions: &[Session],
    incidents: &[Incident<'_>],
    known: &Known,
    now: i64,
    settings: &Settings,
) -> Vec<Pattern> {
    patterns_in(&View::default(), sessions, incidents, known, now, settings)
}

/// Those of all patterns that a view holds, with what is counted there.
pub fn patterns_in(
    view: &View,
    sessions: &[Session],
    incidents: &[Incident<'_>],
    known: &Known,
    now: i64,
    settings: &Settings,
) -> Vec<Pattern> {
    let now = view.now(now);
    let mut incidents: Vec<Incident<'_>> = incidents.iter().copied().filter(|i| i.session < sessions.len()).collect();
    incidents.sort_by(|a, b| chronology(sessions, a).cmp(&chronology(sessions, b)));
    let weeks = Weeks::new(view, sessions, now);
    let groups = group::gather(sessions, &incidents, &known.anchors);
    let mut patterns: Vec<Pattern> = decision::apply(groups, sessions, &known.anchors, &known.decisions)
        .into_iter()
        .filter_map(|group| pattern(view, sessions, group, &weeks, now, settings))
        .collect();
    patterns.sort_by(|a, b| b.strength.total_cmp(&a.strength).then_with(|| a.id.cmp(&b.id)));
    patterns
}

/// Of each incident the id of the pattern that it is of; empty if its session is not among `sessions`.
pub fn assigned(sessions: &[Session], incidents: &[Incident<'_>], known: &Known) -> Vec<String> {
    let mut ordered: Vec<Incident<'_>> = incidents.iter().copied().filter(|i| i.session < sessions.len()).collect();
    ordered.sort_by(|a, b| chronology(sessions, a).cmp(&chronology(sessions, b)));
    let groups = group::gather(sessions, &ordered, &known.anchors);
    // A finding is told by where it lies: two that say the same are two.
    let mut ids: HashMap<(usize, *const Finding), String> = HashMap::new();
    for group in decision::apply(groups, sessions, &known.anchors, &known.decisions) {
        for incident in group.members.iter().chain(&group.merged) {
            ids.insert((incident.session, std::ptr::from_ref(incident.finding)), group.id.clone());
        }
    }
    let id = |i: &Incident<'_>| ids.get(&(i.session, std::ptr::from_ref(i.finding))).cloned();
    incidents.iter().map(|incident| id(incident).unwrap_or_default()).collect()
}

/// Time, session, line, and what is said.
type Chronology<'a> = (i64, (&'a str, &'a str), u64, Said<'a>, bool);
type Said<'a> = (&'a str, &'a str, &'a str, Option<&'a str>);

/// Oldest first; among equals an order that does not depend on how they came here.
fn chronology<'a>(sessions: &'a [Session], incident: &Incident<'a>) -> Chronology<'a> {
    let (session, finding) = (&sessions[incident.session], incident.finding);
    let line = finding.evidence.first().map_or(0, |place| place.line);
    let says = (&*finding.kind, &*finding.subject, &*finding.detail, finding.words.as_deref());
    (first_at(session, finding), (&session.tool, &session.id), line, says, finding.judged.is_some())
}

fn first_at(session: &Session, finding: &Finding) -> i64 {
    finding.first_at.unwrap_or(session.started_at)
}

fn last_at(session: &Session, finding: &Finding) -> i64 {
    finding.last_at.unwrap_or(session.ended_at)
}

fn pattern(
    view: &View,
    sessions: &[Session],
    mut group: Group<'_>,
    weeks: &Weeks<'_>,
    now: i64,
    settings: &Settings,
) -> Option<Pattern> {
    // What it is about is said by its own findings, as long as it has any.
    let own = if group.members.is_empty() { group.merged.clone() } else { group.members.clone() };
    let mut members = group.members;
    members.append(&mut group.merged);
    members.sort_by(|a, b| chronology(sessions, a).cmp(&chronology(sessions, b)));
    let last = |i: &Incident<'_>| last_at(&sessions[i.session], i.finding);
    // What it is, everything says: it is the same in every view. How much of it there was, what the view holds says.
    let is_counted = |i: &Incident<'_>| view.counts_finding(&sessions[i.session], i.finding);
    let counted: Vec<Incident<'_>> = members.iter().copied().filter(is_counted).collect();
    let (oldest, newest) = (counted.first()?, counted.iter().max_by_key(|i| last(i))?);
    let described =
        own.iter().filter(|i| is_counted(i)).max_by_key(|i| last(i)).unwrap_or(newest).finding.detail.clone();
    let judged = || counted.iter().filter_map(|i| Some((last(i), i.finding.judged.as_ref()?)));
    let hint = judged().filter_map(|(at, judged)| Some((at, judged.hint.clone()?))).max_by_key(|(at, _)| *at);
    let forms: Vec<&str> = judged().filter_map(|(_, judged)| Some(judged.form?.name())).collect();
    let form = most_frequent(forms.into_iter());
    let distinct: BTreeSet<usize> = counted.iter().map(|i| i.session).collect();
    let occurrences = u32::try_from(distinct.len()).unwrap_or(u32::MAX);
    let total = |of: fn(&Finding) -> u32| counted.iter().fold(0_u32, |sum, i| sum.saturating_add(of(i.finding)));
    let last_seen = last(newest);
    let idle_days = now.saturating_sub(last_seen).max(0) as f64 / DAY as f64;
    let severity = counted.iter().map(|i| i.finding.severity).max()?;
    // A model's kinds are categories: what signals say is more exact.
    let kinds = |judged: bool| own.iter().filter(move |i| judged || i.finding.judged.is_none());
    let kind = most_frequent(kinds(false).map(|i| i.finding.kind.as_str()))
        .or_else(|| most_frequent(kinds(true).map(|i| i.finding.kind.as_str())))?
        .to_owned();
    let said = |i: &Incident<'_>| {
        if group.spoken { i.finding.words.clone() } else { None }.unwrap_or(i.finding.subject.clone())
    };
    // What people said goes before what a model says of it.
    let heard = |i: &&Incident<'_>| !group.spoken || i.finding.words.is_some();
    let mut subjects: Vec<String> = own.iter().filter(heard).map(said).collect();
    if subjects.is_empty() {
        subjects = own.iter().map(said).collect();
    }
    let subject = most_frequent(subjects.iter().map(String::as_str))?.to_owned();
    let project = group.key.project;
    let compared = members.iter().map(|i| i.session).filter(|session| view.compares(&sessions[*session])).collect();
    let (with, all) = weeks.count(project.as_deref(), &compared);
    let projects: BTreeSet<&str> = distinct.iter().map(|&s| sessions[s].project.as_str()).collect();

    let mut evidence: Vec<Place> = counted.iter().filter_map(|i| place(&sessions[i.session], i.finding)).collect();
    evidence.sort_by(|a, b| {
        b.at.cmp(&a.at).then_with(|| (&a.tool, &a.session, a.line).cmp(&(&b.tool, &b.session, b.line)))
    });
    evidence.truncate(EVIDENCE);

    let again =
        |i: &Incident<'_>| i.session != members[0].session || i.finding.category == Category::RepeatedCorrection;
    let again = members.iter().any(again);
    let category = if kinds(false).next().is_some() {
        Category::of(&kind, again)
    } else {
        own.iter().find(|i| i.finding.kind == kind)?.finding.category
    };
    let anchor = group.anchor.unwrap_or_else(|| Anchor {
        id: group.id.clone(),
        kind: group.key.kind.clone(),
        project: project.clone(),
        key: group.key.text.clone(),
        subject: subject.clone(),
        category,
    });
    let aliases: BTreeSet<String> = group.aliases.into_iter().filter(|alias| *alias != group.id).collect();
    Some(Pattern {
        id: group.id,
        category,
        judged: kinds(false).next().is_none(),
        anchor,
        seen_in: distinct.iter().copied().collect(),
        kind,
        project,
        subject: if group.key.kind == SPOKEN && group.key.text.is_empty() { String::new() } else { subject },
        title: group.title,
        muted: group.muted,
        aliases: aliases.into_iter().collect(),
        spoken: group.spoken,
        description: described,
        hint: hint.map(|(_, hint)| hint),
        form: Form::ALL.into_iter().find(|known| form == Some(known.name())),
        severity,
        occurrences,
        count: total(|f| f.count),
        in_subagents: total(|f| f.in_subagents),
        projects: u32::try_from(projects.len()).unwrap_or(u32::MAX),
        first_seen: first_at(&sessions[oldest.session], oldest.finding),
        last_seen,
        strength: strength(occurrences, idle_days, severity, settings.half_life_days),
        status: if idle_days > f64::from(settings.fading_days) { Status::Fading } else { Status::Active },
        trend: Trend::new(with, all),
        evidence,
    })
}

fn place(session: &Session, finding: &Finding) -> Option<Place> {
    let first = finding.evidence.first()?;
    Some(Place {
        tool: session.tool.clone(),
        session: session.id.clone(),
        project: session.project.clone(),
        at: first.at.unwrap_or_else(|| last_at(session, finding)),
        transcript: first.transcript,
        line: first.line,
        thread: first.thread.clone(),
        count: finding.count,
    })
}

/// The most frequent; among equals the shortest, then the first of the alphabet.
fn most_frequent<'a>(texts: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    counts
        .into_iter()
        .min_by(|a, b| b.1.cmp(&a.1).then_with(|| (a.0.len(), a.0).cmp(&(b.0.len(), b.0))))
        .map(|(text, _)| text)
}

/// Sessions per week, by what decides whether a pattern could have come up in them.
struct Weeks<'a> {
    sessions: &'a [Session],
    week: Vec<Option<usize>>,
    all: BTreeMap<(&'a str, &'a str), [u32; WEEKS]>,
}

impl<'a> Weeks<'a> {
    fn new(view: &View, sessions: &'a [Session], now: i64) -> Self {
        let week = |session: &Session| view.compares(session).then(|| trend::week(session.ended_at, now)).flatten();
        let week: Vec<Option<usize>> = sessions.iter().map(week).collect();
        let mut all: BTreeMap<(&str, &str), [u32; WEEKS]> = BTreeMap::new();
        for (session, week) in sessions.iter().zip(&week) {
            if let Some(week) = week {
                all.entry((&session.tool, &session.project)).or_default()[*week] += 1;
            }
        }
        Self { sessions, week, all }
    }

    /// Sessions per week with the pattern, and all sessions of the same tools (and project, if it is bound to one).
    fn count(&self, project: Option<&str>, with: &BTreeSet<usize>) -> ([u32; WEEKS], [u32; WEEKS]) {
        let tools: BTreeSet<&str> = with.iter().map(|&index| self.sessions[index].tool.as_str()).collect();
        let mut counted = [0; WEEKS];
        for week in with.iter().filter_map(|&index| self.week[index]) {
            counted[week] += 1;
        }
        let mut all = [0; WEEKS];
        for ((tool, of), weeks) in &self.all {
            if tools.contains(tool) && project.is_none_or(|project| project == *of) {
                for (sum, count) in all.iter_mut().zip(weeks) {
                    *sum += count;
                }
            }
        }
        (counted, all)
    }
}

#[cfg(test)]
mod tests;
