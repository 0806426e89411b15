//! What most commands need, made once from arguments, environment and settings.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Context as _;

use crate::{clock, config::Config, paths::Home};

pub(super) struct Context {
    pub(super) home: Home,
    pub(super) config: Config,
    /// Milliseconds since the Unix epoch.
    pub(super) now: i64,
    /// Set by the first Ctrl-C: finish nothing new, leave everything consistent.
    pub(super) stop: Arc<AtomicBool>,
}

impl Context {
    pub(super) fn new(home: Option<PathBuf>) -> anyhow::Result<Self> {
        let home = Home::choose(home).context(
            "there is no home directory to keep anything in: give one with --home DIR or set TOTALRECALL_HOME",
        )?;
        let config = Config::load(&home.config())?;
        Ok(Self { home, config, now: clock::now(), stop: Arc::default() })
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
