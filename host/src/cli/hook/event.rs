//! What we read of a client's event.

use std::{fmt, path::PathBuf};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// Claude Code 1.0.85 and newer write the first two.
#[derive(Debug, Deserialize)]
pub(super) struct ClientEvent {
    pub(super) hook_event_name: Option<String>,
    pub(super) transcript_path: Option<PathBuf>,
    pub(super) session_id: Option<String>,
    pub(super) cwd: Option<PathBuf>,
    /// Of `SessionStart`.
    pub(super) source: Option<String>,
    /// Of `PreCompact`: `manual` or `auto`.
    pub(super) trigger: Option<String>,
    /// Of `UserPromptSubmit`.
    #[serde(default)]
    pub(super) prompt: Text,
    /// Of `PreToolUse`.
    pub(super) tool_name: Option<String>,
    #[serde(default)]
    pub(super) tool_input: ToolInput,
    /// The sub-agent in which it happens.
    pub(super) agent_id: Option<String>,
    /// Of `UserPromptExpansion`.
    pub(super) expansion_type: Option<String>,
    pub(super) command_name: Option<String>,
    pub(super) command_args: Option<String>,
}

/// A text; none: it is something else. What tools and prompts look like is theirs, and no reason to miss an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text(pub(super) Option<String>);

/// What a tool is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ToolInput {
    pub(super) file_path: Text,
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any).map(|any| any.text)
    }
}

impl<'de> Deserialize<'de> for ToolInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any).map(|any| Self { file_path: any.file_path })
    }
}

/// Takes whatever there is.
struct Any;

#[derive(Default)]
struct Taken {
    text: Text,
    file_path: Text,
}

impl<'de> Visitor<'de> for Any {
    type Value = Taken;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_str<E>(self, text: &str) -> Result<Taken, E> {
        Ok(Taken { text: Text(Some(text.to_owned())), ..Taken::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Taken, A::Error> {
        let mut taken = Taken::default();
        while let Some(name) = members.next_key::<String>()? {
            if name == "file_path" {
                taken.file_path = members.next_value()?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(taken)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Taken, A::Error> {
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Taken::default())
    }

    fn visit_unit<E>(self) -> Result<Taken, E> {
        Ok(Taken::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Taken, E> {
        Ok(Taken::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Taken, E> {
        Ok(Taken::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Taken, E> {
        Ok(Taken::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Taken, E> {
        Ok(Taken::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_another_form_is_no_reason_to_miss_an_event() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        for (input, prompt, file) in [
            (r#"{"prompt":"x","tool_input":{"a":[{}],"file_path":"/y","b":1}}"#.to_owned(), Some("x"), Some("/y")),
            (r#"{"prompt":[{"text":"x"}],"tool_input":"/y"}"#.to_owned(), None, None),
            (r#"{"prompt":null,"tool_input":null}"#.to_owned(), None, None),
            (r#"{"prompt":1.5,"tool_input":{"file_path":-7}}"#.to_owned(), None, None),
            (r#"{"prompt":{"file_path":"/y"},"tool_input":true}"#.to_owned(), None, None),
            (format!(r#"{{"prompt":{deep},"tool_input":{{"file_path":{deep}}}}}"#), None, None),
            (format!(r#"{{"tool_input":{deep}}}"#), None, None),
            ("{}".to_owned(), None, None),
        ] {
            let event: ClientEvent =
                serde_json::from_str(&input).unwrap_or_else(|error| panic!("{error}: {input:.80}"));
            assert_eq!(
                (event.prompt.0.as_deref(), event.tool_input.file_path.0.as_deref()),
                (prompt, file),
                "{input:.80}"
            );
        }
    }
}
