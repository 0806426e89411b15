//! Where things are: our own home and cache, and the folders that adapters declare. With `config`, the only place
//! that reads the environment.

use std::{
    env,
    path::{Path, PathBuf},
};

/// Our state folder: `--home`, else `$TOTALRECALL_HOME`, else `~/.totalrecall`.
///
/// Nothing outside of it is ever written, but for the cache of compiled components.
#[derive(Debug, Clone)]
pub struct Home(PathBuf);

impl Home {
    /// Picks the folder without touching it. `None` when there is no home directory to put it in.
    pub fn choose(given: Option<PathBuf>) -> Option<Self> {
        given
            .or_else(|| below_home(&variable("TOTALRECALL_HOME")?, user_home()))
            .or_else(|| user_home().map(|home| home.join(".totalrecall")))
            .map(Self)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The one SQLite file.
    pub fn database(&self) -> PathBuf {
        self.0.join("totalrecall.db")
    }

    /// The user's settings.
    pub fn config(&self) -> PathBuf {
        self.0.join("config.toml")
    }

    /// The page that all of this is for.
    pub fn insights(&self) -> PathBuf {
        self.0.join("insights.md")
    }

    /// The page, or a part of it, as it was last opened in a browser.
    pub fn insights_html(&self) -> PathBuf {
        self.0.join("insights.html")
    }

    /// The page of proposals.
    pub fn proposals(&self) -> PathBuf {
        self.0.join("proposals.md")
    }

    /// Copies of the user's files from before we changed them.
    pub fn backups(&self) -> PathBuf {
        self.0.join("backups")
    }

    /// Scaffolds of hooks, which the user installs.
    pub fn hooks(&self) -> PathBuf {
        self.0.join("hooks")
    }

    /// A file for everything that is told once only.
    pub fn told(&self) -> PathBuf {
        self.0.join("told")
    }

    /// The indexes that search uses. Everything in it can be made again from the database.
    pub fn index(&self) -> PathBuf {
        self.0.join("index")
    }

    /// Models besides the built-in one, and which one is used.
    pub fn models(&self) -> PathBuf {
        self.0.join("models")
    }

    /// Held by the one worker that may write.
    pub fn worker_lock(&self) -> PathBuf {
        self.0.join("worker.lock")
    }
}

/// A path as a person writes it where no shell expands it: `~/…` lies in their home directory. The plugin's launcher has it so, too.
fn below_home(path: &str, home: Option<PathBuf>) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(rest) => Some(home?.join(rest)),
        None => Some(path.into()),
    }
}

/// Folder of the compiled components: `$XDG_CACHE_HOME/totalrecall/components`, else below `~/.cache`.
pub fn component_cache() -> Option<PathBuf> {
    variable("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| user_home().map(|home| home.join(".cache")))
        .map(|cache| cache.join("totalrecall").join("components"))
}

/// Where models are fetched from: `$TOTALRECALL_MODEL_MIRROR`, else `$HF_ENDPOINT`, as the programs of Hugging Face have it, else
/// Hugging Face.
pub fn model_server() -> String {
    let named = variable("TOTALRECALL_MODEL_MIRROR").or_else(|| variable("HF_ENDPOINT"));
    named.unwrap_or_else(|| "https://huggingface.co".to_owned())
}

/// The user's home directory.
pub fn user_home() -> Option<PathBuf> {
    variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The program of a name, looked for where the system looks for programs; or of a path that is written whole or begins with
/// `~/`. Folders of `PATH` that are not written whole are left out: where we start programs they would be other folders.
pub fn program(name: &str) -> Option<PathBuf> {
    if name.contains(std::path::is_separator) {
        return expand(name).filter(|path| is_program(path));
    }
    let names = if cfg!(windows) { vec![format!("{name}.exe"), format!("{name}.cmd")] } else { vec![name.to_owned()] };
    let path = variable("PATH")?;
    let folders = env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>())
        .find(|it| is_program(it))
}

fn is_program(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    #[cfg(unix)]
    let is_executable = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let is_executable = true;
    metadata.is_file() && is_executable
}

/// Resolves a root as adapters declare it (`wit/since-v0.1.0/adapter.wit`, `record files`): an absolute path, `~/…`,
/// or `${NAME:-FALLBACK}/…`. `None` when it is written in another way or a variable it needs is missing.
pub fn expand(root: &str) -> Option<PathBuf> {
    expand_with(root, &variable, user_home().as_deref())
}

fn expand_with(root: &str, variable: &dyn Fn(&str) -> Option<String>, home: Option<&Path>) -> Option<PathBuf> {
    if let Some(rest) = root.strip_prefix("${") {
        let (inside, rest) = rest.split_once('}')?;
        let (name, fallback) = inside.split_once(":-").unwrap_or((inside, ""));
        let base = match variable(name) {
            Some(value) => PathBuf::from(value),
            None => expand_with(fallback, variable, home)?,
        };
        return absolute(base.join(rest.strip_prefix('/').unwrap_or(rest)));
    }
    match root.strip_prefix('~') {
        Some(rest) => Some(home?.join(rest.strip_prefix('/')?)),
        None => absolute(PathBuf::from(root)),
    }
}

fn absolute(path: PathBuf) -> Option<PathBuf> {
    path.is_absolute().then_some(path)
}

/// A variable that is set, not empty, and text.
#[expect(clippy::disallowed_methods, reason = "this is the function that others are told to use")]
pub fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand_here(root: &str, set: bool) -> Option<PathBuf> {
        let variable = |name: &str| (set && name == "CLAUDE_CONFIG_DIR").then(|| "/elsewhere".to_owned());
        expand_with(root, &variable, Some(Path::new("/home/dev")))
    }

    #[test]
    fn roots_are_expanded() {
        let root = "${CLAUDE_CONFIG_DIR:-~/.claude}/projects";
        assert_eq!(expand_here(root, true), Some("/elsewhere/projects".into()));
        assert_eq!(expand_here(root, false), Some("/home/dev/.claude/projects".into()));
        assert_eq!(expand_here("~/.config/claude", false), Some("/home/dev/.config/claude".into()));
        assert_eq!(expand_here("/var/x", false), Some("/var/x".into()));
    }

    #[test]
    fn a_home_may_be_written_as_a_shell_has_it() {
        let of = |path| below_home(path, Some("/home/dev".into()));
        assert_eq!(of("~/memory"), Some("/home/dev/memory".into()));
        assert_eq!((of("/x/~/y"), of("~other")), (Some("/x/~/y".into()), Some("~other".into())));
        assert_eq!(below_home("~/memory", None), None);
    }

    #[test]
    fn other_roots_are_refused() {
        for root in ["relative/path", "~other/x", "${UNSET}/x", "${broken", "", "../x"] {
            assert_eq!(expand_here(root, false), None, "{root}");
        }
    }
}
