//! Commands of a shell, as far as judging how they ended takes.

/// The simple commands of a shell line. Text between quotes is no command, and a heredoc's body is left out.
pub(crate) fn simple_commands(command: &str) -> impl Iterator<Item = &str> {
    let command = command.find("<<").map_or(command, |heredoc| {
        let end = command[heredoc..].find('\n').map_or(command.len(), |line| heredoc + line);
        &command[..end]
    });
    let mut quote = None;
    let mut escaped = false;
    command
        .split(move |c: char| {
            if escaped {
                escaped = false;
                return false;
            }
            match (quote, c) {
                (Some('\''), '\'') | (Some('"'), '"') => quote = None,
                (None, '\'' | '"') => quote = Some(c),
                (Some('"') | None, '\\') => escaped = true,
                (None, ';' | '&' | '|' | '\n' | '(' | ')') => return true,
                _ => {}
            }
            false
        })
        .map(str::trim)
}

/// Programs that look for something and end with 1, saying nothing, when it is not there.
const SEEKERS: &[&str] = &[
    "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "pgrep", "pidof", "which", "test", "[", "[[", "diff", "cmp",
];

/// Commands of git that do the same.
const GIT_SEEKERS: &[&str] = &["grep", "diff", "check-ignore", "show-ref", "merge-base", "rev-parse", "ls-files"];

/// Words before the program's name that do not change how it ends.
const WRAPPERS: &[&str] = &["sudo", "command", "env", "time", "nice", "exec", "then", "do", "!"];

/// Where output goes.
const REDIRECTIONS: &[&str] = &["2>&1", "1>&2", ">&2", "&>/dev/null", "2>/dev/null", ">/dev/null"];

/// Whether a command that ended with the exit code 1 and this text failed at nothing: it looked for something (`rg`, `test`), which
/// is not there, or compared (`diff`) what differs. Codes above 1 are failures of these programs, too; so is any word, for what
/// they cannot read they complain of. Only `diff` by itself may say what differs.
pub(crate) fn answers_no(command: &str, text: &str) -> bool {
    let mut plain = command.to_owned();
    for redirection in REDIRECTIONS {
        plain = plain.replace(redirection, " ");
    }
    let mut commands = simple_commands(&plain).filter(|command| !command.is_empty());
    let Some(first) = commands.next() else { return false };
    let (last, alone) = match commands.last() {
        Some(last) => (last, false),
        None => (first, true),
    };
    let mut words = last.split_whitespace().skip_while(|word| WRAPPERS.contains(word) || is_assignment(word));
    let Some(program) = words.next() else { return false };
    let program = program.rsplit('/').next().unwrap_or(program);
    if program == "-v" {
        // `command -v`, whose name was stepped over.
        return text.is_empty() && last.contains("command -v");
    }
    let seeks = SEEKERS.contains(&program)
        || (program == "git" && git_verb(words).is_some_and(|verb| GIT_SEEKERS.contains(&verb)));
    seeks && (text.is_empty() || (alone && matches!(program, "diff" | "cmp")))
}

/// The command of git, after git's own options, two of which take a word.
fn git_verb<'c>(mut words: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    loop {
        match words.next()? {
            "-C" | "-c" => drop(words.next()),
            option if option.starts_with('-') => {}
            verb => return Some(verb),
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::answers_no;

    #[test]
    fn looking_in_vain_is_no_failure() {
        for command in [
            "rg -n needle src",
            "rg needle 2>&1",
            "cd /w && grep -rn needle src 2>/dev/null",
            "cat a.log | grep -E 'a|b; c'",
            "LC_ALL=C sudo /usr/bin/grep x y",
            "test -f Cargo.toml",
            "ls && [ -d target ]",
            "[[ -n $CI ]]",
            "diff -q a b >/dev/null",
            "git diff --quiet",
            "git -c a=b grep needle",
            "command -v cargo",
            "! grep -q x y",
        ] {
            assert!(answers_no(command, ""), "{command}");
        }
        for command in [
            "cargo test",
            "grep x y | xargs cargo test",
            "rg needle; cargo build",
            "git push",
            "npm run test",
            "python3 - <<'EOF'\nimport grep\nEOF",
            "",
        ] {
            assert!(!answers_no(command, ""), "{command}");
        }
    }

    #[test]
    fn only_differences_may_be_told() {
        assert!(answers_no("diff a b", "1c1\n< x\n---\n> y"));
        assert!(!answers_no("cargo test && diff a b", "test failed"));
        assert!(!answers_no("rg needle src", "rg: src: IO error"));
        assert!(!answers_no("grep x y", "grep: y: No such file or directory"));
    }
}
