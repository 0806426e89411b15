//! Checks that can be told from a refusal or from a person's words: which call breaks the rule, and which calls were a chance
//! to break it.
//!
//! Nothing is guessed: no check is better than one that counts something else than the rule says.

use super::{Case, CommandPattern};
use crate::check::Check;

/// Programs that do the same work: one is used where another is not wanted.
const ALIKE: [&[&str]; 9] = [
    &["npm", "pnpm", "yarn", "bun"],
    &["npx", "pnpx", "bunx"],
    &["pip", "pip3", "uv", "poetry", "pipenv", "pdm", "conda"],
    &["pytest", "unittest", "nose2", "tox"],
    &["jest", "vitest", "mocha", "ava"],
    &["docker", "podman"],
    &["eslint", "biome", "oxlint"],
    &["black", "ruff", "yapf", "autopep8"],
    &["make", "just", "task"],
];

/// Tools that run a shell's line, as the adapters name them.
fn is_shell(tool: &str) -> bool {
    matches!(
        tool.to_ascii_lowercase().as_str(),
        "bash" | "shell" | "exec_command" | "local_shell" | "run_shell_command" | "exec"
    )
}

/// `git push` as a pattern: the program and its subcommand.
pub(super) fn command(call: &str) -> Option<CommandPattern> {
    let mut words = call.split_whitespace();
    let program = words.next().filter(|word| is_name(word))?;
    let words: Vec<String> = words.take(2).map(globset::escape).collect();
    Some(CommandPattern { program: globset::escape(program), words, without: Vec::new() })
}

fn is_name(word: &str) -> bool {
    word.len() < 40
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+".contains(&b))
}

/// The check for a refused call, `Bash: npm install`. With the words "use pnpm, not npm" the other program's calls are chances
/// that were used well.
pub(super) fn of_refusal(case: &Case<'_>, tool: &str, call: &str) -> Option<Check> {
    if !is_shell(tool) {
        return None;
    }
    let violation = command(call)?;
    let program = violation.program.as_str();
    let mut opportunities = Vec::new();
    let instead = case.words().map(|words| names(&words)).unwrap_or_default();
    for other in alike(program) {
        // Named by the person, or all of the same sort where none is named.
        if instead.is_empty() || instead.iter().any(|name| name == other) {
            opportunities.push(CommandPattern { program: other.to_owned(), ..violation.clone() });
        }
    }
    if opportunities.is_empty() && !violation.words.is_empty() {
        // Any use of the program was a chance to use it in this way: `git push` among all of git.
        opportunities.push(CommandPattern { program: program.to_owned(), ..CommandPattern::default() });
    }
    Some(Check::Command { violations: vec![violation], opportunities })
}

/// The check for what a person said, where it names two programs of the same sort, of which one is not wanted: "use pnpm, not
/// npm", "don't run npm here, we use pnpm".
pub(super) fn of_words(case: &Case<'_>) -> Option<Check> {
    if !case.pattern.spoken {
        return None;
    }
    let words = tokens(&case.pattern.subject);
    let (unwanted, others): (Vec<_>, Vec<_>) = words
        .iter()
        .enumerate()
        .filter(|(_, word)| !alike(word).is_empty())
        .partition(|(at, _)| is_denied(&words, *at));
    let [(_, unwanted)] = unwanted.as_slice() else { return None };
    let instead: Vec<&str> =
        others.iter().map(|(_, word)| word.as_str()).filter(|word| alike(unwanted).contains(word)).collect();
    if instead.is_empty() || instead.contains(&unwanted.as_str()) {
        return None;
    }
    let whole = |program: &str| CommandPattern { program: program.to_owned(), ..CommandPattern::default() };
    Some(Check::Command { violations: vec![whole(unwanted)], opportunities: instead.into_iter().map(whole).collect() })
}

/// What else does the work of a program.
fn alike(program: &str) -> Vec<&'static str> {
    let group = ALIKE.iter().find(|group| group.contains(&program));
    group.map(|group| group.iter().copied().filter(|other| *other != program).collect()).unwrap_or_default()
}

/// Programs that we know, in a person's words.
fn names(words: &str) -> Vec<String> {
    tokens(words).into_iter().filter(|word| !alike(word).is_empty()).collect()
}

/// Words in lower case; Chinese and Japanese characters are words of their own.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = vec![String::new()];
    for c in text.to_lowercase().chars() {
        let is_wide = c >= '\u{2e80}';
        if c.is_ascii_alphanumeric() || "-_.'".contains(c) || (c.is_alphanumeric() && !is_wide) {
            if let Some(last) = tokens.last_mut() {
                last.push(c);
            }
        } else {
            tokens.push(if is_wide && c.is_alphanumeric() { c.to_string() } else { String::new() });
            if is_wide {
                tokens.push(String::new());
            }
        }
    }
    tokens
        .into_iter()
        .map(|token| token.trim_matches(['.', '\'', '-']).to_owned())
        .filter(|token| !token.is_empty())
        .collect()
}

/// Whether a word that denies stands right before a word, or with a verb between: "not npm", "don't use npm", 不要用 npm.
fn is_denied(words: &[String], at: usize) -> bool {
    const DENIES: [&str; 17] = [
        "not", "no", "never", "don't", "dont", "stop", "avoid", "without", "than", "of", "pas", "jamais", "别", "不",
        "勿", "勿", "没",
    ];
    const BETWEEN: [&str; 16] = [
        "use", "using", "run", "running", "call", "with", "the", "de", "utilise", "utiliser", "utilisez", "要", "用",
        "使", "再", "是",
    ];
    let before = words[..at].iter().rev();
    before
        .take(4)
        .skip_while(|word| BETWEEN.contains(&word.as_str()))
        .take(1)
        .any(|word| DENIES.contains(&word.as_str()))
}
