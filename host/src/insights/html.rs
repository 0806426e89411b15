//! The page for a browser: one file that loads nothing, runs nothing and says what `insights.md` says, with small charts.
//!
//! Phrases are Markdown in which everything from transcripts is escaped; the Markdown reader makes HTML of them, and what
//! claims to be HTML in them stays text. The policy in the head is the second fence.

mod chart;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use pulldown_cmark::{CowStr, Event, Parser, Tag, TagEnd};

use super::markdown::{code, prose, text};
use super::phrases::{DESCRIPTION, OUTCOMES, PATH, PRESSING, PRESSING_ONCE, Phrases, TITLE};
use super::{Insights, Unread};
use crate::locale::Locale;
use crate::pattern::{Direction, Pattern};
use crate::verdict::{Outcome, Verdict};

const STYLE: &str = include_str!("html/style.css");

/// Nothing is loaded, sent or run, whatever stands on the page.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

impl Insights {
    /// The page as one HTML file in the language of `locale`. The same insights give the same file.
    pub fn html(&self, locale: &Locale) -> String {
        let page = Html { insights: self, say: Phrases::new(self, locale) };
        page.document().into_string() + "\n"
    }
}

struct Html<'a> {
    insights: &'a Insights,
    say: Phrases<'a>,
}

impl Html<'_> {
    fn document(&self) -> Markup {
        let has_patterns = !self.insights.patterns.is_empty();
        let title = self.say.text("title");
        html! {
            (DOCTYPE)
            html lang=(self.say.locale.language()) {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    title { (title) " · TotalRecall" }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    main {
                        h1 { (title) }
                        (self.summary())
                        @if self.say.nothing().is_none() { (self.pressing()) }
                        (self.rules())
                        @if has_patterns {
                            (self.trends())
                            (self.categories())
                            (self.forms())
                            (self.candidates())
                        }
                        (self.unread())
                    }
                    @if has_patterns {
                        footer { (inline(&self.say.legend())) }
                    }
                }
            }
        }
    }

    fn summary(&self) -> Markup {
        let weeks = &self.insights.weeks.sessions;
        let label = self.counts("chart-sessions", weeks);
        html! {
            p.soft { (inline(&self.say.updated())) }
            @for line in self.say.view() { p { (inline(&line)) } }
            @if let Some(line) = self.say.basis() { p { (inline(&line)) } }
            @if let Some(nothing) = self.say.nothing() {
                @for line in nothing { p { (inline(&line)) } }
            } @else {
                p { (inline(&self.say.totals())) }
                @if let Some(line) = self.say.drafted() { p { (inline(&line)) } }
                @if self.say.has_weeks() {
                    figure {
                        figcaption { (self.say.text("chart-sessions-title")) }
                        (chart::columns(weeks, &self.say.week_days(), &label))
                    }
                }
            }
        }
    }

    /// A chart's numbers in words.
    fn counts(&self, id: &str, counts: &[u32]) -> String {
        let counts = counts.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        self.say.locale.with(id, &[("counts", (&counts).into())])
    }

    fn what_to_do(&self, advice: &str) -> Markup {
        html! { p { strong { (self.say.text("what-to-do")) } " " (inline(advice)) } }
    }

    fn pressing(&self) -> Markup {
        html! {
            section aria-labelledby="pressing" {
                h2 #pressing { (self.say.text("pressing")) }
                @if self.insights.recurring == 0 { p { (self.say.text("pressing-none")) } }
                @for (index, pattern) in self.say.strongest(PRESSING, PRESSING_ONCE).into_iter().enumerate() {
                    (self.pattern(index + 1, pattern))
                }
            }
        }
    }

    fn pattern(&self, number: usize, pattern: &Pattern) -> Markup {
        html! {
            article {
                header {
                    h3 { (number) ". " bdi { (inline(&self.say.title(pattern))) } }
                    @if pattern.trend.weeks.iter().any(|count| *count > 0) {
                        (chart::spark(&pattern.trend.weeks, &self.counts("chart-pattern", &pattern.trend.weeks)))
                    }
                }
                p.soft { (inline(&self.say.figures(pattern).join(" · "))) }
                @if let Some(trend) = self.say.trend(pattern) { p { (inline(&trend)) } }
                @match self.say.description(pattern) {
                    Some(description) => blockquote dir="auto" { (inline(&description)) },
                    None => @if let Some(summary) = self.say.of_kind("summary", &pattern.kind) { p { (inline(&summary)) } },
                }
                @if let Some(advice) = self.say.advice(pattern) { (self.what_to_do(&advice)) }
                details {
                    summary {
                        (self.say.text("evidence")) " " (self.say.count("sessions", pattern.occurrences))
                    }
                    ul {
                        @for place in &pattern.evidence { li { (inline(&self.say.place(place))) } }
                    }
                }
            }
        }
    }

    fn rules(&self) -> Markup {
        let mut rules: Vec<(Outcome, Vec<(usize, &Verdict)>)> = Vec::new();
        let mut number = 0;
        for outcome in OUTCOMES {
            let of_outcome = self.insights.rules.iter().filter(|rule| rule.outcome == outcome);
            let numbered: Vec<_> = of_outcome
                .map(|rule| {
                    number += 1;
                    (number, rule)
                })
                .collect();
            rules.push((outcome, numbered));
        }
        rules.retain(|(_, rules)| !rules.is_empty());
        let rows: Vec<chart::Row> = rules
            .iter()
            .flat_map(|(outcome, rules)| rules.iter().map(move |rule| (*outcome, rule)))
            .filter_map(|(outcome, (number, rule))| Some(chart::Row { number: *number, outcome, ratio: rule.ratio? }))
            .collect();
        html! {
            @if !rules.is_empty() {
                section aria-labelledby="rules" {
                    h2 #rules { (self.say.text("rules")) }
                    @for line in self.say.rules_intro() { p { (inline(&line)) } }
                    @if !rows.is_empty() { (self.forest(&rows)) }
                    @for (outcome, rules) in rules {
                        h3 class=(chart::tone(outcome)) { (self.say.outcome(outcome)) " (" (rules.len()) ")" }
                        @for (number, rule) in rules {
                            article {
                                blockquote dir="auto" { (number) ". " (inline(&self.say.rule_text(rule))) }
                                p.soft { (inline(&self.say.rule_figures(rule).join(" · "))) }
                                p { (inline(&self.say.rule_counts(rule).join(" · "))) }
                                (self.what_to_do(&self.say.rule_advice(rule)))
                            }
                        }
                    }
                }
            }
        }
    }

    fn forest(&self, rows: &[chart::Row]) -> Markup {
        let text = |id| self.say.text(id);
        let (label, rarer, more_often) = (text("chart-rules"), text("chart-rarer"), text("chart-more-often"));
        html! {
            figure {
                figcaption { (label) }
                (chart::forest(rows, &chart::Words { label: &label, rarer: &rarer, more_often: &more_often }))
            }
        }
    }

    fn trends(&self) -> Markup {
        let going = [("trends-rising", Direction::Rising), ("trends-falling", Direction::Falling)]
            .map(|(id, direction)| (id, self.insights.going(direction).collect::<Vec<_>>()));
        html! {
            section aria-labelledby="trends" {
                h2 #trends { (self.say.text("trends")) }
                p { (inline(&self.say.statuses())) }
                @if !self.say.has_weeks() {
                    p { (self.say.text("trends-none")) }
                } @else if going.iter().all(|(_, patterns)| patterns.is_empty()) { p { (self.say.text("trends-steady")) } }
                @for (id, patterns) in going.iter().filter(|(_, patterns)| !patterns.is_empty()) {
                    h3 { (self.say.text(id)) }
                    ul {
                        @for pattern in patterns {
                            li {
                                bdi { (inline(&self.say.title(pattern))) } " · "
                                (inline(&self.say.trend_shares(pattern)))
                            }
                        }
                    }
                }
                @if self.say.has_weeks() { (self.weeks()) }
            }
        }
    }

    fn weeks(&self) -> Markup {
        let cells = |counts: &[u32]| {
            html! {
                @for count in counts {
                    td { @if *count == 0 { "·" } @else { (count) } }
                }
            }
        };
        html! {
            p #weeks { (self.say.text("trends-weeks")) }
            div.wide role="region" aria-labelledby="weeks" tabindex="0" {
                table {
                    thead {
                        tr {
                            th scope="col" { (self.say.text("trends-kind")) }
                            @for day in self.say.week_days() { th scope="col" { (day) } }
                        }
                    }
                    tbody {
                        @for (kind, counts) in self.say.weekly_kinds() {
                            tr { th scope="row" { (inline(&self.say.kind(kind))) } (cells(counts)) }
                        }
                    }
                    tfoot {
                        tr { th scope="row" { (self.say.text("trends-all")) } (cells(&self.insights.weeks.sessions)) }
                    }
                }
            }
        }
    }

    fn categories(&self) -> Markup {
        let categories = self.say.categories();
        let sessions = |patterns: &[&Pattern]| {
            patterns.iter().flat_map(|pattern| &pattern.seen_in).collect::<std::collections::BTreeSet<_>>().len()
        };
        let longest = categories.iter().map(|(_, patterns)| sessions(patterns)).max().unwrap_or_default();
        html! {
            @if !categories.is_empty() {
                section aria-labelledby="categories" {
                    h2 #categories { (self.say.text("by-category")) }
                    table {
                        thead {
                            tr {
                                th scope="col" { (self.say.text("chart-category")) }
                                td.bar {}
                                th scope="col" { (self.say.text("chart-category-sessions")) }
                                th scope="col" { (self.say.text("chart-category-patterns")) }
                            }
                        }
                        tbody {
                            @for (category, patterns) in &categories {
                                tr {
                                    th scope="row" { (self.say.category(*category)) }
                                    td.bar { (chart::share(sessions(patterns), longest)) }
                                    td { (sessions(patterns)) }
                                    td { (patterns.len()) }
                                }
                            }
                        }
                    }
                    @for (category, patterns) in &categories {
                        details {
                            summary { (self.say.category(*category)) " (" (patterns.len()) ")" }
                            ul {
                                @for pattern in patterns { li { (inline(&self.say.of_category(pattern))) } }
                            }
                        }
                    }
                }
            }
            @if let Some(line) = self.say.one_offs() { p { (inline(&line)) } }
            @if let Some(line) = self.say.muted() { p { (inline(&line)) } }
        }
    }

    fn forms(&self) -> Markup {
        let longest = self.insights.forms.iter().map(|count| count.sessions).max().unwrap_or_default();
        html! {
            @if !self.insights.forms.is_empty() {
                section aria-labelledby="forms" {
                    h2 #forms { (self.say.text("forms")) }
                    p { (self.say.text("forms-intro")) }
                    div.wide role="region" aria-labelledby="forms" tabindex="0" {
                        table {
                            thead {
                                tr {
                                    th scope="col" { (self.say.text("forms-form")) }
                                    td.bar {}
                                    th scope="col" { (self.say.text("forms-sessions")) }
                                    th scope="col" { (self.say.text("forms-findings")) }
                                }
                            }
                            tbody {
                                @for count in &self.insights.forms {
                                    tr {
                                        th scope="row" { (self.say.form(count.form)) }
                                        td.bar { (chart::share(count.sessions, longest)) }
                                        td { (count.sessions) }
                                        td { (count.findings) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn candidates(&self) -> Markup {
        let candidates: Vec<String> =
            self.say.candidates().into_iter().filter_map(|pattern| self.say.candidate(pattern)).collect();
        html! {
            @if !candidates.is_empty() {
                section aria-labelledby="candidates" {
                    h2 #candidates { (self.say.text("candidates")) }
                    ul { @for candidate in candidates { li { (inline(&candidate)) } } }
                }
            }
        }
    }

    fn unread(&self) -> Markup {
        let unread = &self.insights.unread;
        html! {
            @if *unread != Unread::default() {
                section aria-labelledby="unread" {
                    h2 #unread { (self.say.text("unread")) }
                    @if !unread.failed.is_empty() {
                        p { (inline(&self.say.count("unread-failed", unread.failed.len()))) }
                        ul {
                            @for failed in &unread.failed {
                                li {
                                    (inline(&self.say.titled(
                                        &code(&failed.path, PATH),
                                        &prose(&failed.why, DESCRIPTION),
                                    )))
                                }
                            }
                        }
                    }
                    @if !unread.unknown.is_empty() {
                        p { (self.say.text("unread-unknown")) }
                        ul {
                            @for unknown in &unread.unknown {
                                li {
                                    (inline(&text(&unknown.tool, TITLE))) " · "
                                    (inline(&code(&unknown.record, TITLE))) " × " (unknown.count)
                                }
                            }
                        }
                    }
                    @if unread.broken > 0 { p { (self.say.count("unread-broken", unread.broken)) } }
                }
            }
        }
    }
}

/// A phrase as HTML: emphasis and code, everything else is text.
fn inline(phrase: &str) -> Markup {
    let events = Parser::new(phrase).filter_map(|event| match event {
        Event::Text(_)
        | Event::Code(_)
        | Event::Start(Tag::Strong | Tag::Emphasis)
        | Event::End(TagEnd::Strong | TagEnd::Emphasis) => Some(event),
        Event::Html(html) | Event::InlineHtml(html) => Some(Event::Text(html)),
        Event::SoftBreak | Event::HardBreak => Some(Event::Text(CowStr::Borrowed(" "))),
        _ => None,
    });
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, events);
    PreEscaped(html)
}
