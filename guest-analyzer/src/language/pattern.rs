//! Constructions, read once and matched against tokens.

use std::collections::BTreeMap;

use super::{Mark, Tokens, word_hash};

/// Constructions that mean the same thing.
#[derive(Debug, Default)]
pub struct Patterns {
    patterns: Vec<Vec<Element>>,
    /// Which patterns can begin with a word of this hash.
    by_first: BTreeMap<u32, Vec<usize>>,
    /// Patterns that can begin with anything.
    anywhere: Vec<usize>,
}

#[derive(Debug)]
enum Element {
    SentenceStart,
    SentenceEnd,
    ClauseStart,
    InQuestion,
    Gap(usize),
    Words { optional: bool, alternatives: Vec<Vec<Word>> },
}

#[derive(Debug)]
enum Word {
    Whole(u32),
    Beginning(String),
    SentenceEnd,
}

impl Patterns {
    /// Reads constructions. One that cannot be read matches nothing; the tests try them all.
    pub fn new(lines: &[&str]) -> Self {
        let mut read = Self::default();
        for line in lines {
            let elements: Vec<Element> = line.split_whitespace().map(Element::new).collect();
            let index = read.patterns.len();
            match first_words(&elements) {
                Some(words) => words.into_iter().for_each(|word| read.by_first.entry(word).or_default().push(index)),
                None => read.anywhere.push(index),
            }
            read.patterns.push(elements);
        }
        read
    }

    /// Whether one of them is in the text.
    pub fn found(&self, tokens: &Tokens) -> bool {
        (0..tokens.0.len()).any(|at| self.end(tokens, at).is_some())
    }

    /// Where they are, as ranges of tokens.
    pub(super) fn matches(&self, tokens: &Tokens) -> Vec<(usize, usize)> {
        (0..tokens.0.len()).filter_map(|at| Some((at, self.end(tokens, at)?))).collect()
    }

    fn end(&self, tokens: &Tokens, at: usize) -> Option<usize> {
        let by_word = self.by_first.get(&tokens.0[at].hash).map_or(&[][..], Vec::as_slice);
        by_word.iter().chain(&self.anywhere).find_map(|index| end(&self.patterns[*index], tokens, at))
    }
}

/// The words a match can begin with, if that can be told without looking.
fn first_words(elements: &[Element]) -> Option<Vec<u32>> {
    let mut first = Vec::new();
    for element in elements {
        match element {
            Element::SentenceStart | Element::ClauseStart | Element::InQuestion => {}
            Element::SentenceEnd | Element::Gap(_) => return None,
            Element::Words { optional, alternatives } => {
                for alternative in alternatives {
                    match alternative.first() {
                        Some(Word::Whole(hash)) => first.push(*hash),
                        _ => return None,
                    }
                }
                if !optional {
                    return Some(first);
                }
            }
        }
    }
    None
}

fn end(elements: &[Element], tokens: &Tokens, at: usize) -> Option<usize> {
    let Some((element, rest)) = elements.split_first() else { return Some(at) };
    match element {
        Element::SentenceStart => tokens.begins_sentence(at).then(|| end(rest, tokens, at))?,
        Element::ClauseStart => tokens.begins_clause(at).then(|| end(rest, tokens, at))?,
        Element::SentenceEnd => tokens.ends_sentence(at).then(|| end(rest, tokens, at))?,
        Element::InQuestion => tokens.in_question(at).then(|| end(rest, tokens, at))?,
        Element::Gap(longest) => {
            let mut to = at;
            let mut left = *longest;
            loop {
                if let Some(end) = end(rest, tokens, to) {
                    return Some(end);
                }
                // A gap stays in its sentence; commas count for nothing.
                match tokens.0.get(to).map(|token| token.mark) {
                    Some(Mark::Clause) => {}
                    Some(Mark::Word) if left > 0 => left -= 1,
                    _ => return None,
                }
                to += 1;
            }
        }
        Element::Words { optional, alternatives } => {
            for alternative in alternatives {
                if let Some(end) = run(alternative, tokens, at).and_then(|to| end(rest, tokens, to)) {
                    return Some(end);
                }
            }
            if *optional { end(rest, tokens, at) } else { None }
        }
    }
}

fn run(words: &[Word], tokens: &Tokens, at: usize) -> Option<usize> {
    words.iter().try_fold(at, |at, word| {
        let token = tokens.0.get(at);
        match word {
            Word::SentenceEnd => tokens.ends_sentence(at).then_some(at),
            Word::Whole(hash) => token.is_some_and(|token| token.hash == *hash).then_some(at + 1),
            Word::Beginning(beginning) => {
                token.is_some_and(|token| token.text.starts_with(beginning)).then_some(at + 1)
            }
        }
    })
}

impl Element {
    fn new(text: &str) -> Self {
        match text {
            "S" => Self::SentenceStart,
            "E" => Self::SentenceEnd,
            "C" => Self::ClauseStart,
            "Q" => Self::InQuestion,
            _ => {
                if let Some(longest) = text.strip_prefix('~').and_then(|digits| digits.parse().ok()) {
                    return Self::Gap(longest);
                }
                // A question mark of its own is a mark to match.
                let optional = text.len() > 1 && text.starts_with('?') && !text.starts_with("?|");
                let words = if optional { &text[1..] } else { text };
                Self::Words { optional, alternatives: words.split('|').map(alternative).collect() }
            }
        }
    }
}

fn alternative(text: &str) -> Vec<Word> {
    text.split('_')
        .flat_map(|part| {
            if part == "E" {
                return vec![Word::SentenceEnd];
            }
            let beginning = part.strip_suffix('*').unwrap_or(part);
            let tokens = Tokens::new(beginning);
            let mut words: Vec<Word> = tokens.all().iter().map(|token| Word::Whole(word_hash(&token.text))).collect();
            if part.ends_with('*')
                && let (Some(last), Some(token)) = (words.last_mut(), tokens.all().last())
            {
                *last = Word::Beginning(token.text.clone());
            }
            words
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> bool {
        Patterns::new(&[pattern]).found(&Tokens::new(text))
    }

    #[test]
    fn constructions_match() {
        for (pattern, text) in [
            ("S no ,", "No, not that"),
            ("why did|have ?we|you", "but why have they"),
            ("you ?just remov*", "You just removed it"),
            ("S hmm|hm", "Fine. Hm, what?"),
            ("不是 ~8 而是", "这不是我要的，而是另一个"),
            ("still_not E", "It is still not."),
            ("isnt Q", "isn't that much?"),
            ("do ~3 need", "do we really need it"),
            ("C stop", "ok stop"),
            ("way ?|!|E", "no way"),
            ("way ?|!|E", "which way?"),
            ("じゃなくて", "これじゃなくてあれ"),
        ] {
            assert!(found(pattern, text), "{pattern}: {text}");
        }
        for (pattern, text) in [
            ("S no ,", "well no, that"),
            ("isnt Q", "that isn't much."),
            ("do ~1 need", "do we ever really need"),
            ("you ~3 removed", "you did it. Removed"),
            ("way ?|!|E", "way out"),
            ("still_not E", "still not there"),
        ] {
            assert!(!found(pattern, text), "{pattern}: {text}");
        }
    }
}
