//! The line itself.

use super::{Known, MAX_LINE};
use crate::{
    insights::{Insights, clean},
    locale::Locale,
    verdict::{Outcome, Verdict},
};

/// Longest name of a pattern in it, in characters. Names come from transcripts.
const MAX_NAME: usize = 80;

/// What is new since `before`: once with the commands of a shell, once with those of the plugin. None: nothing is.
pub(super) fn tell(before: Option<&Known>, now: &Known, insights: &Insights, locale: &Locale) -> Option<[String; 2]> {
    let first = Known::default();
    let since = before.unwrap_or(&first);
    let is_known = |id: &String| since.patterns.contains(id);
    let new: Vec<_> = insights
        .patterns
        .iter()
        .filter(|it| it.recurs() && !it.muted && !is_known(&it.id) && !it.aliases.iter().any(is_known))
        .collect();
    let has_changed = |rule: &&Verdict| since.outcomes.get(&rule.proposal) != Some(&rule.outcome);
    let mut rules: Vec<_> =
        insights.rules.iter().filter(has_changed).filter_map(|rule| Some((rank(rule.outcome)?, rule))).collect();
    rules.sort_by_key(|(rank, _)| *rank);
    let has_drafts = now.drafts.iter().any(|id| !since.drafts.contains(id));
    let read = now.sessions.saturating_sub(since.sessions);
    // That sessions were read is news only once: it shows that it works.
    if new.is_empty() && rules.is_empty() && !has_drafts && (before.is_some() || read == 0) {
        return None;
    }
    let line = |plugin: bool| {
        let how = |shell: &'static str, slash: &'static str| if plugin { slash } else { shell };
        let mut parts = Vec::new();
        if read > 0 {
            parts.push(locale.with("news-read", &[("count", read.into())]));
        }
        if let Some(strongest) = new.first() {
            let name = clean(strongest.name(), MAX_NAME);
            let how = how("totalrecall insights", "/recall-insights");
            let values = [("count", new.len().into()), ("name", (&name).into()), ("how", how.into())];
            parts.push(locale.with("news-patterns", &values));
        }
        if has_drafts {
            let how = how("totalrecall proposals", "/recall-propose");
            parts.push(locale.with("news-drafts", &[("count", now.drafts.len().into()), ("how", how.into())]));
        }
        if let Some((_, rule)) = rules.first() {
            let name = clean(&rule.subject, MAX_NAME);
            parts.push(locale.with(&format!("news-{}", rule.outcome.name()), &[("name", (&name).into())]));
            if rules.len() > 1 {
                parts.push(locale.with("news-verdicts", &[("count", (rules.len() - 1).into())]));
            }
        }
        clean(&parts.join(&locale.text("news-between")), MAX_LINE)
    };
    Some([line(false), line(true)])
}

/// Whether an outcome is news, and which comes first: what the person has to do something about.
fn rank(outcome: Outcome) -> Option<u8> {
    match outcome {
        Outcome::Worse => Some(0),
        Outcome::NotWorking => Some(1),
        Outcome::Working => Some(2),
        Outcome::TooEarly | Outcome::NotEnoughData => None,
    }
}
