//! Which runs of three characters a text has, to pass over texts that cannot match an expression (Cox 2012, "Regular
//! Expression Matching with a Trigram Index"). Instead of lists there is a Bloom filter of one hash for each run of texts: it is
//! small, it is written once, and nothing has to be looked up in it that was removed.
//!
//! Letter case does not count here, so that one filter serves both ways of asking. A filter may say yes where the answer is no,
//! never the other way round.

use regex_syntax::{
    ParserBuilder,
    hir::{Class, Hir, HirKind},
};

/// Bits of a trigram's hash: the largest filter has one for each value, and a smaller one goes by the upper ones.
const BITS: u32 = 18;
/// Bits of a filter for each trigram that occurs: a fifth of them are set then. The larger ones take more room than they save.
const BITS_EACH: usize = 4;
/// The smallest filter, in bits.
const LEAST: usize = 512;

/// The character that stands for all that differ from it in case only. What is taken together here only makes a filter say yes more
/// often; nothing is missed by it.
fn fold(c: char) -> char {
    match c {
        'A'..='Z' => c.to_ascii_lowercase(),
        '\0'..='\x7f' => c,
        // What an expression takes for a `k` and an `s` where case does not count.
        '\u{212a}' => 'k',
        '\u{17f}' => 's',
        _ => {
            let mut lower = c.to_lowercase();
            lower.next().filter(|_| lower.next().is_none()).unwrap_or(c)
        }
    }
}

/// Three characters that follow each other, hashed.
#[derive(Clone, Copy)]
struct Window {
    last: u32,
    before: u32,
    /// How many characters it has seen, up to three.
    seen: u8,
}

impl Window {
    const EMPTY: Self = Self { last: 0, before: 0, seen: 0 };

    /// Moves on by a character. None: there are no three yet.
    fn push(&mut self, c: char) -> Option<usize> {
        let c = u32::from(fold(c));
        // Characters have 21 bits, so three of them fit.
        let three = u64::from(self.before) << 42 | u64::from(self.last) << 21 | u64::from(c);
        (self.before, self.last) = (self.last, c);
        self.seen = (self.seen + 1).min(3);
        (self.seen == 3).then_some((three.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS)) as usize)
    }
}

/// Collects the trigrams of texts.
pub(crate) struct Trigrams(Box<[u64; 1 << (BITS - 6)]>);

impl Trigrams {
    pub(crate) fn new() -> Self {
        Self(Box::new([0; 1 << (BITS - 6)]))
    }

    /// Adds those of a text. Between two texts there are none.
    pub(crate) fn add(&mut self, text: &str) {
        let mut window = Window::EMPTY;
        for c in text.chars() {
            if let Some(hash) = window.push(c) {
                self.0[hash / 64] |= 1 << (hash % 64);
            }
        }
    }

    /// The filter of what was added, which is forgotten. Its size is a power of two.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let count: usize = self.0.iter().map(|word| word.count_ones() as usize).sum();
        let bits = (count * BITS_EACH).next_power_of_two().clamp(LEAST, 1 << BITS);
        let shift = BITS - bits.ilog2();
        let mut filter = vec![0; bits / 8];
        for (number, word) in self.0.iter_mut().enumerate() {
            let mut rest = std::mem::take(word);
            while rest != 0 {
                let bit = (number * 64 + rest.trailing_zeros() as usize) >> shift;
                filter[bit / 8] |= 1 << (bit % 8);
                rest &= rest - 1;
            }
        }
        filter
    }
}

/// What a text must have to match an expression.
#[derive(Debug, PartialEq)]
pub(crate) enum Needs {
    /// A trigram, by its hash.
    Trigram(usize),
    /// All of these; none at all is nothing.
    All(Vec<Needs>),
    /// One of these.
    One(Vec<Needs>),
}

impl Needs {
    /// Every text may match.
    pub(crate) const NOTHING: Self = Self::All(Vec::new());

    /// What a text must have to match `pattern`; nothing, if that is no expression or matches texts that have nothing in
    /// common.
    pub(crate) fn of(pattern: &str, case: bool) -> Self {
        let mut parser = ParserBuilder::new();
        let parsed = parser.utf8(false).multi_line(true).crlf(true).case_insensitive(!case).build().parse(pattern);
        let mut run = Run { window: Window::EMPTY, needs: Vec::new() };
        if let Ok(hir) = parsed {
            run.take(&hir);
        }
        Self::All(run.needs)
    }

    /// Whether it asks for nothing, so that every text may match.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Self::All(needs) if needs.is_empty())
    }

    /// May texts with this filter match? One that is no filter says nothing about them.
    pub(crate) fn may_be_in(&self, filter: &[u8]) -> bool {
        match self {
            Self::Trigram(hash) => {
                let bits = filter.len() * 8;
                if !bits.is_power_of_two() || bits.ilog2() > BITS {
                    return true;
                }
                let bit = hash >> (BITS - bits.ilog2());
                filter[bit / 8] >> (bit % 8) & 1 == 1
            }
            Self::All(needs) => needs.iter().all(|needs| needs.may_be_in(filter)),
            Self::One(needs) => needs.iter().any(|needs| needs.may_be_in(filter)),
        }
    }
}

/// A walk along an expression: the characters that are sure to follow each other, and what was needed so far.
struct Run {
    window: Window,
    needs: Vec<Needs>,
}

impl Run {
    fn take(&mut self, hir: &Hir) {
        match hir.kind() {
            // They take no character, so what stands around them stands side by side.
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => text.chars().for_each(|c| self.push(c)),
                Err(_) => self.end(),
            },
            HirKind::Class(class) => match only(class) {
                Some(c) => self.push(c),
                None => self.end(),
            },
            HirKind::Repetition(repetition) => {
                self.end();
                if repetition.min > 0 {
                    self.take(&repetition.sub);
                    self.end();
                }
            }
            HirKind::Capture(capture) => self.take(&capture.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.take(part)),
            HirKind::Alternation(ways) => {
                self.end();
                let ways = ways.iter().map(|way| {
                    let mut run = Self { window: Window::EMPTY, needs: Vec::new() };
                    run.take(way);
                    Needs::All(run.needs)
                });
                let ways: Vec<_> = ways.collect();
                if !ways.iter().any(Needs::is_nothing) {
                    self.needs.push(Needs::One(ways));
                }
            }
        }
    }

    fn push(&mut self, c: char) {
        self.needs.extend(self.window.push(c).map(Needs::Trigram));
    }

    /// What follows does not follow at once.
    fn end(&mut self) {
        self.window = Window::EMPTY;
    }
}

/// The character that all of a class fold to, where there is one.
fn only(class: &Class) -> Option<char> {
    /// Letters differ in case from a few others at most.
    const MOST: usize = 8;
    let Class::Unicode(class) = class else { return only_byte(class) };
    let mut chars = class.iter().flat_map(|range| range.start()..=range.end()).take(MOST + 1).map(fold);
    let first = chars.next()?;
    let others = chars.collect::<Vec<_>>();
    (others.len() < MOST && others.iter().all(|c| *c == first)).then_some(first)
}

fn only_byte(class: &Class) -> Option<char> {
    let Class::Bytes(class) = class else { return None };
    let mut bytes = class.iter().flat_map(|range| range.start()..=range.end());
    let first = fold(bytes.next().filter(u8::is_ascii)?.into());
    bytes.take(3).all(|byte| byte.is_ascii() && fold(byte.into()) == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::bytes::RegexBuilder;

    use super::*;

    fn filter(texts: &[&str]) -> Vec<u8> {
        let mut trigrams = Trigrams::new();
        texts.iter().for_each(|text| trigrams.add(text));
        trigrams.take()
    }

    fn may(pattern: &str, text: &str) -> bool {
        Needs::of(pattern, false).may_be_in(&filter(&[text]))
    }

    #[test]
    fn texts_that_cannot_match_are_passed_over() {
        let text = "thread 'main' panicked at src/lib.rs:7";
        for pattern in [
            "panicked at",
            "PANICKED",
            "(main|other).*lib\\.rs",
            "pan[i]cked",
            "\\bthread\\b",
            "(?:src/){1,3}lib",
            "x?src/",
        ] {
            assert!(may(pattern, text), "{pattern}");
        }
        for pattern in
            ["panicking", "(name|other).*lib\\.rs", "lib\\.py", "sources?/", "(?:abc){2}", "thread.{1,3}maid"]
        {
            assert!(!may(pattern, text), "{pattern}");
        }
    }

    #[test]
    fn what_has_nothing_to_go_by_asks_for_nothing() {
        for pattern in ["", "ab", "a.c", "[a-z]{3}", "(abc)?", "abc|x", "^$", "(", "(?-u)\\xff\\xfe\\xfd"] {
            assert!(Needs::of(pattern, true).is_nothing(), "{pattern}: {:?}", Needs::of(pattern, true));
        }
    }

    #[test]
    fn nothing_runs_from_one_text_into_the_next() {
        let needs = Needs::of("abc", true);
        assert!(!needs.may_be_in(&filter(&["ab", "c"])) && needs.may_be_in(&filter(&["xabcx"])));
        assert!(needs.may_be_in(&[1, 2, 3]) && needs.may_be_in(&[]), "no filter says nothing");
    }

    /// What a page of text needs, and how often a filter of it is wrong about words that are not in it.
    #[test]
    fn a_filter_is_small_and_mostly_right() {
        let mut random = fastrand::Rng::with_seed(7);
        let word = |random: &mut fastrand::Rng| (0..8).map(|_| random.lowercase()).collect::<String>();
        let known: Vec<String> = (0..1_000).map(|_| word(&mut random)).collect();
        let text: String = (0..8_000).map(|_| random.choice(&known).unwrap().clone() + " ").collect();
        let filter = filter(&[&text]);
        assert!(filter.len() * 8 <= text.len(), "{} bytes for {}", filter.len(), text.len());
        let absent: Vec<String> = (0..1_000).map(|_| word(&mut random)).filter(|word| !text.contains(word)).collect();
        let wrong = absent.iter().filter(|word| Needs::of(word, true).may_be_in(&filter)).count();
        assert!(wrong < 100, "{wrong} of {}", absent.len());
    }

    proptest! {
        /// Whatever matches is let through: of any expression, in any case, in any script.
        #[test]
        fn what_matches_is_never_passed_over(
            pattern in "(\\PC|[a-cA-Ck\\u{212a}sS\\u{17f}ßÄä().|?*+{}1]|\\\\b|\\(\\?i\\)|[a-b]{3}){1,12}",
            case in any::<bool>(),
            text in "([a-cA-Ck\\u{212a}sS\\u{17f}ßÄä ]|\\PC){0,40}",
        ) {
            let regex = RegexBuilder::new(&pattern).multi_line(true).crlf(true).case_insensitive(!case).size_limit(1 << 20).build();
            if let Ok(regex) = regex && regex.is_match(text.as_bytes()) {
                prop_assert!(Needs::of(&pattern, case).may_be_in(&filter(&[&text])));
            }
        }

        #[test]
        fn a_part_of_a_text_is_found_in_it(text in "\\PC{3,60}", from in any::<prop::sample::Index>(), length in 3..20_usize) {
            let chars: Vec<char> = text.chars().collect();
            let part: String = chars[from.index(chars.len())..].iter().take(length).collect();
            prop_assert!(Needs::of(&regex::escape(&part), false).may_be_in(&filter(&[&text])));
            prop_assert!(Needs::of(&regex::escape(&part), true).may_be_in(&filter(&[&text])));
        }
    }
}
