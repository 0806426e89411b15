//! Claude Code, in two versions: the newest, and the one that npm takes by itself on this machine.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use crate::npm::Package;

/// The newest when these tests were written. It declares Node.js 22, which npm on an older one avoids by taking 2.1.197;
/// but it is a program of its own that needs no Node.js at all, so that the version can be the same everywhere.
const VERSION: &str = "2.1.332";

/// Which Claude Code someone has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claude {
    Newest,
    /// What `npm install` without a version takes here. That may be the newest.
    Resolved,
}

static NEWEST: OnceLock<PathBuf> = OnceLock::new();
static RESOLVED: OnceLock<PathBuf> = OnceLock::new();

impl Claude {
    pub(crate) const ALL: [Self; 2] = [Self::Newest, Self::Resolved];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Resolved => "resolved",
        }
    }

    /// The program, once it is installed.
    pub(crate) fn program(self) -> &'static Path {
        self.place().get().unwrap()
    }

    /// Is it the newest under another name? Then there is nothing about it to test.
    pub(crate) fn is_double(self) -> bool {
        self == Self::Resolved && answer(Self::Newest.program()) == answer(Self::Resolved.program())
    }

    fn place(self) -> &'static OnceLock<PathBuf> {
        match self {
            Self::Newest => &NEWEST,
            Self::Resolved => &RESOLVED,
        }
    }
}

/// Installs both, if they were not yet. An error is a sentence that says why one is missing and what to do.
pub(crate) fn install() -> Result<(), String> {
    for claude in Claude::ALL {
        // Another version can be tried without touching anything: `TOTALRECALL_CLAUDE_VERSION=2.1.197`.
        let version = (claude == Claude::Newest)
            .then(|| std::env::var("TOTALRECALL_CLAUDE_VERSION").unwrap_or_else(|_| VERSION.to_owned()));
        let package = Package { title: "Claude Code", name: "@anthropic-ai/claude-code", version, find };
        claude.place().set(package.install()?).unwrap();
    }
    Ok(())
}

/// The program is in the package for this system, which the package itself only points to.
fn find(folder: &Path) -> Option<PathBuf> {
    let packages = fs::read_dir(folder.join("node_modules/@anthropic-ai")).ok()?;
    let mut programs: Vec<_> = packages.flatten().map(|package| package.path().join("claude")).collect();
    // Where there are several, they are for several C libraries.
    programs.sort();
    programs.into_iter().find(|program| program.is_file() && answer(program).is_some())
}

/// What it says its version is.
fn answer(program: &Path) -> Option<Vec<u8>> {
    let output = Command::new(program).arg("--version").output().ok()?;
    output.status.success().then_some(output.stdout)
}
