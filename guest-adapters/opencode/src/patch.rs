//! The patches that `apply_patch` (and `patch`, up to 0.x) takes.
//!
//! ```text
//! *** Begin Patch
//! *** Update File: src/a.rs
//! *** Move to: src/b.rs
//! @@ fn main() {
//!  context
//! -removed
//! +added
//! *** Add File: c.txt
//! +all of it
//! *** Delete File: d.txt
//! *** End Patch
//! ```

use totalrecall_sdk::types::Edit;

/// Before the path of a file.
const FILES: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];

/// Files a patch is about, in order, at most so many.
pub(crate) fn paths(patch: &str, most: usize) -> Vec<String> {
    let mut paths = Vec::new();
    for line in patch.lines() {
        if let Some(path) = file(line).or_else(|| line.strip_prefix("*** Move to: "))
            && paths.len() < most
        {
            paths.push(path.trim().to_owned());
        }
    }
    paths
}

/// What a patch replaces: one edit per run of changed lines, without the context around it; at most so many.
pub(crate) fn edits(patch: &str, most: usize) -> Vec<Edit> {
    let (mut edits, mut path): (Vec<Edit>, &str) = (Vec::new(), "");
    let mut open = false;
    for line in patch.lines() {
        if let Some(file) = file(line) {
            (path, open) = (file.trim(), false);
            continue;
        }
        let (removed, text) = match line.split_at_checked(1) {
            Some(("-", text)) => (true, text),
            Some(("+", text)) => (false, text),
            _ => {
                open = false;
                continue;
            }
        };
        if !open {
            if edits.len() == most {
                break;
            }
            edits.push(Edit { path: path.to_owned(), removed: String::new(), added: String::new() });
            open = true;
        }
        if let Some(edit) = edits.last_mut() {
            let side = if removed { &mut edit.removed } else { &mut edit.added };
            if !side.is_empty() {
                side.push('\n');
            }
            side.push_str(text);
        }
    }
    edits
}

fn file(line: &str) -> Option<&str> {
    FILES.iter().find_map(|start| line.strip_prefix(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_are_edits() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@ fn x\n a\n-b\n-c\n+d\n e\n+f\n\
                     *** Add File: c.txt\n+all\n+of it\n*** Delete File: d.txt\n*** End Patch";
        assert_eq!(paths(patch, 9), ["a.rs", "b.rs", "c.txt", "d.txt"]);
        let edits: Vec<_> =
            edits(patch, 9).into_iter().map(|edit| format!("{}|{}|{}", edit.path, edit.removed, edit.added)).collect();
        assert_eq!(edits, ["a.rs|b\nc|d", "a.rs||f", "c.txt||all\nof it"]);
        assert_eq!(super::edits(patch, 1).len(), 1);
    }
}
