//! The guests of this folder as components, built the way our own are.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

use totalrecall::sandbox::Guest;

const PACKAGES: &[&str] = &[
    "totalrecall-hostile",
    "totalrecall-nosy",
    "totalrecall-greedy",
    "totalrecall-counter",
    "totalrecall-wrong",
    "totalrecall-careless",
];

/// The folder they are in. `xtask` builds them, because it has the tools for it: as dependencies of the tests these would
/// change features of wasmtime's own dependencies, so that tests and program could not share one build of it.
static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut xtask = Command::new(cargo);
    xtask.args(["run", "--quiet", "--package", "xtask", "--", "components"]).arg(&folder).args(PACKAGES);
    let built = xtask.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(built.status.success(), "the test guests do not build: {}", String::from_utf8_lossy(&built.stderr));
    folder
});

/// The guest of this name, which is that of its folder.
pub(crate) fn guest(name: &str) -> Guest {
    let bytes = std::fs::read(BUILT.join(name).with_extension("wasm")).expect("a test guest");
    Guest::new(name, bytes)
}
