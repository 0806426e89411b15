//! The toolchains of the examples: node with componentize-js, Python with componentize-py, cargo with a wasm target.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
};

use crate::built::{copy, hash, root, run, scratch};

const NODE: &str =
    "node and npm build the examples in JavaScript: install Node.js 20 or newer (`apt-get install nodejs npm`)";
const PYTHON: &str = "python3 with venv and pip builds the examples in Python: install Python 3.10 or newer (`apt-get install python3-venv`)";

/// One installation at a time: two of the same would be in each other's way, two of different ones slow each other down.
static INSTALLING: Mutex<()> = Mutex::new(());

/// A `node_modules` with what `project` asks for, in the versions of the example's lockfile.
pub(crate) fn node_modules(project: &Path) -> PathBuf {
    let example = root().join("examples/copilot-cli-js");
    assert_eq!(dependencies(project), dependencies(&example), "{}", project.display());
    let lock = example.join("package-lock.json");
    let folder = scratch().join(format!("npm-{}", hash([lock.as_path()])));
    install(&folder, |folder| {
        assert!(starts("node") && starts("npm"), "{NODE}");
        for file in ["package.json", "package-lock.json"] {
            copy(&example.join(file), &folder.join(file));
        }
        run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(folder));
    });
    folder.join("node_modules")
}

fn dependencies(project: &Path) -> serde_json::Value {
    let text = fs::read_to_string(project.join("package.json")).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).unwrap()["devDependencies"].take()
}

/// A virtual environment with what `requirements.txt` of `project` names.
pub(crate) fn venv(project: &Path) -> PathBuf {
    let requirements = project.join("requirements.txt");
    let folder = scratch().join(format!("venv-{}", hash([requirements.as_path()])));
    install(&folder, |folder| {
        let pip = "import venv, ensurepip";
        let ready = Command::new("python3").args(["-c", pip]).output().is_ok_and(|output| output.status.success());
        assert!(ready, "{PYTHON}");
        run(Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")));
        let pip = folder.join("venv/bin/pip");
        run(Command::new(pip)
            .args(["install", "--quiet", "--disable-pip-version-check", "--requirement"])
            .arg(&requirements));
    });
    folder.join("venv")
}

/// Is there a standard library for wasm32-wasip2? Where it cannot be had, components are built as ours are.
pub(crate) fn has_wasip2() -> bool {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    sysroot.is_ok_and(|output| {
        let root = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        root.join("lib/rustlib/wasm32-wasip2/lib").is_dir()
    })
}

fn starts(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Fills a folder once. One that was not finished is begun anew.
fn install(folder: &Path, fill: impl FnOnce(&Path)) {
    let _one = INSTALLING.lock();
    let done = folder.join("done");
    if done.is_file() {
        return;
    }
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    fill(folder);
    fs::write(done, "").unwrap();
}
