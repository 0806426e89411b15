//! Runs guest components, which are never trusted.
//!
//! A guest gets bytes or events and gives events or signals back; it has no files, no network, no clock. What it may use
//! of memory, time and stack is limited ([`Limits`]), and whatever it does instead of its work ends in a [`SandboxError`]
//! that says so, after which the next transcript gets a new instance.
//!
//! | module | what it does |
//! | --- | --- |
//! | `guest` | components as bytes, those built in among them |
//! | `runtime` | wasmtime's engine: compile, check imports and exports, link |
//! | `cache` | compiled components between runs |
//! | `instance` | one running guest, its limits, and what its failures mean |
//! | `ticker` | deadlines |
//! | `wasi` | the empty world for guests that import WASI |
//! | `adapter`, `analyzer` | the two kinds of guest |
//! | `latest` | bindings of the newest contract |

mod adapter;
mod analyzer;
mod cache;
mod error;
mod guest;
mod instance;
mod latest;
mod limits;
mod runtime;
mod ticker;
mod wasi;

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

pub use adapter::{Adapter, Parser};
pub use analyzer::{Analysis, Analyzer};
pub use error::SandboxError;
pub use guest::{ComponentHash, Guest};
pub use latest::{adapter::exports::totalrecall::guest::parse, analyzer::exports::totalrecall::guest::analyze, types};
pub use limits::{Limit, Limits};
use runtime::Runtime;

/// Where guests are loaded. May be shared between threads.
pub struct Sandbox {
    cache_dir: Option<PathBuf>,
    limits: Limits,
    runtime: OnceLock<Arc<Runtime>>,
}

impl Sandbox {
    /// A sandbox that keeps compiled components in `cache_dir`. Costs nothing: wasmtime starts with the first guest.
    pub fn new(cache_dir: Option<PathBuf>, limits: Limits) -> Self {
        Self { cache_dir, limits, runtime: OnceLock::new() }
    }

    /// The limits of its guests.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Loads an adapter.
    ///
    /// # Errors
    /// When it is none, wants to call something, or fails to describe itself.
    pub fn adapter(&self, guest: &Guest) -> Result<Adapter, SandboxError> {
        Adapter::load(self.runtime()?, guest)
    }

    /// Loads an analyzer.
    ///
    /// # Errors
    /// When it is none, wants to call something, or fails to describe itself.
    pub fn analyzer(&self, guest: &Guest) -> Result<Analyzer, SandboxError> {
        Analyzer::load(self.runtime()?, guest)
    }

    fn runtime(&self) -> Result<&Arc<Runtime>, SandboxError> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let runtime = Runtime::new(self.cache_dir.as_deref(), self.limits.clone())?;
        Ok(self.runtime.get_or_init(|| Arc::new(runtime)))
    }
}
