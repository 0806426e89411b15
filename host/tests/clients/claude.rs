//! Claude Code, as npm installs it: once for each version, kept in cargo's target folder.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The newest when these tests were written. It declares Node.js 22, which npm on an older one avoids by taking 2.1.197;
/// but it is a program of its own that needs no Node.js at all, so that the version can be the same everywhere.
pub(crate) const VERSION: &str = "2.1.332";

const PACKAGE: &str = "@anthropic-ai/claude-code";

/// The program, installed if it was not yet. An error is a sentence that says why it is missing and what to do.
///
/// Where npm gets it from is npm's configuration. Nothing of the package is run but the program.
pub(crate) fn install() -> Result<PathBuf, String> {
    // Another version can be tried without touching anything: `TOTALRECALL_CLAUDE_VERSION=2.1.197`.
    let version = std::env::var("TOTALRECALL_CLAUDE_VERSION").unwrap_or_else(|_| VERSION.to_owned());
    let clients = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients");
    let folder = clients.join(format!("claude-code-{version}"));
    fs::create_dir_all(&clients).unwrap();
    // Two test runs at once must not install into the same folder.
    let lock = fs::File::create(clients.join("lock")).unwrap();
    lock.lock().unwrap();
    let done = folder.join("done");
    if !done.is_file() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let sentence = |why: String| {
            format!(
                "Claude Code {version} could not be installed: {why}\nhint: install npm (10 or newer) and see that it \
                 reaches its registry, as in `npm view {PACKAGE}@{version}`"
            )
        };
        npm(&folder, &version).map_err(sentence)?;
        let program = find(&folder).ok_or_else(|| sentence("npm has no program of it for this system".to_owned()))?;
        fs::write(&done, program.strip_prefix(&folder).unwrap().as_os_str().as_encoded_bytes()).unwrap();
    }
    Ok(folder.join(fs::read_to_string(done).unwrap()))
}

fn npm(folder: &Path, version: &str) -> Result<(), String> {
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--engine-strict=false"]);
    npm.arg("--prefix").arg(folder).arg(format!("{PACKAGE}@{version}"));
    let output = npm.current_dir(folder).output().map_err(|error| format!("npm does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("npm says\n{}", String::from_utf8_lossy(&output.stderr).trim_end()))
}

/// The program is in the package for this system, which the package itself only points to.
fn find(folder: &Path) -> Option<PathBuf> {
    let packages = fs::read_dir(folder.join("node_modules/@anthropic-ai")).ok()?;
    let mut programs: Vec<_> = packages.flatten().map(|package| package.path().join("claude")).collect();
    // Where there are several, they are for several C libraries.
    programs.sort();
    programs.into_iter().find(|program| program.is_file() && answers(program.as_os_str()))
}

fn answers(program: &OsStr) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
