//! What is said of a rule in force.

use super::{DESCRIPTION, Phrases, TITLE, day};
use crate::insights::markdown::{clean, code, prose};
use crate::verdict::{Outcome, Simple, Unit, Verdict};

/// Outcomes in the order in which they are shown: what asks for something first.
pub(in crate::insights) const OUTCOMES: [Outcome; 5] =
    [Outcome::Worse, Outcome::NotWorking, Outcome::Working, Outcome::NotEnoughData, Outcome::TooEarly];

impl Phrases<'_> {
    /// How to read what is said of rules.
    pub(in crate::insights) fn rules_intro(&self) -> Vec<String> {
        let mut lines = vec![self.text("rules-intro")];
        // A verdict is of all sessions that a rule is for, whatever the view.
        lines.extend((!self.insights.view.is_all()).then(|| self.text("rules-everywhere")));
        lines
    }

    /// What an outcome is called.
    pub(in crate::insights) fn outcome(&self, outcome: Outcome) -> String {
        self.text(&format!("outcome-{}", outcome_name(outcome)))
    }

    /// Beside a pattern: since when it has a rule, and what became of it.
    pub(super) fn has_rule(&self, rule: &Verdict) -> String {
        let outcome = self.text(&format!("ruled-{}", outcome_name(rule.outcome)));
        self.locale.with("has-rule", &[("date", (&day(rule.applied_at)).into()), ("outcome", (&outcome).into())])
    }

    /// The rule's text.
    pub(in crate::insights) fn rule_text(&self, rule: &Verdict) -> String {
        prose(&rule.text, DESCRIPTION)
    }

    /// What it is about, since when it is in force, what it costs.
    pub(in crate::insights) fn rule_figures(&self, rule: &Verdict) -> Vec<String> {
        let pattern = self.insights.patterns.iter().find(|pattern| pattern.id == rule.pattern);
        let title = pattern.map_or_else(|| code(&rule.subject, TITLE), |pattern| self.title(pattern));
        let mut figures = vec![self.locale.with("rule-about", &[("title", (&title).into())])];
        figures.push(self.locale.with("rule-since", &[("date", (&day(rule.applied_at)).into())]));
        figures.push(self.count("rule-tokens", rule.tokens));
        figures
    }

    /// The counts before and after, the ratio where there is one, and the simple reading beside it.
    pub(in crate::insights) fn rule_counts(&self, rule: &Verdict) -> Vec<String> {
        let (before, after) = (rule.before, rule.after);
        let from = day(before.from);
        let values = [
            ("before-with", before.occurrences.into()),
            ("before-of", before.opportunities.into()),
            ("with", after.occurrences.into()),
            ("of", after.opportunities.into()),
            ("from", (&from).into()),
        ];
        let unit = match rule.unit {
            Unit::Sessions => "rule-counts-sessions",
            Unit::Calls => "rule-counts-calls",
        };
        let mut counts = vec![self.locale.with(unit, &values)];
        counts.extend(self.rule_ratio(rule));
        counts.push(self.text(match rule.simple {
            Simple::Resolved => "rule-simple-resolved",
            Simple::Pending => "rule-simple-pending",
            Simple::Ineffective => "rule-simple-ineffective",
        }));
        counts
    }

    /// How often it comes up, compared with how often it would without the rule.
    pub(in crate::insights) fn rule_ratio(&self, rule: &Verdict) -> Option<String> {
        let ratio = rule.ratio?;
        let (middle, low, high) = (times(ratio.middle), times(ratio.low), times(ratio.high));
        let values = [("middle", (&middle).into()), ("low", (&low).into()), ("high", (&high).into())];
        Some(self.locale.with("rule-ratio", &values))
    }

    /// What to do about it.
    pub(in crate::insights) fn rule_advice(&self, rule: &Verdict) -> String {
        // It stands within a code span.
        let proposal = clean(&rule.proposal, TITLE).replace('`', "");
        let id = format!("rule-advice-{}", outcome_name(rule.outcome));
        self.locale.with(&id, &[("proposal", (&proposal).into())])
    }
}

/// A ratio with as many digits as it carries.
pub(in crate::insights) fn times(ratio: f64) -> String {
    if ratio >= 10.0 { format!("{ratio:.0}") } else { format!("{ratio:.2}") }
}

fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Working => "working",
        Outcome::NotWorking => "not-working",
        Outcome::Worse => "worse",
        Outcome::TooEarly => "too-early",
        Outcome::NotEnoughData => "not-enough-data",
    }
}
