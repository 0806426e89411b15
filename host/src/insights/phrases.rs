//! The page's phrases: everything that is said of a pattern, a rule or the whole, each one line of Markdown in the reader's
//! language. What comes from transcripts is cleaned and escaped here, once for every layout.

mod rule;

use std::collections::{BTreeMap, BTreeSet};

use super::Insights;
use super::markdown::{code, prose, text};
use crate::finding::{Category, Form};
use crate::locale::{Locale, Value};
use crate::pattern::{Direction, Pattern, Place, Share, Status, WEEKS};

pub(super) use rule::{OUTCOMES, times};

/// Patterns shown at length.
pub(super) const PRESSING: usize = 15;
/// Patterns shown at length while none has come back.
pub(super) const PRESSING_ONCE: usize = 5;
const CANDIDATES: usize = 20;

/// Characters of a subject in a title, of a description, and of a path.
pub(super) const TITLE: usize = 100;
pub(super) const DESCRIPTION: usize = 300;
pub(super) const PATH: usize = 160;

/// Says things of insights.
pub(super) struct Phrases<'a> {
    pub(super) insights: &'a Insights,
    pub(super) locale: &'a Locale,
    short: BTreeMap<&'a str, usize>,
}

impl<'a> Phrases<'a> {
    pub(super) fn new(insights: &'a Insights, locale: &'a Locale) -> Self {
        Self { insights, locale, short: short_ids(&insights.patterns) }
    }

    /// A text that has no variables.
    pub(super) fn text(&self, id: &str) -> String {
        self.locale.text(id)
    }

    /// A text about a number.
    pub(super) fn count(&self, id: &str, count: impl Into<Value<'a>>) -> String {
        self.locale.with(id, &[("count", count.into())])
    }

    /// Patterns that came back, strongest first; where there are none, the strongest others.
    pub(super) fn strongest(&self, most: usize, once: usize) -> Vec<&'a Pattern> {
        match self.insights.recurring {
            0 => self.insights.shown().take(once).collect(),
            _ => self.insights.recurring().take(most).collect(),
        }
    }

    /// Kind, how often, how bad, how lately, whether it has a rule.
    pub(super) fn figures(&self, pattern: &Pattern) -> Vec<String> {
        let mut figures = vec![format!("**{}**", self.kind(&pattern.kind))];
        if pattern.category.name() != pattern.kind {
            figures.push(self.category(pattern.category));
        }
        if let Some(project) = pattern.project.as_deref().map(project_name).filter(|name| !name.is_empty()) {
            figures.push(self.locale.with("in-project", &[("project", (&code(project, TITLE)).into())]));
        }
        let (sessions, times) = (self.count("sessions", pattern.occurrences), self.count("times", pattern.count));
        let mut seen = if pattern.count > pattern.occurrences {
            self.locale.with("seen-times", &[("sessions", (&sessions).into()), ("times", (&times).into())])
        } else {
            self.locale.with("seen", &[("sessions", (&sessions).into())])
        };
        if pattern.in_subagents > 0 {
            seen.push_str(&self.aside(&self.count("in-subagents", pattern.in_subagents)));
        }
        figures.push(seen);
        figures.push(self.last_seen(pattern));
        figures.push(self.locale.with("severity", &[("severity", u32::from(pattern.severity).into())]));
        let strength = if pattern.strength < 0.01 { "< 0.01".to_owned() } else { format!("{:.2}", pattern.strength) };
        figures.push(self.locale.with("strength", &[("strength", (&strength).into())]));
        if let Some(rule) = self.insights.rule(pattern) {
            figures.push(self.has_rule(rule));
        }
        figures
    }

    /// When it came up last.
    fn last_seen(&self, pattern: &Pattern) -> String {
        self.locale.with("last-seen", &[("date", (&day(pattern.last_seen)).into())])
    }

    /// That it rises or falls, if the numbers carry it.
    pub(super) fn trend(&self, pattern: &Pattern) -> Option<String> {
        let id = match pattern.trend.direction {
            Direction::Rising => "rising",
            Direction::Falling => "falling",
            Direction::Steady => return None,
        };
        Some(self.shares(id, pattern.trend.recent, pattern.trend.before))
    }

    /// The shares of sessions that a trend rests on.
    pub(super) fn trend_shares(&self, pattern: &Pattern) -> String {
        self.shares("trends-shares", pattern.trend.recent, pattern.trend.before)
    }

    /// What was seen, where that says more than the title.
    pub(super) fn description(&self, pattern: &Pattern) -> Option<String> {
        let says_more = !pattern.description.is_empty() && pattern.description != pattern.subject;
        says_more.then(|| prose(&pattern.description, DESCRIPTION))
    }

    /// So many of so many sessions lately, and before.
    fn shares(&self, id: &str, recent: Share, before: Share) -> String {
        let values = [
            ("with", recent.with.into()),
            ("of", recent.of.into()),
            ("before-with", before.with.into()),
            ("before-of", before.of.into()),
        ];
        self.locale.with(id, &values)
    }

    /// Where a pattern was seen: tool, session, day, sub-agent, line.
    pub(super) fn place(&self, place: &Place) -> String {
        let length = self.short.get(place.session.as_str()).copied().unwrap_or(SHORT);
        let session: String = place.session.chars().take(length).collect();
        let mut parts = vec![text(&place.tool, TITLE), code(&session, TITLE), day(place.at)];
        if let Some(thread) = &place.thread {
            parts.push(self.locale.with("subagent", &[("id", (&code(thread, SHORT * 2)).into())]));
        }
        // What another program found has no line.
        if place.line > 0 {
            parts.push(self.locale.with("line", &[("line", place.line.into())]));
        }
        if place.count > 1 {
            parts.push(self.count("times", place.count));
        }
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    }

    /// What a pattern is called.
    pub(super) fn title(&self, pattern: &Pattern) -> String {
        if let Some(title) = &pattern.title {
            return text(title, TITLE);
        }
        self.about("title", pattern).unwrap_or_else(|| {
            let (kind, subject) = (self.kind(&pattern.kind), subject(pattern));
            if subject.is_empty() {
                return kind;
            }
            self.titled(&kind, &subject)
        })
    }

    /// The text of what kind of text it is (`title`, `improve`) for a pattern of a built-in kind.
    fn about(&self, what: &str, pattern: &Pattern) -> Option<String> {
        if pattern.spoken && pattern.subject.is_empty() {
            return self.locale.try_text(&format!("{what}-unspecific"), &[]);
        }
        // A refusal that was put with corrections for its words is titled like one.
        let kind = if pattern.spoken { "user-correction" } else { &pattern.kind };
        // A reply is no tool.
        if kind == "interrupt" && pattern.subject == "reply" {
            return Some(self.text(&format!("{what}-interrupt-reply")));
        }
        let subject = match &pattern.title {
            Some(title) => text(title, TITLE),
            None => subject(pattern),
        };
        if subject.is_empty() {
            return None;
        }
        self.locale.try_text(&format!("{what}-{kind}"), &[("subject", (&subject).into())])
    }

    /// A remark behind what it is about.
    pub(super) fn aside(&self, remark: &str) -> String {
        self.locale.with("aside", &[("text", remark.into())])
    }

    pub(super) fn titled(&self, title: &str, text: &str) -> String {
        self.locale.with("about", &[("title", title.into()), ("text", text.into())])
    }

    /// What a kind is called.
    pub(super) fn kind(&self, kind: &str) -> String {
        self.locale.try_text(&format!("kind-{kind}"), &[]).unwrap_or_else(|| text(kind, TITLE))
    }

    /// A text about a kind, in the reader's language or the analyzer's words.
    pub(super) fn of_kind(&self, what: &str, kind: &str) -> Option<String> {
        self.locale.try_text(&format!("{what}-{kind}"), &[]).or_else(|| {
            let described = self.insights.kinds.iter().find(|described| described.name == kind)?;
            let words = if what == "summary" { &described.summary } else { &described.advice };
            Some(prose(words, DESCRIPTION)).filter(|words| !words.is_empty())
        })
    }

    pub(super) fn category(&self, category: Category) -> String {
        self.locale.text(&format!("category-{}", category.name()))
    }

    /// What to do about a pattern: what its rule's verdict asks for; else what a model said of it; else what helps with its
    /// kind.
    pub(super) fn advice(&self, pattern: &Pattern) -> Option<String> {
        if let Some(rule) = self.insights.rule(pattern) {
            return Some(self.rule_advice(rule));
        }
        let hint = pattern.hint.as_deref().map(|hint| prose(hint, DESCRIPTION)).filter(|hint| !hint.is_empty());
        hint.or_else(|| self.of_kind("advice", &pattern.kind))
    }

    /// The improvement that a pattern suggests, with how much speaks for it.
    pub(super) fn candidate(&self, pattern: &Pattern) -> Option<String> {
        let hint = pattern.hint.as_deref().map(|hint| prose(hint, DESCRIPTION)).filter(|hint| !hint.is_empty());
        let improvement = match hint {
            Some(hint) => self.titled(&self.title(pattern), &hint),
            None => match self.about("improve", pattern) {
                Some(improvement) => improvement,
                None => self.titled(&self.title(pattern), &self.of_kind("advice", &pattern.kind)?),
            },
        };
        Some(format!("{improvement}{}", self.aside(&self.count("sessions", pattern.occurrences))))
    }

    /// Patterns that suggest an improvement, one per subject: an error, its retries and the sessions that ended on it have
    /// one cause. What has a rule already is not suggested again.
    pub(super) fn candidates(&self) -> Vec<&'a Pattern> {
        let mut subjects: BTreeSet<(&str, Option<&str>)> = BTreeSet::new();
        self.strongest(usize::MAX, PRESSING_ONCE)
            .into_iter()
            .filter(|pattern| self.insights.rule(pattern).is_none())
            .filter(|pattern| subjects.insert((&pattern.subject, pattern.project.as_deref())))
            .take(CANDIDATES)
            .collect()
    }

    /// Categories with the patterns of them that came back, the most frequent first.
    pub(super) fn categories(&self) -> Vec<(Category, Vec<&'a Pattern>)> {
        let of = |category| {
            let mut patterns: Vec<&Pattern> = self.insights.recurring().filter(|p| p.category == category).collect();
            patterns.sort_by(|a, b| b.occurrences.cmp(&a.occurrences).then_with(|| a.id.cmp(&b.id)));
            (category, patterns)
        };
        Category::ALL.into_iter().map(of).filter(|(_, patterns)| !patterns.is_empty()).collect()
    }

    /// A pattern in the list of its category: what, where, how often, where last.
    pub(super) fn of_category(&self, pattern: &Pattern) -> String {
        let mut parts = vec![self.title(pattern)];
        let project = pattern.project.as_deref().map(project_name).filter(|name| !name.is_empty());
        parts.extend(project.map(|name| code(name, TITLE)));
        parts.push(self.count("sessions", pattern.occurrences));
        parts.extend(self.insights.rule(pattern).map(|rule| self.has_rule(rule)));
        parts.extend(pattern.evidence.first().map(|place| self.place(place)));
        parts.join(" · ")
    }

    /// Kinds of what was seen in one session only, with their number of patterns.
    pub(super) fn one_offs(&self) -> Option<String> {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for pattern in self.insights.shown().filter(|pattern| !pattern.recurs()) {
            *kinds.entry(&pattern.kind).or_default() += 1;
        }
        let mut kinds: Vec<(&str, usize)> = kinds.into_iter().collect();
        kinds.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let counts: Vec<String> =
            kinds.into_iter().map(|(kind, count)| format!("{} × {count}", self.kind(kind))).collect();
        let counts = counts.join(&self.text("separator"));
        (!counts.is_empty()).then(|| self.locale.with("one-offs", &[("kinds", (&counts).into())]))
    }

    /// The kinds that were seen in the last weeks, the most frequent first.
    pub(super) fn weekly_kinds(&self) -> Vec<(&'a str, &'a [u32; WEEKS])> {
        let mut kinds: Vec<_> =
            self.insights.weeks.kinds.iter().map(|(kind, counts)| (kind.as_str(), counts)).collect();
        kinds.retain(|(_, counts)| counts.iter().any(|count| *count > 0));
        kinds.sort_by(|a, b| b.1.iter().sum::<u32>().cmp(&a.1.iter().sum()).then_with(|| a.0.cmp(b.0)));
        kinds
    }

    /// The last day of each week, short.
    pub(super) fn week_days(&self) -> Vec<String> {
        self.insights.weeks.ends.iter().map(|end| civil(*end).strftime("%m-%d").to_string()).collect()
    }

    /// When it was made.
    pub(super) fn updated(&self) -> String {
        self.locale.with("updated", &[("date", (&minute(self.insights.updated_at)).into())])
    }

    /// Why there are no patterns, if there are none.
    pub(super) fn nothing(&self) -> Option<Vec<String>> {
        let ids: &[&str] = match (self.insights.sessions, self.insights.view.is_all()) {
            (0, true) => &["empty-nothing-read", "empty-how"],
            (0, false) => &["empty-view"],
            _ if self.insights.patterns.is_empty() => &["empty-no-friction"],
            _ => return None,
        };
        Some(ids.iter().map(|id| self.text(id)).collect())
    }

    /// What was read, and from when to when.
    pub(super) fn basis(&self) -> Option<String> {
        let (from, to) = (day(self.insights.from?), day(self.insights.to?));
        let sessions = self.count("sessions", self.insights.sessions);
        let projects = self.count("projects", self.insights.projects);
        let values = [
            ("sessions", Value::from(&sessions)),
            ("projects", Value::from(&projects)),
            ("from", Value::from(&from)),
            ("to", Value::from(&to)),
        ];
        Some(self.locale.with("basis", &values))
    }

    /// Which part of the library it is about.
    pub(super) fn view(&self) -> Vec<String> {
        let view = &self.insights.view;
        let mut lines = Vec::new();
        if let Some(path) = &view.project {
            let project = code(path, PATH);
            lines.push(self.locale.with("view-project", &[("project", (&project).into())]));
        }
        // The day that a period ends with is the last one it holds.
        let to = view.now(self.insights.updated_at).saturating_sub(1);
        if let Some(since) = view.since {
            lines.push(self.locale.with("view-since", &[("from", (&day(since)).into()), ("to", (&day(to)).into())]));
        } else if view.until.is_some() {
            lines.push(self.locale.with("view-until", &[("to", (&day(to)).into())]));
        }
        lines
    }

    /// How many came back.
    pub(super) fn totals(&self) -> String {
        let values = [("recurring", self.insights.recurring.into()), ("once", self.insights.one_offs.into())];
        self.locale.with("totals", &values)
    }

    /// Drafted rules that wait.
    pub(super) fn drafted(&self) -> Option<String> {
        let drafted = self.insights.drafted;
        (drafted > 0 && self.insights.view.is_all()).then(|| self.count("drafted", drafted))
    }

    /// How many patterns the person has muted.
    pub(super) fn muted(&self) -> Option<String> {
        let muted = self.insights.patterns.iter().filter(|pattern| pattern.muted).count();
        (muted > 0).then(|| self.count("muted", muted))
    }

    /// Whether any session ended in the weeks that trends look at.
    pub(super) fn has_weeks(&self) -> bool {
        self.insights.weeks.sessions.iter().any(|count| *count > 0)
    }

    /// How many patterns are active and fading.
    pub(super) fn statuses(&self) -> String {
        let values = [
            ("active", self.insights.with_status(Status::Active).into()),
            ("fading", self.insights.with_status(Status::Fading).into()),
            ("days", self.insights.fading_days.into()),
        ];
        self.locale.with("trends-status", &values)
    }

    /// What the figures mean.
    pub(super) fn legend(&self) -> String {
        let days = self.insights.half_life_days.to_string();
        self.locale.with("legend", &[("days", (&days).into())])
    }

    /// What a form is called.
    pub(super) fn form(&self, form: Form) -> String {
        self.text(&format!("form-{}", form.name()))
    }
}

/// A model's words are prose like a person's; everything else is a name or a command.
fn subject(pattern: &Pattern) -> String {
    let is_prose = pattern.spoken
        || Category::ALL.iter().any(|category| category.name() == pattern.kind && pattern.kind != "tool-error");
    if is_prose { text(&pattern.subject, TITLE) } else { code(&pattern.subject, TITLE) }
}

/// The last part of a project's path: what people call it.
pub(super) fn project_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default()
}

/// Characters of a session's id that people get to see, where they tell it from the others.
const SHORT: usize = 8;

/// For each session's id how many characters tell it from the others. Ids that hold the time (UUID 7) share their
/// beginning when sessions began within a minute.
pub(super) fn short_ids(patterns: &[Pattern]) -> BTreeMap<&str, usize> {
    let ids: BTreeSet<&str> = patterns.iter().flat_map(|p| &p.evidence).map(|place| place.session.as_str()).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let common = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    ids.iter()
        .enumerate()
        .map(|(index, id)| {
            let before = index.checked_sub(1).map_or(0, |before| common(ids[before], id));
            let after = ids.get(index + 1).map_or(0, |after| common(after, id));
            (*id, SHORT.max(before.max(after) + 1))
        })
        .collect()
}
/// The day of a time, in UTC. A time that no calendar knows is shown as the nearest that one does.
pub(super) fn day(at: i64) -> String {
    civil(at).date().to_string()
}

pub(super) fn minute(at: i64) -> String {
    civil(at).strftime("%Y-%m-%d %H:%M UTC").to_string()
}

pub(super) fn civil(at: i64) -> jiff::civil::DateTime {
    let nearest = if at < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::tz::TimeZone::UTC.to_datetime(jiff::Timestamp::from_millisecond(at).unwrap_or(nearest))
}
