//! `--project`: the project that a person means, for what is kept and for what is asked for.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::Usage;
use crate::{
    clean::clean,
    project::{self, Project},
    store::Store,
};

/// The folder that something is kept for: the repository that the folder lies in, whichever worktree, or else the folder.
/// `given` is what stands behind `--project`; without a value the current folder is meant.
pub(super) fn to_keep(given: Option<&Option<String>>) -> anyhow::Result<Option<String>> {
    let Some(given) = given else { return Ok(None) };
    let folder = match given {
        Some(given) => std::path::absolute(given)?,
        None => here()?,
    };
    if !folder.is_dir() {
        return Err(Usage(format!("there is no folder {}", clean(&folder.to_string_lossy()))).into());
    }
    let kept_in = project::kept_in(&folder);
    let none = || {
        let folder = clean(&folder.to_string_lossy()).into_owned();
        Usage(format!("{folder} is no project: without --project it holds everywhere"))
    };
    Ok(Some(kept_in.ok_or_else(none)?))
}

/// The project that something is asked of, by a folder or a name. One that nothing is kept for is a project, too: what holds
/// everywhere holds there.
pub(super) fn to_find(given: Option<&Option<String>>, store: &Store) -> anyhow::Result<Option<Project>> {
    let Some(given) = given else { return Ok(None) };
    let here = here()?;
    let found = project::meant(given.as_deref(), &here, &store.projects()?);
    Ok(Some(found.map_err(|error| Usage(error.to_string()))?))
}

fn here() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("the current folder is gone; go to another one")
}

/// A project as it is called in a line.
pub(super) fn name(folder: &str) -> String {
    let name =
        Path::new(folder).file_name().map_or_else(|| folder.to_owned(), |name| name.to_string_lossy().into_owned());
    super::ui::line(&name)
}
