//! The page: `insights.md`, for a terminal and for GitHub alike.
//!
//! Sections follow each other from what to do first to what to know besides. Every pattern names where it was seen.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::markdown::{bars, code, prose, text};
use super::phrases::{DESCRIPTION, OUTCOMES, PATH, PRESSING, PRESSING_ONCE, Phrases, TITLE};
use super::{Insights, Unread};
use crate::locale::Locale;
use crate::pattern::{Direction, Pattern};
use crate::verdict::Verdict;

/// Places shown of a pattern.
const PLACES: usize = 5;
/// Patterns listed of a category.
const OF_CATEGORY: usize = 30;
/// Patterns listed as rising or falling.
const GOING: usize = 10;
/// Transcripts and record types listed of those that could not be read.
const UNREAD: usize = 5;

/// A single session is no peak: bars are full from this many sessions a week.
const FULL_BAR: u32 = 4;

impl Insights {
    /// The page in the language of `locale`. The same insights give the same page.
    pub fn page(&self, locale: &Locale) -> String {
        let mut page = Page { insights: self, say: Phrases::new(self, locale), out: String::new() };
        page.write();
        page.out
    }
}

struct Page<'a> {
    insights: &'a Insights,
    say: Phrases<'a>,
    out: String,
}

impl Page<'_> {
    fn write(&mut self) {
        let insights = self.insights;
        self.line(&format!("# {}", self.say.text("title")));
        self.line(&self.say.updated());
        self.say.view().iter().for_each(|line| self.line(line));
        self.say.basis().iter().for_each(|line| self.line(line));
        if let Some(nothing) = self.say.nothing() {
            nothing.iter().for_each(|line| self.line(line));
        } else {
            self.line(&self.say.totals());
            self.say.drafted().iter().for_each(|line| self.line(line));
            self.pressing();
        }
        self.rules();
        if !insights.patterns.is_empty() {
            self.trends();
            self.categories();
            self.forms();
            self.candidates();
        }
        self.unread();
        if !insights.patterns.is_empty() {
            self.line("---");
            self.line(&self.say.legend());
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
        self.line(&format!("## {}", self.say.text(id)));
    }

    fn what_to_do(&mut self, advice: &str) {
        self.line(&format!("**{}** {advice}", self.say.text("what-to-do")));
    }

    fn pressing(&mut self) {
        self.heading("pressing");
        if self.insights.recurring == 0 {
            self.line(&self.say.text("pressing-none"));
        }
        for (index, pattern) in self.say.strongest(PRESSING, PRESSING_ONCE).into_iter().enumerate() {
            self.line(&format!("### {}. {}", index + 1, self.say.title(pattern)));
            let mut figures = self.say.figures(pattern);
            if pattern.trend.weeks.iter().any(|count| *count > 0) {
                figures.push(format!("`{}`", bars(&pattern.trend.weeks, FULL_BAR)));
            }
            self.line(&figures.join(" · "));
            if let Some(trend) = self.say.trend(pattern) {
                self.line(&trend);
            }
            match self.say.description(pattern) {
                Some(description) => self.line(&format!("> {description}")),
                None => self.say.of_kind("summary", &pattern.kind).iter().for_each(|summary| self.line(summary)),
            }
            if let Some(advice) = self.say.advice(pattern) {
                self.what_to_do(&advice);
            }
            self.evidence(pattern);
        }
    }

    fn evidence(&mut self, pattern: &Pattern) {
        self.line(&self.say.text("evidence"));
        let mut sessions: BTreeSet<(&str, &str)> = BTreeSet::new();
        for place in pattern.evidence.iter().take(PLACES) {
            sessions.insert((&place.tool, &place.session));
            self.item(&self.say.place(place));
        }
        let more = (pattern.occurrences as usize).saturating_sub(sessions.len());
        if more > 0 {
            self.item(&self.say.count("evidence-more", more));
        }
        self.end_list();
    }

    fn rules(&mut self) {
        if self.insights.rules.is_empty() {
            return;
        }
        self.heading("rules");
        self.say.rules_intro().iter().for_each(|line| self.line(line));
        for outcome in OUTCOMES {
            let rules: Vec<&Verdict> = self.insights.rules.iter().filter(|rule| rule.outcome == outcome).collect();
            if rules.is_empty() {
                continue;
            }
            let heading = format!("### {}{}", self.say.outcome(outcome), self.say.aside(&rules.len().to_string()));
            self.line(&heading);
            for rule in rules {
                self.line(&format!("> {}", self.say.rule_text(rule)));
                self.line(&self.say.rule_figures(rule).join(" · "));
                self.line(&self.say.rule_counts(rule).join(" · "));
                self.what_to_do(&self.say.rule_advice(rule));
            }
        }
    }

    fn trends(&mut self) {
        self.heading("trends");
        self.line(&self.say.statuses());
        if !self.say.has_weeks() {
            self.line(&self.say.text("trends-none"));
            return;
        }
        let mut steady = true;
        for (id, direction) in [("trends-rising", Direction::Rising), ("trends-falling", Direction::Falling)] {
            let going: Vec<&Pattern> = self.insights.going(direction).take(GOING).collect();
            if going.is_empty() {
                continue;
            }
            steady = false;
            self.line(&format!("**{}**", self.say.text(id)));
            for pattern in going {
                let bars = bars(&pattern.trend.weeks, FULL_BAR);
                self.item(&format!("{} · `{bars}` · {}", self.say.title(pattern), self.say.trend_shares(pattern)));
            }
            self.end_list();
        }
        if steady {
            self.line(&self.say.text("trends-steady"));
        }
        self.weeks();
    }

    fn weeks(&mut self) {
        self.line(&self.say.text("trends-weeks"));
        let days = self.say.week_days();
        let _ = writeln!(self.out, "| {} | {} |", self.say.text("trends-kind"), days.join(" | "));
        let _ = writeln!(self.out, "| --- |{}", " ---: |".repeat(days.len()));
        for (kind, counts) in self.say.weekly_kinds() {
            let _ = writeln!(self.out, "| {} | {} |", self.say.kind(kind), cells(counts));
        }
        let all = cells(&self.insights.weeks.sessions);
        let _ = writeln!(self.out, "| *{}* | {all} |", self.say.text("trends-all"));
        self.out.push('\n');
    }

    fn categories(&mut self) {
        let categories = self.say.categories();
        if !categories.is_empty() {
            self.heading("by-category");
        }
        for (category, patterns) in categories {
            let heading = format!("### {}{}", self.say.category(category), self.say.aside(&patterns.len().to_string()));
            self.line(&heading);
            for pattern in patterns.iter().take(OF_CATEGORY) {
                self.item(&self.say.of_category(pattern));
            }
            self.more(patterns.len(), OF_CATEGORY);
            self.end_list();
        }
        self.say.one_offs().iter().for_each(|line| self.line(line));
        self.say.muted().iter().for_each(|line| self.line(line));
    }

    fn more(&mut self, all: usize, shown: usize) {
        if all > shown {
            self.item(&self.say.count("unread-more", all - shown));
        }
    }

    fn forms(&mut self) {
        if self.insights.forms.is_empty() {
            return;
        }
        self.heading("forms");
        self.line(&self.say.text("forms-intro"));
        let columns = ["forms-form", "forms-sessions", "forms-findings"].map(|id| self.say.text(id));
        let _ = writeln!(self.out, "| {} |\n| --- | ---: | ---: |", columns.join(" | "));
        for count in &self.insights.forms {
            let _ = writeln!(self.out, "| {} | {} | {} |", self.say.form(count.form), count.sessions, count.findings);
        }
        self.out.push('\n');
    }

    fn candidates(&mut self) {
        let candidates: Vec<String> =
            self.say.candidates().into_iter().filter_map(|pattern| self.say.candidate(pattern)).collect();
        if candidates.is_empty() {
            return;
        }
        self.heading("candidates");
        candidates.iter().for_each(|candidate| self.item(candidate));
        self.end_list();
    }

    fn unread(&mut self) {
        let unread = &self.insights.unread;
        if *unread == Unread::default() {
            return;
        }
        self.heading("unread");
        if !unread.failed.is_empty() {
            self.line(&self.say.count("unread-failed", unread.failed.len()));
            for failed in unread.failed.iter().take(UNREAD) {
                let item = self.say.titled(&code(&failed.path, PATH), &prose(&failed.why, DESCRIPTION));
                self.item(&item);
            }
            self.more(unread.failed.len(), UNREAD);
            self.end_list();
        }
        if !unread.unknown.is_empty() {
            self.line(&self.say.text("unread-unknown"));
            for unknown in unread.unknown.iter().take(UNREAD) {
                let (tool, record) = (text(&unknown.tool, TITLE), code(&unknown.record, TITLE));
                self.item(&format!("{tool} · {record} × {}", unknown.count));
            }
            self.more(unread.unknown.len(), UNREAD);
            self.end_list();
        }
        if unread.broken > 0 {
            self.line(&self.say.count("unread-broken", unread.broken));
        }
    }
}

fn cells(counts: &[u32]) -> String {
    counts
        .iter()
        .map(|count| if *count == 0 { "·".to_owned() } else { count.to_string() })
        .collect::<Vec<_>>()
        .join(" | ")
}
