//! Signals of whole sessions, written as short scripts.

mod cuts;
mod script;
mod signals;
