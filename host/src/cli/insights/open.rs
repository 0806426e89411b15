//! `insights --open`: the page before someone's eyes: in a browser where there is a desktop, else in a pager, else where it lies.

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use crate::{cli::ui, paths};

/// Shows the HTML file, or the text where there is no desktop.
pub(super) fn show(html: &Path, text: &str) -> anyhow::Result<()> {
    if has_desktop() {
        match open::that_detached(html) {
            Ok(()) => {
                ui::say(&format!("{} is opened in your browser", html.display()));
                return Ok(());
            }
            Err(error) => ui::warn(&format!("no browser could be started: {error}")),
        }
    }
    if io::stdout().is_terminal()
        && let Some(pager) = paths::variable("PAGER")
    {
        match page(&pager, text) {
            Ok(()) => return Ok(()),
            Err(error) => ui::warn(&format!("`{pager}` ($PAGER) could not be started: {error}")),
        }
    }
    Ok(ui::print(&format!("{}\n", html.display()))?)
}

/// A window opened in a session over SSH would be on another machine's screen, or nowhere.
fn has_desktop() -> bool {
    let is_set = |name| paths::variable(name).is_some();
    if is_set("SSH_CONNECTION") || is_set("SSH_TTY") {
        return false;
    }
    cfg!(any(windows, target_os = "macos"))
        || is_set("DISPLAY")
        || is_set("WAYLAND_DISPLAY")
        || is_set("WSL_DISTRO_NAME")
}

/// As `git` and `man` do it, but without a shell: the words of the variable are program and arguments.
#[expect(clippy::disallowed_methods, reason = "the program that the person reads with, in their terminal")]
fn page(pager: &str, text: &str) -> io::Result<()> {
    let mut words = pager.split_whitespace();
    let program = words.next().ok_or(io::ErrorKind::NotFound)?;
    let mut child = Command::new(program).args(words).stdin(Stdio::piped()).spawn()?;
    // Whoever has seen enough closes it.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(text.as_bytes()));
    child.wait().map(drop)
}
