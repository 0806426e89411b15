//! Drafts without a model: what a kind of signal advises, made concrete by what the pattern is about.
//!
//! Rules are in English, which every agent reads; a person's own words stay in their language, as a quotation.

use super::{Case, text};
use crate::{
    check::{Check, CommandPattern},
    finding::Category,
};

mod check;
mod errors;

/// What a template makes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Filled {
    pub(super) text: String,
    pub(super) paths: Vec<String>,
    pub(super) check: Option<Check>,
}

impl From<String> for Filled {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Characters of a person's words in a rule, and of a call.
const WORDS: usize = 220;
const CALL: usize = 100;

/// The rule for a case. None where nothing an agent does would help: the service failed, the conversation was too long.
pub(super) fn rule(case: &Case<'_>) -> Option<Filled> {
    let pattern = case.pattern;
    let subject = readable(&pattern.subject);
    let (tool, call) = subject.split_once(": ").unwrap_or((subject.as_str(), ""));
    if let Some(hint) = pattern.hint.as_deref().filter(|hint| !hint.trim().is_empty()) {
        let text = text::sentences(&text::rule(hint), text::SENTENCES).to_owned();
        let refusal = || (pattern.kind == "permission-denied").then(|| check::of_refusal(case, tool, call)).flatten();
        return Some(Filled { text, paths: Vec::new(), check: check::of_words(case).or_else(refusal) });
    }
    Some(match pattern.kind.as_str() {
        "api-error" | "compaction" => return None,
        _ if pattern.spoken && !pattern.subject.is_empty() => spoken(case),
        "permission-denied" => refused(case, tool, call),
        "tool-error" => errors::rule(case, tool, call),
        "retry-loop" => {
            format!(
                "When {} fails a second time with the same error, do not run it again unchanged: read the error, change \
                 something that it names, or ask.",
                code(if call.is_empty() { tool } else { call })
            )
            .into()
        }
        "unresolved-error" => format!(
            "Do not end while {} still fails with “{}”: fix it, or end with what is broken and what you would try next.",
            code(tool),
            quoted(call, CALL)
        )
        .into(),
        "churn" => file_rule(
            case,
            "Before you edit {file}, read all of it and plan the whole change: it was edited again and again in {n}. Make the \
             change in few edits, then run what tests it.",
        ),
        "revert" if subject.starts_with("git ") => undoing(&subject),
        "revert" => file_rule(
            case,
            "Before you change {file}, say what you will change and why, and keep the change small: changes to it were put \
             back in {n}.",
        ),
        "interrupt" if subject == "reply" => {
            "Keep replies short, and ask before you set out on something long: the user stopped you while you wrote."
                .to_owned()
                .into()
        }
        "interrupt" => format!(
            "Before you use {} for something that may take long, say what it will do, and set a time limit: the user stopped \
             it in {}.",
            code(&subject),
            case.sessions()
        )
        .into(),
        _ => other(case, &subject)?,
    })
}

/// What a person said, as the standing instruction that it is.
fn spoken(case: &Case<'_>) -> Filled {
    let words = quoted(&case.pattern.subject, WORDS);
    let text = match case.pattern.occurrences {
        1 => format!("Keep to what the user has said: “{words}”."),
        n => format!("Keep to what the user has had to say in {n} sessions: “{words}”."),
    };
    Filled { text, paths: Vec::new(), check: check::of_words(case) }
}

/// What a person refused.
fn refused(case: &Case<'_>, tool: &str, call: &str) -> Filled {
    let words = case.words();
    let what = if call.is_empty() { format!("use {}", code(tool)) } else { format!("run {}", code(call)) };
    let text = match &words {
        // It is not the tool that was refused, but what it was used for.
        Some(words) if call.is_empty() => format!(
            "Before you {what}, keep to what the user said when refusing it in {}: “{}”.",
            case.sessions(),
            quoted(words, WORDS)
        ),
        Some(words) => format!(
            "Do not {what}; the user refused it, saying: “{}”. Do it that way from the start.",
            quoted(words, WORDS)
        ),
        None if call.is_empty() => format!(
            "Before you {what}, say what it will change and wait for the user's consent: it was refused in {}.",
            case.sessions()
        ),
        None => format!(
            "Do not {what} unless the user has asked for it in this session; where it seems needed, say why and ask first."
        ),
    };
    Filled { text, paths: Vec::new(), check: check::of_refusal(case, tool, call) }
}

/// A git command that undoes work.
fn undoing(command: &str) -> Filled {
    let text = format!(
        "Do not undo work with {} on your own: first show what would be lost, and ask. To mend an edit of yours, edit the \
         lines again.",
        code(command)
    );
    let check = check::command(command).map(|violation| Check::Command {
        violations: vec![violation],
        opportunities: vec![CommandPattern { program: "git".to_owned(), ..CommandPattern::default() }],
    });
    Filled { text, paths: Vec::new(), check }
}

/// A rule about one file: `{file}` and `{n}` are filled in.
fn file_rule(case: &Case<'_>, text: &str) -> Filled {
    let pattern = case.pattern;
    let project = pattern.project.as_deref().unwrap_or_default();
    let within = pattern.subject.strip_prefix(project).map(|rest| rest.trim_start_matches(['/', '\\']));
    let file = within.filter(|rest| !rest.is_empty()).unwrap_or(&pattern.subject);
    let name = project.rsplit(['/', '\\']).next().unwrap_or_default();
    let shown = if name.is_empty() { code(file) } else { format!("{} (of {})", code(file), quoted(name, 60)) };
    let paths = if file.starts_with('/') || file.is_empty() { Vec::new() } else { vec![globset::escape(file)] };
    Filled { text: text.replace("{n}", &case.sessions()).replace("{file}", &shown), paths, check: None }
}

/// Kinds of others, and what only a model finds without a hint.
fn other(case: &Case<'_>, subject: &str) -> Option<Filled> {
    let what = quoted(if subject.is_empty() { &case.pattern.description } else { subject }, WORDS);
    let text = match case.pattern.category {
        Category::Service => return None,
        Category::MisunderstoodIntent => {
            format!("Before you start, say in one sentence what you understood, above all where it is about “{what}”.")
        }
        Category::RepeatedCorrection => format!("Keep to what the user has said again and again: “{what}”."),
        Category::ClarificationGap => format!("Ask before you decide on your own: “{what}”."),
        Category::RuleViolation => format!("Keep this rule, which was written down and not kept: “{what}”."),
        Category::Frustration => {
            format!("The user lost patience over this; avoid it, or say early that you cannot: “{what}”.")
        }
        Category::ToolError | Category::Rework | Category::Other => {
            let advice = case.advice.trim();
            if advice.is_empty() {
                return None;
            }
            format!("{advice} It came up in {}: “{what}”.", case.sessions())
        }
    };
    Some(text.into())
}

/// A subject as a person would write it: what was made equal in it (`<path>`) is an ellipsis.
fn readable(subject: &str) -> String {
    let mut out = String::with_capacity(subject.len());
    let mut rest = subject;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        match from[1..].find(['>', '<', ' ']) {
            Some(end) if from.as_bytes()[end + 1] == b'>' && end > 0 => {
                out.push('…');
                rest = &from[end + 2..];
            }
            _ => {
                out.push('<');
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Words of others within quotation marks: shortened, without the marks that would end them.
fn quoted(words: &str, most: usize) -> String {
    let words = words.replace(['“', '”'], "\"").replace('`', "'");
    crate::insights::clean(words.trim().trim_matches('"'), most).trim_end_matches('.').to_owned()
}

/// A call or a name as code.
fn code(call: &str) -> String {
    format!("`{}`", crate::insights::clean(&call.replace('`', "'"), CALL))
}

#[cfg(test)]
pub(super) mod tests;
