//! Projects as people name them: a folder they are in, or what its folder is called. Sessions are filed under the folder they
//! began in, which may be any folder of a repository or one of its worktrees; all of these are one project.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate::{clean::clean, paths};

/// Projects named in a message.
const NAMED: usize = 20;

/// A project that sessions are filed under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its folder: the repository's, where there is one.
    pub path: String,
    /// The folders that sessions of it are filed under.
    pub folders: BTreeSet<String>,
}

impl Project {
    /// What its folder is called.
    pub fn name(&self) -> Option<&str> {
        parts(&self.path).last().copied()
    }
}

/// No such project.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ProjectError {
    /// No session is filed under it.
    #[error("no session of the project `{asked}` was read; {}", list(.known))]
    Unknown {
        /// What was asked for.
        asked: String,
        /// All projects that there are.
        known: Vec<String>,
    },
    /// It is the person's home folder, or that of the whole system, and holds all of them.
    #[error("{folder} is no project")]
    None {
        /// It.
        folder: String,
    },
    /// Several are called so.
    #[error("several projects are called `{asked}`; name one by its folder: {}", named(.matching))]
    Ambiguous {
        /// What was asked for.
        asked: String,
        /// They.
        matching: Vec<String>,
    },
}

fn list(projects: &[String]) -> String {
    match projects {
        [] => "no project is known yet".to_owned(),
        projects => format!("known are {}", named(projects)),
    }
}

fn named(projects: &[String]) -> String {
    let mut list = projects.iter().take(NAMED).map(|path| clean(path).into_owned()).collect::<Vec<_>>().join(", ");
    if projects.len() > NAMED {
        list.push_str(&format!(" and {} more", projects.len() - NAMED));
    }
    list
}

/// The project that a person means who is in the folder `here` and asks for a folder or a name, or for nothing: that of
/// `here`. `known` are the folders that sessions are filed under.
///
/// # Errors
/// There is no such project among `known`, or there are several.
pub fn find(asked: Option<&str>, here: &Path, known: &BTreeSet<String>) -> Result<Project, ProjectError> {
    let folder = here.join(asked.unwrap_or("."));
    if (asked.is_none() || folder.is_dir() || Path::new(asked.unwrap_or_default()).is_absolute())
        && let Some(project) = of_folder(&folder, known)
    {
        return Ok(project);
    }
    let unknown = |asked: String| {
        let known: BTreeSet<String> = known.iter().map(|folder| root(folder)).collect();
        ProjectError::Unknown { asked, known: known.into_iter().collect() }
    };
    let Some(name) = asked.filter(|name| !parts(name).is_empty()) else {
        return Err(unknown(resolved(&folder).to_string_lossy().into_owned()));
    };
    let mut matching: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for folder in known {
        // A worktree's own name is as good as its repository's.
        for project in [root(folder), folder.clone()] {
            if ends_with(&project, name) {
                matching.entry(project).or_default();
                break;
            }
        }
    }
    let paths: Vec<String> = matching.into_keys().collect();
    match paths.as_slice() {
        [] => Err(unknown(name.to_owned())),
        [path] => Ok(of_folder(Path::new(path), known).unwrap_or_else(|| Project {
            path: path.clone(),
            folders: known.iter().filter(|folder| is_within(folder, path)).cloned().collect(),
        })),
        _ => Err(ProjectError::Ambiguous { asked: name.to_owned(), matching: paths }),
    }
}

/// The project that somebody in the folder `here` means who asks for what is kept in it: as [`find`], but one that nothing is
/// filed under is a project, too, and the person's home folder is none, unless it is asked for: what holds everywhere holds there.
///
/// # Errors
/// What is asked for is neither a folder nor known, or there are several.
pub fn meant(asked: Option<&str>, here: &Path, known: &BTreeSet<String>) -> Result<Project, ProjectError> {
    let folder = here.join(asked.unwrap_or("."));
    let alone = || Project { path: place(&folder).to_string_lossy().into_owned(), folders: BTreeSet::new() };
    if asked.is_none() && kept_in(here).is_none() {
        return Ok(alone());
    }
    match find(asked, here, known) {
        Err(ProjectError::Unknown { .. }) if folder.is_dir() => Ok(alone()),
        found => found,
    }
}

/// The project that what is kept in a folder belongs to: its repository, or the folder. None: it is the person's home folder, or
/// that of the whole system, and no project.
pub fn kept_in(folder: &Path) -> Option<String> {
    let place = place(folder);
    (!is_no_project(&place)).then(|| place.to_string_lossy().into_owned())
}

/// The project of a folder: its repository with all worktrees; without one, what lies in the folder, or else the nearest
/// folder above that sessions are filed under.
fn of_folder(folder: &Path, known: &BTreeSet<String>) -> Option<Project> {
    let real = resolved(folder);
    let within = |roots: &[PathBuf]| -> BTreeSet<String> {
        let roots: Vec<_> = roots.iter().map(|root| root.to_string_lossy()).collect();
        known.iter().filter(|folder| roots.iter().any(|root| is_within(folder, root))).cloned().collect()
    };
    if let Some(repository) = repository(&real) {
        let mut roots = worktrees(&repository);
        roots.push(repository.clone());
        let folders = within(&roots);
        if !folders.is_empty() {
            return Some(Project { path: repository.to_string_lossy().into_owned(), folders });
        }
    }
    let folders = within(&[real.clone(), folder.to_owned()]);
    if !folders.is_empty() {
        return Some(Project { path: real.to_string_lossy().into_owned(), folders });
    }
    let above = real
        .ancestors()
        .skip(1)
        .take_while(|above| !is_no_project(above))
        .find(|above| known.contains(above.to_string_lossy().as_ref()))?;
    Some(Project { path: above.to_string_lossy().into_owned(), folders: within(&[above.to_owned()]) })
}

/// Is a folder the person's home directory, or that of the whole system? A session there does not make a project of all that lies below.
pub(crate) fn is_no_project(real: &Path) -> bool {
    real.parent().is_none() || paths::user_home().is_some_and(|home| home == real || resolved(&home) == real)
}

/// The folder that a project goes by: its repository's, as long as that is there.
fn root(folder: &str) -> String {
    repository(Path::new(folder))
        .map_or_else(|| folder.to_owned(), |repository| repository.to_string_lossy().into_owned())
}

/// What all folders of a project have in common: its repository's main folder, or else the folder itself.
pub(crate) fn place(folder: &Path) -> PathBuf {
    let real = resolved(folder);
    repository(&real).unwrap_or(real)
}

pub(crate) fn resolved(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.components().collect())
}

/// The main working tree of the repository that holds the folder. Of a worktree, `.git` is a file that says where its
/// repository keeps it: `gitdir: /repository/.git/worktrees/name`.
pub(crate) fn repository(folder: &Path) -> Option<PathBuf> {
    // A path of another system is none here, and must not be taken for one below the current folder.
    let is_top = |above: &&Path| above.join(".git").is_file() || above.join(".git/HEAD").is_file();
    let top = folder.ancestors().filter(|above| above.is_absolute()).find(is_top)?;
    let kept = fs::read_to_string(top.join(".git")).ok();
    let main = kept.as_deref().and_then(|text| {
        let kept = top.join(text.strip_prefix("gitdir:")?.trim());
        let worktrees = kept.parent().filter(|folder| folder.ends_with(".git/worktrees"))?;
        Some(resolved(worktrees.parent()?.parent()?))
    });
    Some(main.unwrap_or_else(|| top.to_owned()))
}

/// The worktrees of a repository besides the main one.
pub(crate) fn worktrees(repository: &Path) -> Vec<PathBuf> {
    let kept = fs::read_dir(repository.join(".git/worktrees")).into_iter().flatten().flatten();
    kept.filter_map(|kept| {
        let text = fs::read_to_string(kept.path().join("gitdir")).ok()?;
        kept.path().join(text.trim()).parent().map(resolved)
    })
    .collect()
}

/// The parts of a path as any system writes it: a transcript may come from another one.
fn parts(path: &str) -> Vec<&str> {
    path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect()
}

/// Whether a folder lies in another, or is it.
pub(crate) fn is_within(folder: &str, root: &str) -> bool {
    !folder.is_empty() && parts(folder).starts_with(&parts(root))
}

/// Whether the last parts of a path are these, whatever their case.
fn ends_with(path: &str, name: &str) -> bool {
    let (path, name) = (parts(&path.to_lowercase()).join("/"), parts(&name.to_lowercase()).join("/"));
    path == name || path.ends_with(&format!("/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(folders: &[&str]) -> BTreeSet<String> {
        folders.iter().map(|folder| (*folder).to_owned()).collect()
    }

    fn folders(project: &Project) -> Vec<&str> {
        project.folders.iter().map(String::as_str).collect()
    }

    #[test]
    fn a_name_or_its_last_parts_are_enough_as_long_as_one_project_has_them() {
        let known = known(&["/gone/ana/site", "/gone/ben/site", "/gone/ana/api", "/gone/ana/api/src", r"C:\work\Shop"]);
        let here = Path::new("/");
        assert_eq!(find(Some("api"), here, &known).unwrap().path, "/gone/ana/api");
        assert_eq!(folders(&find(Some("API"), here, &known).unwrap()), ["/gone/ana/api", "/gone/ana/api/src"]);
        assert_eq!(find(Some("ben/site"), here, &known).unwrap().path, "/gone/ben/site");
        assert_eq!(find(Some("shop"), here, &known).unwrap().path, r"C:\work\Shop");
        assert_eq!(find(Some("/gone/ana/api/"), here, &known).unwrap().path, "/gone/ana/api");
        let ambiguous = find(Some("site"), here, &known).unwrap_err().to_string();
        assert_eq!(
            ambiguous,
            "several projects are called `site`; name one by its folder: /gone/ana/site, /gone/ben/site"
        );
        let unknown = find(Some("ap"), here, &known).unwrap_err().to_string();
        assert!(unknown.starts_with("no session of the project `ap` was read; known are /gone/ana/api,"));
        assert!(find(Some(""), here, &BTreeSet::new()).unwrap_err().to_string().ends_with("no project is known yet"));
    }

    #[test]
    fn a_repository_with_its_worktrees_is_one_project() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().canonicalize().unwrap();
        let path = |name: &str| base.join(name).to_string_lossy().into_owned();
        for folder in ["app/.git/worktrees/fix", "app/src", "fix/docs", "other"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        fs::write(base.join("app/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(base.join("fix/.git"), format!("gitdir: {}\n", path("app/.git/worktrees/fix"))).unwrap();
        fs::write(base.join("app/.git/worktrees/fix/gitdir"), format!("{}\n", path("fix/.git"))).unwrap();
        let (app, fix, source, other, apple) =
            (path("app"), path("fix"), path("app/src"), path("other"), path("app-2"));
        let known = known(&[&app, &fix, &source, &other, &apple]);
        for here in ["app", "app/src", "fix", "fix/docs"] {
            let project = find(None, &base.join(here), &known).unwrap();
            assert_eq!(
                (project.path.as_str(), folders(&project)),
                (app.as_str(), vec![&*app, &*source, &*fix]),
                "{here}"
            );
        }
        assert_eq!(folders(&find(Some("fix"), Path::new("/"), &known).unwrap()), [&app, &source, &fix]);
        assert_eq!(folders(&find(Some("app"), Path::new("/"), &known).unwrap()), [&app, &source, &fix]);
        assert_eq!(folders(&find(Some("../other"), &base.join("app"), &known).unwrap()), [&other]);
    }

    #[test]
    fn without_a_repository_it_is_what_lies_below_or_else_the_nearest_above() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().canonicalize().unwrap();
        let path = |name: &str| base.join(name).to_string_lossy().into_owned();
        fs::create_dir_all(base.join("work/app/src/deep")).unwrap();
        fs::create_dir_all(base.join("empty")).unwrap();
        let (app, library) = (path("work/app"), path("work/library"));
        let known = known(&[&app, &library]);
        assert_eq!(folders(&find(None, &base.join("work"), &known).unwrap()), [&app, &library]);
        assert_eq!(folders(&find(None, &base.join("work/app/src/deep"), &known).unwrap()), [&app]);
        let unknown = find(None, &base.join("empty"), &known).unwrap_err();
        assert_eq!(unknown, ProjectError::Unknown { asked: path("empty"), known: vec![app, library] });
    }
}
