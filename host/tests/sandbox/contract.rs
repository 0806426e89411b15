//! A released contract is frozen: `wit/versions.toml` has the hashes of its files.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Version {
    released: bool,
    /// File name to SHA-256, for a released version.
    #[serde(default)]
    files: BTreeMap<String, String>,
}

#[test]
fn released_versions_do_not_change() -> Result<(), Box<dyn std::error::Error>> {
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    let mut versions: BTreeMap<String, Version> = toml::from_str(&fs::read_to_string(wit.join("versions.toml"))?)?;
    for entry in fs::read_dir(&wit)? {
        let folder = entry?.path();
        if !folder.is_dir() {
            continue;
        }
        let name = folder.file_name().and_then(|name| name.to_str()).ok_or("an odd name")?;
        let version = versions.remove(name).ok_or(format!("wit/versions.toml does not know {name}"))?;
        let mut files = BTreeMap::new();
        for file in fs::read_dir(&folder)? {
            let file = file?;
            let hash: String =
                Sha256::digest(fs::read(file.path())?).iter().map(|byte| format!("{byte:02x}")).collect();
            files.insert(file.file_name().into_string().map_err(|_| "an odd name")?, hash);
        }
        if version.released {
            assert_eq!(files, version.files, "{name} is released, so it must not change: see wit/README.md");
        } else {
            assert!(version.files.is_empty(), "hashes are recorded at the release of {name}");
        }
    }
    assert!(versions.is_empty(), "wit/versions.toml names folders that do not exist");
    Ok(())
}
