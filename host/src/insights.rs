//! Insights: what the library says, as data for machines and as a page for people.

pub(crate) mod markdown;
mod page;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::pattern::{self, Direction, Incident, Known, Pattern, Session, Status, WEEKS};
use crate::sandbox::analyze::SignalKind;

pub use markdown::clean;

/// Everything that the page says. Serialised, it is the answer of `insights --json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Insights {
    /// Milliseconds since the Unix epoch, as all times here.
    pub updated_at: i64,
    /// Sessions read.
    pub sessions: usize,
    /// Projects they were in.
    pub projects: usize,
    /// Beginning of the first session.
    pub from: Option<i64>,
    /// End of the last session.
    pub to: Option<i64>,
    /// Patterns in more than one session.
    pub recurring: usize,
    /// Patterns in one session only.
    pub one_offs: usize,
    /// All patterns, strongest first.
    pub patterns: Vec<Pattern>,
    /// The last weeks.
    pub weeks: Weeks,
    /// What the analyzers say of the kinds.
    pub kinds: Vec<Kind>,
    /// What could not be read.
    pub unread: Unread,
    /// Days after which a pattern weighs half.
    pub half_life_days: f64,
    /// Days after which a pattern is fading.
    pub fading_days: u32,
}

/// Sessions per week, oldest week first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Weeks {
    /// When each week ends.
    pub ends: [i64; WEEKS],
    /// All sessions.
    pub sessions: [u32; WEEKS],
    /// Sessions with signals of a kind.
    pub kinds: BTreeMap<String, [u32; WEEKS]>,
}

/// A kind of signal in its analyzer's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kind {
    /// `tool-error`.
    pub name: String,
    /// What it is.
    pub summary: String,
    /// What to do about it.
    pub advice: String,
}

/// What could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// Transcripts that failed.
    pub failed: Vec<Failed>,
    /// Records of types that their adapter does not know.
    pub unknown: Vec<Unknown>,
    /// Records that were damaged.
    pub broken: u64,
}

/// A transcript that failed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Failed {
    /// Where it is.
    pub path: String,
    /// Why it failed.
    pub why: String,
}

/// Records of one unknown type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unknown {
    /// The tool's name.
    pub tool: String,
    /// The type as the tool writes it.
    pub record: String,
    /// How many there were.
    pub count: u64,
}

impl Insights {
    /// What `incidents`, the findings of `sessions`, say at `now` (milliseconds since the Unix epoch).
    pub fn new(
        sessions: &[Session],
        incidents: &[Incident<'_>],
        known: &Known,
        kinds: &[SignalKind],
        unread: Unread,
        now: i64,
        settings: &pattern::Settings,
    ) -> Self {
        let patterns = pattern::patterns(sessions, incidents, known, now, settings);
        let recurring = patterns.iter().filter(|pattern| pattern.recurs()).count();
        let projects: BTreeSet<&str> = sessions.iter().map(|s| s.project.as_str()).filter(|p| !p.is_empty()).collect();
        let mut unread = unread;
        unread.failed.sort();
        unread.unknown.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.cmp(b)));
        Self {
            updated_at: now,
            sessions: sessions.len(),
            projects: projects.len(),
            // No session is from before 1970: a zero is a time that nobody knew.
            from: sessions.iter().map(|session| session.started_at).filter(|at| *at > 0).min(),
            to: sessions.iter().map(|session| session.ended_at).filter(|at| *at > 0).max(),
            recurring,
            one_offs: patterns.len() - recurring,
            patterns,
            weeks: Weeks::new(sessions, incidents, now),
            kinds: kinds
                .iter()
                .map(|k| Kind { name: k.name.clone(), summary: k.summary.clone(), advice: k.advice.clone() })
                .collect(),
            unread,
            half_life_days: settings.half_life_days,
            fading_days: settings.fading_days,
        }
    }

    /// Patterns in more than one session, strongest first.
    pub fn recurring(&self) -> impl Iterator<Item = &Pattern> {
        self.patterns.iter().filter(|pattern| pattern.recurs())
    }

    fn with_status(&self, status: Status) -> usize {
        self.patterns.iter().filter(|pattern| pattern.status == status).count()
    }

    fn going(&self, direction: Direction) -> impl Iterator<Item = &Pattern> {
        self.patterns.iter().filter(move |pattern| pattern.trend.direction == direction)
    }
}

impl Weeks {
    fn new(sessions: &[Session], incidents: &[Incident<'_>], now: i64) -> Self {
        let week: Vec<Option<usize>> = sessions.iter().map(|s| pattern::week(s.ended_at, now)).collect();
        let mut weeks = Self { ends: pattern::week_ends(now), ..Self::default() };
        for week in week.iter().flatten() {
            weeks.sessions[*week] += 1;
        }
        let seen: BTreeSet<(&str, usize)> =
            incidents.iter().map(|incident| (incident.finding.kind.as_str(), incident.session)).collect();
        for (kind, session) in seen {
            let counts = weeks.kinds.entry(kind.to_owned()).or_default();
            if let Some(Some(week)) = week.get(session) {
                counts[*week] += 1;
            }
        }
        weeks
    }
}

#[cfg(test)]
mod tests;
