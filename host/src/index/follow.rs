//! The indexes as they are written: what each makes of a passage.

use std::path::{Path, PathBuf};

use totalrecall_retrieval::{
    Covered,
    embed::Model,
    vectors,
    words::{self, Document, WordIndex, WordWriter},
};

use super::{GROUPS, IndexError, VECTORS, WORDS, document, group_of, has_meaning};
use crate::{
    passage::Kind,
    store::{Removal, Span, Store},
};

/// An index that follows the store.
pub(super) trait Follows {
    /// What it is called, and its folder.
    fn name(&self) -> &'static str;
    fn covered(&self) -> Covered;
    fn remove(&mut self, removal: Removal) -> Result<(), IndexError>;
    /// Adds what is in a span; gives how much of it that was.
    fn add(&mut self, store: &Store, span: Span) -> Result<u64, IndexError>;
    fn commit(&mut self, covered: Covered) -> Result<(), IndexError>;
    /// Brings what was committed into the form that is searched fastest.
    fn finish(self) -> Result<(), IndexError>;
}

/// What a document of an index of words is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Passages,
    Groups,
}

pub(super) struct Words {
    folder: PathBuf,
    level: Level,
    writer: WordWriter,
}

impl Words {
    /// Opens what was written, or begins `anew`.
    pub(super) fn open(folder: &Path, level: Level, anew: bool) -> Result<Self, IndexError> {
        let failed = |why| IndexError::Words { folder: folder.to_owned(), why };
        if anew {
            super::remove(folder)?;
        } else {
            // A writer reads little of what is there; who searches would be the first to notice that it is damaged.
            WordIndex::open(folder).map_err(failed)?;
        }
        Ok(Self { folder: folder.to_owned(), level, writer: WordWriter::open(folder).map_err(failed)? })
    }

    fn failed(&self) -> impl Fn(words::Error) -> IndexError + use<> {
        let folder = self.folder.clone();
        move |why| IndexError::Words { folder: folder.clone(), why }
    }
}

impl Follows for Words {
    fn name(&self) -> &'static str {
        match self.level {
            Level::Passages => WORDS,
            Level::Groups => GROUPS,
        }
    }

    fn covered(&self) -> Covered {
        self.writer.covered()
    }

    fn remove(&mut self, removal: Removal) -> Result<(), IndexError> {
        let first = removal.first.0.cast_unsigned();
        let last = first + removal.count.cast_unsigned() - 1;
        let failed = self.failed();
        self.writer.delete_range(first, last).map_err(failed)
    }

    fn add(&mut self, store: &Store, span: Span) -> Result<u64, IndexError> {
        let failed = self.failed();
        if self.level == Level::Groups {
            let Some(group) = group_of(span) else { return Ok(0) };
            let text = store.group_text(group)?;
            let id = span.first.0.cast_unsigned();
            let kind = Kind::of_group(group) as u8;
            let document = Document { id, session: group.number(), kind, at: None, text: &text };
            self.writer.add(&document).map_err(failed)?;
            return Ok(1);
        }
        let (mut count, writer) = (0, &mut self.writer);
        store.read_span::<IndexError>(span, &mut |passage| {
            count += 1;
            writer.add(&document(&passage)).map_err(&failed)
        })?;
        Ok(count)
    }

    fn commit(&mut self, covered: Covered) -> Result<(), IndexError> {
        let failed = self.failed();
        self.writer.commit(&covered).map_err(failed)
    }

    fn finish(self) -> Result<(), IndexError> {
        let failed = self.failed();
        self.writer.finish().map_err(failed)
    }
}

pub(super) struct Vectors<'m> {
    model: &'m Model,
    writer: vectors::Writer,
}

impl<'m> Vectors<'m> {
    /// Opens what was written, or begins `anew`.
    pub(super) fn open(folder: &Path, model: &'m Model, anew: bool) -> Result<Self, IndexError> {
        let open = if anew { vectors::Writer::rebuild } else { vectors::Writer::open_or_create };
        Ok(Self { model, writer: open(folder, model.id(), model.dims())? })
    }
}

impl Follows for Vectors<'_> {
    fn name(&self) -> &'static str {
        VECTORS
    }

    fn covered(&self) -> Covered {
        self.writer.covered()
    }

    fn remove(&mut self, removal: Removal) -> Result<(), IndexError> {
        for id in removal.first.0..removal.first.0 + removal.count {
            self.writer.remove(id.cast_unsigned());
        }
        Ok(())
    }

    fn add(&mut self, store: &Store, span: Span) -> Result<u64, IndexError> {
        let (mut count, writer, model) = (0, &mut self.writer, self.model);
        store.read_span::<IndexError>(span, &mut |passage| {
            if has_meaning(passage.kind)
                && let Some(vector) = model.embed(&passage.text)
            {
                count += 1;
                let Document { id, session, kind, at, .. } = document(&passage);
                writer.append(id, session, kind, at, &vector)?;
            }
            Ok(())
        })?;
        Ok(count)
    }

    fn commit(&mut self, covered: Covered) -> Result<(), IndexError> {
        Ok(self.writer.commit(&covered)?)
    }

    /// A commit of vectors leaves nothing to be done.
    fn finish(self) -> Result<(), IndexError> {
        Ok(())
    }
}
