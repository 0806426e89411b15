//! Taking over what another program learned, so that changing to this one loses nothing.
//!
//! The other program's folder is only read (`folder.rs`). What is in it is understood as leniently as can be (`old.rs`,
//! `rules.rs`, `settings.rs`): what cannot be is left out with its reason, never guessed. From that and what is known here
//! a plan is made (`plan.rs`), which is carried out as a whole or not at all; a dry run is a plan that is not carried out.

mod claude_mem;
mod folder;
mod id;
mod json;
mod kept;
mod old;
mod plan;
mod report;
mod rlm;
mod rules;
mod settings;
mod time;

use std::path::{Path, PathBuf};

use crate::{
    config::Config,
    redact::Redactor,
    store::{Store, StoreError},
};

pub use kept::{Counts, Entries, Kept};
pub use report::{Counted, Difference, Ledger, Matter, Proposals, Repair, Report, RulesFile, Settings, Waiting};

use old::Old;
use plan::{Known, Plan};

/// As findings and originals name the program.
pub const TOTALRECALL: &str = "totalrecall-0.1";

/// Why nothing was taken over.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// There is no such folder.
    #[error("there is no folder {}", .0.display())]
    Missing(PathBuf),
    /// It cannot be read.
    #[error("could not read {}: {why}", folder.display())]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// The system's words.
        why: String,
    },
    /// It holds none of what the other program writes.
    #[error("{} is no home of the Python TotalRecall: it has no patterns folder, ledger.json or proposals.json", .0.display())]
    NotOne(PathBuf),
    /// It is none of what was said it is.
    #[error("{} is no {what}: {why}", path.display())]
    NotA {
        /// The folder or file.
        path: PathBuf,
        /// What it should be.
        what: &'static str,
        /// What is wrong.
        why: String,
    },
    /// It is where this program keeps its own.
    #[error("{} is the home of the Python TotalRecall and this program's own at once", .0.display())]
    Own(PathBuf),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ImportError {
    /// What the person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Missing(_) | Self::NotOne(_) => {
                "Name its state folder: it is ~/.totalrecall unless TOTALRECALL_HOME was set."
            }
            Self::NotA { what: rlm::WHAT, .. } => {
                "Name the folder that holds session_memory.json and index.json: ~/.claude/rlm/context, or $RLM_CONTEXT_DIR."
            }
            Self::NotA { what: claude_mem::WHAT, .. } => {
                "Name the folder that holds claude-mem.db: ~/.claude-mem, as a rule."
            }
            Self::NotA { .. } => "docs/import.md shows what the file looks like.",
            Self::Unreadable { .. } => "Check who owns the folder and whether it may be read.",
            Self::Own(_) => {
                "Move the old home away and import it from there: `mv ~/.totalrecall ~/.totalrecall-python`, \
                 `totalrecall init`, `totalrecall import totalrecall ~/.totalrecall-python`."
            }
            Self::Store(error) => return error.hint(),
        })
    }
}

/// Where another program's memories are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The folder `context` of RLM.
    Rlm,
    /// The folder of claude-mem, which holds its database.
    ClaudeMem,
    /// A file of our own form.
    Json,
}

/// Reads all memories and chunks that another program kept. Nothing is written there.
///
/// # Errors
/// `Missing`, `Unreadable`, `NotA`.
pub fn read(source: Source, path: &Path) -> Result<Entries, ImportError> {
    match source {
        Source::Rlm => rlm::read(path),
        Source::ClaudeMem => claude_mem::read(path),
        Source::Json => json::read(path),
    }
}

/// What to take over, and with what.
pub struct Import<'a> {
    /// The other program's folder.
    pub folder: &'a Path,
    /// The settings in force here.
    pub config: &'a Config,
    /// Takes secrets out of everything that is kept.
    pub redactor: &'a Redactor,
    /// Milliseconds since the Unix epoch.
    pub now: i64,
}

impl<'a> Import<'a> {
    /// Reads the folder.
    ///
    /// # Errors
    /// `Missing`, `Unreadable`, `NotOne`.
    pub fn open(self) -> Result<Opened<'a>, ImportError> {
        Ok(Opened { old: Old::read(self.folder)?, import: self })
    }
}

/// A folder that was read.
pub struct Opened<'a> {
    import: Import<'a>,
    old: Old,
}

impl Opened<'_> {
    /// Takes it over.
    ///
    /// # Errors
    /// Those of the store; nothing was kept then.
    pub fn run(&self, store: &mut Store) -> Result<Report, ImportError> {
        store.all_or_nothing(|store| {
            let plan = Plan::new(&self.old, &Known::of(store)?, &self.import);
            plan.carry_out(store, self.import.now)?;
            Ok(plan.report)
        })
    }

    /// What [`Opened::run`] would do. No store: there is none yet.
    ///
    /// # Errors
    /// Those of the store.
    pub fn rehearse(&self, store: Option<&Store>) -> Result<Report, ImportError> {
        let known = store.map_or_else(|| Ok(Known::default()), Known::of)?;
        Ok(Plan::new(&self.old, &known, &self.import).report)
    }
}

/// Refuses a folder that this program keeps its own things in: its files would be taken for ours, and ours written over
/// them. `home` need not be there.
///
/// # Errors
/// `Own`.
pub fn refuse_own(folder: &Path, home: &Path) -> Result<(), ImportError> {
    let same = match (folder.canonicalize(), home.canonicalize()) {
        (Ok(folder), Ok(home)) => folder == home,
        _ => false,
    };
    if same { Err(ImportError::Own(folder.to_path_buf())) } else { Ok(()) }
}
