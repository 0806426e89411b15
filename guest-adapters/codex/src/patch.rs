//! Patches, as the model writes them and as the client tells what they did.
//!
//! The model's are `*** Begin Patch`, then for each file `*** Add File: p`, `*** Update File: p` (and perhaps
//! `*** Move to: q`) or `*** Delete File: p`, and `*** End Patch`. An update has hunks that begin with `@@`; in them lines
//! begin with a space, `-` or `+`. The client tells updates as unified diffs, whose hunks read alike.

use serde_json::value::RawValue;
use totalrecall_sdk::json::{Entries, Text, object};
use totalrecall_sdk::text::cap;
use totalrecall_sdk::types::{Edit, ToolKind};

/// Longest side of an edit that is kept: enough to recognise it and to see it put back.
const SIDE: usize = 4096;

/// Most edits of one call.
const MOST: usize = 256;

/// How a patch begins.
pub(crate) const BEGIN: &str = "*** Begin Patch";

/// What a patch does.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Patch {
    pub(crate) paths: Vec<String>,
    pub(crate) edits: Vec<Edit>,
    added: usize,
    deleted: usize,
}

impl Patch {
    /// Reads a patch; `text` may hold more before and after it.
    pub(crate) fn read(text: &str) -> Self {
        let mut patch = Self::default();
        let mut hunk = Hunk::default();
        let body = text.split_once(BEGIN).map_or(text, |(_, body)| body);
        for line in body.lines() {
            let Some(mark) = line.strip_prefix("*** ") else {
                hunk.line(line, &mut patch);
                continue;
            };
            let mark = mark.trim_end();
            if mark == "End of File" {
                continue;
            }
            hunk.end(&mut patch);
            if let Some(path) = mark.strip_prefix("Move to: ") {
                patch.path(path);
                continue;
            }
            hunk = Hunk::default();
            if mark == "End Patch" {
                break;
            }
            if let Some(path) = mark.strip_prefix("Add File: ") {
                patch.added += 1;
                hunk.open(path, &mut patch);
            } else if let Some(path) = mark.strip_prefix("Update File: ") {
                hunk.open(path, &mut patch);
            } else if let Some(path) = mark.strip_prefix("Delete File: ") {
                patch.delete(path);
            }
        }
        hunk.end(&mut patch);
        patch
    }

    /// Reads the `changes` of the client: for each path what was done to it.
    pub(crate) fn of_changes(changes: &Entries<'_>) -> Self {
        let mut patch = Self::default();
        for (path, change) in &changes.0 {
            let change: Change<'_> = decode(change);
            match change.kind.as_str() {
                "add" => {
                    patch.added += 1;
                    patch.path(path);
                    patch.edit(path, "", change.content.as_str());
                }
                "delete" => patch.delete(path),
                _ => {
                    let mut hunk = Hunk::default();
                    hunk.open(path, &mut patch);
                    change.diff.as_str().lines().for_each(|line| hunk.line(line, &mut patch));
                    hunk.end(&mut patch);
                    if let Some(moved) = change.moved.get() {
                        patch.path(moved);
                    }
                }
            }
        }
        patch
    }

    /// Writes new files only, deletes only, or anything else.
    pub(crate) fn kind(&self) -> ToolKind {
        match self.paths.len() {
            0 => ToolKind::Edit,
            all if all == self.added => ToolKind::Create,
            all if all == self.deleted => ToolKind::Delete,
            _ => ToolKind::Edit,
        }
    }

    fn path(&mut self, path: &str) {
        let path = path.trim();
        if self.paths.len() < MOST && !self.paths.iter().any(|known| known == path) {
            self.paths.push(path.to_owned());
        }
    }

    fn delete(&mut self, path: &str) {
        self.deleted += 1;
        self.path(path);
        self.edit(path.trim(), "", "");
    }

    fn edit(&mut self, path: &str, removed: &str, added: &str) {
        if self.edits.len() < MOST {
            let side = |text| cap(text, SIDE).0.into_owned();
            self.edits.push(Edit { path: path.to_owned(), removed: side(removed), added: side(added) });
        }
    }
}

object! {
    /// What was done to a file.
    struct Change<'a> {
        "type" => kind: Text<'a>,
        "content" => content: Text<'a>,
        "unified_diff" => diff: Text<'a>,
        "move_path" => moved: Text<'a>,
    }
}

fn decode<'a, T: Default + serde::Deserialize<'a>>(raw: &'a RawValue) -> T {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// Lines of one hunk; those that stay are on both sides, as the model has to quote them.
#[derive(Default)]
struct Hunk {
    path: Option<String>,
    removed: String,
    added: String,
    changes: bool,
}

impl Hunk {
    fn open(&mut self, path: &str, patch: &mut Patch) {
        patch.path(path);
        self.path = Some(path.trim().to_owned());
    }

    fn line(&mut self, line: &str, patch: &mut Patch) {
        if self.path.is_none() {
            return;
        }
        if line.starts_with("@@") {
            return self.end(patch);
        }
        let (keeps, adds, text) = match line.as_bytes().first() {
            Some(b'+') => (false, true, &line[1..]),
            Some(b'-') => (true, false, &line[1..]),
            Some(b' ') => (true, true, &line[1..]),
            // Trailing white space gets lost: an empty line that stays.
            None => (true, true, line),
            Some(_) => return,
        };
        self.changes |= keeps != adds;
        for (side, on) in [(&mut self.removed, keeps), (&mut self.added, adds)] {
            // Nothing past the limit is kept anyway; the two ends are, of somewhat more.
            if on && side.len() < 16 * SIDE {
                side.push_str(text);
                side.push('\n');
            }
        }
    }

    fn end(&mut self, patch: &mut Patch) {
        if let Some(path) = self.path.as_deref().filter(|_| self.changes) {
            patch.edit(path, &self.removed, &self.added);
        }
        self.removed.clear();
        self.added.clear();
        self.changes = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(patch: &Patch) -> Vec<(&str, &str, &str)> {
        patch.edits.iter().map(|edit| (edit.path.as_str(), edit.removed.as_str(), edit.added.as_str())).collect()
    }

    #[test]
    fn all_that_a_patch_can_do() {
        let patch = Patch::read(
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.md\n+# New\n+text\n*** Update File: a.rs\n\
             *** Move to: b.rs\n@@ fn x()\n one\n-two\n+2\n\n@@\n-three\n*** End of File\n*** Delete File: old.md\n\
             *** End Patch\nEOF\n+no more",
        );
        assert_eq!(patch.paths, ["new.md", "a.rs", "b.rs", "old.md"]);
        assert_eq!(
            edits(&patch),
            [
                ("new.md", "", "# New\ntext\n"),
                ("a.rs", "one\ntwo\n\n", "one\n2\n\n"),
                ("a.rs", "three\n", ""),
                ("old.md", "", ""),
            ]
        );
        assert_eq!(patch.kind(), ToolKind::Edit);
        let kind = |text| Patch::read(text).kind();
        assert_eq!(kind("*** Add File: a\n+x\n*** Add File: b\n+y"), ToolKind::Create);
        assert_eq!(kind("*** Delete File: a\n"), ToolKind::Delete);
        assert_eq!(kind("nothing"), ToolKind::Edit);
    }

    #[test]
    fn changes_of_the_client() {
        let changes = r#"{"/w/a":{"type":"add","content":"x\n"},"/w/b":{"type":"update","unified_diff":"@@ -1,2 +1,2 @@\n k\n-a\n+b\n","move_path":null},"/w/c":{"type":"delete","content":"y"}}"#;
        let patch = Patch::of_changes(&serde_json::from_str(changes).unwrap());
        assert_eq!(patch.paths, ["/w/a", "/w/b", "/w/c"]);
        assert_eq!(edits(&patch), [("/w/a", "", "x\n"), ("/w/b", "k\na\n", "k\nb\n"), ("/w/c", "", "")]);
    }
}
