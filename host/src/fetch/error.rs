//! Why a file could not be fetched.

use std::{
    io,
    path::{Path, PathBuf},
};

use ureq::http::Uri;

use super::shown;

/// A file could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The address is none that may be used.
    #[error("the address `{url}` cannot be used: {why}")]
    Address {
        /// It.
        url: String,
        /// What is wrong.
        why: String,
    },
    /// The address is spoken with in plain text, and nobody asked for that.
    #[error("{url} is not fetched: it is not encrypted")]
    Plain {
        /// It.
        url: String,
    },
    /// The server did not give the file.
    #[error("{url}: the server answers {status}{}", meaning(*.status))]
    Status {
        /// The address.
        url: String,
        /// The status of HTTP.
        status: u16,
    },
    /// The server's answer makes no sense.
    #[error("{url}: {why}")]
    Answer {
        /// The address.
        url: String,
        /// What is wrong.
        why: String,
    },
    /// The server has another file than the one that is meant.
    #[error("{url}: the server sends {} the stated {stated} bytes; it was not read further", if *.is_exact { "another number than" } else { "more than" })]
    Size {
        /// The address.
        url: String,
        /// How many there should be.
        stated: u64,
        /// As many, not more and not less.
        is_exact: bool,
    },
    /// The contents are not what they should be.
    #[error("{url}: the contents have the SHA-256 {got}, not {stated}; they were thrown away")]
    Hash {
        /// The address.
        url: String,
        /// What it should be.
        stated: String,
        /// What it is.
        got: String,
    },
    /// The server cannot be reached, or the connection broke again and again.
    #[error("{url}: {why}")]
    Broken {
        /// The address.
        url: String,
        /// The reason.
        why: String,
    },
    /// There is no room.
    #[error("there is no room for {}: {needed} bytes more are needed", file.display())]
    Full {
        /// What was being written.
        file: PathBuf,
        /// How much is missing of it; 0: the system did not say before.
        needed: u64,
    },
    /// Somebody else fetches the same.
    #[error("another process is fetching {}", file.display())]
    Busy {
        /// It.
        file: PathBuf,
    },
    /// The system refused.
    #[error("{}: {why}", file.display())]
    Io {
        /// What it was about.
        file: PathBuf,
        /// The system's reason.
        why: io::Error,
    },
    /// Ctrl-C was pressed.
    #[error("interrupted: what came is kept, and the same command goes on from there")]
    Stopped,
}

fn meaning(status: u16) -> &'static str {
    match status {
        401 | 403 => " (it does not let everybody have this)",
        404 | 410 => " (it has no such file)",
        429 => " (it has been asked too often)",
        500.. => " (it is in trouble)",
        _ => "",
    }
}

impl FetchError {
    pub(super) fn io(file: &Path, why: io::Error) -> Self {
        match why.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::Full { file: file.to_owned(), needed: 0 }
            }
            _ => Self::Io { file: file.to_owned(), why },
        }
    }

    pub(super) fn connection(url: &Uri, error: &ureq::Error) -> Self {
        let why = match error {
            ureq::Error::HostNotFound => "there is no server of this name, or no network".to_owned(),
            ureq::Error::Timeout(_) => "the server does not answer".to_owned(),
            error => error.to_string(),
        };
        Self::Broken { url: shown(&url.to_string()), why }
    }

    /// May it go better in a moment?
    pub(super) fn is_passing(&self) -> bool {
        matches!(self, Self::Broken { .. } | Self::Status { status: 408 | 429 | 500.., .. })
    }

    /// Is what came worth being kept? Not if it is wrong.
    pub(super) fn leaves_something(&self) -> bool {
        !matches!(self, Self::Size { .. } | Self::Hash { .. })
    }

    /// What the person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Address { .. } | Self::Plain { .. } => {
                Some("TOTALRECALL_MODEL_MIRROR and HF_ENDPOINT say where models are fetched from.")
            }
            Self::Status { .. } | Self::Answer { .. } | Self::Size { .. } | Self::Hash { .. } => Some(
                "If a mirror is set (TOTALRECALL_MODEL_MIRROR, HF_ENDPOINT), it does not have this model as it was published.",
            ),
            Self::Broken { .. } => Some(
                "Try again: it goes on where it ended. Without a network, `totalrecall models import` takes a folder that was fetched elsewhere.",
            ),
            Self::Full { .. } => Some(
                "Make room and try again: it goes on where it ended. `totalrecall models list` names what was fetched in part.",
            ),
            Self::Busy { .. } | Self::Io { .. } | Self::Stopped => None,
        }
    }
}
