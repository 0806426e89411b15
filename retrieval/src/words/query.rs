//! What somebody asks for.

use crate::tokens::{self, Form, Stems, fold};

/// A parsed query: words of which any may be there, `"phrases"` that must be, and `prefixes*`.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// In the order they were typed, each once.
    pub(super) words: Vec<Asked>,
    /// Beginnings of words.
    pub(super) prefixes: Vec<Asked>,
    pub(super) phrases: Vec<Phrase>,
}

/// A word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// As it was typed, folded.
    pub(super) word: String,
    /// As it stands in the index.
    pub(super) term: String,
    /// What it is made of.
    pub(super) form: Form,
    /// The identifiers and paths it is a part of; none, too, if it was typed by itself besides.
    pub(super) wholes: Vec<String>,
}

/// Words in this order.
#[derive(Clone, Debug)]
pub(super) struct Phrase {
    /// In the form of [`plain`].
    pub(super) text: String,
    /// What every text with the phrase holds, except for wholes ([`Form::Whole`]).
    pub(super) terms: Vec<Asked>,
}

/// Terms that are read of one query, or of one phrase; of these the rarest are searched for.
const MOST_WORDS: usize = 128;

impl Query {
    /// Reads what was typed. Every text is a query; an odd quotation mark counts for nothing.
    pub fn parse(text: &str) -> Self {
        let mut query = Self::default();
        let mut stems = Stems::default();
        let text = text.replace(['“', '”', '„', '«', '»'], "\"");
        let mut parts: Vec<&str> = text.split('"').collect();
        if parts.len().is_multiple_of(2) {
            // Without its partner the last one is a blank.
            let last = parts.pop().unwrap_or_default();
            query.read_words(last, &mut stems);
        }
        for (i, part) in parts.iter().enumerate() {
            if i % 2 == 0 { query.read_words(part, &mut stems) } else { query.read_phrase(part, &mut stems) }
        }
        query.drop_stop_words();
        query.words.truncate(MOST_WORDS);
        query
    }

    /// Whether nothing can be found by it.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.prefixes.is_empty() && self.phrases.is_empty()
    }

    /// Whether [`Query::holds`] has to be asked.
    pub fn has_phrases(&self) -> bool {
        !self.phrases.is_empty()
    }

    /// Whether all phrases are in `text`: the same words, whatever their case, accents and the blanks between them.
    pub fn holds(&self, text: &str) -> bool {
        hold(&self.phrases, text)
    }

    fn read_words(&mut self, text: &str, stems: &mut Stems) {
        for chunk in text.split_whitespace() {
            match chunk.strip_suffix('*') {
                Some(prefix) if prefix.chars().filter(|c| c.is_alphanumeric()).count() > 1 => {
                    self.read_prefix(prefix, stems);
                }
                _ => read(chunk, stems).into_iter().for_each(|asked| add(&mut self.words, asked)),
            }
        }
    }

    /// Of `a/b_c*` only `c` is the beginning of a word.
    fn read_prefix(&mut self, text: &str, stems: &mut Stems) {
        let mut asked = read(text, stems);
        asked.retain(|asked| asked.form != Form::Whole);
        if let Some(last) = asked.pop() {
            add(&mut self.prefixes, last);
        }
        asked.into_iter().for_each(|asked| add(&mut self.words, asked));
    }

    fn read_phrase(&mut self, text: &str, stems: &mut Stems) {
        let mut terms = Vec::new();
        for chunk in text.split_whitespace() {
            read(chunk, stems).into_iter().for_each(|asked| add(&mut terms, asked));
        }
        terms.truncate(MOST_WORDS);
        if !terms.is_empty() {
            self.phrases.push(Phrase { text: plain(text), terms });
        }
    }

    /// Unless there is nothing else: "who is who".
    fn drop_stop_words(&mut self) {
        let is_stop = |asked: &Asked| asked.form == Form::Word && tokens::is_stop(&asked.word);
        if !self.words.iter().all(is_stop) || !self.phrases.is_empty() || !self.prefixes.is_empty() {
            self.words.retain(|asked| !is_stop(asked));
        }
    }
}

/// Whether all phrases are in `text`.
pub(super) fn hold(phrases: &[Phrase], text: &str) -> bool {
    if phrases.is_empty() {
        return true;
    }
    let text = plain(text);
    phrases.iter().all(|phrase| contains_words(&text, &phrase.text))
}

/// The terms of what has no blanks in it.
fn read(chunk: &str, stems: &mut Stems) -> Vec<Asked> {
    let mut found: Vec<(u32, Asked)> = Vec::new();
    // Others write that in two words, so that its parts say as much.
    let is_hyphenated = {
        let mut words = chunk.trim_matches(|c: char| !c.is_alphanumeric()).split('-');
        words.all(|word| word.chars().skip(1).all(char::is_lowercase))
    };
    tokens::pieces(chunk, |piece| {
        // The limit keeps this from being slow in long texts; see also the end of `parse`.
        if found.len() > MOST_WORDS {
            return;
        }
        let term = stems.term(piece).to_owned();
        if piece.form == Form::Whole && !is_hyphenated {
            // Its parts came before it.
            let parts = found.iter_mut().rev().take_while(|(position, _)| *position >= piece.position);
            parts.for_each(|(_, part)| part.wholes.push(term.clone()));
        }
        let asked = Asked { word: piece.text.to_owned(), term, form: piece.form, wholes: Vec::new() };
        found.push((piece.position, asked));
    });
    found.into_iter().map(|(_, asked)| asked).collect()
}

fn add(to: &mut Vec<Asked>, asked: Asked) {
    if let Some(other) = to.iter_mut().find(|other| other.term == asked.term) {
        if asked.wholes.is_empty() {
            other.wholes.clear();
        }
    } else if to.len() <= MOST_WORDS {
        to.push(asked);
    }
}

/// Folded, with one blank for every run of them, and none at the ends.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for word in fold::normal(text).split_whitespace() {
        if !plain.is_empty() {
            plain.push(' ');
        }
        fold::fold(word, &mut plain);
    }
    plain
}

/// Whether `phrase` is in `text` and no word goes on at its ends.
fn contains_words(text: &str, phrase: &str) -> bool {
    let goes_on = |inside: Option<char>, outside: Option<char>| {
        let is_letter = |c: char| c.is_alphanumeric() && !fold::is_unspaced(c);
        inside.is_some_and(is_letter) && outside.is_some_and(is_letter)
    };
    text.match_indices(phrase).any(|(start, found)| {
        let (before, after) = (&text[..start], &text[start + found.len()..]);
        !goes_on(found.chars().next(), before.chars().next_back())
            && !goes_on(found.chars().next_back(), after.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(query: &Query) -> Vec<&str> {
        query.words.iter().map(|asked| asked.term.as_str()).collect()
    }

    #[test]
    fn stop_words_go_unless_there_is_nothing_else() {
        assert_eq!(words(&Query::parse("What was the retry limit?")), ["retri", "limit"]);
        assert_eq!(words(&Query::parse("who is it")), ["who", "is", "it"]);
        assert_eq!(words(&Query::parse("retry, retries")), ["retri"]);
        assert!(Query::parse(" ?! ").is_empty());
    }

    #[test]
    fn phrases_and_prefixes() {
        let query = Query::parse("\"the Retry  limit\" conn* odd\"mark");
        assert_eq!((query.phrases[0].text.as_str(), query.prefixes[0].word.as_str()), ("the retry limit", "conn"));
        assert_eq!(query.phrases[0].terms[1].term, "retri");
        assert_eq!(words(&query), ["mark", "odd"]);
        assert!(query.holds("Is THE retry\nlimit five?") && !query.holds("the retry limits"));
        assert!(Query::parse("\"検索\"").holds("全文検索です") && !Query::parse("\"try\"").holds("retry"));
    }

    proptest! {
        #[test]
        fn every_text_is_a_query(text in "\\PC{0,60}|[\"* a]{0,20}") {
            let query = Query::parse(&text);
            query.holds(&text);
        }

        #[test]
        fn a_text_holds_its_words_as_a_phrase(words in proptest::collection::vec("[a-zé]{1,6}", 1..6)) {
            let text = words.join(" ");
            let (quoted, longer) = (format!("\"{text}\""), format!("so: {text}."));
            prop_assert!(Query::parse(&quoted).holds(&longer));
        }
    }
}
