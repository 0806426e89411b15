//! The rules file of the Python TotalRecall: a block a rule, each with the pattern's id in a comment before it and where it
//! came from in a line after it. People edit it, so the text that is there is the rule in force.

use std::path::PathBuf;

use super::{folder, report::Matter, settings};

/// The file, as far as it is there.
#[derive(Default)]
pub(super) struct File {
    /// Where the settings say that it is. None: in no place that can be told.
    pub(super) path: Option<PathBuf>,
    pub(super) is_there: bool,
    /// Milliseconds since the Unix epoch.
    pub(super) written_at: Option<i64>,
    pub(super) blocks: Vec<Block>,
    /// Whether CLAUDE.md imports it, by a line of its own. None: there is no CLAUDE.md to be read.
    pub(super) is_imported: Option<bool>,
}

/// A rule in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Id of the pattern.
    pub(super) pattern: String,
    pub(super) text: String,
}

impl File {
    pub(super) fn read(settings: &settings::Old, skipped: &mut Vec<Matter>) -> Self {
        let Some(path) = settings.rules_file() else {
            skipped.push(Matter {
                what: format!("the rules file {}", settings.rules_file),
                why: "where it is cannot be told: the path is neither whole nor begins with ~/".to_owned(),
            });
            return Self::default();
        };
        let mut file = Self { path: Some(path.clone()), ..Self::default() };
        match folder::named(&path) {
            Ok(Some((text, metadata))) => {
                let since = metadata.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
                file.written_at = since.and_then(|since| i64::try_from(since.as_millis()).ok());
                file.is_there = true;
                file.blocks = blocks(&text);
            }
            Ok(None) => {}
            Err(why) => skipped.push(Matter { what: path.display().to_string(), why }),
        }
        let name = path.file_name().map(|name| format!("@{}", name.to_string_lossy()));
        file.is_imported = settings
            .claude_md()
            .and_then(|path| folder::named(&path).ok()?)
            .zip(name)
            .map(|((text, _), name)| text.lines().any(|line| line.trim() == name));
        file
    }

    pub(super) fn block(&self, pattern: &str) -> Option<&Block> {
        self.blocks.iter().find(|block| block.pattern == pattern)
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    // Whether the lines that follow are still the rule's.
    let mut is_open = false;
    for line in text.lines() {
        if let Some(pattern) = marker(line) {
            blocks.push(Block { pattern: pattern.to_owned(), text: String::new() });
            is_open = true;
        } else if line.trim_start().starts_with("_(TotalRecall:") {
            is_open = false;
        } else if is_open && let Some(block) = blocks.last_mut() {
            let line = if block.text.is_empty() { line.trim_start().strip_prefix("- ").unwrap_or(line) } else { line };
            block.text.push_str(line.trim_end());
            block.text.push('\n');
        }
    }
    for block in &mut blocks {
        block.text = block.text.trim().to_owned();
    }
    blocks.retain(|block| !block.text.is_empty());
    blocks
}

fn marker(line: &str) -> Option<&str> {
    line.trim().strip_prefix("<!-- pattern:")?.strip_suffix("-->").map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_where_they_came_from_is_told() {
        let text = "<!-- Managed -->\n\nmine\n<!-- pattern: a -->\n- Rule one.\n  _(TotalRecall: 反复 5 次 · 最近 2026)_\n\n\
                    also mine\n<!-- pattern: b -->\n- Two\nlines.\n\n<!-- pattern: c -->\n- Last\r\n<!-- pattern: d -->\n";
        let block = |pattern: &str, text: &str| Block { pattern: pattern.to_owned(), text: text.to_owned() };
        assert_eq!(blocks(text), [block("a", "Rule one."), block("b", "Two\nlines."), block("c", "Last")]);
    }
}
