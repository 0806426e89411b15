//! Slash commands: what a person typed is run here, as arguments of ourselves and never through a shell, and what that prints
//! is given to the model before the command's own text is.

use super::{
    ClientEvent,
    answer::{self, Line},
};
use crate::{insights::clean, paths::Home};

/// The plugin's name, as the client writes it before a command's.
const PLUGIN: &str = "totalrecall:";

/// How our commands begin.
const OURS: &str = "recall-";

/// Longest arguments, in characters: a project's path and some words.
const MAX_ARGUMENTS: usize = 1_000;

/// Most proposals of one command.
const MAX_IDS: usize = 20;

/// What is to be done about a command.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    /// Run these, one after the other.
    Run(Vec<Line>),
    /// It cannot be run as it was typed: say so.
    Unclear(String),
}

/// What the model is given. None for commands of others.
pub(super) fn answer(home: &Home, event: &ClientEvent) -> Option<String> {
    if event.expansion_type.as_deref().is_some_and(|it| it != "slash_command") {
        return None;
    }
    let asked = read(event.command_name.as_deref()?, event.command_args.as_deref().unwrap_or_default())?;
    Some(match asked {
        Asked::Run(lines) => answer::run(home, event.cwd.as_deref(), &lines),
        Asked::Unclear(why) => answer::marked(&why),
    })
}

/// A command as the client names it, and what was typed after it.
fn read(name: &str, arguments: &str) -> Option<Asked> {
    let verb = name.strip_prefix(PLUGIN).unwrap_or(name).strip_prefix(OURS)?;
    let run = |arguments: &[&str]| Asked::Run(vec![Line::of(arguments)]);
    let unclear = |how: &str| Asked::Unclear(format!("This was not understood. It is typed so: {how}"));
    let takes_any = matches!(verb, "insights" | "search" | "propose" | "apply" | "reject" | "pause" | "resume");
    if takes_any && arguments.chars().count() > MAX_ARGUMENTS {
        return Some(Asked::Unclear(format!(
            "What was typed is longer than {MAX_ARGUMENTS} characters; nothing was done."
        )));
    }
    let typed = if takes_any { clean(arguments, MAX_ARGUMENTS) } else { String::new() };
    let words: Vec<&str> = typed.split_whitespace().collect();
    Some(match verb {
        "insights" => Asked::Run(vec![of_project("insights", &words)]),
        "search" if words.first().is_none_or(|word| *word == "--project") => {
            unclear("/recall-search WORDS, or /recall-search WORDS --project for the project of this folder only")
        }
        "search" => Asked::Run(vec![of_project("search", &words)]),
        // A hook has no time to ask a model.
        "propose" => match words[..] {
            [] => Asked::Run(vec![Line::of(&["propose", "--no-model"]), Line::of(&["proposals"])]),
            // In one argument, so that it can be nothing but a value.
            [pattern] => run(&["propose", "--no-model", &format!("--pattern={pattern}")]),
            _ => unclear("/recall-propose, or /recall-propose PATTERN with the id of a pattern"),
        },
        "proposals" => run(&["proposals"]),
        "apply" | "reject" if words.is_empty() || words.len() > MAX_IDS => {
            unclear(&format!("/recall-{verb} ID, with the id of a proposal; /recall-propose lists them"))
        }
        "apply" | "reject" => Asked::Run(vec![Line::of(&[verb]).data(&words)]),
        "status" => run(&["status"]),
        "setup" => run(&["doctor"]),
        "pause" | "resume" => match words[..] {
            [] => run(&[verb]),
            ["--project"] => run(&[verb, "--project"]),
            _ => unclear(&format!("/recall-{verb}, or /recall-{verb} --project for the project of this folder only")),
        },
        _ => return None,
    })
}

/// `[WORDS…] [--project [NAME…]]`
fn of_project(verb: &str, words: &[&str]) -> Line {
    let at = words.iter().position(|word| *word == "--project").unwrap_or(words.len());
    let (topic, project) = (&words[..at], words.get(at + 1..));
    let line = match project {
        None => Line::of(&[verb]),
        Some([]) => Line::of(&[verb, "--project"]),
        Some(name) => Line::of(&[verb, &format!("--project={}", name.join(" "))]),
    };
    if topic.is_empty() { line } else { line.data(topic) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(name: &str, arguments: &str) -> Vec<String> {
        match read(name, arguments) {
            Some(Asked::Run(lines)) => lines.iter().map(Line::shown).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn commands_of_others_are_none_of_ours() {
        for name in
            ["totalrecall:other", "other:recall-insights", "recall-", "recall-nonesuch", "recall", "", "compact"]
        {
            assert_eq!(read(name, ""), None, "{name}");
        }
    }

    #[test]
    fn a_command_has_its_verb_with_and_without_the_plugins_name() {
        for (verb, line) in [
            ("status", "totalrecall status"),
            ("setup", "totalrecall doctor"),
            ("pause", "totalrecall pause"),
            ("resume", "totalrecall resume"),
            ("insights", "totalrecall insights"),
            ("proposals", "totalrecall proposals"),
        ] {
            assert_eq!(runs(&format!("totalrecall:recall-{verb}"), ""), [line]);
            assert_eq!(runs(&format!("recall-{verb}"), "  "), [line]);
        }
        assert_eq!(runs("recall-propose", ""), ["totalrecall propose --no-model", "totalrecall proposals"]);
        assert_eq!(runs("recall-pause", " --project "), ["totalrecall pause --project"]);
    }

    #[test]
    fn what_was_typed_is_never_more_than_data() {
        for (arguments, line) in [
            ("npm test", "totalrecall insights -- npm test"),
            ("--html --output=/etc/passwd", "totalrecall insights -- --html --output=/etc/passwd"),
            ("$(touch x) `y` ;z", "totalrecall insights -- '$(touch' 'x)' '`y`' ';z'"),
            ("it's \"so\"\nand --json", "totalrecall insights -- 'it'\\''s' '\"so\"' and --json"),
            ("\u{1b}[2Ja\u{0}b\u{202e}", "totalrecall insights -- ab"),
            ("--project", "totalrecall insights --project"),
            ("pnpm --project --json x", "totalrecall insights '--project=--json x' -- pnpm"),
        ] {
            assert_eq!(runs("recall-insights", arguments), [line], "{arguments:?}");
        }
        assert_eq!(runs("recall-search", "pnpm --kind x --project"), ["totalrecall search --project -- pnpm --kind x"]);
        assert_eq!(runs("recall-apply", "p-a --all"), ["totalrecall apply -- p-a --all"]);
        assert_eq!(runs("recall-propose", "--top=99"), ["totalrecall propose --no-model --pattern=--top=99"]);
        // These take nothing, so what follows them is for the model alone.
        assert_eq!(runs("recall-status", "--json; rm -rf /"), ["totalrecall status"]);
        assert_eq!(runs("recall-setup", &"x".repeat(1 << 20)), ["totalrecall doctor"]);
    }

    #[test]
    fn what_cannot_be_meant_is_said() {
        let long = "x ".repeat(1 << 19);
        for (name, arguments) in [
            ("recall-search", ""),
            ("recall-search", "--project app"),
            ("recall-apply", ""),
            ("recall-reject", " \n"),
            ("recall-pause", "--project /etc"),
            ("recall-resume", "now"),
            ("recall-insights", long.as_str()),
            ("recall-apply", long.as_str()),
        ] {
            assert!(matches!(read(name, arguments), Some(Asked::Unclear(_))), "{name}");
        }
    }
}
