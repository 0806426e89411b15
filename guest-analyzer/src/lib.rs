//! Events of a session in, signals of friction out: the analyzer component.
//!
//! Everything is deterministic: the same events give the same signals, natively and as a component. `docs/signals.md` says
//! what each signal means and how well it is found.

pub mod analysis;
pub mod cue;
pub mod language;
pub mod moment;
mod pieces;
pub mod prose;
mod shell;
pub mod signal;
pub mod template;
pub mod text;
pub mod thresholds;

pub use analysis::Friction;

totalrecall_sdk::export_analyzer!(Friction);
