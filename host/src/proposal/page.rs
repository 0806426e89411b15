//! `proposals.md`: what is proposed, why, what it costs, and what to type.

use std::fmt::Write as _;

use super::{Author, Proposal, Status, Step, apply::day};
use crate::{
    insights::markdown::{code, prose, text},
    pattern::Pattern,
};

/// Places named of one pattern.
const PLACES: usize = 5;

/// The page; drafts first, the strongest patterns first among them. `patterns` are all, strongest first.
pub fn page(proposals: &[Proposal], patterns: &[Pattern], now: i64) -> String {
    let rank = |proposal: &Proposal| patterns.iter().position(|pattern| proposal.is_for(pattern)).unwrap_or(usize::MAX);
    let mut out = String::from("# Proposed rules\n\n");
    let drafted = proposals.iter().filter(|proposal| proposal.status == Status::Drafted).count();
    let in_force = proposals.iter().filter(|proposal| proposal.status == Status::Applied);
    let tokens: u32 = in_force.clone().map(|proposal| proposal.tokens).sum();
    let _ = writeln!(
        out,
        "As of {}: {drafted} drafted, {} in force (about {tokens} tokens in every session). Nothing is in force before it was \
         applied; `totalrecall propose --review` goes through the drafts.",
        day(now),
        in_force.count()
    );
    for status in Status::ALL {
        let mut of_status: Vec<&Proposal> = proposals.iter().filter(|proposal| proposal.status == status).collect();
        of_status.sort_by_key(|proposal| (rank(proposal), proposal.created_at));
        if of_status.is_empty() {
            continue;
        }
        let _ = write!(out, "\n## {}\n", heading(status));
        for proposal in of_status {
            one(&mut out, proposal, patterns.iter().find(|pattern| proposal.is_for(pattern)));
        }
    }
    out
}

fn heading(status: Status) -> &'static str {
    match status {
        Status::Drafted => "Drafted",
        Status::Applied => "In force",
        Status::Reverted => "Taken back",
        Status::Rejected => "Rejected",
        Status::Stale => "Without a pattern",
    }
}

fn one(out: &mut String, proposal: &Proposal, pattern: Option<&Pattern>) {
    let _ = write!(out, "\n### {}\n\n> {}\n\n", code(&proposal.id, 90), prose(&proposal.text, 1_000));
    let mut facts = vec![format!("{} tokens", proposal.tokens), author(&proposal.author)];
    match proposal.step {
        Step::Rule => {}
        Step::PathRule => facts.push("read where files of its paths are worked on".to_owned()),
        Step::Hook => facts.push("a hook that refuses the call, which you install".to_owned()),
    }
    if let Some(replaced) = &proposal.replaces {
        facts.push(format!("in place of {}, which did not work", code(replaced, 90)));
    }
    if proposal.check.is_some() {
        facts.push("can be checked call by call".to_owned());
    }
    let _ = writeln!(out, "* {}", facts.join("; "));
    let _ = writeln!(out, "* why: {}", prose(&proposal.rationale, 600));
    if let Some(at) = proposal.applied_at.filter(|_| proposal.status == Status::Applied) {
        let files: Vec<String> = proposal.places.iter().map(|place| code(&place.file, 300)).collect();
        let _ = writeln!(out, "* since {} in {}", day(at), files.join(", "));
    }
    if !proposal.paths.is_empty() {
        let paths: Vec<String> = proposal.paths.iter().map(|path| code(path, 200)).collect();
        let _ = writeln!(out, "* files: {}", paths.join(", "));
    }
    if let Some(pattern) = pattern {
        let _ = writeln!(
            out,
            "* pattern {}: {}, {} sessions, last on {}",
            code(&pattern.id, 90),
            prose(&pattern.description, 200),
            pattern.occurrences,
            day(pattern.last_seen)
        );
        for place in pattern.evidence.iter().take(PLACES) {
            let _ = writeln!(
                out,
                "  * {} {}, {}, line {}",
                text(&place.tool, 40),
                code(&place.session, 80),
                day(place.at),
                place.line
            );
        }
    }
    let commands: &[&str] = match proposal.status {
        Status::Drafted => &["apply", "reject"],
        Status::Applied => &["revert"],
        Status::Reverted => &["apply"],
        Status::Rejected | Status::Stale => &[],
    };
    if !commands.is_empty() {
        let _ = write!(out, "\n```sh\n");
        for command in commands {
            let _ = writeln!(out, "totalrecall {command} {}", proposal.id);
        }
        let _ = writeln!(out, "```");
    }
}

fn author(author: &Author) -> String {
    match author {
        Author::Template => "drafted from the signals, without a model".to_owned(),
        Author::Model(name) => format!("drafted by {}", text(name, 60)),
        Author::Person => "in your words".to_owned(),
        Author::Imported => "of another program's library".to_owned(),
    }
}
