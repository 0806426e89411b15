//! Builds components by themselves: for packagers (`TOTALRECALL_COMPONENTS_DIR`), for tests, and for looking into them.

#[path = "../../host/build/components.rs"]
mod build;

use std::path::Path;

use anyhow::Context as _;

/// `components [FOLDER [PACKAGE …]]`
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let guests = build::guests_dir(&std::env::current_exe()?).map_err(anyhow::Error::msg)?;
    let folder = arguments.first().map_or_else(|| guests.with_file_name("components"), |folder| folder.into());
    let named: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    // All that TotalRecall comes with, unless packages are named.
    let all = || build::ADAPTERS.iter().chain([&build::ANALYZER]).copied().collect();
    let packages: Vec<&str> = if named.is_empty() { all() } else { named };
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    for component in build::build(root, &guests, &packages).map_err(anyhow::Error::msg)? {
        let file = folder.join(&component.name).with_extension("wasm");
        std::fs::write(&file, &component.bytes).with_context(|| file.display().to_string())?;
        crate::say(&format!("{} {} bytes", file.display(), component.bytes.len()));
    }
    Ok(())
}
