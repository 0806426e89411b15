//! `revert`: work was undone: by git (`restore`, `checkout -- path`, `reset`, `stash`, `revert`, `clean`), or by an edit that
//! puts back what was there.
//!
//! **Why it matters.** Undone work was paid for twice.
//!
//! **Example.** `git checkout -- src/` or an edit whose new text is what an earlier edit of the same file took away, and whose
//! old text is what that one put there. The line is the call's.
//!
//! **False friends.** Switching branches (`git checkout main`, `git checkout -b x`), unstaging (`git restore --staged`,
//! `git reset HEAD file`), looking at or taking back a stash (`stash list`, `show`, `pop`, `apply`), a dry run of `clean`; and a
//! call that failed or was refused, which undid nothing.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::{Signal, SignalKind};

use super::{Detector, Place, Refine as _, kind};
use crate::moment::{Call, EditSketch, Moment};
use crate::shell::simple_commands;
use crate::text::{hash, one_line};

const NAME: &str = "revert";

/// Edits remembered. What was written longer ago is no longer undone but rewritten.
const EDITS: usize = 256;

/// Telling lines kept of each side of an edit.
const LINES: usize = 24;

/// Characters that both sides of an edit must have together, so that putting it back is no accident.
const WEIGHT: u32 = 4;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Revert {
    edits: Vec<Done>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Done {
    path: u64,
    removed: u64,
    added: u64,
    /// Hashes of telling lines, for an edit that is undone in part.
    removed_lines: Vec<u32>,
    added_lines: Vec<u32>,
    whole: bool,
    line: u64,
}

impl Detector for Revert {
    fn kind() -> SignalKind {
        kind(
            NAME,
            3,
            "Work was undone, by git or by an edit that puts back what was there.",
            "Ask for the plan before the change; keep steps small enough to be looked at.",
        )
    }

    fn observe(&mut self, moment: &Moment, found: &mut Vec<Signal>) {
        let Some(call) = moment.success() else { return };
        let place = Place { line: call.line, at: call.at, thread: moment.event.thread.clone() };
        let result = moment.event.line;
        if call.executes
            && !moment.event.copied
            && let Some(what) = undoing(&call.gist)
        {
            let detail = format!("undid work with `{}`", one_line(what.1, 120));
            found.push(place.signal(NAME, what.0.into(), detail).resting_on([result]));
            return;
        }
        if !call.edits_files {
            return;
        }
        let undone = self.undone(call);
        if let Some((path, line)) = undone.filter(|_| !moment.event.copied) {
            let path = moment.shown(&path);
            let detail = format!("put back what an edit had changed in {path}");
            found.push(place.signal(NAME, path, detail).resting_on([result, line]));
        }
        for edit in &call.edits {
            if self.edits.len() == EDITS {
                self.edits.remove(0);
            }
            self.edits.push(Done::new(edit, call.line));
        }
    }
}

impl Revert {
    /// The file and the earlier edit that a call undoes, if it undoes one.
    fn undone(&self, call: &Call) -> Option<(String, u64)> {
        call.edits.iter().find_map(|edit| {
            let now = Done::new(edit, call.line);
            let of_file = || self.edits.iter().rev().filter(|done| done.path == now.path);
            let earlier = if now.whole {
                // The whole file as it once was, with something else written in between.
                let last = of_file().next()?;
                of_file().skip(1).find(|done| done.whole && done.added == now.added && last.added != now.added)
            } else {
                of_file()
                    .find(|done| edit.weight >= WEIGHT && !done.whole && (now.swaps(done) || now.swaps_part_of(done)))
            };
            earlier.map(|done| (edit.path.clone(), done.line))
        })
    }
}

impl Done {
    /// Exactly the other way round.
    fn swaps(&self, done: &Self) -> bool {
        done.removed == self.added && done.added == self.removed && done.removed != done.added
    }

    /// Some of the lines are back, and those that had taken their place are gone.
    fn swaps_part_of(&self, done: &Self) -> bool {
        let within = |some: &[u32], all: &[u32]| !some.is_empty() && some.iter().all(|line| all.contains(line));
        within(&self.added_lines, &done.removed_lines) && within(&self.removed_lines, &done.added_lines)
    }

    fn new(edit: &EditSketch, line: u64) -> Self {
        let few = |lines: &[u32]| lines.iter().copied().take(LINES).collect();
        Self {
            path: hash(&edit.path),
            removed: edit.removed,
            added: edit.added,
            removed_lines: few(&edit.removed_lines),
            added_lines: few(&edit.added_lines),
            whole: edit.whole,
            line,
        }
    }
}

/// Whether a shell command undoes work.
pub(crate) fn undoes(command: &str) -> bool {
    undoing(command).is_some()
}

/// What kind of undoing a shell command does, and the part of it that does it.
fn undoing(command: &str) -> Option<(&'static str, &str)> {
    simple_commands(command).find_map(|part| git_undoing(part).map(|kind| (kind, part)))
}

fn git_undoing(command: &str) -> Option<&'static str> {
    let mut words = command.split_whitespace().skip_while(|word| *word == "sudo" || word.contains('='));
    let program = words.next()?;
    if program != "git" && !program.ends_with("/git") {
        return None;
    }
    let mut words = words.peekable();
    // Options of git itself, two of which take a word of their own.
    while let Some(option) = words.next_if(|word| word.starts_with('-')) {
        if matches!(option, "-C" | "-c") {
            words.next();
        }
    }
    let verb = words.next()?;
    let rest: Vec<&str> = words.collect();
    let has = |option: &str| rest.contains(&option);
    let paths = |words: &[&str]| words.iter().any(|word| !word.starts_with('-') && looks_like_path(word));
    match verb {
        "restore" => {
            let staged_only = (has("--staged") || has("-S")) && !(has("--worktree") || has("-W"));
            (!staged_only && !rest.is_empty()).then_some("git restore")
        }
        "checkout" => {
            if has("-b") || has("-B") || has("--orphan") || has("--track") || has("-t") {
                return None;
            }
            let after_dashes = rest.iter().position(|word| *word == "--").is_some_and(|dashes| dashes + 1 < rest.len());
            let forced = has("-f") || has("--force");
            let path_first = rest.first().is_some_and(|word| *word == "." || *word == ":/");
            let path_second = rest.len() > 1 && !rest[0].starts_with('-') && paths(&rest[1..]);
            let single_file = rest.len() == 1 && is_file(rest[0]);
            (after_dashes || forced || path_first || path_second || single_file).then_some("git checkout")
        }
        "reset" => {
            let target = rest.iter().find(|word| !word.starts_with('-'));
            let hard = has("--hard") || has("--merge") || has("--keep");
            // `reset HEAD~1` takes a commit back; `reset`, `reset HEAD` and `reset file` only unstage.
            let back = target.is_some_and(|target| target.contains('~') || target.contains('^'));
            let soft_to = (has("--soft") || has("--mixed")) && target.is_some_and(|target| *target != "HEAD");
            (hard || back || soft_to).then_some("git reset")
        }
        "stash" => match rest.iter().find(|word| !word.starts_with('-')) {
            None => Some("git stash"),
            Some(&("push" | "save")) => Some("git stash"),
            Some(_) => None,
        },
        "revert" => (!(has("--abort") || has("--quit") || has("--continue") || has("--skip"))).then_some("git revert"),
        "clean" => {
            let dry = rest.iter().any(|word| {
                *word == "--dry-run" || (word.starts_with('-') && !word.starts_with("--") && word.contains('n'))
            });
            (!dry && !rest.is_empty()).then_some("git clean")
        }
        _ => None,
    }
}

/// A word after a commit that is a path rather than a second branch.
fn looks_like_path(word: &str) -> bool {
    word == "." || word.contains('/') || is_file(word)
}

fn is_file(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    matches!(name.rsplit_once('.'), Some((stem, extension))
        if !stem.is_empty() && (1..=5).contains(&extension.len()) && extension.bytes().all(|b| b.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::undoing;

    #[test]
    fn undoing_commands() {
        for command in [
            "git restore src/main.rs",
            "git restore --staged --worktree .",
            "git checkout -- src",
            "git checkout HEAD -- a.rs",
            "git checkout HEAD~1 src/a.rs",
            "git checkout .",
            "git checkout src/app.ts",
            "cd x && git -C y reset --hard HEAD",
            "git reset HEAD~1",
            "git reset --soft HEAD~2",
            "git stash",
            "git stash -u",
            "git stash push -m 'wip'",
            "git stash save wip",
            "git revert --no-edit HEAD",
            "git clean -fd",
            "git fetch origin && git reset --hard origin/main",
        ] {
            assert!(undoing(command).is_some(), "{command}");
        }
    }

    #[test]
    fn false_friends() {
        for command in [
            "git restore --staged a.rs",
            "git checkout main",
            "git checkout -b fix/a.b",
            "git checkout feature/login",
            "git checkout -b topic origin/main",
            "git reset",
            "git reset HEAD",
            "git reset HEAD a.rs",
            "git stash list",
            "git stash pop",
            "git stash show -p",
            "git stash apply",
            "git stash drop",
            "git revert --abort",
            "git clean -n",
            "git clean -nfd",
            "git log --grep=reset",
            "git commit -m \"git reset --hard; undo\"",
            "echo 'git stash; git reset --hard'",
            "gh pr comment --body \"use && git stash\"",
            "cat > a.sh <<'EOF'\ngit reset --hard\nEOF",
            "",
        ] {
            assert!(undoing(command).is_none(), "{command}");
        }
    }
}
