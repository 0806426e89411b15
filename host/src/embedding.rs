//! The models that say what texts mean. One is part of the program; others are files in the home, compiled from folders that the
//! person has, or has us fetch. Which one is used is a file, too: vectors of two are never compared, so after a change the worker makes them anew,
//! and search goes by words alone until then.

mod published;
mod pull;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use serde::Serialize;
use totalrecall_retrieval::embed::{CompileError, Model, ModelError, compile_folder};

use crate::{fetch::FetchError, files, paths::Home};

pub use published::{Published, PublishedFile, published};
pub use pull::{Part, Pulled, PulledFile, parts, pull};

/// What the built-in model is called.
pub const BUILT_IN: &str = "built-in";

/// It is a part of the executable, which the system maps into memory: opening it reads its header and nothing else.
static OF_THE_PROGRAM: LazyLock<Option<Model>> =
    LazyLock::new(|| Model::open(include_bytes!("../../models/static-multilingual.bin").as_slice()).ok());

/// The model that is part of the program. None would mean that the program was built with a damaged one, which a test rules
/// out; search would go by words alone.
pub fn built_in() -> Option<Model> {
    OF_THE_PROGRAM.clone()
}

/// Names the model that is used, in the folder of models. None: the built-in one.
const CHOICE: &str = "use";

/// Longest name, in bytes.
const NAME: usize = 64;

/// A model cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddingError {
    /// Names are parts of paths.
    #[error(
        "`{0}` is no name of a model: letters, digits, `-`, `_` and `.`, not beginning with one of these, at most {NAME}"
    )]
    Name(String),
    /// There is none.
    #[error("there is no model `{0}`; `totalrecall models list` names them")]
    Unknown(String),
    /// The folder is none that a model can be made of.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The file is none, or damaged.
    #[error("the model {name} cannot be used: {why}")]
    Model {
        /// What it is called.
        name: String,
        /// What is wrong.
        why: ModelError,
    },
    /// A file of it could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The same revision had other contents before.
    #[error(
        "the model {name} was made of other files of the same revision before, which a repository cannot change: {now}; before: {before}"
    )]
    Changed {
        /// What it is called.
        name: String,
        /// What it is made of.
        before: String,
        /// What came now.
        now: String,
    },
    /// Another model is called so.
    #[error("there is another model {name} here: {before}")]
    Taken {
        /// What it is called.
        name: String,
        /// What that is made of.
        before: String,
    },
    /// The system refused.
    #[error("{}: {why}", path.display())]
    Io {
        /// What it was about.
        path: PathBuf,
        /// The system's reason.
        why: io::Error,
    },
}

impl EmbeddingError {
    /// What the person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Fetch(error) => error.hint(),
            Self::Changed { .. } => {
                Some("Ask another server for it, and keep it beside the one that is here with --name.")
            }
            Self::Taken { .. } => Some("Keep the new one beside it, under another --name."),
            _ => None,
        }
    }
}

/// A model that can be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Known {
    /// What it is called here.
    pub name: String,
    /// Its own name and the hash of its contents; none: it cannot be used.
    pub id: Option<String>,
    /// Numbers of a vector.
    pub dims: usize,
    /// Bytes of its file.
    pub bytes: u64,
    /// Under which licence it may be passed on, as it says.
    pub licence: String,
    /// It is used.
    pub in_use: bool,
}

/// The model that is used: the built-in one unless another was chosen.
///
/// # Errors
/// The chosen one cannot be used.
pub fn in_use(home: &Home) -> Result<Option<Model>, EmbeddingError> {
    match chosen(home) {
        Some(name) => open(home, &name).map(Some),
        None => Ok(built_in()),
    }
}

fn chosen(home: &Home) -> Option<String> {
    let name = fs::read_to_string(home.models().join(CHOICE)).ok()?.trim().to_owned();
    (!name.is_empty() && name != BUILT_IN).then_some(name)
}

fn open(home: &Home, name: &str) -> Result<Model, EmbeddingError> {
    let file = file(home, name)?;
    if !file.is_file() {
        return Err(EmbeddingError::Unknown(name.to_owned()));
    }
    // All of it is read, which takes 0.1 ms a megabyte: using one that is damaged could end the process.
    let opened = Model::map(&file).and_then(|model| model.verify().map(|()| model));
    opened.map_err(|why| EmbeddingError::Model { name: name.to_owned(), why })
}

fn file(home: &Home, name: &str) -> Result<PathBuf, EmbeddingError> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_name = (1..=NAME).contains(&name.len())
        && name.chars().all(is_part)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name != BUILT_IN
        && name != CHOICE;
    if is_name {
        Ok(home.models().join(format!("{name}.bin")))
    } else {
        Err(EmbeddingError::Name(crate::clean::clean(name).chars().take(NAME).collect()))
    }
}

/// All models, the built-in one first.
pub fn all(home: &Home) -> Vec<Known> {
    let chosen = chosen(home);
    let mut all = Vec::new();
    let known = |name: &str, model: Option<&Model>, bytes: u64, in_use: bool| Known {
        name: name.to_owned(),
        id: model.map(|model| model.id().to_owned()),
        dims: model.map_or(0, Model::dims),
        bytes,
        licence: model.map(|model| model.about().licence.clone()).unwrap_or_default(),
        in_use,
    };
    let size = include_bytes!("../../models/static-multilingual.bin").len() as u64;
    all.push(known(BUILT_IN, built_in().as_ref(), size, chosen.is_none()));
    let mut files: Vec<PathBuf> =
        fs::read_dir(home.models()).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "bin")) {
        let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        let bytes = fs::metadata(path).map_or(0, |metadata| metadata.len());
        all.push(known(name, open(home, name).ok().as_ref(), bytes, chosen.as_deref() == Some(name)));
    }
    all
}

/// Compiles a model of a folder as model2vec writes it (`model.safetensors`, `tokenizer.json`), or of a folder of several.
/// It is not used before it is chosen.
///
/// # Errors
/// See [`EmbeddingError`]; nothing is kept then.
pub fn import(home: &Home, folder: &Path, name: &str) -> Result<Known, EmbeddingError> {
    let file = file(home, name)?;
    let bytes = compile_folder(folder)?;
    let wrong = |why| EmbeddingError::Model { name: name.to_owned(), why };
    Model::open(bytes.clone()).and_then(|model| model.verify()).map_err(wrong)?;
    files::make_private_folder(home.path())
        .and_then(|()| files::make_private_folder(&home.models()))
        .and_then(|()| files::write_atomically(&file, &bytes))
        .map_err(|why| EmbeddingError::Io { path: file, why })?;
    all(home).into_iter().find(|known| known.name == name).ok_or_else(|| EmbeddingError::Unknown(name.to_owned()))
}

/// Has another model be used from the next run of the worker on.
///
/// # Errors
/// It is not there, is damaged, or the system refuses; then nothing has changed.
pub fn choose(home: &Home, name: &str) -> Result<(), EmbeddingError> {
    if name != BUILT_IN {
        open(home, name)?;
    }
    let path = home.models().join(CHOICE);
    files::make_private_folder(home.path())
        .and_then(|()| files::make_private_folder(&home.models()))
        .and_then(|()| files::write_atomically(&path, format!("{name}\n").as_bytes()))
        .map_err(|why| EmbeddingError::Io { path, why })
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_sound_and_knows_what_is_near() {
        let model = super::built_in().unwrap();
        model.verify().unwrap();
        let near = |a: &str, b: &str| -> f32 {
            let (a, b) = (model.embed(a).unwrap(), model.embed(b).unwrap());
            a.iter().zip(&b).map(|(a, b)| a * b).sum()
        };
        let asked = "the database connection fails";
        assert!(near(asked, "数据库连接失败") > near(asked, "今天天气很好") + 0.2);
        assert!(
            near("read a file into a string", "fn read_to_string(path)")
                > near("read a file into a string", "fn sleep(ms)")
        );
    }
}
