//! What earlier sessions say about what a person asks.

use std::{collections::BTreeSet, path::Path};

use totalrecall_retrieval::fuse::alike;

use super::{Line, project};
use crate::{
    embedding,
    fence::{named, quoted},
    inject::item::{moment, outdated, speaker},
    passage::Kind,
    paths::Home,
    search::{Confidence, Filter, Hit, Reference, Request, SearchError, Searcher},
    store::Store,
};

/// Words that a prompt must have: fewer (“go on”, “run the tests”) are said in every session.
const WORDS: usize = 4;
/// Characters of scripts without blanks between words that are as good as a word.
const CHARACTERS: usize = 2;
/// Most characters of a prompt that are searched for: what is pasted behind a question is not asked.
const ASKED: usize = 600;

/// What is searched. What tools printed is much, and anyone's word.
const KINDS: [Kind; 5] = [Kind::Prompt, Kind::Reply, Kind::Memory, Kind::Chunk, Kind::Session];
/// Hits that are looked at, and lines that are told.
const LOOKED_AT: usize = 12;
const TOLD: usize = 3;
/// Longest excerpt, in characters, and longest name of a tool.
const EXCERPT: usize = 320;
const TOOL: usize = 40;

/// Lines, the best first. None: nothing that is good enough to be told without being asked.
pub(super) fn find(
    home: &Home,
    store: &Store,
    folder: &Path,
    session: &str,
    prompt: &str,
    now: i64,
) -> Result<Option<Vec<Line>>, SearchError> {
    let asked: String = prompt.chars().take(ASKED).collect();
    if !says_enough(&asked) {
        return Ok(None);
    }
    let filter = Filter { project: Some(project(store, folder)?), kinds: KINDS.to_vec(), ..Filter::default() };
    // Quotation marks and asterisks mean something to a search, and not to a person who writes a sentence.
    let request =
        Request { query: asked.replace(['"', '“', '”', '„', '«', '»', '*'], " "), filter, limit: LOOKED_AT };
    let searcher = Searcher::open(&home.index(), embedding::in_use(home).ok().flatten())?;
    let answer = searcher.search(store, &request, now)?;
    if answer.confidence < Confidence::Likely {
        return Ok(None);
    }
    // It is the answer as a whole that is confident: one that has much less of the question is beside the point.
    let most = answer.hits.iter().map(|hit| hit.why.terms.len()).max().unwrap_or_default();
    let is_good = |hit: &&Hit| {
        let is_own = hit.source.native_id.as_deref() == Some(session);
        let is_the_question = hit.kind == Kind::Prompt && are_alike(&asked, &hit.excerpt);
        !is_own && !is_the_question && hit.why.terms.len() >= 2 && 2 * hit.why.terms.len() >= most
    };
    let mut lines = Vec::new();
    for hit in answer.hits.iter().filter(is_good).take(TOLD) {
        lines.extend(line(store, hit)?);
    }
    Ok(Some(lines))
}

fn are_alike(one: &str, other: &str) -> bool {
    alike(&[one, other]).get(1).is_some_and(Option::is_some)
}

/// Are there enough words that something can be found by?
fn says_enough(prompt: &str) -> bool {
    // What does not begin with words is a command, or what a client says in the person's place.
    if prompt.trim_start().starts_with(['/', '<', '!', '#']) {
        return false;
    }
    let mut words = BTreeSet::new();
    let mut unspaced = 0;
    for word in prompt.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let wide = word.chars().filter(|c| *c >= '\u{2e80}').count();
        unspaced += wide;
        if wide == 0 && word.chars().count() > 2 {
            words.insert(word.to_lowercase());
        }
    }
    words.len() + unspaced / CHARACTERS >= WORDS
}

fn line(store: &Store, hit: &Hit) -> Result<Option<Line>, SearchError> {
    let source = hit.id.to_string();
    let mut marks = vec![source.clone()];
    marks.extend(hit.at.map(moment));
    let text = match &hit.id {
        Reference::Memory(name) => {
            let Some(memory) = store.memory(name)? else { return Ok(None) };
            marks.extend([memory.category.name().to_owned(), speaker(memory.trust).to_owned()]);
            marks.extend(outdated(&memory));
            memory.content
        }
        _ => {
            marks.extend(hit.source.tool.as_deref().map(|tool| named(tool, TOOL)));
            marks.push(what(hit.kind).to_owned());
            hit.excerpt.clone()
        }
    };
    Ok(Some(Line::new(source, &marks, &quoted(&text, EXCERPT))))
}

/// Whose words they are.
fn what(kind: Kind) -> &'static str {
    match kind {
        Kind::Prompt => "the user said",
        Kind::Chunk => "saved by an agent",
        Kind::Session => "a session",
        _ => "an agent said",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_words_and_commands_ask_nothing() {
        for (prompt, expected) in [
            ("Which database do we use for staging?", true),
            ("go on", false),
            ("Run the tests.", false),
            ("yes, yes, yes, yes, yes", false),
            ("", false),
            ("/recall-search which database do we use", false),
            ("<task-notification>which database do we use for staging</task-notification>", false),
            ("!cargo test --workspace --locked --all-features", false),
            ("继续", false),
            ("测试数据库用的是哪一个版本", true),
        ] {
            assert_eq!(says_enough(prompt), expected, "{prompt}");
        }
    }
}
