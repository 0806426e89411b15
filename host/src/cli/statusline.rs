//! `totalrecall statusline`: one short line for the status line of Claude Code, which runs it after every answer. So it opens
//! neither the store nor the settings, and shows what the worker has left to be glanced at.

use std::path::PathBuf;

use super::{hook, ui};
use crate::{config, locale, news, paths::Home};

/// What the client writes is a few kilobytes.
const MAX_INPUT: u64 = 1 << 20;

/// Print one short line for the status line of Claude Code
#[derive(Debug, clap::Args)]
#[command(after_help = "In ~/.claude/settings.json:
  \"statusLine\": { \"type\": \"command\", \"command\": \"totalrecall statusline\" }

It reads what the client writes to it, but nothing else than its own home, and never fails. A status line of your own can call it,
too: totalrecall statusline < /dev/null")]
pub(super) struct Statusline {}

impl Statusline {
    pub(super) fn run(&self, home: Option<PathBuf>) {
        // Read so that the client does not write to a pipe that nobody has. Nothing in it is needed.
        let _ = hook::first_value::<serde::de::IgnoredAny>(MAX_INPUT);
        let Some(home) = Home::choose(home) else { return };
        let _ = ui::print(&format!("{}\n", line(news::glance(&home))));
    }
}

fn line(glance: Option<news::Glance>) -> String {
    let language = config::language_option().or_else(|| glance.as_ref().map(|glance| glance.language.clone()));
    let locale = locale::choose(language.as_deref(), config::system_language().as_deref());
    let mut parts = Vec::new();
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
        assert_eq!(line(Some(glance(0, 0))), "TotalRecall: 12 patterns");
        assert_eq!(line(Some(glance(1, 2))), "TotalRecall: 12 patterns · 1 draft waits · 2 rules do not work");
    }
}
