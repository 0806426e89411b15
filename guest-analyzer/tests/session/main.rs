//! Signals of whole sessions, written as short scripts.

mod correction;
mod cuts;
mod script;
mod signals;
