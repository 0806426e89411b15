//! How answers say things: times, numbers, texts that are too long, and what stands above the words of others.

use std::fmt;

use rmcp::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use crate::digest::short;

pub(super) use crate::passage::DATA;

/// Most characters of texts in one answer. Clients cut what is longer without saying where, or keep it from the model.
pub(super) const ROOM: usize = 24_000;

/// What is left of that, in characters. Every answer that may be long begins with one.
#[derive(Debug)]
pub(super) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(ROOM)
    }
}

impl Room {
    /// Takes room for what is said in any case.
    pub(super) fn spend(&mut self, text: &str) {
        self.0 = self.0.saturating_sub(text.chars().count());
    }

    /// A part of a text from a character on, as much as there is room for; see [`part`].
    pub(super) fn part<'t>(&mut self, text: &'t str, from: usize) -> (&'t str, Option<usize>) {
        let (shown, next) = part(text, from, self.0);
        self.0 -= shown.chars().count();
        (shown, next)
    }

    /// The first of a list, at most so many, as far as there is room for what is said of each.
    pub(super) fn first<T>(
        &mut self,
        list: impl IntoIterator<Item = T>,
        most: usize,
        text: impl Fn(&T) -> String,
    ) -> Vec<T> {
        let mut fits = |item: &T| match self.0.checked_sub(text(item).chars().count()) {
            Some(left) => {
                self.0 = left;
                true
            }
            None => false,
        };
        list.into_iter().take(most).take_while(|item| fits(item)).collect()
    }
}

/// How many of a list are shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// As many were asked for.
    pub(super) asked: u32,
    /// More are never shown.
    pub(super) most: u32,
}

impl Limit {
    pub(super) fn count(self) -> usize {
        self.asked.clamp(1, self.most) as usize
    }

    /// What is said of a list that is not all there is, with what would show the rest; none: it is.
    pub(super) fn cut(self, room: &Room, shown: usize, total: u64, what: &str) -> Option<String> {
        let used = (ROOM - room.0) as u64;
        let how = if shown < self.count() {
            "an answer has no room for more, narrower filters show others".to_owned()
        } else if total > u64::from(self.most) {
            format!("limit {} is the highest, narrower filters show others", self.most)
        } else if used * total > ROOM as u64 * shown as u64 {
            "a higher limit shows more, narrower filters show others".to_owned()
        } else {
            format!("limit {total} shows all")
        };
        cut(shown, total, what, &how)
    }
}

/// A time, to the minute, in UTC: `2026-11-30T13:20Z`.
pub(super) fn when(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds)
        .map_or_else(|_| "?".to_owned(), |time| time.strftime("%Y-%m-%dT%H:%MZ").to_string())
}

/// `1 session`, `2 sessions`.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// What is said of a list that is not all there is; none: it is.
pub(super) fn cut(shown: usize, total: u64, what: &str, how: &str) -> Option<String> {
    (total > shown as u64).then(|| format!("Only {shown} of {total} {what} are shown: {how}."))
}

/// A text of others on one line.
pub(super) fn line(text: &str) -> String {
    short(text, 240)
}

/// A part of a text, in whole characters: at most so many from one on, and the one that the rest begins with, if there is one.
pub(super) fn part(text: &str, from: usize, most: usize) -> (&str, Option<usize>) {
    let at = |number: usize| text.char_indices().nth(number).map_or(text.len(), |(at, _)| at);
    let (start, end) = (at(from), at(from.saturating_add(most)));
    (&text[start..end], (end < text.len()).then(|| from + most))
}

/// Words in a row, or a list of them: models write either.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words(pub(super) Vec<String>);

impl Words {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "words separated by commas, or a list of words")]
        enum Either {
            Row(String),
            List(Vec<String>),
        }
        let list = match Either::deserialize(deserializer)? {
            Either::Row(row) => row.split(',').map(str::to_owned).collect(),
            Either::List(list) => list,
        };
        Ok(Self(list.iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()))
    }
}

impl JsonSchema for Words {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Words".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
    }
}

/// A value of a list, empty if it was not given.
#[derive(Clone, Copy, Default)]
pub(super) struct OneOf<T>(pub(super) Option<T>);

impl<T: fmt::Debug> fmt::Debug for OneOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de, T: clap::ValueEnum> Deserialize<'de> for OneOf<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        if word.trim().is_empty() {
            return Ok(Self(None));
        }
        let known = || names::<T>().join(", ");
        T::from_str(word.trim(), true)
            .map(|value| Self(Some(value)))
            .map_err(|_| serde::de::Error::custom(format!("`{}` is none of: {}", line(&word), known())))
    }
}

impl<T: clap::ValueEnum + 'static> JsonSchema for OneOf<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        std::any::type_name::<T>().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut names = names::<T>();
        names.push(String::new());
        json_schema!({ "type": "string", "enum": names })
    }
}

fn names<T: clap::ValueEnum>() -> Vec<String> {
    T::value_variants()
        .iter()
        .filter_map(|value| value.to_possible_value())
        .map(|value| value.get_name().to_owned())
        .collect()
}

/// A number that is taken where none is given.
pub(super) fn number<const NUMBER: u32>() -> u32 {
    NUMBER
}

/// So for yes and no.
pub(super) fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn parts_are_the_text(text in "\\PC{0,60}", most in 1..20_usize) {
            let (mut whole, mut from) = (String::new(), Some(0));
            while let Some(start) = from {
                let (piece, next) = part(&text, start, most);
                whole.push_str(piece);
                from = next;
            }
            proptest::prop_assert_eq!(whole, text);
        }
    }

    #[test]
    fn words_are_a_row_or_a_list() {
        let read = |text| serde_json::from_str::<Words>(text).unwrap().0;
        assert_eq!(read(r#""a, b ,,c""#), ["a", "b", "c"]);
        assert_eq!(read(r#"["a, b", " ", "c"]"#), ["a, b", "c"]);
        assert!(serde_json::from_str::<Words>("5").is_err());
    }

    #[test]
    fn what_is_said_of_the_rest_of_a_list_is_so() {
        let told = |asked, total: u64, length: usize| {
            let mut room = Room::default();
            let limit = Limit { asked, most: 50 };
            let all = (0..total).map(|_| "x".repeat(length));
            let shown = room.first(all, limit.count(), String::clone);
            assert!(shown.iter().map(String::len).sum::<usize>() <= ROOM);
            (shown.len(), limit.cut(&room, shown.len(), total, "lines"))
        };
        let said = |text: &str| Some(text.to_owned());
        assert_eq!(told(10, 10, 100), (10, None));
        assert_eq!(told(0, 1, 100), (1, None));
        assert_eq!(told(10, 34, 100), (10, said("Only 10 of 34 lines are shown: limit 34 shows all.")));
        assert_eq!(
            told(90, 70, 100),
            (50, said("Only 50 of 70 lines are shown: limit 50 is the highest, narrower filters show others."))
        );
        assert_eq!(
            told(10, 34, 2_000),
            (10, said("Only 10 of 34 lines are shown: a higher limit shows more, narrower filters show others."))
        );
        assert_eq!(
            told(34, 34, 2_000),
            (12, said("Only 12 of 34 lines are shown: an answer has no room for more, narrower filters show others."))
        );
    }

    #[test]
    fn what_is_cut_is_said() {
        assert_eq!(
            cut(10, 34, "memories", "limit 34 shows all").unwrap(),
            "Only 10 of 34 memories are shown: limit 34 shows all."
        );
        assert_eq!(cut(10, 10, "memories", ""), None);
    }
}
