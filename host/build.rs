//! Embeds the components that TotalRecall comes with. They are built here and never committed.
#![expect(
    clippy::disallowed_methods,
    reason = "a build script is told everything by its environment, and starts cargo"
)]

#[path = "build/components.rs"]
mod components;

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use components::{ADAPTERS, ANALYZER, Component};
use sha2::{Digest as _, Sha256};

/// Packagers put ready-made components here, as `<name>.wasm`.
const FOLDER: &str = "TOTALRECALL_COMPONENTS_DIR";
/// What a component is made of, relative to the workspace.
const SOURCES: &[&str] = &["Cargo.toml", "Cargo.lock", "wit", "guest-adapters", "guest-analyzer"];

fn main() -> ExitCode {
    match embed() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={error}");
            ExitCode::FAILURE
        }
    }
}

fn embed() -> Result<(), String> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).ok_or(format!("cargo did not set {name}"));
    let host = variable("CARGO_MANIFEST_DIR")?;
    let out = variable("OUT_DIR")?;
    let root = host.parent().ok_or("the host crate has no parent folder")?;

    println!("cargo::rerun-if-env-changed={FOLDER}");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }

    let packages: Vec<&str> = ADAPTERS.iter().chain([&ANALYZER]).copied().collect();
    let components = match std::env::var_os(FOLDER).map(PathBuf::from) {
        Some(folder) => read(&folder, &packages)?,
        None => components::build(root, &components::guests_dir(&out)?, components::PROFILE, &packages)?,
    };
    std::fs::write(out.join("builtin.rs"), table(&components, &out)?).map_err(|error| error.to_string())
}

/// Reads components that were built elsewhere from `folder`.
fn read(folder: &Path, packages: &[&str]) -> Result<Vec<Component>, String> {
    packages
        .iter()
        .map(|package| {
            let name = package.strip_prefix(components::PREFIX).unwrap_or(package).to_owned();
            let file = folder.join(&name).with_extension("wasm");
            let bytes = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            Ok(Component { name, bytes })
        })
        .collect()
}

/// The table that `sandbox::builtin` includes.
fn table(components: &[Component], out: &Path) -> Result<String, String> {
    let mut adapters = String::new();
    let mut analyzer = String::new();
    for Component { name, bytes } in components {
        let file = out.join(name).with_extension("wasm");
        std::fs::write(&file, bytes).map_err(|error| format!("{}: {error}", file.display()))?;
        let hash = Sha256::digest(bytes);
        let list = if Some(name.as_str()) == ANALYZER.strip_prefix(components::PREFIX) {
            &mut analyzer
        } else {
            &mut adapters
        };
        let entry = format!("Builtin {{ name: {name:?}, hash: {:?}, bytes: include_bytes!({file:?}) }}", &hash[..]);
        writeln!(list, "    {entry},").map_err(|error| error.to_string())?;
    }
    let analyzer = analyzer.trim().trim_end_matches(',');
    Ok(format!("const ADAPTERS: &[Builtin] = &[\n{adapters}];\n\nconst ANALYZER: Builtin = {analyzer};\n"))
}
