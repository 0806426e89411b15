//! The sandbox from outside: our own components, and guests that do everything they should not.

mod builtin;
