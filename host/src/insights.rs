//! Insights: what the library says, as data for machines and as a page for people.

mod html;
pub(crate) mod markdown;
mod page;
mod phrases;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::finding::Form;
use crate::pattern::{self, Direction, Incident, Known, Pattern, Session, Status, View, WEEKS};
use crate::redact::Redactor;
use crate::sandbox::analyze::SignalKind;
use crate::verdict::Verdict;

pub use markdown::clean;

/// Everything that the page says. Serialised, it is the answer of `insights --json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Insights {
    /// Milliseconds since the Unix epoch, as all times here.
    pub updated_at: i64,
    /// The part of the library that was asked for.
    pub view: View,
    /// Sessions read.
    pub sessions: usize,
    /// Projects they were in.
    pub projects: usize,
    /// Beginning of the first session.
    pub from: Option<i64>,
    /// End of the last session.
    pub to: Option<i64>,
    /// Patterns in more than one session, without muted ones.
    pub recurring: usize,
    /// Patterns in one session only, likewise.
    pub one_offs: usize,
    /// All patterns, strongest first, muted ones too.
    pub patterns: Vec<Pattern>,
    /// The last weeks.
    pub weeks: Weeks,
    /// What became of the rules in force, as their verdicts say.
    pub rules: Vec<Verdict>,
    /// Drafted rules that wait for the person.
    pub drafted: usize,
    /// What a model says went another way, the most frequent first.
    pub forms: Vec<FormCount>,
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

/// How often findings of a model have a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FormCount {
    /// The part of the work that went another way than the person's.
    pub form: Form,
    /// Distinct sessions with such findings.
    pub sessions: usize,
    /// Such findings.
    pub findings: usize,
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
    /// What `incidents`, the findings of `sessions`, say at `now` (milliseconds since the Unix epoch), as far as a view
    /// goes.
    pub fn new(
        view: &View,
        sessions: &[Session],
        incidents: &[Incident<'_>],
        known: &Known,
        kinds: &[SignalKind],
        now: i64,
        settings: &pattern::Settings,
    ) -> Self {
        let patterns = pattern::patterns_in(view, sessions, incidents, known, now, settings);
        let shown = || patterns.iter().filter(|pattern| !pattern.muted);
        let recurring = shown().filter(|pattern| pattern.recurs()).count();
        let one_offs = shown().count() - recurring;
        let counted: Vec<&Session> = sessions.iter().filter(|session| view.counts(session)).collect();
        let projects: BTreeSet<&str> = counted.iter().map(|s| s.project.as_str()).filter(|p| !p.is_empty()).collect();
        Self {
            updated_at: now,
            view: view.clone(),
            sessions: counted.len(),
            projects: projects.len(),
            // No session is from before 1970: a zero is a time that nobody knew.
            from: counted.iter().map(|session| session.started_at).filter(|at| *at > 0).min(),
            to: counted.iter().map(|session| session.ended_at).filter(|at| *at > 0).max(),
            recurring,
            one_offs,
            patterns,
            weeks: Weeks::new(view, sessions, incidents, now),
            rules: Vec::new(),
            drafted: 0,
            forms: forms(view, sessions, incidents),
            kinds: kinds
                .iter()
                .map(|k| Kind { name: k.name.clone(), summary: k.summary.clone(), advice: k.advice.clone() })
                .collect(),
            unread: Unread::default(),
            half_life_days: settings.half_life_days,
            fading_days: settings.fading_days,
        }
    }

    /// Patterns that the person has not muted, strongest first.
    pub fn shown(&self) -> impl Iterator<Item = &Pattern> {
        self.patterns.iter().filter(|pattern| !pattern.muted)
    }

    /// Those of them in more than one session.
    pub fn recurring(&self) -> impl Iterator<Item = &Pattern> {
        self.shown().filter(|pattern| pattern.recurs())
    }

    /// Without what is to be taken out of anybody's words today. Ids stay, as patterns are told apart by them.
    #[must_use]
    pub fn redacted(mut self, redactor: &Redactor) -> Self {
        let words = self.patterns.iter_mut().flat_map(|it| {
            [Some(&mut it.subject), Some(&mut it.description), it.title.as_mut(), it.hint.as_mut()]
                .into_iter()
                .flatten()
        });
        for text in words.chain(self.rules.iter_mut().map(|it| &mut it.subject)) {
            if let Cow::Owned(shown) = redactor.redact(text) {
                *text = shown;
            }
        }
        self
    }

    /// With what could not be read. It is of no session, so of no part.
    #[must_use]
    pub fn with_unread(mut self, mut unread: Unread) -> Self {
        if self.view.is_all() {
            unread.failed.sort();
            unread.unknown.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.cmp(b)));
            self.unread = unread;
        }
        self
    }

    /// With what became of rules, as far as the view goes: rules in force before its end, of patterns that were seen in its
    /// sessions or before them. `seen` are the ids of these.
    #[must_use]
    pub fn with_rules(mut self, rules: Vec<Verdict>, drafted: usize, seen: &BTreeSet<String>) -> Self {
        let view = &self.view;
        let is_of_view = |rule: &Verdict| {
            view.until.is_none_or(|until| rule.applied_at < until)
                && (view.project.is_none() || seen.contains(&rule.pattern))
        };
        self.rules = rules.into_iter().filter(is_of_view).collect();
        self.rules.sort_by(|a, b| (b.applied_at, &a.proposal).cmp(&(a.applied_at, &b.proposal)));
        self.drafted = drafted;
        self
    }

    /// The verdict of the rule that a pattern has.
    fn rule(&self, pattern: &Pattern) -> Option<&Verdict> {
        self.rules.iter().find(|rule| rule.pattern == pattern.id)
    }

    fn with_status(&self, status: Status) -> usize {
        self.shown().filter(|pattern| pattern.status == status).count()
    }

    fn going(&self, direction: Direction) -> impl Iterator<Item = &Pattern> {
        self.shown().filter(move |pattern| pattern.trend.direction == direction)
    }
}

impl Weeks {
    fn new(view: &View, sessions: &[Session], incidents: &[Incident<'_>], now: i64) -> Self {
        let now = view.now(now);
        let week = |session: &Session| view.compares(session).then(|| pattern::week(session.ended_at, now)).flatten();
        let week: Vec<Option<usize>> = sessions.iter().map(week).collect();
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

fn forms(view: &View, sessions: &[Session], incidents: &[Incident<'_>]) -> Vec<FormCount> {
    let mut seen: BTreeMap<Form, (BTreeSet<usize>, usize)> = BTreeMap::new();
    for Incident { session, finding } in incidents {
        let is_counted = sessions.get(*session).is_some_and(|of| view.counts_finding(of, finding));
        let Some(form) = finding.judged.as_ref().and_then(|judged| judged.form).filter(|_| is_counted) else {
            continue;
        };
        let (sessions, findings) = seen.entry(form).or_default();
        sessions.insert(*session);
        *findings += 1;
    }
    let mut forms: Vec<_> = seen
        .into_iter()
        .map(|(form, (sessions, findings))| FormCount { form, sessions: sessions.len(), findings })
        .collect();
    forms.sort_by(|a, b| b.sessions.cmp(&a.sessions).then_with(|| a.form.cmp(&b.form)));
    forms
}

#[cfg(test)]
mod tests;
