//! Languages: every text of a report comes from a file of `locales/`, one per language.
//!
//! To add a language, copy `locales/en.ftl`, translate it and name it in [`LANGUAGES`]; tests compare its messages and
//! their variables with the English ones.

use std::fmt;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

/// Languages by tag. The first has every text and stands in where another lacks one.
const LANGUAGES: &[(&str, &str)] =
    &[("en", include_str!("../locales/en.ftl")), ("zh", include_str!("../locales/zh.ftl"))];

/// The texts of one language.
pub struct Locale {
    language: &'static str,
    bundles: Vec<FluentBundle<FluentResource>>,
}

impl Default for Locale {
    /// English.
    fn default() -> Self {
        choose(None, None)
    }
}

impl fmt::Debug for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Locale").field(&self.language).finish()
    }
}

/// The language asked for, else the system's, else English. Tags are such as `zh`, `zh-CN`, `zh_CN.UTF-8`; one that is
/// unknown or malformed is passed over, and so are its region and script.
pub fn choose(requested: Option<&str>, system: Option<&str>) -> Locale {
    let known = |tag: &str| {
        let primary = tag.split(['-', '_', '.', '@']).next()?.trim().to_ascii_lowercase();
        LANGUAGES.iter().find(|(language, _)| *language == primary)
    };
    let chosen = requested.and_then(known).or_else(|| system.and_then(known)).unwrap_or(&LANGUAGES[0]);
    let mut bundles = vec![bundle(chosen)];
    if chosen.0 != LANGUAGES[0].0 {
        bundles.push(bundle(&LANGUAGES[0]));
    }
    Locale { language: chosen.0, bundles }
}

/// Tags of the languages there are.
pub fn languages() -> impl Iterator<Item = &'static str> {
    LANGUAGES.iter().map(|(language, _)| *language)
}

fn bundle((language, source): &(&'static str, &'static str)) -> FluentBundle<FluentResource> {
    let mut bundle = FluentBundle::new_concurrent(vec![language.parse::<LanguageIdentifier>().unwrap_or_default()]);
    // Marks around every value keep right-to-left values in place, but show up as rubbish in many terminals; values from
    // transcripts are cleaned of such marks anyway.
    bundle.set_use_isolating(false);
    // A broken message is left out (a test sees it), the others are good.
    let resource = match FluentResource::try_new((*source).to_owned()) {
        Ok(resource) | Err((resource, _)) => resource,
    };
    bundle.add_resource_overriding(resource);
    bundle
}

impl Locale {
    /// The language's tag.
    pub fn language(&self) -> &'static str {
        self.language
    }

    /// The text of `id`. A text that no language has is its id: it is found in the output, not in a crash.
    pub fn text(&self, id: &str) -> String {
        self.try_text(id, &[]).unwrap_or_else(|| id.to_owned())
    }

    /// The text of `id` with its variables.
    pub fn with(&self, id: &str, values: &[(&str, Value<'_>)]) -> String {
        self.try_text(id, values).unwrap_or_else(|| id.to_owned())
    }

    /// The text of `id`, or none if there is no such text: for names that come from analyzers.
    pub fn try_text(&self, id: &str, values: &[(&str, Value<'_>)]) -> Option<String> {
        let mut arguments = FluentArgs::with_capacity(values.len());
        for (name, value) in values {
            match value {
                Value::Text(text) => arguments.set(*name, FluentValue::from(*text)),
                Value::Number(number) => arguments.set(*name, FluentValue::from(*number)),
            }
        }
        self.bundles.iter().find_map(|bundle| {
            let pattern = bundle.get_message(id)?.value()?;
            let mut errors = Vec::new();
            let text = bundle.format_pattern(pattern, Some(&arguments), &mut errors);
            errors.is_empty().then(|| text.into_owned())
        })
    }
}

/// What a variable of a text stands for.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// Is put in as it is.
    Text(&'a str),
    /// Also decides between singular and plural.
    Number(u64),
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<usize> for Value<'_> {
    fn from(number: usize) -> Self {
        Self::Number(number as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// The variables of every message.
    fn messages(source: &str) -> BTreeMap<String, BTreeSet<String>> {
        assert!(FluentResource::try_new(source.to_owned()).is_ok(), "a message cannot be parsed");
        let mut messages: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut id = String::new();
        for line in source.lines().filter(|line| !line.starts_with('#')) {
            if let Some((name, _)) =
                line.split_once(" =").filter(|_| line.starts_with(|c: char| c.is_ascii_lowercase()))
            {
                id = name.to_owned();
                assert!(messages.insert(id.clone(), BTreeSet::new()).is_none(), "{id} is there twice");
            }
            for variable in line.split('$').skip(1) {
                let end = variable.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(variable.len());
                messages.entry(id.clone()).or_default().insert(variable[..end].to_owned());
            }
        }
        messages
    }

    #[test]
    fn every_language_has_the_same_messages_and_variables() {
        let english = messages(LANGUAGES[0].1);
        for (language, source) in LANGUAGES {
            assert_eq!(messages(source), english, "{language}");
        }
    }

    #[test]
    fn every_file_is_a_language() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/locales");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().trim_end_matches(".ftl").to_owned())
            .collect();
        assert_eq!(files, languages().map(str::to_owned).collect());
    }

    #[test]
    fn the_language_is_the_requested_one_then_the_systems_then_english() {
        for (requested, system, chosen) in [
            (None, None, "en"),
            (Some("zh"), Some("en_GB.UTF-8"), "zh"),
            (None, Some("zh_CN.UTF-8"), "zh"),
            (None, Some("zh-Hans-CN"), "zh"),
            (Some("ZH"), None, "zh"),
            (Some("tlh"), Some("zh"), "zh"),
            (Some(""), Some("C"), "en"),
        ] {
            assert_eq!(choose(requested, system).language(), chosen, "{requested:?} {system:?}");
        }
    }

    #[test]
    fn numbers_decide_the_plural_and_values_stay_bare() {
        let english = choose(Some("en"), None);
        assert_eq!(english.with("sessions", &[("count", 1_u32.into())]), "1 session");
        assert_eq!(english.with("sessions", &[("count", 2_u32.into())]), "2 sessions");
        assert_eq!(choose(Some("zh"), None).with("sessions", &[("count", 2_u32.into())]), "2 个会话");
    }

    #[test]
    fn a_text_that_is_missing_is_its_id() {
        assert_eq!(choose(Some("zh"), None).text("no-such-text"), "no-such-text");
        assert_eq!(Locale::default().try_text("kind-of-a-stranger", &[]), None);
    }
}
