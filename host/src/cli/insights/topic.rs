//! `insights TOPIC`: the patterns that some words are about, short enough to be read in passing.

use std::fmt::Write as _;

use crate::{
    clean::clean,
    cli::ui,
    insights::{self, Insights},
    pattern::{Pattern, Status},
};

/// Patterns shown; the rest is counted.
const SHOWN: usize = 10;
/// Places shown of each.
const PLACES: usize = 3;
/// Characters of a session's id that tell it from others.
const ID: usize = 8;
/// Characters of a line.
const LINE: usize = 300;

/// What they say, with what to do about them and where they were seen.
pub(super) fn text(patterns: &[&Pattern], insights: &Insights) -> String {
    let mut out = String::new();
    for pattern in patterns.iter().take(SHOWN) {
        let name = insights::clean(pattern.name(), LINE);
        let _ =
            writeln!(out, "{bold}{name}{bold:#}  {dim}{}{dim:#}", clean(&pattern.id), bold = ui::BOLD, dim = ui::DIM);
        let fading = if pattern.status == Status::Fading { ", fading" } else { "" };
        let muted = if pattern.muted { ", muted" } else { "" };
        let _ = writeln!(
            out,
            "  {} of {}, last {}{fading}{muted}",
            ui::counted(pattern.occurrences.into(), "session", "sessions"),
            ui::counted(pattern.projects.into(), "project", "projects"),
            ui::local_time(pattern.last_seen),
        );
        let advice = insights.kinds.iter().find(|kind| kind.name == pattern.kind).map(|kind| kind.advice.as_str());
        if let Some(advice) = pattern.hint.as_deref().or(advice).filter(|advice| !advice.is_empty()) {
            let _ = writeln!(out, "  {}", insights::clean(advice, LINE));
        }
        for place in pattern.evidence.iter().take(PLACES) {
            let session: String = place.session.chars().take(ID).collect();
            let at = format!("{} {session} {} line {}", place.tool, ui::local_time(place.at), place.line);
            let _ = writeln!(out, "  {dim}{}{dim:#}", insights::clean(&at, LINE), dim = ui::DIM);
        }
    }
    if patterns.len() > SHOWN {
        let _ = writeln!(out, "and {} more; more words show fewer", patterns.len() - SHOWN);
    }
    out
}
