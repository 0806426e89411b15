//! Going through drafts one at a time: what was seen, the rule, what it costs and changes, and what to do about it.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anyhow::Context as _;

use super::{
    Outcome, Usage,
    rules::{Desk, PlaceArguments, diff, report, show_hook},
    ui,
};
use crate::{
    clean::clean,
    paths,
    proposal::{Proposal, RulesLock, Status, Step},
};

/// Places shown of one pattern.
const PLACES: usize = 3;

/// What the person said.
enum Answer {
    Apply,
    Edit,
    Skip,
    Reject,
    Quit,
}

/// Refuses where nobody can answer.
pub(super) fn check_terminal(from_stdin: bool) -> anyhow::Result<()> {
    if from_stdin || io::stdin().is_terminal() {
        return Ok(());
    }
    Err(Usage(
        "a review needs someone to answer, and standard input is no terminal: run it in one, or give the answers with \
         --stdin, one a line"
            .to_owned(),
    )
    .into())
}

/// Goes through all drafts, the strongest pattern's first.
pub(super) fn run(desk: &mut Desk<'_>, place: &PlaceArguments) -> anyhow::Result<Outcome> {
    let mut drafts: Vec<Proposal> =
        desk.store.proposals()?.into_iter().filter(|proposal| proposal.status == Status::Drafted).collect();
    drafts.sort_by_key(|it| desk.patterns.iter().position(|pattern| it.is_for(pattern)).unwrap_or(usize::MAX));
    if drafts.is_empty() {
        ui::say("Nothing is drafted. Run: totalrecall propose");
        return Ok(Outcome::NothingFound);
    }
    let count = drafts.len();
    for (index, mut draft) in drafts.into_iter().enumerate() {
        ui::print(&format!("\n[{} of {count}] {}", index + 1, shown(desk, &draft)))?;
        loop {
            let wanted = desk.wanted(&draft, place, false)?;
            match desk.rules().plan_apply(&draft, &wanted) {
                Ok(plan) => ui::print(&diff(&plan.edits))?,
                Err(error) => ui::error(&error.into()),
            }
            match ask()? {
                Answer::Apply => match desk.apply(&draft, &wanted) {
                    Ok(written) => {
                        ui::print(&report("Applied", &draft.id, &written))?;
                        if draft.step == Step::Hook {
                            show_hook(desk.context, &draft)?;
                        }
                        break;
                    }
                    Err(error) => ui::error(&error.into()),
                },
                Answer::Edit => {
                    edit(desk, &mut draft)?;
                    ui::print(&format!("  {} ({} tokens)\n", clean(&draft.text), draft.tokens))?;
                }
                Answer::Reject => {
                    let _lock = RulesLock::take(&desk.context.home)?;
                    desk.rules().reject(&draft)?;
                    ui::print(&report("Rejected", &draft.id, &crate::proposal::Written::default()))?;
                    break;
                }
                Answer::Skip => break,
                Answer::Quit => {
                    desk.renew_pages()?;
                    return Ok(Outcome::Done);
                }
            }
        }
        desk.renew_pages()?;
    }
    Ok(Outcome::Done)
}

/// A draft with what it rests on.
fn shown(desk: &Desk<'_>, draft: &Proposal) -> String {
    let (bold, dim) = (ui::BOLD, ui::DIM);
    let mut text = format!("{bold}{}{bold:#}\n", clean(&draft.id));
    if let Some(pattern) = desk.pattern(draft) {
        text += &format!(
            "  seen in {}: {}\n",
            ui::counted(u64::from(pattern.occurrences), "session", "sessions"),
            clean(&pattern.description)
        );
        for place in pattern.evidence.iter().take(PLACES) {
            text += &format!(
                "  {dim}{} {}, {}, line {}{dim:#}\n",
                clean(&place.tool),
                clean(&place.session),
                ui::local_time(place.at),
                place.line
            );
        }
    }
    text += &format!("  {}\n", clean(&draft.rationale));
    if let Some(replaced) = &draft.replaces {
        text += &format!("  in place of {}\n", clean(replaced));
    }
    text + &format!("\n  {bold}{}{bold:#} ({} tokens in every session)\n\n", clean(&draft.text), draft.tokens)
}

/// Asks until there is an answer. That nobody answers any more is a quit.
fn ask() -> io::Result<Answer> {
    loop {
        let Some(line) = read("[a]pply, [e]dit, [s]kip, [r]eject, [q]uit? ")? else { return Ok(Answer::Quit) };
        return Ok(match line.trim().to_lowercase().as_str() {
            "a" | "apply" => Answer::Apply,
            "e" | "edit" => Answer::Edit,
            "s" | "skip" => Answer::Skip,
            "r" | "reject" => Answer::Reject,
            "q" | "quit" => Answer::Quit,
            _ => {
                ui::say("Answer with a, e, s, r or q.");
                continue;
            }
        });
    }
}

/// One line of an answer; none at the end of the input.
fn read(question: &str) -> io::Result<Option<String>> {
    let mut out = anstream::stderr();
    write!(out, "{question}")?;
    out.flush()?;
    let mut line = String::new();
    Ok((io::stdin().lock().read_line(&mut line)? > 0).then_some(line))
}

/// Another text for a draft, from the person's editor, or a line where there is none.
fn edit(desk: &mut Desk<'_>, draft: &mut Proposal) -> anyhow::Result<()> {
    let editor = paths::variable("VISUAL").or_else(|| paths::variable("EDITOR")).filter(|_| io::stdin().is_terminal());
    let text = match editor {
        Some(editor) => with_editor(&editor, draft)?,
        None => read("New text (empty: leave it): ")?.unwrap_or_default(),
    };
    if text.trim().is_empty() || text.trim() == draft.text {
        ui::say("It stays as it is.");
        return Ok(());
    }
    draft.rewrite(&text);
    let _lock = RulesLock::take(&desk.context.home)?;
    Ok(desk.store.put_proposal(draft)?)
}

#[expect(clippy::disallowed_methods, reason = "the editor that the person named")]
fn with_editor(editor: &str, draft: &Proposal) -> anyhow::Result<String> {
    let mut file = tempfile::Builder::new().prefix("totalrecall-rule-").suffix(".md").tempfile()?;
    writeln!(file, "{}", draft.text)?;
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(editor);
    let status = std::process::Command::new(program)
        .args(words)
        .arg(file.path())
        .status()
        .with_context(|| format!("could not start the editor `{editor}`"))?;
    anyhow::ensure!(status.success(), "the editor `{editor}` ended with {status}; the draft is as it was");
    Ok(std::fs::read_to_string(file.path())?)
}
