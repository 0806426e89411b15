//! What most commands need, made once from arguments, environment and settings.

use std::{
    borrow::Cow,
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Context as _;

use super::ui;
use crate::{clock, config::Config, paths::Home, redact::Redactor};

pub(super) struct Context {
    pub(super) home: Home,
    pub(super) config: Config,
    /// Milliseconds since the Unix epoch.
    pub(super) now: i64,
    /// Set by the first Ctrl-C: finish nothing new, leave everything consistent.
    pub(super) stop: Arc<AtomicBool>,
    redactor: OnceLock<Redactor>,
}

impl Context {
    pub(super) fn new(home: Option<PathBuf>) -> anyhow::Result<Self> {
        let home = Home::choose(home).context(
            "there is no home directory to keep anything in: give one with --home DIR or set TOTALRECALL_HOME",
        )?;
        let config = Config::load(&home.config())?;
        Ok(Self::of(home, config))
    }

    pub(super) fn of(home: Home, config: Config) -> Self {
        Self { home, config, now: clock::now(), stop: Arc::default(), redactor: OnceLock::new() }
    }

    /// What is stored without what is to be taken out of it today, which may have been named since.
    pub(super) fn shown(&self, text: &str) -> String {
        self.redactor().redact(text).into_owned()
    }

    /// The same of a text that tells of a value, whose ids stay.
    pub(super) fn shown_of(&self, value: &impl serde::Serialize, text: &str) -> anyhow::Result<String> {
        Ok(match self.redactor().redact(text) {
            Cow::Borrowed(text) => text.to_owned(),
            Cow::Owned(_) => self.redactor().shown_text(text, &serde_json::to_value(value)?),
        })
    }

    /// Prints what is stored, so far as it may be shown today.
    pub(super) fn print(&self, text: &str) -> anyhow::Result<()> {
        Ok(ui::print(&self.redactor().redact(text))?)
    }

    /// Prints a text that tells of a value, whose ids stay.
    pub(super) fn print_of(&self, value: &impl serde::Serialize, text: &str) -> anyhow::Result<()> {
        Ok(ui::print(&self.shown_of(value, text)?)?)
    }

    /// As one JSON document.
    pub(super) fn print_json(&self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        Ok(ui::print(&self.shown_json(value)?)?)
    }

    /// A JSON document, so far as it may be shown today.
    pub(super) fn shown_json(&self, value: &impl serde::Serialize) -> anyhow::Result<String> {
        let mut shown = serde_json::to_value(value)?;
        // A value in between has its fields in another order, and longer numbers.
        let is_other = self.redactor().shown(&mut shown);
        let text = if is_other { serde_json::to_string_pretty(&shown) } else { serde_json::to_string_pretty(value) };
        Ok(text? + "\n")
    }

    pub(super) fn redactor(&self) -> &Redactor {
        self.redactor.get_or_init(|| self.config.redactor())
    }

    /// Lets Ctrl-C end the work between two steps instead of at once. A second one ends the process.
    pub(super) fn stop_on_ctrl_c(&self) {
        let stop = Arc::clone(&self.stop);
        // Fails only when a handler is set already, which is as good.
        let _ = ctrlc::set_handler(move || {
            if stop.swap(true, Ordering::Relaxed) {
                end_now();
            }
        });
    }
}

#[expect(clippy::exit, reason = "the second Ctrl-C means it; the store survives a kill at any instant")]
fn end_now() {
    std::process::exit(130);
}
