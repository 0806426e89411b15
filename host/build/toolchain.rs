//! Which Rust toolchain builds components on this machine.
//!
//! An ordinary rustup user has the wasm target, because `rust-toolchain.toml` names it. Where that target cannot be had,
//! Debian's Rust does the work: it ships the sources of `std`, which cargo then builds for wasm once.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

/// What guests are compiled for: no operating system, so there is nothing a guest could import by accident.
pub(super) const TARGET: &str = "wasm32-unknown-unknown";

/// Guests search and copy text most of their time; both proposals are part of WebAssembly 2.0 and on in the host.
const TARGET_FEATURES: &str = "-Ctarget-feature=+simd128,+bulk-memory";

/// The system-wide Rust of Debian, whatever rustup puts in front of it.
const SYSTEM_CARGO: &str = "/usr/bin/cargo";
const SYSTEM_RUSTC: &str = "/usr/bin/rustc";
/// Where Debian keeps the sources of `std`, below the sysroot.
const SYSTEM_STD: &str = "lib/rustlib/src/rust/library/std/Cargo.toml";

/// A way to build for [`TARGET`].
pub(super) enum Toolchain {
    /// The toolchain of the running build has the target.
    Target { cargo: OsString, rustc: OsString },
    /// Debian's toolchain, which builds `std` from source and links with `linker`.
    FromSource { linker: PathBuf },
}

impl Toolchain {
    /// Looks for one. The error is one line that says what to run.
    pub(super) fn find() -> Result<Self, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let sysroot = sysroot(&rustc);
        if sysroot.as_ref().is_some_and(|root| root.join("lib/rustlib").join(TARGET).join("lib").is_dir()) {
            return Ok(Self::Target { cargo, rustc });
        }
        let system = sysroot_of_system();
        let linker = linker(sysroot.iter().chain(&system));
        match (system, linker) {
            (Some(root), Some(linker)) if root.join(SYSTEM_STD).is_file() && Path::new(SYSTEM_CARGO).is_file() => {
                Ok(Self::FromSource { linker })
            }
            _ => {
                Err(format!("the Rust target {TARGET} is missing: run `rustup target add {TARGET}` or `scripts/setup`"))
            }
        }
    }

    /// `cargo build` for [`TARGET`], free of the settings of the build this one runs in. `remap` pairs folders with the
    /// names that stand for them in a component, which thus has the same bytes (and hash) wherever it is built.
    pub(super) fn cargo_build(&self, remap: &[(PathBuf, &str)]) -> Command {
        let mut flags = vec![TARGET_FEATURES.to_owned()];
        flags.extend(remap.iter().map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display())));
        let mut command = match self {
            Self::Target { cargo, .. } => Command::new(cargo),
            Self::FromSource { .. } => Command::new(SYSTEM_CARGO),
        };
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(leaks)) {
            command.env_remove(name);
        }
        command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}")).args(["build", "--target", TARGET]);
        match self {
            Self::Target { rustc, .. } => command.env("RUSTC", rustc),
            Self::FromSource { linker } => command
                .env("RUSTC", SYSTEM_RUSTC)
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
                .arg("-Zbuild-std=std,panic_abort"),
        };
        command
    }
}

/// Variables that describe the outer build. What says how to reach a registry stays.
fn leaks(name: &str) -> bool {
    let kept = ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "CARGO_SOURCE_"];
    let outer = ["CARGO", "RUST", "CLIPPY_", "MIRI", "DEP_", "MAKEFLAGS", "MFLAGS"];
    outer.iter().any(|prefix| name.starts_with(prefix)) && !kept.iter().any(|prefix| name.starts_with(prefix)) && {
        // rustup's own settings choose the toolchain that `cargo` and `rustc` mean.
        !name.starts_with("RUSTUP_")
    }
}

fn sysroot(rustc: &OsString) -> Option<PathBuf> {
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    output.status.success().then(|| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

fn sysroot_of_system() -> Option<PathBuf> {
    Path::new(SYSTEM_RUSTC).is_file().then(|| sysroot(&SYSTEM_RUSTC.into())).flatten()
}

/// A linker for wasm: that of a rustup toolchain, or one of Debian's.
fn linker<'a>(sysroots: impl Iterator<Item = &'a PathBuf>) -> Option<PathBuf> {
    let in_toolchains = sysroots.flat_map(|root| {
        let hosts = std::fs::read_dir(root.join("lib/rustlib")).into_iter().flatten().flatten();
        hosts.map(|host| host.path().join("bin/rust-lld")).collect::<Vec<_>>()
    });
    let system = ["/usr/bin/rust-lld", "/usr/bin/wasm-ld"].map(PathBuf::from);
    in_toolchains.chain(system).find(|path| path.is_file())
}
