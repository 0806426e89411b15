//! The model that says what texts mean.

use totalrecall_retrieval::embed::Model;

/// The model that is part of the program.
pub fn built_in() -> Option<&'static Model> {
    None
}
