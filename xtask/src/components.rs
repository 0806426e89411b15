//! Builds components by themselves: for packagers (`TOTALRECALL_COMPONENTS_DIR`), for tests, and for looking into them.

#[path = "../../host/build/components.rs"]
mod build;

use std::path::Path;

use anyhow::{Context as _, ensure};

use crate::command;

/// `components [FOLDER [PACKAGE …]]`
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let guests = build::guests_dir(&std::env::current_exe()?).map_err(anyhow::Error::msg)?;
    let folder = arguments.first().map_or_else(|| guests.with_file_name("components"), |folder| folder.into());
    let named: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    // All that TotalRecall comes with, unless packages are named.
    let all = || build::ADAPTERS.iter().chain([&build::ANALYZER]).copied().collect();
    let packages: Vec<&str> = if named.is_empty() { all() } else { named };
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    for component in build::build(root, &guests, build::PROFILE, &packages).map_err(anyhow::Error::msg)? {
        let file = folder.join(&component.name).with_extension("wasm");
        std::fs::write(&file, &component.bytes).with_context(|| file.display().to_string())?;
        crate::say(&format!("{} {} bytes", file.display(), component.bytes.len()));
    }
    Ok(())
}

/// `component FOLDER [FILE]`: a crate of a workspace of its own, under its release profile.
pub(crate) fn run_one(_: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let folder = Path::new(arguments.first().context("name the folder of a crate")?);
    let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
    // Without a lockfile cargo tells no names; the build would make the same one.
    if !folder.join("Cargo.lock").is_file() {
        command::run(command::cargo(&folder).args(["generate-lockfile", "--quiet"]))?;
    }
    let package = package(&folder)?;
    let components =
        build::build(&folder, &folder.join("target"), "release", &[&package]).map_err(anyhow::Error::msg)?;
    for component in components {
        let beside = || folder.join(&component.name).with_extension("wasm");
        let file = arguments.get(1).map_or_else(beside, |file| file.into());
        std::fs::write(&file, &component.bytes).with_context(|| file.display().to_string())?;
        crate::say(&format!("{} {} bytes", file.display(), component.bytes.len()));
    }
    Ok(())
}

/// The name of the crate in a folder. Cargo leaves it out where it is the folder's: `path+file:///x/name#0.1.0`.
fn package(folder: &Path) -> anyhow::Result<String> {
    let output = command::cargo(folder).arg("pkgid").output().context("cargo does not start")?;
    let id = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{}: {}", folder.display(), String::from_utf8_lossy(&output.stderr).trim());
    let (path, name) = id.trim().rsplit_once('#').with_context(|| format!("not an id of a package: {id}"))?;
    let named = name.split_once('@').map(|(name, _)| name);
    Ok(named.or_else(|| path.rsplit('/').next()).unwrap_or(path).to_owned())
}
