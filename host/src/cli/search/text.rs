//! What search and its kin print.

use std::fmt::Write as _;

use crate::{
    chunk::Chunk,
    clean::clean,
    cli::ui,
    digest::{Digest, Said},
    memory::Memory,
    search::{Answer, Around, Confidence, Hit, Lines, Moment, Source, Step},
};

/// Hits, each on a line with its excerpt below.
pub(super) fn answer(answer: &Answer) -> String {
    let mut text = String::new();
    for hit in &answer.hits {
        let _ = writeln!(text, "{}", heading(hit));
        let _ = writeln!(text, "  {}", ui::line(&hit.excerpt));
        let _ = writeln!(text, "  {dim}{}{dim:#}", why(hit), dim = ui::DIM);
    }
    text
}

fn heading(hit: &Hit) -> String {
    let mut text = format!("{bold}{}{bold:#}  {}", hit.id, hit.kind.name(), bold = ui::BOLD);
    if let Some(outdated) = hit.outdated {
        let _ = write!(text, " {warn}{outdated}{warn:#}", warn = ui::WARN);
    }
    if let Some(at) = hit.at {
        let _ = write!(text, "  {}", ui::local_time(at));
    }
    text + &place(&hit.source)
}

fn place(source: &Source) -> String {
    let mut text = String::new();
    if let Some(project) = &source.project {
        let _ = write!(text, "  {}", ui::line(project));
    }
    if let (Some(session), Some(tool)) = (&source.session, &source.tool) {
        let _ = write!(text, "  {session} ({})", ui::line(tool));
    }
    if let Some(line) = source.line {
        let _ = write!(text, " line {line}");
    }
    text
}

/// Why a hit was found, in a few words.
fn why(hit: &Hit) -> String {
    let mut reasons = Vec::new();
    if !hit.why.terms.is_empty() {
        reasons.push(format!("words: {}", ui::line(&hit.why.terms.join(", "))));
    }
    for (share, what) in [(hit.why.by_surroundings, "what is around it"), (hit.why.by_meaning, "meaning")] {
        if share >= 0.005 {
            reasons.push(format!("{what} {:.0}%", share * 100.0));
        }
    }
    let mut text = format!("{:.2}: {}", hit.score, reasons.join("; "));
    if hit.similar > 0 {
        let _ = write!(text, "; {} more like it", hit.similar);
    }
    text
}

/// What there is to say besides the hits.
pub(super) fn notes(answer: &Answer) -> Vec<String> {
    let mut notes = Vec::new();
    for (word, term) in &answer.corrected {
        notes.push(format!("Nothing holds `{}`; searched for `{}` as well.", ui::line(word), ui::line(term)));
    }
    if answer.hits.is_empty() {
        notes.push("Nothing was found.".to_owned());
    } else if answer.confidence == Confidence::Nothing {
        notes.push("Nothing relevant was found; what is shown is only near.".to_owned());
    } else if answer.total > answer.hits.len() {
        let least = if answer.is_more { "at least " } else { "" };
        notes.push(format!("{} of {least}{} shown; --limit shows more.", answer.hits.len(), answer.total));
    }
    for archived in &answer.archived {
        notes.push(format!(
            "Archived: {}  {}; `totalrecall restore {}` brings its text back.",
            archived.id,
            ui::line(&archived.title),
            archived.id
        ));
    }
    for prefix in &answer.cut_prefixes {
        notes.push(format!("Many words begin with `{}`; only the most frequent were searched for.", ui::line(prefix)));
    }
    if let Some(looked_at) = answer.phrases_looked_up {
        notes.push(format!(
            "Only the best {looked_at} passages with the words of the phrase were looked at for it; `totalrecall grep` looks at all."
        ));
    }
    if answer.meaning < 0.995 {
        let share = answer.meaning * 100.0;
        notes.push(format!(
            "{share:.0}% of what is stored could be found by its meaning yet; the next worker does the rest."
        ));
    }
    if answer.unindexed > 0 {
        notes.push(format!("Up to {} newer passages are not indexed yet; the next worker does it.", answer.unindexed));
    }
    notes
}

/// Lines that match.
pub(super) fn lines(found: &Lines) -> String {
    let mut text = String::new();
    for line in &found.lines {
        let when = line.at.map(ui::local_time).unwrap_or_default();
        let score = line.score.map(|score| format!(" {score}%")).unwrap_or_default();
        let archived = if line.archived { ", archived" } else { "" };
        let _ = writeln!(
            text,
            "{bold}{}{bold:#}:{}{score}  {dim}{when}{}{archived}{dim:#}",
            line.id,
            line.number,
            place(&line.source),
            bold = ui::BOLD,
            dim = ui::DIM
        );
        for (context, is_match) in [(&line.before, false), (&Some(line.text.clone()), true), (&line.after, false)] {
            let Some(context) = context else { continue };
            let mark = if is_match { '>' } else { ' ' };
            let _ = writeln!(text, "  {mark} {}", ui::line(context));
        }
    }
    text
}

/// What there is to say besides the lines.
pub(super) fn line_notes(found: &Lines) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(why) = &found.literal {
        notes.push(format!("That is no regular expression ({}); it was looked for as it stands.", ui::line(why)));
    }
    if found.lines.is_empty() {
        notes.push("No line matches.".to_owned());
    } else if found.total > found.lines.len() as u64 {
        let least = if found.is_partial { "at least " } else { "" };
        notes.push(format!("{} of {least}{} lines shown; --limit shows more.", found.lines.len(), found.total));
    }
    if found.is_partial {
        let until =
            found.only_since.map(|at| format!(", only what was said after {}", ui::local_time(at))).unwrap_or_default();
        notes.push(format!("Not all was looked through{until}: --budget gives it more time, --since less to do."));
    }
    if found.lines.iter().any(|line| line.archived) {
        notes.push("What is marked archived is not found by search: `totalrecall restore` brings it back.".to_owned());
    }
    notes
}

/// What happened.
pub(super) fn moments(moments: &[Moment]) -> String {
    let mut text = String::new();
    for moment in moments {
        let _ = writeln!(
            text,
            "{}  {:<9} {bold}{}{bold:#}  {}{dim}{}{dim:#}",
            ui::local_time(moment.at),
            moment.kind.name(),
            moment.id,
            ui::line(&moment.text),
            moment.project.as_ref().map(|project| format!("  {}", ui::line(project))).unwrap_or_default(),
            bold = ui::BOLD,
            dim = ui::DIM
        );
    }
    text
}

/// An event and what stands around it.
pub(super) fn around(around: &Around) -> String {
    let mut text = steps(&around.before);
    let when = around.at.map(ui::local_time).unwrap_or_default();
    let _ = writeln!(
        text,
        "{bold}{}  {}{bold:#}  {when}{}",
        around.id,
        around.kind.name(),
        place(&around.source),
        bold = ui::BOLD
    );
    if let Some(path) = &around.source.path {
        let _ = writeln!(text, "{dim}{}{dim:#}", ui::line(path), dim = ui::DIM);
    }
    let _ = writeln!(text, "{}", clean(&around.text));
    text + &steps(&around.after)
}

fn steps(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        let _ = writeln!(
            text,
            "{dim}  {}  {:<9} {}{dim:#}",
            step.said.id,
            step.kind.name(),
            ui::line(&step.said.text),
            dim = ui::DIM
        );
    }
    text
}

/// A session in short.
pub(super) fn digest(digest: &Digest) -> String {
    let mut text = String::new();
    let title = digest.title.as_deref().unwrap_or("without a title");
    let _ = writeln!(text, "{bold}{}  {}{bold:#}", digest.id, ui::line(title), bold = ui::BOLD);
    let mut row = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = writeln!(text, "  {name:<11} {value}");
        }
    };
    row("tool", Some(format!("{} {}", ui::line(&digest.tool), ui::line(&digest.native_id))));
    row("project", digest.project.as_deref().map(ui::line));
    row("branch", digest.branch.as_deref().map(ui::line));
    row("transcript", digest.path.as_deref().map(ui::line));
    let time = |at: Option<i64>| at.map_or_else(|| "?".to_owned(), ui::local_time);
    row("time", Some(format!("{} to {}", time(digest.started_at), time(digest.ended_at))));
    row("did", Some(format!("{} messages, {} calls, {} edits", digest.messages, digest.tool_calls, digest.edits)));
    row("tags", (!digest.tags.is_empty()).then(|| ui::line(&digest.tags.join(", "))));
    let more = if digest.files_left_out > 0 { format!(" and {} more", digest.files_left_out) } else { String::new() };
    row("changed", (!digest.files.is_empty()).then(|| ui::line(&digest.files.join(", ")) + &more));
    row(
        "state",
        digest.purged_at.map(|at| format!("purged on {}: nothing of what was said is left", ui::local_time(at))),
    );
    let archived = digest.archived_at.filter(|_| digest.purged_at.is_none());
    row(
        "state",
        archived.map(|at| format!("archived on {} (`totalrecall restore {}`)", ui::local_time(at), digest.id)),
    );
    for Said { id, text: said, .. } in &digest.prompts {
        let _ = writeln!(text, "  {dim}{id}{dim:#}  {}", ui::line(said), dim = ui::DIM);
    }
    if digest.prompts_left_out > 0 {
        let _ = writeln!(text, "  and {} more before the last one", digest.prompts_left_out);
    }
    if let Some(reply) = &digest.last_reply {
        let _ = writeln!(text, "  {dim}{}{dim:#}  the last reply: {}", reply.id, ui::line(&reply.text), dim = ui::DIM);
    }
    text
}

/// A memory.
pub(super) fn memory(memory: &Memory) -> String {
    let mut text = format!(
        "{bold}{}  {}, {}{bold:#}  {}  said by {}\n{}\n",
        memory.id,
        memory.category.name(),
        memory.importance.name(),
        ui::local_time(memory.created_at),
        memory.trust.name(),
        clean(&memory.content),
        bold = ui::BOLD
    );
    if !memory.tags.is_empty() {
        let _ = writeln!(text, "tags: {}", ui::line(&memory.tags.join(", ")));
    }
    if let Some(by) = &memory.superseded_by {
        let _ = writeln!(text, "superseded by {by}");
    }
    text
}

/// A chunk.
pub(super) fn chunk(chunk: &Chunk, content: Option<&str>) -> String {
    format!(
        "{bold}{}{bold:#}  {}  {}\n{}\n",
        chunk.id,
        ui::local_time(chunk.created_at),
        ui::line(&chunk.summary),
        content.map_or_else(|| "(archived)".into(), clean),
        bold = ui::BOLD
    )
}
