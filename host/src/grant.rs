//! Grants: what an adapter may have read for it.
//!
//! What an adapter declares is written with `~` and variables. A grant is that, resolved: paths as they are on this
//! machine. For an added adapter it is what the person saw and agreed to, and is stored as such, so that neither a variable
//! that changes later nor another file under the component's name can widen it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{paths, sandbox::parse, transcript};

/// What an adapter may have read for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant(pub Vec<Granted>);

/// One place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Granted {
    /// Files below a folder.
    Files {
        /// The folder.
        root: PathBuf,
        /// Patterns of the files below it.
        globs: Vec<String>,
    },
    /// Sessions of many files below a folder.
    Tree {
        /// The folder.
        root: PathBuf,
        /// Patterns from the session down.
        levels: Vec<String>,
    },
    /// A database.
    Database {
        /// The file; its name may hold `*`.
        path: PathBuf,
        /// What is asked of it.
        queries: Vec<Queries>,
    },
}

/// SELECTs for one schema; see `record queries` of the contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queries {
    /// Key, version and perhaps beginning of each session.
    pub sessions: String,
    /// The rows of the session `:key`.
    pub rows: String,
}

impl From<&parse::Queries> for Queries {
    fn from(declared: &parse::Queries) -> Self {
        Self { sessions: declared.sessions.clone(), rows: declared.rows.clone() }
    }
}

/// A place that no adapter is given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is not granted: {why}", path.display())]
pub struct TooWide {
    /// The place.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

/// Below the home directory, what holds keys and passwords. A place in one of these or around it is refused.
const SECRET: [&str; 24] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".password-store",
    ".cargo/credentials.toml",
    ".config/gh",
    ".config/gcloud",
    ".config/op",
    ".config/google-chrome",
    ".config/chromium",
    ".mozilla",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".terraform.d",
    "Library/Keychains",
    "Library/Application Support/Google/Chrome",
    "AppData/Local/Google/Chrome",
];

impl Grant {
    /// What is declared, resolved for this machine. A place that needs a variable which is not set is left out.
    pub fn declared(sources: &[parse::Source]) -> Self {
        let expand = |roots: &[String]| roots.iter().filter_map(|root| paths::expand(root)).collect::<Vec<_>>();
        let mut granted = Vec::new();
        for source in sources {
            match source {
                parse::Source::Files(files) => granted.extend(
                    expand(&files.roots).into_iter().map(|root| Granted::Files { root, globs: files.globs.clone() }),
                ),
                parse::Source::Tree(tree) => granted.extend(
                    expand(&tree.roots).into_iter().map(|root| Granted::Tree { root, levels: tree.levels.clone() }),
                ),
                parse::Source::Database(database) => {
                    let queries: Vec<_> = database.queries.iter().map(Queries::from).collect();
                    let granted_at = |path| Granted::Database { path, queries: queries.clone() };
                    granted.extend(expand(&database.paths).into_iter().map(granted_at));
                }
            }
        }
        Self(granted)
    }

    /// What is declared, as if the tool kept it below this folder: each root is the longest end of itself that lies there
    /// (`~/.codex/sessions` is `FOLDER/.codex/sessions`, or else `FOLDER/sessions`), or else the folder.
    pub fn below(folder: &Path, sources: &[parse::Source]) -> Self {
        let place = |declared: &String| {
            let rest = declared.strip_prefix("~/").or_else(|| Some(declared.split_once('}')?.1)).unwrap_or(declared);
            let parts: Vec<_> = rest.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
            let ends =
                (0..parts.len()).map(|from| parts[from..].iter().fold(folder.to_owned(), |at, part| at.join(part)));
            ends.into_iter().collect::<Vec<_>>()
        };
        let root =
            |declared: &String| place(declared).into_iter().find(|end| end.is_dir()).unwrap_or(folder.to_owned());
        let unique = |mut roots: Vec<PathBuf>| {
            roots.sort();
            roots.dedup();
            roots
        };
        let mut granted = Vec::new();
        for source in sources {
            match source {
                parse::Source::Files(files) => {
                    let mut roots = unique(files.roots.iter().map(root).collect());
                    if roots.is_empty() {
                        roots.push(folder.to_owned());
                    }
                    let files = |root| Granted::Files { root, globs: files.globs.clone() };
                    granted.extend(roots.into_iter().map(files));
                }
                parse::Source::Tree(tree) => {
                    let granted_tree = |root| Granted::Tree { root, levels: tree.levels.clone() };
                    granted.extend(unique(tree.roots.iter().map(root).collect()).into_iter().map(granted_tree));
                }
                parse::Source::Database(database) => {
                    let file = |declared: &String| {
                        let is_there =
                            |end: &PathBuf| transcript::database::candidates(end).is_ok_and(|it| !it.is_empty());
                        place(declared).into_iter().find(is_there)
                    };
                    let queries: Vec<_> = database.queries.iter().map(Queries::from).collect();
                    let granted_at = |path| Granted::Database { path, queries: queries.clone() };
                    granted
                        .extend(unique(database.paths.iter().filter_map(file).collect()).into_iter().map(granted_at));
                }
            }
        }
        Self(granted)
    }

    /// Adds folders that the person named, with every file pattern that the adapter declares.
    pub fn add_roots(&mut self, roots: &[PathBuf], sources: &[parse::Source]) {
        for source in sources {
            if let parse::Source::Files(files) = source {
                let granted = |root: &PathBuf| Granted::Files { root: root.clone(), globs: files.globs.clone() };
                self.0.extend(roots.iter().map(granted));
            }
        }
    }

    /// What the adapter asks of a database, for one that the person named.
    pub fn queries(&self, sources: &[parse::Source]) -> Vec<Queries> {
        let granted = self.0.iter().find_map(|granted| match granted {
            Granted::Database { queries, .. } => Some(queries.clone()),
            Granted::Files { .. } | Granted::Tree { .. } => None,
        });
        granted.unwrap_or_else(|| {
            let databases = sources.iter().filter_map(|source| match source {
                parse::Source::Database(database) => Some(&database.queries),
                parse::Source::Files(_) | parse::Source::Tree(_) => None,
            });
            databases.flatten().map(Queries::from).collect()
        })
    }

    /// Resolves links as they are now, so that what is stored is what is read.
    #[must_use]
    pub fn resolved(mut self) -> Self {
        for granted in &mut self.0 {
            let path = granted.path_mut();
            // A database's name may be a pattern: its folder is what can be resolved.
            if let Ok(resolved) = path.canonicalize() {
                *path = resolved;
            } else if let (Some(folder), Some(name)) = (path.parent(), path.file_name())
                && let Ok(folder) = folder.canonicalize()
            {
                *path = folder.join(name);
            }
        }
        self
    }

    /// Refuses what is too wide for a component that nobody vouches for.
    ///
    /// # Errors
    /// Names the first place that is.
    pub fn check(&self) -> Result<(), TooWide> {
        let home = paths::user_home();
        self.0.iter().try_for_each(|granted| granted.check(home.as_deref()))
    }
}

impl Granted {
    /// The folder or file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Files { root, .. } | Self::Tree { root, .. } => root,
            Self::Database { path, .. } => path,
        }
    }

    fn path_mut(&mut self) -> &mut PathBuf {
        match self {
            Self::Files { root, .. } | Self::Tree { root, .. } => root,
            Self::Database { path, .. } => path,
        }
    }

    fn check(&self, home: Option<&Path>) -> Result<(), TooWide> {
        let refuse = |why: &str| Err(TooWide { path: self.path().to_owned(), why: why.to_owned() });
        if let Self::Tree { levels, .. } = self
            && let Err(why) = transcript::tree::check(levels)
        {
            return refuse(&why);
        }
        let folder = match self {
            Self::Files { root, .. } | Self::Tree { root, .. } => root.as_path(),
            Self::Database { path, .. } => path.parent().unwrap_or(path),
        };
        if folder.components().any(|part| part == std::path::Component::ParentDir) {
            return refuse("it has `..` in it");
        }
        if folder.parent().is_none() {
            return refuse("it is the whole file system");
        }
        let Some(home) = home else { return Ok(()) };
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        if home.starts_with(folder) {
            return refuse("it is your home directory, or around it: an adapter gets a folder of its tool");
        }
        for secret in SECRET {
            let secret = home.join(secret);
            // A database is one named file, which cannot reach what lies below its folder.
            let around = secret.starts_with(folder) && !matches!(self, Self::Database { .. });
            if self.path().starts_with(&secret) || around {
                return refuse(&format!("{} holds keys or passwords", secret.display()));
            }
        }
        Ok(())
    }
}
