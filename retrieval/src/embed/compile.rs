//! Makes the file of a model of folders as model2vec writes them: `model.safetensors` and `tokenizer.json`.
//!
//! The same folders make the same bytes. `about.json` beside them may say what the model is: the fields of [`About`], and `bits`.

mod tensors;
mod tokenizer;

use std::path::{Path, PathBuf};

use fst::MapBuilder;
use serde::Deserialize;

use super::{
    Bits,
    file::{self, About, Header, PartHeader},
    rows::quantise,
};

use self::{tensors::Rows, tokenizer::Vocabulary};

/// Why a folder cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// A file is not there, or cannot be read.
    #[error("{0}: {1}")]
    Io(PathBuf, #[source] std::io::Error),
    /// A file is not what its name says.
    #[error("{0}: {1}")]
    Malformed(PathBuf, String),
    /// The model needs what this version does not know.
    #[error("{0}: {1} is not supported")]
    Unsupported(PathBuf, String),
    /// Parts whose rows are not of one length cannot be added up.
    #[error("{0}: its rows have {1} numbers, those of the part before have {2}")]
    Dimensions(PathBuf, usize, usize),
    /// There is nothing to compile.
    #[error("a model has at least one part")]
    NoParts,
}

/// A folder that becomes a part of the model.
#[derive(Debug, Clone)]
pub struct Part {
    /// Where `model.safetensors` and `tokenizer.json` are.
    pub folder: PathBuf,
    /// How exactly its rows are kept.
    pub bits: Bits,
}

/// The bytes of the model in a folder: one as model2vec writes it, or one of such folders, which are the parts in the order of their
/// names. Where no `about.json` says more, the model is called as the folder, and its rows are bytes.
///
/// # Errors
///
/// See [`CompileError`].
pub fn compile_folder(folder: &Path) -> Result<Vec<u8>, CompileError> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Told {
        #[serde(flatten)]
        about: About,
        bits: Option<Bits>,
    }

    let io = |path: &Path| {
        let path = path.to_owned();
        move |error| CompileError::Io(path, error)
    };
    let file = folder.join("about.json");
    let mut told = Told::default();
    if file.exists() {
        let bytes = std::fs::read(&file).map_err(io(&file))?;
        told = serde_json::from_slice(&bytes).map_err(|error| CompileError::Malformed(file, error.to_string()))?;
    }
    if told.about.name.is_empty() {
        let whole = folder.canonicalize().map_err(io(folder))?;
        told.about.name = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
    }
    let is_part = |folder: &Path| folder.join("model.safetensors").is_file();
    let mut folders = vec![folder.to_owned()];
    if !is_part(folder) {
        let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        folders =
            entries.map_err(io(folder))?.into_iter().map(|entry| entry.path()).filter(|path| is_part(path)).collect();
        folders.sort();
    }
    let bits = told.bits.unwrap_or(Bits::Eight);
    compile(told.about, &folders.into_iter().map(|folder| Part { folder, bits }).collect::<Vec<_>>())
}

/// The bytes of a model of these parts.
///
/// # Errors
///
/// See [`CompileError`].
pub fn compile(about: About, parts: &[Part]) -> Result<Vec<u8>, CompileError> {
    let mut header = Header { about, dims: 0, parts: Vec::new() };
    let mut sections = Vec::new();
    for part in parts {
        let vocabulary = tokenizer::read(&part.folder.join("tokenizer.json"))?;
        let file = part.folder.join("model.safetensors");
        let rows = tensors::read(&file)?;
        if header.dims != 0 && header.dims != rows.dims {
            return Err(CompileError::Dimensions(file, rows.dims, header.dims));
        }
        header.dims = rows.dims;
        header.parts.push(write(vocabulary, &rows, part.bits, &file, &mut sections)?);
    }
    if header.parts.is_empty() {
        return Err(CompileError::NoParts);
    }
    file::write(&header, &sections).map_err(|error| CompileError::Malformed(PathBuf::new(), error.to_string()))
}

/// Appends a part.
fn write(
    Vocabulary { tokenizer, mut pieces }: Vocabulary,
    rows: &Rows,
    bits: Bits,
    file: &Path,
    sections: &mut Vec<u8>,
) -> Result<PartHeader, CompileError> {
    let malformed = |why: String| CompileError::Malformed(file.to_owned(), why);
    for piece in &pieces {
        if rows.row(piece.number).is_none() {
            return Err(malformed(format!("there is no row for the piece {:?}", piece.text)));
        }
    }
    let means_nothing = |number| rows.row(number).is_some_and(|row| row.iter().all(|x| *x == 0.0));
    // Those that mean nothing come last, and have no rows; otherwise in the order of the vocabulary, which makes it small.
    pieces.sort_by(|a, b| a.text.cmp(&b.text));
    pieces.dedup_by(|again, first| again.text == first.text);
    let (silent, mut ordered): (Vec<_>, Vec<_>) = pieces.into_iter().partition(|piece| means_nothing(piece.number));
    let with_rows = ordered.len();
    ordered.extend(silent);
    let mut numbers: Vec<(&str, u64)> = ordered.iter().map(|piece| piece.text.as_str()).zip(0..).collect();
    numbers.sort_unstable();
    let mut builder = MapBuilder::memory();
    builder.extend_iter(numbers).map_err(|error| malformed(error.to_string()))?;
    let vocabulary = builder.into_inner().map_err(|error| malformed(error.to_string()))?;
    let header = PartHeader { bits, pieces: ordered.len(), rows: with_rows, vocabulary: vocabulary.len(), tokenizer };
    sections.extend(vocabulary);
    if header.tokenizer.has_scores() {
        sections.extend(ordered.iter().flat_map(|piece| piece.score.to_le_bytes()));
    }
    let rows = ordered[..with_rows].iter().filter_map(|piece| rows.row(piece.number));
    let (rows, scales): (Vec<_>, Vec<_>) = rows.map(|row| quantise(row, bits)).unzip();
    sections.extend(scales.into_iter().flat_map(f32::to_le_bytes));
    sections.extend(rows.into_iter().flatten());
    Ok(header)
}
