//! The edits that the model proposes in its text: search/replace blocks, unified diffs, whole files.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::text::cap;
use totalrecall_sdk::types::Edit;

/// Longest side of an edit that is kept: enough to recognise it and to see it put back.
const EDIT: usize = 4096;

/// Most edits of one text.
const MOST: usize = 64;

/// An edit that was not applied yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Proposed {
    pub(crate) path: String,
    removed: String,
    added: String,
}

impl Proposed {
    fn new(path: &str, removed: &[&str], added: &[&str]) -> Self {
        let side = |lines: &[&str]| cap(&lines.join("\n"), EDIT).0.into_owned();
        Self { path: path.to_owned(), removed: side(removed), added: side(added) }
    }

    pub(crate) fn edit(self) -> Edit {
        Edit { path: self.path, removed: self.removed, added: self.added }
    }
}

/// The marks that Aider has models fence code with: it takes one that the files do not hold.
const TAGS: [&str; 5] = ["source", "code", "pre", "codeblock", "sourcecode"];

/// Follows the code fences of a text from line to line: `open` is the mark that closes the one it is in.
pub(crate) fn fence(line: &str, open: &mut Option<String>) {
    let line = line.trim();
    if let Some(close) = open {
        if line == close.as_str() {
            *open = None;
        }
        return;
    }
    let ticks = line.bytes().take_while(|byte| *byte == b'`').count();
    if ticks >= 3 && !line[ticks..].contains('`') {
        *open = Some("`".repeat(ticks));
    } else if let Some(tag) = TAGS.iter().find(|tag| line.strip_prefix('<').is_some_and(|rest| is_tag(rest, tag))) {
        *open = Some(format!("</{tag}>"));
    }
}

/// `source>` or, as Aider writes it, `source>python`.
fn is_tag(rest: &str, tag: &str) -> bool {
    rest.strip_prefix(tag).and_then(|rest| rest.strip_prefix('>')).is_some_and(|rest| !rest.contains('<'))
}

/// The edits proposed in a text, in order.
pub(crate) fn proposed(text: &str) -> Vec<Proposed> {
    let mut found = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    let (mut open, mut name, mut at) = (None, String::new(), 0);
    // The last line that is not blank: a file's name stands before its fence, or before the block in it.
    let mut before = "";
    while at < lines.len() && found.len() < MOST {
        let line = lines[at];
        if let Some((removed, added, next)) = search_replace(&lines, at) {
            if let Some(path) = path(before) {
                name = path;
            }
            if !name.is_empty() {
                found.push(Proposed::new(&name, removed, added));
            }
            (before, at) = ("", next);
            continue;
        }
        let was_open = open.is_some();
        fence(line, &mut open);
        if let Some(close) = open.as_deref().filter(|_| !was_open) {
            let end = lines[at + 1..].iter().position(|line| line.trim() == close);
            let body = &lines[at + 1..end.map_or(lines.len(), |end| at + 1 + end)];
            let language = line.trim().trim_start_matches('`');
            if language == "diff" {
                found.extend(unified(body));
            } else if let Some(path) = path(before) {
                // A fence that is not closed was cut off.
                let whole = end.is_some() && !body.iter().any(|line| is_mark(line, '<', "SEARCH"));
                name.clone_from(&path);
                if whole {
                    found.push(Proposed::new(&path, &[], body));
                }
            }
        }
        if !line.trim().is_empty() && (open.is_none() || was_open) && !line.trim().starts_with("```") {
            before = line;
        }
        at += 1;
    }
    found
}

/// The sides of the search/replace block that begins at a line, and the line after it.
fn search_replace<'l>(lines: &'l [&'l str], at: usize) -> Option<(&'l [&'l str], &'l [&'l str], usize)> {
    if !is_mark(lines[at], '<', "SEARCH") {
        return None;
    }
    let from = at + 1;
    let middle = from + lines[from..].iter().position(|line| is_mark(line, '=', ""))?;
    let end = middle + lines[middle..].iter().position(|line| is_mark(line, '>', "REPLACE"))?;
    Some((&lines[from..middle], &lines[middle + 1..end], end + 1))
}

/// `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`, with five to nine signs.
fn is_mark(line: &str, sign: char, word: &str) -> bool {
    let line = line.trim_end();
    let signs = line.chars().take_while(|char| *char == sign).count();
    (5..=9).contains(&signs) && line[signs..].trim_end_matches('>').trim() == word
}

/// The hunks of a unified diff.
fn unified(lines: &[&str]) -> Vec<Proposed> {
    let mut found = Vec::new();
    let (mut path, mut removed, mut added) = (String::new(), Vec::new(), Vec::new());
    let mut close = |path: &str, removed: &mut Vec<&str>, added: &mut Vec<&str>| {
        let empty = path.is_empty() || (removed.is_empty() && added.is_empty());
        if !empty && found.len() < MOST {
            found.push(Proposed::new(path, removed, added));
        }
        removed.clear();
        added.clear();
    };
    for (at, line) in lines.iter().enumerate() {
        let next_names = lines.get(at + 1).is_some_and(|next| next.starts_with("+++ "));
        if line.starts_with("--- ") && next_names {
            close(&path, &mut removed, &mut added);
        } else if let Some(name) = line.strip_prefix("+++ ").filter(|_| at > 0 && lines[at - 1].starts_with("--- ")) {
            path = name.trim().trim_start_matches("b/").to_owned();
        } else if line.starts_with("@@") {
            close(&path, &mut removed, &mut added);
        } else if let Some(line) = line.strip_prefix('-') {
            removed.push(line);
        } else if let Some(line) = line.strip_prefix('+') {
            added.push(line);
        }
    }
    close(&path, &mut removed, &mut added);
    found
}

/// The file that a line names, rid of what models put around it.
fn path(line: &str) -> Option<String> {
    let name = line.trim().trim_end_matches(':').trim_start_matches('#').trim();
    let name = name.trim_matches('`').trim_matches('*').trim_matches('`').trim();
    let plain = !name.is_empty() && name.len() < 512 && !name.contains(char::is_whitespace);
    let file = name.contains(['.', '/']) || ["Makefile", "Dockerfile", "LICENSE"].contains(&name);
    (plain && file && !name.ends_with('.') && !name.starts_with(['<', '>', '='])).then(|| name.to_owned())
}

/// Takes out the proposed edits of a file, which may be named by its last parts only.
pub(crate) fn take(proposed: &mut Vec<Proposed>, path: &str) -> Vec<Edit> {
    let same = |other: &str| other == path || is_end(path, other) || is_end(other, path);
    proposed.extract_if(.., |one| same(&one.path)).map(Proposed::edit).collect()
}

fn is_end(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.ends_with(['/', '\\']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(String, String, String)> {
        proposed(text).into_iter().map(|it| (it.path, it.removed, it.added)).collect()
    }

    fn one(path: &str, removed: &str, added: &str) -> (String, String, String) {
        (path.into(), removed.into(), added.into())
    }

    #[test]
    fn search_and_replace() {
        let text = "I will.\n\n`src/a.py`:\n```python\n<<<<<<< SEARCH\nold\n\nold 2\n=======\nnew\n>>>>>>> REPLACE\n```\n\nAnd\n\n\
                    src/new.py\n<source>python\n<<<<<<< SEARCH\n=======\nx = 1\n>>>>>>> REPLACE\n</source>\n";
        assert_eq!(told(text), [one("src/a.py", "old\n\nold 2", "new"), one("src/new.py", "", "x = 1")]);
        // Two blocks in one fence, the name within it.
        let text = "```\na.py\n<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\n3\n=======\n>>>>>>> REPLACE\n```";
        assert_eq!(told(text), [one("a.py", "1", "2"), one("a.py", "3", "")]);
    }

    #[test]
    fn whole_files_and_diffs() {
        let text = "Here.\n\nmywc.py\n```\nimport sys\n\nprint(1)\n```\n\nRun it:\n```bash\npython mywc.py\n```\ncut.py\n```\nx";
        assert_eq!(told(text), [one("mywc.py", "", "import sys\n\nprint(1)")]);
        let text = "```diff\n--- a.py\n+++ a.py\n@@ ... @@\n-1\n+2\n same\n@@ ... @@\n+3\n```";
        assert_eq!(told(text), [one("a.py", "1", "2"), one("a.py", "", "3")]);
    }

    #[test]
    fn torn_blocks_propose_nothing() {
        assert_eq!(told("a.py\n```\n<<<<<<< SEARCH\n1\n=======\n2\n```"), []);
        assert_eq!(told("<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE"), []);
        assert_eq!(told(""), []);
    }

    #[test]
    fn files_by_their_last_parts() {
        let mut all = proposed("a.py\n```\n1\n```\nlib/b.py\n```\n2\n```");
        assert_eq!(take(&mut all, "src/a.py").len(), 1);
        assert_eq!((take(&mut all, "xb.py").len(), take(&mut all, "lib/b.py").len(), all.len()), (0, 1, 0));
    }
}
