use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use crate::project;

/// A project that is paused, or a folder that is in no repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The repository's main folder, or the folder.
    pub path: String,
    /// What else is known to be of it: its worktrees, and other names of these folders. A worktree that is deleted before its
    /// sessions are read could not be told any more.
    pub folders: BTreeSet<String>,
}

impl Place {
    /// The project that a folder is in.
    pub fn of(folder: &Path) -> Self {
        let real = project::resolved(folder);
        let root = project::repository(&real).unwrap_or_else(|| real.clone());
        let mut place = Self { path: text(&root), folders: BTreeSet::new() };
        // Through a link, as a client may have it. Of a subfolder that would be too little, which does no harm.
        place.add(text(folder));
        place.look_for_worktrees();
        place
    }

    /// What a person may mean who names a folder of a pause that goes on: the project, or, where it has become a repository or
    /// is gone since, the folder itself.
    pub(super) fn names(folder: &Path) -> [String; 3] {
        [Self::of(folder).path, text(&project::resolved(folder)), text(folder)]
    }

    /// Adds the worktrees that there are now.
    pub(super) fn look_for_worktrees(&mut self) {
        for worktree in project::worktrees(Path::new(&self.path)) {
            self.add(text(&worktree));
        }
    }

    /// Adds a folder, unless it is known by its name; tells whether it was.
    pub(super) fn add(&mut self, folder: String) -> bool {
        !self.knows(&folder) && self.folders.insert(folder)
    }

    /// Is the folder in the project by its name alone?
    pub(super) fn knows(&self, folder: &str) -> bool {
        std::iter::once(&self.path).chain(&self.folders).any(|root| project::is_within(folder, root))
    }

    /// Is the folder in the project?
    pub fn holds(&self, folder: &str) -> bool {
        if self.knows(folder) {
            return true;
        }
        let real = project::resolved(Path::new(folder));
        self.knows(&text(&real)) || project::repository(&real).is_some_and(|root| text(&root) == self.path)
    }
}

/// The folder of a worktree that a folder lies in, else the folder: what is worth remembering of it.
pub(super) fn top(folder: &str) -> String {
    let folder = Path::new(folder);
    let is_top = |above: &&Path| above.join(".git").exists();
    text(folder.ancestors().filter(|above| above.is_absolute()).find(is_top).unwrap_or(folder))
}

fn text(path: &Path) -> String {
    let tidy: PathBuf = path.components().collect();
    tidy.to_string_lossy().into_owned()
}
