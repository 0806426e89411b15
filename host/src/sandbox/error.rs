//! Why a guest, or one call of it, came to nothing.

use std::fmt;

use super::{Limit, types::Fault};

/// What went wrong with a guest. The host goes on with the next transcript; the guest's instance is of no more use.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The bytes are no component, or a damaged one, or use what guests may not.
    #[error("{guest} is no WebAssembly component that can run here: {why}")]
    NotAComponent {
        /// The guest's name.
        guest: String,
        /// What the compiler said.
        why: String,
    },
    /// The component exports no interface that the host knows.
    #[error("{guest} is no {wanted}: it exports {}; it should export {interface}", list(exports))]
    WrongWorld {
        /// The guest's name.
        guest: String,
        /// `adapter` or `analyzer`.
        wanted: &'static str,
        /// The interface that was looked for.
        interface: &'static str,
        /// What the component exports instead.
        exports: Vec<String>,
    },
    /// The component wants to call something that no guest may call.
    #[error("{guest} imports {import}, which no guest may use: build it without that import")]
    UnknownImport {
        /// The guest's name.
        guest: String,
        /// The import, with its package.
        import: String,
    },
    /// The guest asked for more than a limit allows.
    #[error("{guest} went past the limit `{}`: it asked for {}, {allowed} are allowed", limit.key(), amount(*asked, *allowed))]
    Limit {
        /// The guest's name.
        guest: String,
        /// The limit; its key says the unit.
        limit: Limit,
        /// What is allowed.
        allowed: usize,
        /// What was asked for, where that is known.
        asked: Option<usize>,
    },
    /// The call took too long.
    #[error("{guest} went past the limit `call-seconds`: `{call}` was still running after {allowed} s")]
    Deadline {
        /// The guest's name.
        guest: String,
        /// The function that was called.
        call: &'static str,
        /// Seconds.
        allowed: u64,
    },
    /// The guest crashed.
    #[error("{guest} crashed in `{call}`: {why}")]
    Trap {
        /// The guest's name.
        guest: String,
        /// The function that was called.
        call: &'static str,
        /// The trap, and the guest's function it happened in where that is known.
        why: String,
    },
    /// The guest gave back what its interface does not allow.
    #[error("{guest} gave an answer from `{call}` that cannot be read: {why}")]
    BadAnswer {
        /// The guest's name.
        guest: String,
        /// The function that was called.
        call: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The guest itself says that it cannot go on.
    #[error("{guest}: {}", describe(fault))]
    Fault {
        /// The guest's name.
        guest: String,
        /// In its own words.
        fault: Fault,
    },
    /// wasmtime cannot run on this machine, or not with these limits.
    #[error("the sandbox cannot start: {0}")]
    Engine(String),
}

impl SandboxError {
    /// A stable word for the ledger.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotAComponent { .. } => "not-a-component",
            Self::WrongWorld { .. } => "wrong-world",
            Self::UnknownImport { .. } => "unknown-import",
            Self::Limit { .. } => "limit",
            Self::Deadline { .. } => "deadline",
            Self::Trap { .. } => "trap",
            Self::BadAnswer { .. } => "bad-answer",
            Self::Fault { fault: Fault::UnsupportedFormat(_), .. } => "unsupported-format",
            Self::Fault { fault: Fault::Malformed(_), .. } => "malformed",
            Self::Fault { fault: Fault::Limit(_), .. } => "guest-limit",
            Self::Fault { fault: Fault::Internal(_), .. } => "guest-internal",
            Self::Engine(_) => "engine",
        }
    }
}

fn describe(fault: &Fault) -> String {
    match fault {
        Fault::UnsupportedFormat(format) => format!("unknown format {format}"),
        Fault::Malformed(place) => format!("line {} is damaged: {}", place.line, place.why),
        Fault::Limit(limit) => format!("gave up at its own limit {limit}"),
        Fault::Internal(why) => why.clone(),
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// The amount in words: where the guest was stopped on its way, all that is known is that it wanted more.
fn amount(asked: Option<usize>, allowed: usize) -> impl fmt::Display {
    asked.map_or_else(|| format!("more than {allowed}"), |asked| asked.to_string())
}
