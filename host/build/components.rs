//! Builds guest crates into components. Shared by `host/build.rs`, `cargo xtask component(s)` and the sandbox's tests.

mod toolchain;

use std::path::{Path, PathBuf};

use toolchain::{TARGET, Toolchain};
use wit_component::ComponentEncoder;

/// A component, encoded and validated.
pub(crate) struct Component {
    /// The crate without its prefix, which is also the file name: `claude-code`.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The crates whose components are embedded: adapters first, then the analyzer.
pub(crate) const ADAPTERS: &[&str] = &[
    "totalrecall-claude-code",
    "totalrecall-codex",
    "totalrecall-gemini-cli",
    "totalrecall-opencode",
    "totalrecall-aider",
    "totalrecall-cursor",
];
pub(crate) const ANALYZER: &str = "totalrecall-analyzer";
/// Prefix of our crates' names.
pub(crate) const PREFIX: &str = "totalrecall-";
/// Cargo profile of our guests, in the root `Cargo.toml`.
pub(crate) const PROFILE: &str = "guest";

/// The target folder of guests, shared by all profiles of the host: `target/guests`. `inside` is anything that cargo made
/// in the host's target folder.
pub(crate) fn guests_dir(inside: &Path) -> Result<PathBuf, String> {
    // Cargo keeps its lock in a profile's folder, which lies in the target folder.
    let profile = inside.ancestors().find(|folder| folder.join(".cargo-lock").is_file());
    let target =
        profile.and_then(Path::parent).ok_or_else(|| format!("{} is in no target folder", inside.display()))?;
    Ok(target.join("guests"))
}

/// Builds `packages` of the workspace at `root` under a cargo profile in `target_dir`, which keeps `std` and dependencies
/// between builds and is not the target folder of the running build: cargo holds a lock on that one.
///
/// # Errors
/// One line that says what to do. What the compiler had to say went to stderr.
pub(crate) fn build(
    root: &Path,
    target_dir: &Path,
    profile: &str,
    packages: &[&str],
) -> Result<Vec<Component>, String> {
    let home = |variable: &str, fallback: &str| {
        std::env::var_os(variable)
            .map(PathBuf::from)
            .or_else(|| std::env::home_dir().map(|home| home.join(fallback)))
            .unwrap_or_else(|| root.to_owned())
    };
    let remap = [(root.to_owned(), "."), (home("CARGO_HOME", ".cargo").join("registry/src"), "registry")];
    let mut cargo = Toolchain::find()?.cargo_build(&remap);
    cargo.current_dir(root).args(["--profile", profile]).arg("--target-dir").arg(target_dir);
    if root.join("Cargo.lock").is_file() {
        cargo.arg("--locked");
    }
    for package in packages {
        cargo.args(["--package", package]);
    }
    let status =
        cargo.status().map_err(|error| format!("{} does not start: {error}", cargo.get_program().display()))?;
    if !status.success() {
        return Err("the components do not build: what the compiler says is above".to_owned());
    }
    packages
        .iter()
        .map(|package| {
            let module = target_dir.join(TARGET).join(profile).join(package.replace('-', "_")).with_extension("wasm");
            let bytes = std::fs::read(&module).map_err(|error| format!("{}: {error}", module.display()))?;
            let name = package.strip_prefix(PREFIX).unwrap_or(package).to_owned();
            Ok(Component { bytes: encode(&name, &bytes)?, name })
        })
        .collect()
}

/// Wraps a core module, whose custom section describes its world, into a component. Without an adapter there is nothing
/// that would satisfy an import from outside of that world, so such a module is refused here.
fn encode(name: &str, module: &[u8]) -> Result<Vec<u8>, String> {
    ComponentEncoder::default()
        .module(module)
        .and_then(|encoder| encoder.validate(true).encode())
        .map_err(|error| format!("{name} cannot be wrapped into a component: {error:#}"))
}
