//! What happens to an event's texts before anything is written, sent or shown: `<private>` spans go, secrets become
//! `[redacted:<kind>]`, and long texts keep head and tail.
//!
//! Secrets are found in two steps. One scan looks for all the marks at once: beginnings of keys (`ghp_`), words that
//! name secrets (`password`), structures (`://`, `-----BEGIN`). Most text has none of them and is done with. Only where
//! a mark was seen does a rule look closer, and it reads no more than the run of characters the mark stands in, so a
//! hostile text cannot make it slow.
//!
//! Marks are matched as providers write them, letter case included. Escape codes and the like are left alone: `clean` handles them where text
//! is shown.

mod cap;
mod marks;
mod named;
mod own;
mod pem;
mod privacy;
mod private;
mod run;
mod shape;
mod shown;
mod span;
mod structure;
mod value;

#[cfg(test)]
mod tests;

use crate::event::{Body, Event};
use marks::Marks;
use run::Runs;
use span::Span;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

pub use privacy::{Lists, Privacy};

/// How many of each kind were taken out: the provider's kind (`github-token`), the name's (`password`), `private`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    /// Adds those of others.
    pub fn merge(&mut self, others: &Self) {
        others.iter().for_each(|(kind, count)| self.add(kind, count));
    }

    /// Kinds and their numbers, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(kind, count)| (*kind, *count))
    }

    /// Number of things taken out, of whatever kind.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    fn add(&mut self, kind: &'static str, count: u64) {
        if count > 0 {
            *self.0.entry(kind).or_default() += count;
        }
    }
}

/// What may be set.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Longest text that is kept, in bytes; what is longer keeps head and tail.
    pub text_limit: usize,
    /// What the person wants taken out besides secrets.
    pub privacy: Privacy,
}

impl Default for Settings {
    /// 16 KiB: nine of ten tool results are shorter, and of the rest the ends tell what happened.
    fn default() -> Self {
        Self { text_limit: 16 * 1024, privacy: Privacy::default() }
    }
}

/// Takes secrets out of texts. Made once, as its tables are filled then; shareable between threads.
pub struct Redactor {
    settings: Settings,
    marks: Marks,
    /// Each mark and what to do where it was seen.
    rules: Vec<(&'static str, Rule)>,
}

/// What to do where a mark was seen.
#[derive(Clone, Copy)]
enum Rule {
    Prefix(&'static shape::Prefix),
    Infix(&'static shape::Infix),
    Named(&'static str),
    Jwt,
    Url,
    Bearer,
    Basic,
    Cookie,
    CommandLine,
    Begin,
    End,
}

const STRUCTURES: &[(&str, Rule)] = &[
    ("eyJ", Rule::Jwt),
    ("://", Rule::Url),
    ("Bearer ", Rule::Bearer),
    ("bearer ", Rule::Bearer),
    ("BEARER ", Rule::Bearer),
    ("Basic ", Rule::Basic),
    ("basic ", Rule::Basic),
    ("ookie", Rule::Cookie),
    ("COOKIE", Rule::Cookie),
    ("curl ", Rule::CommandLine),
    ("sshpass ", Rule::CommandLine),
    (pem::BEGIN, Rule::Begin),
    (pem::END, Rule::End),
];

/// After this many rounds a text is taken as it is. One round finds everything except what only a replacement lays
/// open, so a second one nearly always finds nothing.
const ROUNDS: usize = 8;

impl Redactor {
    /// Fills the tables.
    pub fn new(settings: &Settings) -> Self {
        let prefixes = shape::PREFIXES.iter().map(|row| (row.mark, Rule::Prefix(row)));
        let infixes = shape::INFIXES.iter().map(|row| (row.mark, Rule::Infix(row)));
        let structures = STRUCTURES.iter().copied();
        let names = named::WORDS
            .iter()
            .flat_map(|word| word.spellings.iter().map(|spelling| (*spelling, Rule::Named(word.kind))));
        let rules: Vec<_> = prefixes.chain(infixes).chain(structures).chain(names).collect();
        let marks: Vec<&'static str> = rules.iter().map(|(mark, _)| *mark).collect();
        Self { settings: settings.clone(), marks: Marks::new(&marks), rules }
    }

    /// Tells settings apart that take out other things; see [`Privacy::fingerprint`].
    pub fn fingerprint(&self) -> String {
        self.settings.privacy.fingerprint()
    }

    /// `text` without its secrets. Redacting what was redacted changes nothing.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_counted(text, &mut Counts::default())
    }

    /// [`Self::redact`], adding what was found to `counts`.
    pub fn redact_counted<'t>(&self, text: &'t str, counts: &mut Counts) -> Cow<'t, str> {
        self.redact_unless(text, &|_, _| false, counts)
    }

    /// The same, but what `stays` says of a text and a part of it stays.
    fn redact_unless<'t>(
        &self,
        text: &'t str,
        stays: &dyn Fn(&str, Range<usize>) -> bool,
        counts: &mut Counts,
    ) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for _ in 0..ROUNDS {
            let mut spans = self.spans(&text);
            spans.retain(|span| !stays(&text, span.start..span.end));
            if spans.is_empty() {
                break;
            }
            let mut kept = String::with_capacity(text.len());
            let mut from = 0;
            for Span { start, end, kind, .. } in spans {
                kept.push_str(&text[from..start]);
                kept.push_str("[redacted:");
                kept.push_str(kind);
                kept.push(']');
                counts.add(kind, 1);
                from = end;
            }
            kept.push_str(&text[from..]);
            text = Cow::Owned(kept);
        }
        text
    }

    /// A text that somebody wants kept: without private spans and secrets, otherwise whole.
    pub fn kept(&self, text: &str, counts: &mut Counts) -> String {
        let mut text = text.to_owned();
        self.keep_in_place(&mut text, false, counts);
        text
    }

    /// Makes an event fit to be kept: drops private spans, redacts secrets, shortens long texts, in all its texts.
    /// Session facts that the rest of the program looks things up by (id, cwd, branch) stay.
    pub fn prepare(&self, event: &mut Event, counts: &mut Counts) {
        each_text(&mut event.body, &mut |text, omitted| match omitted {
            Some(omitted) => *omitted += self.prepare_text(text, *omitted > 0, counts),
            None => {
                self.prepare_text(text, false, counts);
            }
        });
    }

    /// Takes out of an event that is stored what is to be taken out today. Nothing is shortened.
    pub fn review(&self, event: &mut Event, counts: &mut Counts) {
        each_text(&mut event.body, &mut |text, omitted| {
            self.keep_in_place(text, omitted.is_some_and(|omitted| *omitted > 0), counts);
        });
    }

    /// One text of an event; `cut`: its middle was already left out. Gives the bytes left out now.
    fn prepare_text(&self, text: &mut String, cut: bool, counts: &mut Counts) -> u64 {
        // Before shortening, so that no secret is cut in two; and after it, as head and tail are neighbours now.
        self.keep_in_place(text, cut, counts);
        let omitted = cap::cap(text, self.settings.text_limit);
        if omitted > 0 {
            self.redact_in_place(text, counts);
        }
        omitted
    }

    /// Drops private spans and redacts secrets; `cut`: the text's middle was left out.
    fn keep_in_place(&self, text: &mut String, cut: bool, counts: &mut Counts) {
        let mut dropped = 0;
        if let Cow::Owned(kept) = private::drop_spans(text, cut, &mut dropped) {
            *text = kept;
        }
        counts.add("private", dropped);
        self.redact_in_place(text, counts);
    }

    fn redact_in_place(&self, text: &mut String, counts: &mut Counts) {
        if let Cow::Owned(kept) = self.redact_counted(text, counts) {
            *text = kept;
        }
    }

    /// Everything in `text` that is to be replaced, in order and apart from each other.
    fn spans(&self, text: &str) -> Vec<Span> {
        let mut spans = Vec::new();
        let bytes = text.as_bytes();
        let mut runs = Runs::new();
        let mut blocks = pem::Blocks::default();
        let mut cookies_end = 0;
        self.marks.each(bytes, |id, start| {
            let (mark, rule) = self.rules[id];
            let end = start + mark.len();
            let found = match rule {
                Rule::Prefix(row) => row.find(bytes, start, &mut runs),
                Rule::Infix(row) => row.find(bytes, start, &mut runs),
                Rule::Named(kind) => named::find(bytes, start, end, kind, &mut runs),
                Rule::Jwt => structure::jwt(bytes, start, &mut runs),
                Rule::Url => structure::url(bytes, start),
                Rule::Bearer => structure::bearer(bytes, end, &mut runs),
                Rule::Basic => structure::basic(bytes, end, &mut runs),
                Rule::CommandLine => structure::command_line(bytes, end),
                Rule::Cookie => {
                    if end >= cookies_end {
                        cookies_end = structure::cookies(bytes, end, &mut spans).unwrap_or(cookies_end);
                    }
                    None
                }
                Rule::Begin => {
                    blocks.begin(bytes, start, &mut spans);
                    None
                }
                Rule::End => {
                    blocks.end(bytes, start, &mut spans);
                    None
                }
            };
            spans.extend(found);
        });
        blocks.cut_off(bytes, bytes.len(), &mut spans);
        if let Some(own) = &self.settings.privacy.own {
            own.spans(text, &mut spans);
        }
        span::join(&mut spans);
        spans
    }
}

/// Calls `each` with every text of an event, and, where its middle may be left out, with the bytes that were.
fn each_text(body: &mut Body, each: &mut dyn FnMut(&mut String, Option<&mut u64>)) {
    match body {
        Body::Message(message) => each(&mut message.text, Some(&mut message.omitted)),
        Body::ToolCall(call) => {
            each(&mut call.input, Some(&mut call.omitted));
            for text in call.paths.iter_mut().chain(&mut call.command) {
                each(text, None);
            }
            for edit in &mut call.edits {
                for text in [&mut edit.path, &mut edit.removed, &mut edit.added] {
                    each(text, None);
                }
            }
        }
        Body::ToolResult(result) => {
            each(&mut result.text, Some(&mut result.omitted));
            if let Some(words) = &mut result.words {
                each(words, None);
            }
        }
        Body::ApiError(error) => each(&mut error.text, None),
        Body::Session(session) => {
            if let Some(title) = &mut session.title {
                each(title, None);
            }
        }
        Body::Interrupt(_) | Body::Compaction(_) | Body::Rewind(_) | Body::Usage(_) => {}
    }
}
