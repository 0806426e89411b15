//! A plugin file for OpenCode (seen with 1.18.33), which has no hooks: `opencode/plugin/totalrecall.js` in its configuration.
//!
//! The first line says which version it is of, and the hash of the rest: by that it is known as ours, and as unchanged, wherever
//! it comes from.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{Caller, Plan, What, Wired, WiringError};
use crate::{paths, proposal::Edits};

const TOOL: &str = "opencode";

const PLUGIN: &str = include_str!("opencode-plugin.js");

/// What the first line begins with.
const MARK: &str = "// totalrecall-plugin ";

/// What a file of this name is.
#[derive(Debug, PartialEq, Eq)]
enum Is {
    /// As some version of ours wrote it.
    Ours,
    /// Ours, changed since.
    Changed,
    /// Somebody else's.
    Foreign,
}

fn folder() -> Option<PathBuf> {
    Some(paths::expand("${XDG_CONFIG_HOME:-~/.config}")?.join("opencode"))
}

/// The file. None where there is no home directory.
pub(super) fn place() -> Option<PathBuf> {
    Some(folder()?.join("plugin").join("totalrecall.js"))
}

/// Whether OpenCode was ever started here.
pub(super) fn is_found() -> bool {
    let data = paths::expand("${XDG_DATA_HOME:-~/.local/share}").map(|data| data.join("opencode"));
    [folder(), data].into_iter().flatten().any(|folder| folder.is_dir())
}

/// Works out what adds the plugin.
pub(super) fn add(caller: &Caller, path: &Path, known: Option<Wired>) -> Result<Plan, WiringError> {
    let mut plan = plan(path);
    let edit = plan.edits.file(path)?;
    let is_new = edit.before.is_none();
    match edit.before.as_deref().map(is) {
        Some(Is::Foreign) => return Err(WiringError::Taken(path.to_path_buf())),
        Some(Is::Changed) => return Err(WiringError::Edited(path.to_path_buf())),
        Some(Is::Ours) | None => {}
    }
    edit.after = Some(content(caller).into_bytes());
    let has_plugins = folder().is_some_and(|folder| folder.join("node_modules/@opencode-ai/plugin").is_dir());
    if !has_plugins {
        plan.notes.push(
            "OpenCode fetches a package of its own (`@opencode-ai/plugin`) from npm when it first sees a plugin, and does not \
             start without a network until it has it"
                .to_owned(),
        );
    }
    plan.after = Some(Wired::new(TOOL, path, is_new, known, What::Whole));
    Ok(plan)
}

/// Works out what takes the plugin away.
pub(super) fn remove(path: &Path) -> Result<Plan, WiringError> {
    let mut plan = plan(path);
    let edit = plan.edits.file(path)?;
    match edit.before.as_deref().map(is) {
        Some(Is::Ours) => edit.after = None,
        Some(Is::Changed) => return Err(WiringError::Edited(path.to_path_buf())),
        Some(Is::Foreign) | None => {}
    }
    Ok(plan)
}

fn plan(path: &Path) -> Plan {
    let (tool, path) = (TOOL.to_owned(), path.to_path_buf());
    Plan { tool, path, edits: Edits::default(), notes: Vec::new(), after: None }
}

/// The file for a program. JSON's texts are JavaScript's.
fn content(caller: &Caller) -> String {
    let program = serde_json::Value::from(caller.program.to_string_lossy());
    let more: Vec<_> = caller.more().iter().map(|word| serde_json::Value::from(word.as_str()).to_string()).collect();
    let code = PLUGIN.replace("\"@PROGRAM@\"", &program.to_string()).replace("\"@MORE@\"", &more.join(", "));
    let version = env!("CARGO_PKG_VERSION");
    format!("{MARK}{version} {}\n{code}", hash(code.as_bytes()))
}

fn is(file: &[u8]) -> Is {
    let text = String::from_utf8_lossy(file);
    let Some(rest) = text.strip_prefix(MARK) else { return Is::Foreign };
    let known = rest.split_once('\n').and_then(|(line, code)| Some((line.trim_end().rsplit_once(' ')?.1, code)));
    match known {
        Some((said, code)) if said == hash(code.as_bytes()) => Is::Ours,
        _ => Is::Changed,
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_knows_itself() {
        let caller = Caller { program: "/a \"b\"/totalrecall".into(), home: Some("/it's \\ here".into()) };
        let text = content(&caller);
        assert!(text.contains(r#"const PROGRAM = "/a \"b\"/totalrecall""#), "{text}");
        assert!(text.contains(r#"const MORE = ["--home", "/it's \\ here"]"#), "{text}");
        assert!(content(&Caller { home: None, ..caller }).contains("const MORE = []\n"));
        assert_eq!(is(text.as_bytes()), Is::Ours);
        assert_eq!(is(text.replace("detached: true", "detached: false").as_bytes()), Is::Changed);
        assert_eq!(is(b"// totalrecall-plugin"), Is::Foreign);
        assert_eq!(is(b"// totalrecall-plugin \n"), Is::Changed);
        assert_eq!(is(b"export const Other = async () => ({})\n"), Is::Foreign);
    }
}
