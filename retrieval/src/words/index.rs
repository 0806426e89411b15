//! Reading a folder.

use super::folder::{self, Error, Fields, ReadOnly, guarded};
use super::{Covered, plan::Plan, query::Query};
use crate::tokens::Stems;
use std::path::Path;
use tantivy::directory::{MmapDirectory, error::OpenReadError};
use tantivy::{Index, ReloadPolicy, Searcher, TantivyError, Term};

/// Times a folder is opened while a writer changes it under our hands. One change takes it seconds to bring about.
const TRIES: usize = 5;

/// An index as it was at one commit. Nothing is written, no thread is started; opening maps a few files.
pub struct WordIndex {
    pub(super) fields: Fields,
    pub(super) searcher: Searcher,
    covered: Covered,
}

impl WordIndex {
    /// Opens the index in `folder`.
    ///
    /// # Errors
    /// [`Error::Missing`] if nothing was committed there, and see [`Error::is_rebuild`].
    pub fn open(folder: &Path) -> Result<Self, Error> {
        guarded(|| {
            let directory = MmapDirectory::open(folder).map_err(TantivyError::from)?;
            let (index, fields) = folder::open(ReadOnly(directory))?;
            let (searcher, covered) = newest(&index)?;
            Ok(Self { fields, searcher, covered })
        })
    }

    /// An index of nothing, for whoever has none: all passages are newer than it.
    ///
    /// # Errors
    /// None that can be expected: it is in memory.
    pub fn empty() -> Result<Self, Error> {
        let (fields, schema) = Fields::schema();
        let index = Index::create_in_ram(schema);
        let searcher = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?.searcher();
        Ok(Self { fields, searcher, covered: Covered::default() })
    }

    /// What can be found in it; newer passages are for [`scan`](super::scan()).
    pub fn covered(&self) -> Covered {
        self.covered
    }

    /// Number of documents.
    pub fn documents(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// Number of documents that hold a word; of an identifier, as a whole.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn df(&self, word: &str) -> Result<u64, Error> {
        let mut stems = Stems::default();
        let mut term = String::new();
        crate::tokens::terms(word, &mut stems, |last| last.clone_into(&mut term));
        self.term_df(&term)
    }

    /// Looks the words of a query up: how common they are, and what is meant by those that nothing holds.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn plan(&self, query: &Query) -> Result<Plan, Error> {
        guarded(|| Plan::new(self, query))
    }

    pub(super) fn term_df(&self, term: &str) -> Result<u64, Error> {
        Ok(self.searcher.doc_freq(&Term::from_field_text(self.fields.text, term))?)
    }

    /// Terms of a document, on average.
    pub(super) fn mean_length(&self) -> Result<f32, Error> {
        let mut terms = 0;
        let mut documents = 0;
        for segment in self.searcher.segment_readers() {
            terms += segment.inverted_index(self.fields.text)?.total_num_tokens();
            documents += u64::from(segment.max_doc());
        }
        Ok(terms as f32 / documents.max(1) as f32)
    }
}

/// The last commit, and what it covers.
fn newest(index: &Index) -> Result<(Searcher, Covered), Error> {
    let mut error = Error::Missing;
    for _ in 0..TRIES {
        let covered = folder::covered(index)?;
        let reader =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).doc_store_cache_num_blocks(0).try_into();
        match reader {
            // A commit in between has more in it than is said to be covered.
            Ok(reader) if folder::covered(index)? == covered => return Ok((reader.searcher(), covered)),
            Ok(_) => {}
            // A merge in between has removed what we were about to open.
            Err(failure @ TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_))) => error = failure.into(),
            Err(failure) => return Err(failure.into()),
        }
    }
    Err(error)
}
