//! Adding to a folder.

use super::folder::{self, Error, Fields, RULES};
use super::{Covered, Document};
use crate::tokens::{self, Stems};
use std::{fs, ops::Bound, path::Path};
use tantivy::directory::MmapDirectory;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::query::RangeQuery;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{IndexBuilder, IndexSettings, IndexWriter, TantivyDocument, TantivyError, Term};

/// Bytes of terms that are held before they are written as a segment of their own. More makes building faster (fewer
/// segments to merge), and this process larger.
const MEMORY: usize = 48 << 20;

/// Share of a segment's documents that may be removed ones before it is written anew without them: they are searched through
/// and skipped, and their words count as known.
const DEAD: f32 = 0.2;

/// Writes a folder. There is at most one at a time.
///
/// Segments are merged by a thread of its own; [`WordWriter::finish`] waits for it, dropping the writer gives merges up.
pub struct WordWriter {
    writer: IndexWriter,
    fields: Fields,
    covered: Covered,
}

impl WordWriter {
    /// Goes on with the index in `folder`, or begins one. Who wants to make it again has to remove the folder before.
    ///
    /// # Errors
    /// [`Error::Busy`] if another writer is at it; [`Error::is_rebuild`] if what is there is of no use.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        fs::create_dir_all(folder)?;
        let directory = MmapDirectory::open(folder).map_err(TantivyError::from)?;
        let (index, fields) = match folder::open(directory.clone()) {
            Err(Error::Missing) => {
                let (fields, schema) = Fields::schema();
                let settings = IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
                (IndexBuilder::new().schema(schema).settings(settings).open_or_create(directory)?, fields)
            }
            opened => opened?,
        };
        index.tokenizers().register(RULES, Terms::default());
        let covered = folder::covered(&index)?;
        let options = IndexWriterOptions::builder().num_merge_threads(1).memory_budget_per_thread(MEMORY).build();
        let writer: IndexWriter = index.writer_with_options(options)?;
        let mut merging = LogMergePolicy::default();
        merging.set_del_docs_ratio_before_merge(DEAD);
        writer.set_merge_policy(Box::new(merging));
        Ok(Self { writer, fields, covered })
    }

    /// What the last commit covers: add what comes after it.
    pub fn covered(&self) -> Covered {
        self.covered
    }

    /// Adds a document. It is not found before the next commit.
    ///
    /// # Errors
    /// If an earlier one could not be written.
    pub fn add(&mut self, document: &Document<'_>) -> Result<(), Error> {
        let mut fields = TantivyDocument::new();
        fields.add_text(self.fields.text, document.text);
        fields.add_u64(self.fields.id, document.id);
        fields.add_u64(self.fields.session, document.session);
        fields.add_u64(self.fields.kind, document.kind.into());
        if let Some(at) = document.at {
            fields.add_i64(self.fields.at, at);
        }
        self.writer.add_document(fields)?;
        Ok(())
    }

    /// Removes what was added with this number before.
    ///
    /// # Errors
    /// If an earlier document could not be written.
    pub fn delete(&mut self, id: u64) -> Result<(), Error> {
        self.delete_range(id, id)
    }

    /// Removes what was added with a number from `first` to `last`. Each call reads the numbers of all documents (a
    /// millisecond a million), so one for a whole session is better than one a passage.
    ///
    /// # Errors
    /// If an earlier document could not be written.
    pub fn delete_range(&mut self, first: u64, last: u64) -> Result<(), Error> {
        let term = |id| Bound::Included(Term::from_field_u64(self.fields.id, id));
        self.writer.delete_query(Box::new(RangeQuery::new(term(first), term(last))))?;
        Ok(())
    }

    /// Makes everything so far findable, and says what it covers. Takes tens of milliseconds: it waits for the disk.
    ///
    /// # Errors
    /// If it could not be written; then nothing has changed since the last commit.
    pub fn commit(&mut self, covered: &Covered) -> Result<(), Error> {
        let payload = serde_json::to_string(covered).map_err(std::io::Error::from)?;
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&payload);
        commit.commit()?;
        self.covered = *covered;
        Ok(())
    }

    /// Waits for merges that have begun. Who never does has a segment more for each commit, and all that was ever removed. What
    /// was not committed is dropped.
    ///
    /// # Errors
    /// If a merge failed; the index is as good as before.
    pub fn finish(self) -> Result<(), Error> {
        Ok(self.writer.wait_merging_threads()?)
    }
}

/// [`tokens::terms`] in the shape tantivy takes.
#[derive(Clone, Default)]
struct Terms {
    stems: Stems,
    /// The terms of the text at hand, one after the other, and where each ends.
    buffer: String,
    ends: Vec<usize>,
}

impl Tokenizer for Terms {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        self.buffer.clear();
        self.ends.clear();
        tokens::terms(text, &mut self.stems, |term| {
            self.buffer.push_str(term);
            self.ends.push(self.buffer.len());
        });
        Stream { buffer: &self.buffer, ends: &self.ends, start: 0, token: Token::default() }
    }
}

struct Stream<'a> {
    buffer: &'a str,
    ends: &'a [usize],
    start: usize,
    token: Token,
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let Some((end, rest)) = self.ends.split_first() else { return false };
        self.token.text.clear();
        self.token.text.push_str(&self.buffer[self.start..*end]);
        // Places are not kept, but have to be sound.
        self.token.position = self.token.position.wrapping_add(1);
        (self.start, self.ends) = (*end, rest);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
