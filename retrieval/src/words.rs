//! An index of words: which passages hold the words of a query, ranked by BM25.
//!
//! A [`WordIndex`] reads a folder, a [`WordWriter`] writes it; many may read while one writes. Nothing in the folder is
//! precious: it can be made again from the passages, and what a crash costs is what was added since the last commit.
//! Texts are not kept, nor the places of words in them, which would double its size; so [`Query::holds`] has to be asked
//! with the text whether a phrase is there. Passages and whole sessions differ in length and in how common words are, so
//! they belong into two folders.
//!
//! ```
//! # use totalrecall_retrieval::words::*;
//! # fn main() -> Result<(), Error> {
//! # let folder = tempfile::tempdir().map_err(|_| ()).expect("a folder");
//! let mut writer = WordWriter::open(folder.path())?;
//! writer.add(&Document { id: 1, session: 7, kind: 0, at: None, text: "The parser drops empty lines" })?;
//! writer.commit(&Covered { passages: 1, ..Covered::default() })?;
//!
//! let index = WordIndex::open(folder.path())?;
//! let plan = index.plan(&Query::parse("parsr lines"))?;
//! assert_eq!(plan.corrections().next(), Some(("parsr", "parser")));
//! assert_eq!(index.search(&plan, &Filter::default(), 10)?[0].id, 1);
//! # Ok(())
//! # }
//! ```

mod bm25;
mod correct;
mod folder;
mod index;
mod matcher;
mod plan;
mod query;
mod scan;
mod search;
mod writer;

pub use folder::Error;
pub use index::WordIndex;
pub use matcher::{Counts, Match, Matcher};
pub use plan::Plan;
pub use query::Query;
pub use scan::scan;
pub use writer::WordWriter;

pub use crate::{
    Covered, Scored,
    filter::{Filter, Kinds},
};

/// A passage, or all of a session.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Its number; of a session that of the session.
    pub id: u64,
    /// The session it belongs to; 0 if none.
    pub session: u64,
    /// What it is, for [`Filter::kinds`]. Below 64.
    pub kind: u8,
    /// When it was said, in milliseconds since 1970, if known.
    pub at: Option<i64>,
    /// What is searched.
    pub text: &'a str,
}
