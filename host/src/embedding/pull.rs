//! Fetching a model, when the person asks for one: its files, each checked before anything is made of it, and then the same as for
//! one that the person has in a folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use serde::Serialize;

use super::{EmbeddingError, Known, Published, file, import, open};
use crate::{
    fetch::{Fetcher, Wanted},
    files,
    paths::Home,
};

/// What is fetched is here, below the folder of models, until it is compiled.
const PARTS: &str = "parts";
/// Most bytes of a file whose size is not known.
const MOST: u64 = 4 << 30;

/// What was fetched.
#[derive(Debug, Serialize)]
pub struct Pulled {
    /// The model.
    #[serde(flatten)]
    pub model: Known,
    /// Its repository.
    pub repository: String,
    /// The commit of that.
    pub revision: String,
    /// What it was made of.
    pub files: Vec<PulledFile>,
}

/// A file that was fetched.
#[derive(Debug, Serialize)]
pub struct PulledFile {
    /// Its name.
    pub name: &'static str,
    /// Its SHA-256.
    pub sha256: String,
    /// That is what it had to be. Otherwise it was not known before.
    pub pinned: bool,
}

/// Fetches a model from a server, compiles it and keeps it under a name. It is not used before it is chosen. `progress` is told
/// which file is at hand and how many bytes there are of all.
///
/// # Errors
/// See [`EmbeddingError`]; no model is kept then. Of a file that did not come to its end, what came is kept for the next time.
pub fn pull(
    home: &Home,
    published: &Published,
    name: &str,
    server: &str,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&str, u64),
) -> Result<Pulled, EmbeddingError> {
    file(home, name)?;
    is_of_this_origin(home, published, name)?;
    let fetcher = Fetcher::new(server, stop)?;
    // A revision may be one of several repositories. The last name is the model's own, so that whoever looks at it knows what it is.
    let folder = home.models().join(PARTS).join(&published.revision).join(&published.repository);
    let io = |path: &PathBuf| {
        let path = path.clone();
        move |why: io::Error| EmbeddingError::Io { path, why }
    };
    files::make_private_folder(&folder).map_err(io(&folder))?;
    let (mut fetched, mut done) = (Vec::new(), 0);
    for wanted in &published.files {
        let url = format!(
            "{}/{}/resolve/{}/{}",
            server.trim_end_matches('/'),
            published.repository,
            published.revision,
            wanted.name
        );
        let path = folder.join(wanted.name);
        let sha256 = fetcher.fetch(
            &Wanted {
                url: &url,
                file: &path,
                bytes: wanted.pinned.map(|(bytes, _)| bytes),
                most: MOST,
                sha256: wanted.pinned.map(|(_, sha256)| sha256),
            },
            &mut |bytes| progress(wanted.name, done + bytes),
        )?;
        done += fs::metadata(&path).map_or(0, |metadata| metadata.len());
        fetched.push(PulledFile { name: wanted.name, sha256, pinned: wanted.pinned.is_some() });
    }
    let provenance = provenance(published, &fetched);
    let compiled = is_what_came_before(home, published, name, &provenance).and_then(|()| {
        let about =
            serde_json::json!({ "name": published.name, "licence": published.licence, "provenance": provenance });
        let path = folder.join("about.json");
        files::write_atomically(&path, about.to_string().as_bytes()).map_err(io(&path))?;
        import(home, &folder, name)
    });
    // Where there was no room for the model, its files are still good.
    if !matches!(&compiled, Err(EmbeddingError::Io { .. })) {
        let _ = fs::remove_dir_all(&folder);
        // Owner, revision, and the folder of all of them; others may be on their way.
        for above in folder.ancestors().skip(1).take(3) {
            let _ = fs::remove_dir(above);
        }
    }
    Ok(Pulled {
        model: compiled?,
        repository: published.repository.clone(),
        revision: published.revision.clone(),
        files: fetched,
    })
}

/// What was fetched of a model that did not come to its end.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// As it is asked for.
    pub model: String,
    /// Bytes that there are.
    pub bytes: u64,
    /// Where they are; it can be deleted.
    pub folder: PathBuf,
}

/// All of these.
pub fn parts(home: &Home) -> Vec<Part> {
    let within = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut parts = Vec::new();
    for revision in within(home.models().join(PARTS)) {
        for folder in within(revision.clone()).flat_map(within) {
            let bytes = within(folder.clone()).map(|file| fs::metadata(file).map_or(0, |file| file.len())).sum();
            let owner = folder.parent().map(name).unwrap_or_default();
            parts.push(Part { model: format!("{owner}/{}@{}", name(&folder), name(&revision)), bytes, folder });
        }
    }
    // Of what never began there are folders.
    parts.retain(|part| part.bytes > 0);
    parts.sort_by(|a, b| a.model.cmp(&b.model));
    parts
}

/// What is kept in the model of where it comes from.
fn provenance(published: &Published, files: &[PulledFile]) -> String {
    let mut text = origin(published);
    for file in files {
        text += &format!(", {} sha256:{}", file.name, file.sha256);
    }
    text
}

fn origin(published: &Published) -> String {
    format!("{} at revision {}", published.repository, published.revision)
}

/// Is what is called so, if there is anything, a model of the same repository? Another one may be in use.
fn is_of_this_origin(home: &Home, published: &Published, name: &str) -> Result<(), EmbeddingError> {
    match open(home, name).map(|model| model.about().provenance.clone()) {
        Ok(before) if !before.starts_with(&format!("{} at ", published.repository)) => {
            Err(EmbeddingError::Taken { name: name.to_owned(), before })
        }
        _ => Ok(()),
    }
}

/// A revision never changes. If a model of it is here and was made of other files, one of the two is not what it says.
fn is_what_came_before(home: &Home, published: &Published, name: &str, provenance: &str) -> Result<(), EmbeddingError> {
    let known = open(home, name).ok().map(|model| model.about().provenance.clone());
    match known {
        Some(before) if before != provenance && before.starts_with(&origin(published)) => {
            Err(EmbeddingError::Changed { name: name.to_owned(), before, now: provenance.to_owned() })
        }
        _ => Ok(()),
    }
}
