//! Where rules are written to: what each tool reads in every session, of the person's and of a project.
//!
//! | tool | the person's | a project's |
//! | --- | --- | --- |
//! | Claude Code | `totalrecall-rules.md` beside `CLAUDE.md` in `$CLAUDE_CONFIG_DIR` or `~/.claude`, imported there | `.claude/totalrecall-rules.md`, imported in `CLAUDE.md` |
//! | Codex | a block in `AGENTS.md` in `$CODEX_HOME` or `~/.codex` | a block in `AGENTS.md` |
//! | OpenCode | a block in `opencode/AGENTS.md` in `$XDG_CONFIG_HOME` or `~/.config` | a block in `AGENTS.md` |

use std::path::{Path, PathBuf};

use super::{Place, import};
use crate::paths;

/// The file that is ours alone.
pub(super) const RULES_FILE: &str = "totalrecall-rules.md";

/// Tools that rules can be written for, as their adapters name them.
pub const TOOLS: [&str; 3] = ["claude-code", "codex", "opencode"];

/// Where a rule of a tool goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// What is remembered of it.
    pub place: Place,
    /// The file that must bring ours in, and the path it does it with.
    pub import: Option<(PathBuf, &'static str)>,
}

/// The target of a tool, for the person (`project`: none) or a project. None for a tool that has no such file, or where
/// there is no home directory.
pub(super) fn target(tool: &str, project: Option<&Path>) -> Option<Target> {
    let place = |file: PathBuf| Place {
        tool: tool.to_owned(),
        file: file.to_string_lossy().into_owned(),
        project: project.map(|project| project.to_string_lossy().into_owned()),
    };
    let block = |file: PathBuf| Some(Target { place: place(file), import: None });
    match (tool, project) {
        ("claude-code", None) => {
            let folder = claude_folder()?;
            Some(Target { place: place(folder.join(RULES_FILE)), import: Some((folder.join("CLAUDE.md"), RULES_FILE)) })
        }
        ("claude-code", Some(project)) => {
            let ours = place(project.join(".claude").join(RULES_FILE));
            let at = |file: PathBuf, line| Some(Target { place: ours, import: Some((file, line)) });
            let (whole, inner, shared) =
                (project.join("CLAUDE.md"), project.join(".claude/CLAUDE.md"), project.join("AGENTS.md"));
            if is_there(&whole) {
                // What it brings in, or is another name of, Claude Code reads already.
                if is_there(&shared) && reads(&whole, &shared) {
                    block(shared)
                } else {
                    at(whole, ".claude/totalrecall-rules.md")
                }
            } else if is_there(&inner) {
                at(inner, RULES_FILE)
            } else if is_there(&shared) && !is_there(&project.join("CLAUDE.local.md")) {
                // Claude Code reads AGENTS.md (since 2.1.277) until there is a CLAUDE.md. Making one would take it away.
                block(shared)
            } else {
                at(whole, ".claude/totalrecall-rules.md")
            }
        }
        ("codex", None) => block(paths::expand("${CODEX_HOME:-~/.codex}")?.join("AGENTS.md")),
        ("opencode", None) => block(paths::expand("${XDG_CONFIG_HOME:-~/.config}")?.join("opencode/AGENTS.md")),
        ("codex" | "opencode", Some(project)) => block(project.join("AGENTS.md")),
        _ => None,
    }
}

/// Claude Code's folder of the person's.
pub fn claude_folder() -> Option<PathBuf> {
    paths::expand("${CLAUDE_CONFIG_DIR:-~/.claude}")
}

/// Lines of the person's own instructions that a draft is compared with, and most bytes of a file.
const LINES: usize = 40;
const BYTES: usize = 64 << 10;

/// The person's rules of ours, and the beginning of what they wrote themselves, as far as both can be read.
pub fn existing() -> Vec<String> {
    let Some(folder) = claude_folder() else { return Vec::new() };
    let read = |name: &str| {
        let content = std::fs::read(folder.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&content[..content.len().min(BYTES)]).into_owned()
    };
    let own = read("CLAUDE.md").lines().take(LINES).collect::<Vec<_>>().join("\n");
    vec![read(RULES_FILE), own]
}

/// Where a path-scoped rule of Claude Code goes: `.claude/rules`, of which all files are read (seen with 2.1.332).
pub(super) fn path_rule(project: &Path, id: &str) -> Place {
    Place {
        tool: "claude-code".to_owned(),
        file: project.join(".claude/rules").join(format!("totalrecall-{id}.md")).to_string_lossy().into_owned(),
        project: Some(project.to_string_lossy().into_owned()),
    }
}

/// The project that a folder belongs to: the nearest one around it that is a repository or has instructions, else itself.
pub fn project_of(folder: &Path) -> PathBuf {
    let home = paths::user_home();
    folder
        .ancestors()
        .take_while(|folder| Some(*folder) != home.as_deref())
        .find(|folder| [".git", "CLAUDE.md", "AGENTS.md", ".claude"].iter().any(|name| is_there(&folder.join(name))))
        .unwrap_or(folder)
        .to_path_buf()
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Whether `file` is `other`, or brings it in.
fn reads(file: &Path, other: &Path) -> bool {
    let same = matches!((file.canonicalize(), other.canonicalize()), (Ok(file), Ok(other)) if file == other)
        || same_inode(file, other);
    same || std::fs::read(file).is_ok_and(|text| import::is_there(&text, "AGENTS.md"))
}

#[cfg(unix)]
fn same_inode(file: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    matches!((file.metadata(), other.metadata()), (Ok(a), Ok(b)) if (a.dev(), a.ino()) == (b.dev(), b.ino()))
}

#[cfg(not(unix))]
fn same_inode(_: &Path, _: &Path) -> bool {
    false
}
