//! Components, built by the recipes of their projects.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
};

use sha2::{Digest as _, Sha256};
use totalrecall::scaffold::{self, Language};

use crate::tools;

/// What a build needs of the repository besides its project, and what decides whether it is still the same.
const SHARED: &[&str] = &["wit/since-v0.1.0", "guest-adapters/sdk"];

/// What building and installing leave in a project.
const MADE: &[&str] = &["node_modules", "target", ".venv", "__pycache__", "bindings"];

/// The languages' builds take turns: each of them uses all processors.
static BUILDING: Mutex<()> = Mutex::new(());

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Where everything is put that is made here.
pub(crate) fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples")
}

/// The component of a project in `examples/`.
pub(crate) fn example(name: &str) -> PathBuf {
    // A copy, laid out as here: nothing is ever made in the source tree.
    let tree = scratch().join("tree");
    let (source, project) = (root().join("examples").join(name), tree.join("examples").join(name));
    let shared = SHARED.iter().map(|shared| root().join(shared));
    let all: Vec<PathBuf> = shared.chain([source.clone()]).collect();
    component(name, &hash(all.iter().map(PathBuf::as_path)), &project, || {
        let _ = fs::remove_dir_all(&project);
        copy(&root().join("wit"), &tree.join("wit"));
        copy(&source, &project);
        if source.join("Cargo.toml").is_file() {
            // The SDK takes part of its manifest from the workspace it is in.
            let manifest = project.join("Cargo.toml");
            let sdk = root().join("guest-adapters/sdk");
            let text = fs::read_to_string(&manifest).unwrap();
            fs::write(&manifest, text.replace("../../guest-adapters/sdk", &sdk.to_string_lossy())).unwrap();
        }
    })
}

/// The component of a project that `adapters new` writes.
pub(crate) fn new(language: Language) -> PathBuf {
    let name = format!("new-{language:?}").to_lowercase();
    let project = scratch().join(&name);
    let _ = fs::remove_dir_all(&project);
    scaffold::write("my-diary", language, &project).unwrap();
    component(&name, &hash([project.as_path()]), &project, || {})
}

/// The component of the project that `lay_out` puts at `project`, built unless there is one of these sources.
pub(crate) fn component(name: &str, sources: &str, project: &Path, lay_out: impl FnOnce()) -> PathBuf {
    let _turn = BUILDING.lock();
    let component = scratch().join(format!("{name}-{sources}.wasm"));
    if component.is_file() {
        return component;
    }
    lay_out();
    // Half a component is none.
    let half = component.with_extension("half");
    let mut build = Command::new("sh");
    build.arg(project.join("build")).arg(&half).env("CARGO_TARGET_DIR", scratch().join("target"));
    if project.join("package.json").is_file() {
        symlink(tools::node_modules(project), project.join("node_modules")).unwrap();
    } else if project.join("requirements.txt").is_file() {
        symlink(tools::venv(project), project.join(".venv")).unwrap();
    } else if !tools::has_wasip2() {
        build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build.args(["run", "--quiet", "--package", "xtask", "--", "component"]).arg(project).arg(&half);
        build.current_dir(root());
    }
    run(&mut build);
    fs::rename(&half, &component).unwrap();
    component
}

/// Runs a command to its end; what it said is the message if that is not a good one.
pub(crate) fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(output.status.success(), "{command:?} failed:\n{}", said.concat());
}

/// Copies a file, or a folder without what was made in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
        return;
    }
    for entry in entries(from) {
        copy(&entry, &to.join(entry.file_name().unwrap()));
    }
}

/// A short hash of files and folders, by paths relative to each and contents.
pub(crate) fn hash<'a>(paths: impl IntoIterator<Item = &'a Path>) -> String {
    fn add(path: &Path, root: &Path, hash: &mut Sha256) {
        if path.is_dir() {
            entries(path).iter().for_each(|entry| add(entry, root, hash));
            return;
        }
        let content = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for part in [path.strip_prefix(root).unwrap().to_string_lossy().as_bytes(), &content] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    let mut hash = Sha256::new();
    paths.into_iter().for_each(|path| add(path, path.parent().unwrap(), &mut hash));
    hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is in a folder and was not made there, by name. Fixtures are no part of a component.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let named =
        |path: &PathBuf, names: &[&str]| names.iter().any(|name| path.file_name().is_some_and(|it| it == *name));
    entries.retain(|path| {
        !named(path, MADE) && !named(path, &["fixtures"]) && path.extension().is_none_or(|it| it != "wasm")
    });
    entries.sort();
    entries
}
