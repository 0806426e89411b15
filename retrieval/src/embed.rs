//! What a text means, as a vector: the sum of what its pieces mean, from a table.
//!
//! Such a *static* model knows no order of words, and takes microseconds for a text. It is one file (`embed/file.rs`) that is used
//! where it lies, mapped or within the executable: opening it decodes nothing. [`compile()`] makes it of folders of
//! [model2vec](https://github.com/MinishLab/model2vec), which distils such tables from transformers.
//!
//! A model may have several *parts*, each a vocabulary with a way to cut texts by it and rows of its own in one common space: the
//! rows of all pieces of all parts are added up. So a part that is good at a few languages and one that knows many are one model,
//! and a text in which one part finds nothing is the other's alone.

mod compile;
mod file;
mod normal;
mod pieces;
mod rows;
mod unigram;
mod wordpiece;

use std::{fs::File, path::Path, sync::Arc};

use self::file::{Header, Layout};

pub use self::{
    compile::{CompileError, Part, compile, compile_folder},
    file::{About, ModelError},
    rows::Bits,
};

/// Of a longer text the rest is not looked at: it would say little about what the beginning means, and take long. In bytes.
pub const LONGEST: usize = 32 * 1024;

/// Nor are more pieces than this, of each part of the model.
pub const MOST_PIECES: usize = 4_096;

/// An open model. It is cheap to clone, and may be used from many threads.
#[derive(Clone)]
pub struct Model {
    bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
    header: Header,
    layout: Vec<Layout>,
    id: String,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Model").field(&self.id).finish()
    }
}

impl Model {
    /// Opens a model that is in memory, such as a `&'static [u8]` that is a part of the executable.
    ///
    /// Only its shape is looked at. If the bytes come from elsewhere, [`Model::verify`] tells whether they are whole; without that,
    /// using ones that are not may panic.
    ///
    /// # Errors
    ///
    /// They are no model, or one of another version.
    pub fn open(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Self, ModelError> {
        let (header, layout, id) = file::read(bytes.as_ref())?;
        Ok(Self { bytes: Arc::new(bytes), header, layout, id })
    }

    /// Opens a model that is a file, without reading it into memory.
    ///
    /// # Errors
    ///
    /// It cannot be read, is no model, or one of another version.
    pub fn map(file: &Path) -> Result<Self, ModelError> {
        let failed = |error| ModelError::Io(file.to_owned(), error);
        let opened = File::open(file).map_err(failed)?;
        // SAFETY: models are written once, under a name of their own, and never changed.
        Self::open(unsafe { memmap2::Mmap::map(&opened) }.map_err(failed)?)
    }

    /// Reads all of it and compares it with the hash that it carries: 0.1 ms a megabyte.
    ///
    /// # Errors
    ///
    /// They differ.
    pub fn verify(&self) -> Result<(), ModelError> {
        file::verify((*self.bytes).as_ref())
    }

    /// Its name and the hash of its contents, `name@0123456789abcdef`. Vectors of models with different ids cannot be compared.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it is and where it comes from.
    pub fn about(&self) -> &About {
        &self.header.about
    }

    /// How many numbers a vector has.
    pub fn dims(&self) -> usize {
        self.header.dims
    }

    /// A vector of length 1 that says what the text means; none if no piece of it is known. See [`LONGEST`] and [`MOST_PIECES`].
    pub fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let text = &text[..text.floor_char_boundary(LONGEST)];
        let mut sum = vec![0.0; self.header.dims];
        for (part, layout) in self.header.parts.iter().zip(&self.layout) {
            let table = layout.table((*self.bytes).as_ref(), self.header.dims, part.bits);
            let Ok(pieces) = layout.pieces((*self.bytes).as_ref()) else { continue };
            for piece in part.tokenizer.cut(text, &pieces, MOST_PIECES) {
                table.add(piece, &mut sum);
            }
        }
        let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
        length.is_normal().then(|| {
            sum.iter_mut().for_each(|x| *x /= length);
            sum
        })
    }
}
