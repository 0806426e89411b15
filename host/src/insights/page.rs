//! The page: `insights.md`, for a terminal and for GitHub alike.
//!
//! Sections follow each other from what to do first to what to know besides. Every pattern names where it was seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::markdown::{bars, code, prose, text};
use super::{Insights, Unread};
use crate::finding::Category;
use crate::locale::{Locale, Value};
use crate::pattern::{Direction, Pattern, Place, Share, Status};

/// Patterns shown at length.
const PRESSING: usize = 15;
/// Patterns shown at length while none has come back.
const PRESSING_ONCE: usize = 5;
/// Places shown of a pattern.
const PLACES: usize = 5;
/// Patterns listed of a category.
const OF_CATEGORY: usize = 30;
/// Patterns listed as rising or falling.
const GOING: usize = 10;
const CANDIDATES: usize = 20;
/// Transcripts and record types listed of those that could not be read.
const UNREAD: usize = 5;

/// Characters of a subject in a title, of a description, and of a path.
const TITLE: usize = 100;
const DESCRIPTION: usize = 300;
const PATH: usize = 160;

/// A single session is no peak: bars are full from this many sessions a week.
const FULL_BAR: u32 = 4;

impl Insights {
    /// The page in the language of `locale`. The same insights give the same page.
    pub fn page(&self, locale: &Locale) -> String {
        let mut page = Page { insights: self, locale, short: short_ids(&self.patterns), out: String::new() };
        page.write();
        page.out
    }
}

struct Page<'a> {
    insights: &'a Insights,
    locale: &'a Locale,
    short: BTreeMap<&'a str, usize>,
    out: String,
}

impl<'a> Page<'a> {
    fn write(&mut self) {
        let insights = self.insights;
        self.line(&format!("# {}", self.locale.text("title")));
        self.line(&self.locale.with("updated", &[("date", (&minute(insights.updated_at)).into())]));
        self.basis();
        if insights.sessions == 0 {
            self.line(&self.locale.text("empty-nothing-read"));
            self.line(&self.locale.text("empty-how"));
        } else if insights.patterns.is_empty() {
            self.line(&self.locale.text("empty-no-friction"));
        } else {
            let totals = [("recurring", insights.recurring.into()), ("once", insights.one_offs.into())];
            self.line(&self.locale.with("totals", &totals));
            self.pressing();
            self.trends();
            self.categories();
            self.one_offs();
            self.candidates();
        }
        self.unread();
        if !insights.patterns.is_empty() {
            self.line("---");
            let days = insights.half_life_days.to_string();
            self.line(&self.locale.with("legend", &[("days", (&days).into())]));
        }
        self.out.truncate(self.out.trim_end().len());
        self.out.push('\n');
    }

    /// A paragraph of its own.
    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push_str("\n\n");
    }

    fn item(&mut self, item: &str) {
        self.out.push_str("- ");
        self.out.push_str(item);
        self.out.push('\n');
    }

    fn end_list(&mut self) {
        self.out.push('\n');
    }

    fn heading(&mut self, id: &str) {
        self.line(&format!("## {}", self.locale.text(id)));
    }

    fn basis(&mut self) {
        let (Some(from), Some(to)) = (self.insights.from, self.insights.to) else { return };
        let sessions = self.count("sessions", self.insights.sessions);
        let projects = self.count("projects", self.insights.projects);
        let (from, to) = (day(from), day(to));
        let values = [
            ("sessions", Value::from(&sessions)),
            ("projects", Value::from(&projects)),
            ("from", Value::from(&from)),
            ("to", Value::from(&to)),
        ];
        self.line(&self.locale.with("basis", &values));
    }

    fn count(&self, id: &str, count: impl Into<Value<'a>>) -> String {
        self.locale.with(id, &[("count", count.into())])
    }

    fn pressing(&mut self) {
        self.heading("pressing");
        if self.insights.recurring == 0 {
            self.line(&self.locale.text("pressing-none"));
        }
        for (index, pattern) in self.strongest(PRESSING, PRESSING_ONCE).into_iter().enumerate() {
            self.line(&format!("### {}. {}", index + 1, self.title(pattern)));
            self.line(&self.figures(pattern));
            if let Some(trend) = self.trend(pattern) {
                self.line(&trend);
            }
            if !pattern.description.is_empty() && pattern.description != pattern.subject {
                self.line(&format!("> {}", prose(&pattern.description, DESCRIPTION)));
            } else if let Some(summary) = self.of_kind("summary", &pattern.kind) {
                self.line(&summary);
            }
            if let Some(advice) = self.of_kind("advice", &pattern.kind) {
                self.line(&format!("**{}** {advice}", self.locale.text("what-to-do")));
            }
            self.evidence(pattern);
        }
    }

    /// Patterns that came back, strongest first; where there are none, the strongest others.
    fn strongest(&self, most: usize, once: usize) -> Vec<&'a Pattern> {
        match self.insights.recurring {
            0 => self.insights.patterns.iter().take(once).collect(),
            _ => self.insights.recurring().take(most).collect(),
        }
    }

    /// Kind, how often, how bad, how lately.
    fn figures(&self, pattern: &Pattern) -> String {
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
        let strength = format!("{:.2}", pattern.strength);
        figures.push(self.locale.with("strength", &[("strength", (&strength).into())]));
        figures.push(format!("`{}`", bars(&pattern.trend.weeks, FULL_BAR)));
        figures.join(" · ")
    }

    fn last_seen(&self, pattern: &Pattern) -> String {
        self.locale.with("last-seen", &[("date", (&day(pattern.last_seen)).into())])
    }

    fn trend(&self, pattern: &Pattern) -> Option<String> {
        let id = match pattern.trend.direction {
            Direction::Rising => "rising",
            Direction::Falling => "falling",
            Direction::Steady => return None,
        };
        Some(self.shares(id, pattern.trend.recent, pattern.trend.before))
    }

    fn shares(&self, id: &str, recent: Share, before: Share) -> String {
        let values = [
            ("with", recent.with.into()),
            ("of", recent.of.into()),
            ("before-with", before.with.into()),
            ("before-of", before.of.into()),
        ];
        self.locale.with(id, &values)
    }

    fn evidence(&mut self, pattern: &Pattern) {
        self.line(&self.locale.text("evidence"));
        let mut sessions: BTreeSet<(&str, &str)> = BTreeSet::new();
        for place in pattern.evidence.iter().take(PLACES) {
            sessions.insert((&place.tool, &place.session));
            self.item(&self.place(place));
        }
        let more = (pattern.occurrences as usize).saturating_sub(sessions.len());
        if more > 0 {
            self.item(&self.count("evidence-more", more));
        }
        self.end_list();
    }

    fn place(&self, place: &Place) -> String {
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

    fn trends(&mut self) {
        let insights = self.insights;
        self.heading("trends");
        let values = [
            ("active", insights.with_status(Status::Active).into()),
            ("fading", insights.with_status(Status::Fading).into()),
            ("days", insights.fading_days.into()),
        ];
        self.line(&self.locale.with("trends-status", &values));
        let mut steady = true;
        for (id, direction) in [("trends-rising", Direction::Rising), ("trends-falling", Direction::Falling)] {
            let going: Vec<&Pattern> = insights.going(direction).take(GOING).collect();
            if going.is_empty() {
                continue;
            }
            steady = false;
            self.line(&format!("**{}**", self.locale.text(id)));
            for pattern in going {
                let shares = self.shares("trends-shares", pattern.trend.recent, pattern.trend.before);
                let bars = bars(&pattern.trend.weeks, FULL_BAR);
                self.item(&format!("{} · `{bars}` · {shares}", self.title(pattern)));
            }
            self.end_list();
        }
        if steady {
            self.line(&self.locale.text("trends-steady"));
        }
        self.weeks();
    }

    fn weeks(&mut self) {
        let weeks = &self.insights.weeks;
        self.line(&self.locale.text("trends-weeks"));
        let days: Vec<String> = weeks.ends.iter().map(|end| civil(*end).strftime("%m-%d").to_string()).collect();
        let _ = writeln!(self.out, "| {} | {} |", self.locale.text("trends-kind"), days.join(" | "));
        let _ = writeln!(self.out, "| --- |{}", " ---: |".repeat(days.len()));
        let mut kinds: Vec<(&String, &[u32; crate::pattern::WEEKS])> = weeks.kinds.iter().collect();
        kinds.sort_by(|a, b| b.1.iter().sum::<u32>().cmp(&a.1.iter().sum()).then_with(|| a.0.cmp(b.0)));
        for (kind, counts) in kinds.into_iter().filter(|(_, counts)| counts.iter().any(|count| *count > 0)) {
            let _ = writeln!(self.out, "| {} | {} |", self.kind(kind), cells(counts));
        }
        let _ = writeln!(self.out, "| *{}* | {} |", self.locale.text("trends-all"), cells(&weeks.sessions));
        self.out.push('\n');
    }

    fn categories(&mut self) {
        if self.insights.recurring == 0 {
            return;
        }
        self.heading("by-category");
        for category in Category::ALL {
            let mut patterns: Vec<&Pattern> = self.insights.recurring().filter(|p| p.category == category).collect();
            if patterns.is_empty() {
                continue;
            }
            patterns.sort_by(|a, b| b.occurrences.cmp(&a.occurrences).then_with(|| a.id.cmp(&b.id)));
            let heading = format!("### {}{}", self.category(category), self.aside(&patterns.len().to_string()));
            self.line(&heading);
            for pattern in patterns.iter().take(OF_CATEGORY) {
                let sessions = self.count("sessions", pattern.occurrences);
                let project = pattern.project.as_deref().map(project_name).filter(|name| !name.is_empty());
                let project = project.map(|name| format!(" · {}", code(name, TITLE))).unwrap_or_default();
                let last =
                    pattern.evidence.first().map(|place| format!(" · {}", self.place(place))).unwrap_or_default();
                self.item(&format!("{}{project} · {sessions}{last}", self.title(pattern)));
            }
            self.more(patterns.len(), OF_CATEGORY);
            self.end_list();
        }
    }

    fn more(&mut self, all: usize, shown: usize) {
        if all > shown {
            self.item(&self.count("unread-more", all - shown));
        }
    }

    fn one_offs(&mut self) {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for pattern in self.insights.patterns.iter().filter(|pattern| !pattern.recurs()) {
            *kinds.entry(&pattern.kind).or_default() += 1;
        }
        if kinds.is_empty() {
            return;
        }
        let mut kinds: Vec<(&str, usize)> = kinds.into_iter().collect();
        kinds.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let counts: Vec<String> =
            kinds.into_iter().map(|(kind, count)| format!("{} × {count}", self.kind(kind))).collect();
        let counts = counts.join(&self.locale.text("separator"));
        self.line(&self.locale.with("one-offs", &[("kinds", (&counts).into())]));
    }

    /// One improvement per subject: an error, its retries and the sessions that ended on it have one cause.
    fn candidates(&mut self) {
        self.heading("candidates");
        let mut subjects: BTreeSet<(&str, Option<&str>)> = BTreeSet::new();
        let patterns: Vec<&Pattern> = self
            .strongest(usize::MAX, PRESSING_ONCE)
            .into_iter()
            .filter(|pattern| subjects.insert((&pattern.subject, pattern.project.as_deref())))
            .take(CANDIDATES)
            .collect();
        for pattern in patterns {
            let improvement = match self.about("improve", pattern) {
                Some(improvement) => improvement,
                None => match self.of_kind("advice", &pattern.kind) {
                    Some(advice) => self.titled(&self.title(pattern), &advice),
                    None => continue,
                },
            };
            let sessions = self.aside(&self.count("sessions", pattern.occurrences));
            self.item(&format!("{improvement}{sessions}"));
        }
        self.end_list();
    }

    fn unread(&mut self) {
        let Unread { failed, unknown, broken } = &self.insights.unread;
        if failed.is_empty() && unknown.is_empty() && *broken == 0 {
            return;
        }
        self.heading("unread");
        if !failed.is_empty() {
            self.line(&self.count("unread-failed", failed.len()));
            for failed in failed.iter().take(UNREAD) {
                let item = self.titled(&code(&failed.path, PATH), &prose(&failed.why, DESCRIPTION));
                self.item(&item);
            }
            self.more(failed.len(), UNREAD);
            self.end_list();
        }
        if !unknown.is_empty() {
            self.line(&self.locale.text("unread-unknown"));
            for unknown in unknown.iter().take(UNREAD) {
                self.item(&format!(
                    "{} · {} × {}",
                    text(&unknown.tool, TITLE),
                    code(&unknown.record, TITLE),
                    unknown.count
                ));
            }
            self.more(unknown.len(), UNREAD);
            self.end_list();
        }
        if *broken > 0 {
            self.line(&self.count("unread-broken", *broken));
        }
    }

    fn title(&self, pattern: &Pattern) -> String {
        self.about("title", pattern).unwrap_or_else(|| {
            let (kind, subject) = (self.kind(&pattern.kind), code(&pattern.subject, TITLE));
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
        let subject = if pattern.spoken { text(&pattern.subject, TITLE) } else { code(&pattern.subject, TITLE) };
        if subject.is_empty() {
            return None;
        }
        self.locale.try_text(&format!("{what}-{kind}"), &[("subject", (&subject).into())])
    }

    /// A remark behind what it is about.
    fn aside(&self, remark: &str) -> String {
        self.locale.with("aside", &[("text", remark.into())])
    }

    fn titled(&self, title: &str, text: &str) -> String {
        self.locale.with("about", &[("title", title.into()), ("text", text.into())])
    }

    /// What a kind is called.
    fn kind(&self, kind: &str) -> String {
        self.locale.try_text(&format!("kind-{kind}"), &[]).unwrap_or_else(|| text(kind, TITLE))
    }

    /// A text about a kind, in the reader's language or the analyzer's words.
    fn of_kind(&self, what: &str, kind: &str) -> Option<String> {
        self.locale.try_text(&format!("{what}-{kind}"), &[]).or_else(|| {
            let described = self.insights.kinds.iter().find(|described| described.name == kind)?;
            let words = if what == "summary" { &described.summary } else { &described.advice };
            Some(prose(words, DESCRIPTION)).filter(|words| !words.is_empty())
        })
    }

    fn category(&self, category: Category) -> String {
        self.locale.text(&format!("category-{}", category.name()))
    }
}

fn cells(counts: &[u32]) -> String {
    counts
        .iter()
        .map(|count| if *count == 0 { "·".to_owned() } else { count.to_string() })
        .collect::<Vec<_>>()
        .join(" | ")
}

/// The last part of a project's path: what people call it.
fn project_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default()
}

/// Characters of a session's id that people get to see, where they tell it from the others.
const SHORT: usize = 8;

/// For each session's id how many characters tell it from the others. Ids that hold the time (UUID 7) share their
/// beginning when sessions began within a minute.
fn short_ids(patterns: &[Pattern]) -> BTreeMap<&str, usize> {
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
fn day(at: i64) -> String {
    civil(at).date().to_string()
}

fn minute(at: i64) -> String {
    civil(at).strftime("%Y-%m-%d %H:%M UTC").to_string()
}

fn civil(at: i64) -> jiff::civil::DateTime {
    let nearest = if at < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::tz::TimeZone::UTC.to_datetime(jiff::Timestamp::from_millisecond(at).unwrap_or(nearest))
}
