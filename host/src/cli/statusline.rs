//! `totalrecall statusline`: one short line for the status line of Claude Code, which runs it after every answer. So it opens
//! neither the store nor the settings, and shows what the worker has left to be glanced at.

use std::path::PathBuf;

use super::{hook, ui};
use crate::{config, locale, news, paths::Home, pause};

/// What the client writes is a few kilobytes.
const MAX_INPUT: u64 = 1 << 20;

/// What we read of it.
#[derive(serde::Deserialize)]
struct Session {
    cwd: Option<PathBuf>,
}

/// Print one short line for the status line of Claude Code
#[derive(Debug, clap::Args)]
#[command(after_help = "In ~/.claude/settings.json:
  \"statusLine\": { \"type\": \"command\", \"command\": \"totalrecall statusline\" }

It reads what the client writes to it and two small files of its home, and never fails. A status line of your own can call it,
too: totalrecall statusline < /dev/null")]
pub(super) struct Statusline {}

impl Statusline {
    pub(super) fn run(&self, home: Option<PathBuf>) {
        let folder = hook::first_value::<Session>(MAX_INPUT).and_then(|session| session.cwd);
        let Some(home) = Home::choose(home) else { return };
        let is_paused = pause::is_paused(home.path(), folder.as_deref());
        let _ = ui::print(&format!("{}\n", line(news::glance(&home), is_paused)));
    }
}

fn line(glance: Option<news::Glance>, is_paused: bool) -> String {
    let language = config::language_option().or_else(|| glance.as_ref().map(|glance| glance.language.clone()));
    let locale = locale::choose(language.as_deref(), config::system_language().as_deref());
    let mut parts = Vec::new();
    if is_paused {
        parts.push(locale.text("glance-paused"));
    }
    match glance {
        None => parts.push(locale.text("glance-nothing")),
        Some(glance) => {
            parts.push(locale.with("glance-patterns", &[("count", glance.patterns.into())]));
            for (text, count) in [("glance-drafts", glance.drafts), ("glance-failing", glance.failing)] {
                if count > 0 {
                    parts.push(locale.with(text, &[("count", count.into())]));
                }
            }
        }
    }
    format!("TotalRecall: {}", parts.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_waits_and_nothing_of_what_does_not() {
        let glance = |drafts, failing| news::Glance { language: "en".to_owned(), patterns: 12, drafts, failing };
        assert_eq!(line(Some(glance(0, 0)), false), "TotalRecall: 12 patterns");
        let all = "TotalRecall: paused · 12 patterns · 1 draft waits · 2 rules do not work";
        assert_eq!(line(Some(glance(1, 2)), true), all);
    }
}
