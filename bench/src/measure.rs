//! How things are measured.
