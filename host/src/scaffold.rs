//! Projects for new adapters: what `totalrecall adapters new` writes.
//!
//! Each language has a small adapter for a made-up diary, one case of fixtures (the same for all, because all make the same
//! events of it), the recipe that builds it, and what it needs of TotalRecall: the contract, and what adapters share.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What an adapter is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// With the SDK, a copy of which is part of the project.
    Rust,
    /// With componentize-js, from npm.
    JavaScript,
    /// With componentize-py, from PyPI.
    Python,
}

/// Why there is no project.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    /// The name cannot be one of an adapter.
    #[error(
        "`{0}` cannot be the name of an adapter: at most {LONGEST_NAME} lower-case letters and digits, words joined by hyphens, \
         a letter first, as in `my-tool`"
    )]
    Name(String),
    /// Something is there already.
    #[error("{} is not empty: choose another name or folder", .0.display())]
    Occupied(PathBuf),
    /// It cannot be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// Longest name: it becomes part of file names.
const LONGEST_NAME: usize = 40;

/// A file of a project: its path, and what it holds before names are put in.
type File = (&'static str, &'static str);

macro_rules! files {
    ($($path:literal <- $source:literal,)*) => {
        &[$(($path, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $source)))),*]
    };
}

/// The case of fixtures, and the contract.
const SHARED: &[File] = files! {
    "fixtures/first/transcripts/2026-01-01.jsonl" <- "templates/fixtures/first/transcripts/2026-01-01.jsonl",
    "fixtures/first/events.jsonl" <- "templates/fixtures/first/events.jsonl",
    "wit/since-v0.1.0/adapter.wit" <- "../wit/since-v0.1.0/adapter.wit",
    "wit/since-v0.1.0/analyzer.wit" <- "../wit/since-v0.1.0/analyzer.wit",
    "wit/since-v0.1.0/types.wit" <- "../wit/since-v0.1.0/types.wit",
};

const RUST: &[File] = files! {
    ".gitignore" <- "templates/rust/gitignore",
    "Cargo.toml" <- "templates/rust/Cargo.toml",
    "README.md" <- "templates/rust/README.md",
    "build" <- "templates/rust/build",
    "src/lib.rs" <- "templates/rust/src/lib.rs",
    "sdk/Cargo.toml" <- "templates/rust/sdk.toml",
};

/// The SDK's sources; no names are put into them.
const SDK: &[File] = files! {
    "sdk/src/adapter.rs" <- "../guest-adapters/sdk/src/adapter.rs",
    "sdk/src/analyzer.rs" <- "../guest-adapters/sdk/src/analyzer.rs",
    "sdk/src/hash.rs" <- "../guest-adapters/sdk/src/hash.rs",
    "sdk/src/json.rs" <- "../guest-adapters/sdk/src/json.rs",
    "sdk/src/lib.rs" <- "../guest-adapters/sdk/src/lib.rs",
    "sdk/src/lines.rs" <- "../guest-adapters/sdk/src/lines.rs",
    "sdk/src/repair.rs" <- "../guest-adapters/sdk/src/repair.rs",
    "sdk/src/tally.rs" <- "../guest-adapters/sdk/src/tally.rs",
    "sdk/src/text.rs" <- "../guest-adapters/sdk/src/text.rs",
    "sdk/src/time.rs" <- "../guest-adapters/sdk/src/time.rs",
};

const JAVASCRIPT: &[File] = files! {
    ".gitignore" <- "templates/js/gitignore",
    "README.md" <- "templates/js/README.md",
    "build" <- "templates/js/build",
    "build.js" <- "templates/js/build.js",
    "package.json" <- "templates/js/package.json",
    "src/adapter.js" <- "templates/js/src/adapter.js",
    "src/totalrecall.js" <- "../examples/copilot-cli-js/src/totalrecall.js",
};

const PYTHON: &[File] = files! {
    ".gitignore" <- "templates/python/gitignore",
    "README.md" <- "templates/python/README.md",
    "build" <- "templates/python/build",
    "requirements.txt" <- "templates/python/requirements.txt",
    "src/adapter.py" <- "templates/python/src/adapter.py",
    "src/parse.py" <- "templates/python/src/parse.py",
    "src/totalrecall.py" <- "../examples/qwen-code-python/src/totalrecall.py",
};

/// Writes a project for an adapter of this name into `folder`, which is made unless it is there and empty.
///
/// # Errors
/// When the name cannot be one, something is there already, or it cannot be written.
pub fn write(name: &str, language: Language, folder: &Path) -> Result<(), ScaffoldError> {
    if !is_name(name) {
        return Err(ScaffoldError::Name(name.to_owned()));
    }
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| ScaffoldError::Io { path, source }
    };
    match fs::read_dir(folder) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                return Err(ScaffoldError::Occupied(folder.to_owned()));
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(at(folder)(error)),
    }
    let own = match language {
        Language::Rust => RUST,
        Language::JavaScript => JAVASCRIPT,
        Language::Python => PYTHON,
    };
    let named = SHARED.iter().chain(own).map(|(path, text)| (*path, named(text, name)));
    let sdk = if language == Language::Rust { SDK } else { &[] };
    // In the repository the contract lies elsewhere.
    let sdk = sdk.iter().map(|(path, text)| (*path, text.replace("\"../../wit/", "\"../wit/")));
    for (path, text) in named.chain(sdk) {
        let file = folder.join(path);
        let parent = file.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(at(parent))?;
        fs::write(&file, text).map_err(at(&file))?;
    }
    make_executable(&folder.join("build")).map_err(at(&folder.join("build")))
}

/// Puts the names into a template.
fn named(template: &str, name: &str) -> String {
    let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    // The suffix keeps it from being a word of the language.
    let class = name.split('-').map(capital).collect::<String>() + "Adapter";
    template
        .replace("{{name}}", name)
        .replace("{{module}}", &name.replace('-', "_"))
        .replace("{{type}}", &class)
        .replace("{{version}}", env!("CARGO_PKG_VERSION"))
}

/// kebab-case: words of lower-case letters and digits, joined by hyphens, a letter first.
fn is_name(name: &str) -> bool {
    let word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    name.len() <= LONGEST_NAME
        && name.split('-').all(word)
        && name.starts_with(|first: char| first.is_ascii_lowercase())
}

#[cfg(unix)]
fn make_executable(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let mut permissions = fs::metadata(file)?.permissions();
    permissions.set_mode(permissions.mode() | 0o111);
    fs::set_permissions(file, permissions)
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Language; 3] = [Language::Rust, Language::JavaScript, Language::Python];

    #[test]
    fn names() {
        for name in ["a", "my-tool", "tool2", "a-1-b"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "-a", "a-", "a--b", "1a", "My", "a_b", "a b", "a/b", "..", "é", &"a".repeat(41)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn every_name_is_put_in() {
        for language in ALL {
            let folder = tempfile::tempdir().unwrap();
            let project = folder.path().join("new/my-tool");
            write("my-tool", language, &project).unwrap();
            let mut folders = vec![project.clone()];
            let mut seen = 0;
            while let Some(folder) = folders.pop() {
                for entry in fs::read_dir(folder).unwrap() {
                    let path = entry.unwrap().path();
                    if path.is_dir() {
                        folders.push(path);
                        continue;
                    }
                    let text = fs::read_to_string(&path).unwrap();
                    seen += usize::from(text.contains("my-tool"));
                    for left in ["{{name}}", "{{module}}", "{{type}}", "{{version}}"] {
                        assert!(!text.contains(left), "{} holds {left}", path.display());
                    }
                }
            }
            assert!(seen >= 3, "{language:?}");
        }
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        write("tool", Language::Python, folder.path()).unwrap();
        for language in ALL {
            assert!(matches!(write("tool", language, folder.path()), Err(ScaffoldError::Occupied(_))));
        }
        let file = folder.path().join("README.md");
        assert!(matches!(write("tool", Language::Rust, &file), Err(ScaffoldError::Io { .. })));
        assert!(matches!(write("Tool", Language::Rust, &folder.path().join("x")), Err(ScaffoldError::Name(_))));
        assert!(!folder.path().join("x").exists());
    }

    /// A file that is added to the SDK or the contract has to be added here.
    #[test]
    fn all_of_the_sdk_and_the_contract_is_written() {
        for (folder, prefix, files) in
            [("guest-adapters/sdk/src", "sdk/src/", SDK), ("wit/since-v0.1.0", "wit/since-v0.1.0/", SHARED)]
        {
            let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder)).unwrap();
            let mut there: Vec<_> =
                entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
            there.sort();
            let written: Vec<_> = files.iter().filter_map(|(path, _)| path.strip_prefix(prefix)).collect();
            assert_eq!(written, there);
        }
    }
}
