use std::path::PathBuf;

use super::JsoncError;
use crate::proposal::{EditError, RulesError};

/// Why a tool's file was not changed. It is as it was.
#[derive(Debug, thiserror::Error)]
pub enum WiringError {
    /// There is no home directory, so it is not known where tools keep their settings.
    #[error("there is no home directory, so it is not known where the tool keeps its settings")]
    NoHome,
    /// The system does not say where our program is.
    #[error("it is not known where this program is: {0}")]
    Program(String),
    /// The file is not of the form that it must have.
    #[error("cannot change {}: {why}", file.display())]
    Form {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        why: JsoncError,
    },
    /// What is put in could not be taken out again as it has to be.
    #[error("{} is written in a way that entries could not be taken out of again exactly", .0.display())]
    OneWay(PathBuf),
    /// A file of ours that someone has changed.
    #[error("{} was changed by hand", .0.display())]
    Edited(PathBuf),
    /// A file of somebody else's is where ours goes.
    #[error("{} is not of ours", .0.display())]
    Taken(PathBuf),
    /// What was done before cannot be read.
    #[error("cannot read {}: {why}", file.display())]
    Record {
        /// The file in our home.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// What is done cannot be noted, so it is not done.
    #[error("cannot write {}: {why}", file.display())]
    Unnoted {
        /// The file in our home.
        file: PathBuf,
        /// The system's reason.
        why: String,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The lock that keeps two of us from changing files of the person's at once.
    #[error(transparent)]
    Lock(#[from] RulesError),
}

impl WiringError {
    /// What the person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoHome => Some("Set HOME and try again."),
            Self::Program(_) => None,
            Self::Form { .. } => Some("Repair it there and try again; nothing was changed."),
            Self::OneWay(_) => Some("Please report this file; nothing was changed."),
            Self::Edited(_) | Self::Taken(_) => Some("Rename or delete it, and try again; nothing was changed."),
            Self::Record { .. } => {
                Some("Delete it and try again: entries of ours are then recognised by what they call.")
            }
            Self::Unnoted { .. } => Some("Check who owns the home folder and whether its disk is full."),
            Self::Edit(error) => Some(error.hint()),
            Self::Lock(error) => error.hint(),
        }
    }
}
