//! What a tool is: a name, what it takes, what it answers, and how an answer or a refusal is told.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

use rmcp::{
    handler::server::common::{schema_for_input, schema_for_output},
    model::{self, CallToolResult, ContentBlock, JsonObject, ToolAnnotations},
    schemars::JsonSchema,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    desk::Desk,
    words::{DATA, line},
};
use crate::{
    chunk::ChunkError,
    clean::clean,
    config::ConfigError,
    memory::MemoryError,
    pattern::FindError,
    pause::PauseError,
    period::{PeriodError, UntilError},
    project::ProjectError,
    redact::{self, Redactor},
    search::{AskedError, ReferenceError, SearchError},
    store::StoreError,
};

/// A tool. The value is what it was asked for.
pub(super) trait Tool: DeserializeOwned + JsonSchema + 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    /// For the model: when to use it, and what it costs.
    const DESCRIPTION: &'static str;
    const EFFECT: Effect;
    /// Names that parameters had in the predecessor, and ours.
    const OTHER_NAMES: &'static [(&'static str, &'static str)] = &[];
    type Answer: Answer;

    fn run(self, desk: &Desk) -> Result<Self::Answer, Refusal>;
}

/// What a tool does to what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    Reads,
    /// It adds something; the same once more changes nothing.
    Adds,
    /// It takes something away.
    Removes,
}

impl Effect {
    fn annotations(self, title: &str) -> ToolAnnotations {
        let hints = ToolAnnotations::with_title(title).read_only(self == Self::Reads).open_world(false);
        if self == Self::Reads { hints } else { hints.destructive(self == Self::Removes).idempotent(true) }
    }
}

/// What a tool answers, for a program as it is, and for a model that is given text.
pub(super) trait Answer: Serialize + JsonSchema + Default + 'static {
    /// Whether there may be words of others in it.
    const QUOTES: bool = true;

    fn text(&self) -> String;

    /// What must not be overlooked: above all, what is left out.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }
}

/// An answer with what is said above it. Some clients give the model the one form, some the other, so it is said in both.
#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Whole<A> {
    /// What this is, what is left out of it, and what to do about that
    about: String,
    #[serde(flatten)]
    answer: A,
}

/// Why a tool does not answer.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Nothing is kept yet.
    Nothing,
    /// It could not; what happened, and what to do.
    Failed(String, Option<String>),
}

impl Refusal {
    pub(super) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Failed(what.into(), Some(hint.into()))
    }
}

macro_rules! refused {
    ($($error:ty => $hint:expr),+ $(,)?) => {
        $(impl From<$error> for Refusal {
            fn from(error: $error) -> Self {
                let hint: fn(&$error) -> Option<&'static str> = $hint;
                let hint = hint(&error).map(str::to_owned);
                Self::Failed(error.to_string(), hint)
            }
        })+
    };
}
refused! {
    ConfigError => |_| Some("Mend the file, or move it away to have every setting at its default."),
    PauseError => |error| Some(error.hint()),
    PeriodError => |_| None,
    UntilError => |_| None,
    ProjectError => |_| Some("Name a folder, or leave `project` empty."),
    ReferenceError => |_| Some("References stand in what `search`, `grep`, `timeline`, `recall` and `sessions` answer."),
    FindError => |_| Some("`patterns` lists them."),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Missing { .. } => Self::Nothing,
            error => Self::Failed(error.to_string(), error.hint().map(str::to_owned)),
        }
    }
}

impl From<MemoryError> for Refusal {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Store(error) => error.into(),
            MemoryError::Long(_) => Self::new(error.to_string(), "Use `chunk` for it, and remember one sentence."),
            MemoryError::Unknown(_) => Self::new(error.to_string(), "`recall` tells their ids."),
            error => Self::Failed(error.to_string(), None),
        }
    }
}

impl From<ChunkError> for Refusal {
    fn from(error: ChunkError) -> Self {
        match error {
            ChunkError::Store(error) => error.into(),
            ChunkError::Word(error) => error.into(),
            error => Self::Failed(error.to_string(), None),
        }
    }
}

impl From<SearchError> for Refusal {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Store(error) => error.into(),
            error => Self::Failed(error.to_string(), error.hint().map(str::to_owned)),
        }
    }
}

impl From<AskedError> for Refusal {
    fn from(error: AskedError) -> Self {
        match error {
            AskedError::Store(error) => error.into(),
            AskedError::Project(error) => error.into(),
            error => Self::Failed(error.to_string(), None),
        }
    }
}

/// A tool in the list of them.
pub(super) struct Entry {
    pub(super) tool: model::Tool,
    call: fn(&Desk, &Entry, JsonObject) -> CallToolResult,
    other_names: &'static [(&'static str, &'static str)],
}

impl Entry {
    pub(super) fn of<T: Tool>() -> Self {
        let takes = plain(&schema_for_input::<T>().unwrap_or_default());
        let mut tool = model::Tool::new(T::NAME, T::DESCRIPTION, takes)
            .with_title(T::TITLE)
            .with_annotations(T::EFFECT.annotations(T::TITLE));
        tool.output_schema = Some(plain(&schema_for_output::<Whole<T::Answer>>()).into());
        Self { tool, call: call::<T>, other_names: T::OTHER_NAMES }
    }

    pub(super) fn call(&self, desk: &Desk, arguments: JsonObject) -> CallToolResult {
        (self.call)(desk, self, arguments)
    }

    /// The arguments as the tool takes them: what is null is not given, and a number or a yes in quotes is one.
    fn fit(&self, arguments: JsonObject) -> Result<JsonObject, Refusal> {
        let none = JsonObject::new();
        let known = self.tool.input_schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let ours: BTreeMap<_, _> = self.other_names.iter().copied().collect();
        let mut fitting = JsonObject::new();
        for (name, value) in arguments {
            let name = ours.get(name.as_str()).map_or(name, |ours| (*ours).to_owned());
            let Some(property) = known.get(&name) else {
                let names = known.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                let what = if names.is_empty() { "it takes none".to_owned() } else { format!("it takes {names}") };
                return Err(Refusal::new(
                    format!("`{}` has no parameter `{}`", self.tool.name, line(&name)),
                    format!("As a tool, {what}."),
                ));
            };
            if !value.is_null() {
                fitting.insert(name, unquoted(value, property));
            }
        }
        Ok(fitting)
    }
}

/// A schema without formats that only Rust has (`uint32`): some clients complain of those they do not know.
fn plain(schema: &JsonObject) -> JsonObject {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(object) => {
                if object.get("type").is_some_and(|it| it != "string") {
                    object.remove("format");
                }
                object.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut schema = schema.clone();
    schema.values_mut().for_each(strip);
    schema
}

/// A number or a yes that was written in quotes, where one of these is wanted.
fn unquoted(value: Value, property: &Value) -> Value {
    let wanted = property.get("type").and_then(Value::as_str);
    let read = match (wanted, value.as_str()) {
        (Some("integer" | "number" | "boolean"), Some(text)) => serde_json::from_str(text.trim()).ok(),
        _ => None,
    };
    match (wanted, read.unwrap_or(value)) {
        // `5.0` is an integer to JSON Schema.
        (Some("integer"), Value::Number(number))
            if number.as_f64().is_some_and(|it| it.fract() == 0.0 && it.abs() < 9e15) =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "it has no fraction and is small enough")]
            let whole = number.as_i64().unwrap_or_else(|| number.as_f64().unwrap_or_default() as i64);
            Value::from(whole)
        }
        (_, value) => value,
    }
}

fn call<T: Tool>(desk: &Desk, entry: &Entry, arguments: JsonObject) -> CallToolResult {
    let told = entry.fit(arguments).and_then(|arguments| {
        let asked = read::<T>(&arguments).map_err(|error| {
            let name = culprit::<T>(&arguments, &error).map(|name| format!("`{name}`: ")).unwrap_or_default();
            Refusal::Failed(format!("the arguments do not fit `{}`: {name}{}", T::NAME, line(&error)), None)
        })?;
        match asked.run(desk) {
            Ok(answer) => told(desk, answer, Vec::new()),
            Err(Refusal::Nothing) => told(desk, T::Answer::default(), vec![nothing(desk)]),
            Err(refusal) => Err(refusal),
        }
    });
    told.unwrap_or_else(|refusal| {
        let (what, hint) = match refusal {
            Refusal::Nothing => (nothing(desk), None),
            Refusal::Failed(what, hint) => (what, hint),
        };
        let mut text = clean(&what).into_owned();
        if let Some(hint) = hint {
            let _ = write!(text, "\n{}", clean(&hint));
        }
        // Settings that cannot be read name nothing, and are what is refused then.
        let redactor = desk.redactor().unwrap_or_else(|_| Redactor::new(&redact::Settings::default()));
        CallToolResult::error(vec![ContentBlock::text(redactor.redact(&text).into_owned())])
    })
}

fn read<T: Tool>(arguments: &JsonObject) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments.clone())).map_err(|error| error.to_string())
}

/// The argument that does not fit, which the error does not name: the one without which there is another error, or none.
fn culprit<'a, T: Tool>(arguments: &'a JsonObject, error: &str) -> Option<&'a str> {
    arguments.keys().map(String::as_str).find(|name| {
        let mut others = arguments.clone();
        others.remove(*name);
        read::<T>(&others).err().as_deref() != Some(error)
    })
}

fn nothing(desk: &Desk) -> String {
    format!(
        "Nothing is kept yet: there is no store in {}. `remember` and `chunk` make one. What was said in earlier sessions is read by \
         `totalrecall reconcile && totalrecall worker` in a terminal.",
        desk.home.path().display()
    )
}

fn told<A: Answer>(desk: &Desk, answer: A, mut notices: Vec<String>) -> Result<CallToolResult, Refusal> {
    let is_empty = !notices.is_empty();
    let text = if is_empty { String::new() } else { answer.text() };
    notices.extend(answer.notices());
    if A::QUOTES && !is_empty {
        notices.push(DATA.to_owned());
    }
    let whole = Whole { about: notices.join(" "), answer };
    let mut value = serde_json::to_value(&whole)
        .map_err(|error| Refusal::Failed(format!("the answer could not be written: {error}"), None))?;
    let text =
        [whole.about.as_str(), text.as_str()].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n");
    // Cleaned first: what stands between its parts must not hide a secret.
    harmless(&mut value);
    let redactor = desk.redactor()?;
    redactor.shown(&mut value);
    let text = redactor.shown_text(&clean(text.trim_end()), &value);
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(value);
    Ok(result)
}

/// Takes control characters out of every text, wherever it stands.
fn harmless(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let std::borrow::Cow::Owned(clean) = clean(text) {
                *text = clean;
            }
        }
        Value::Array(list) => list.iter_mut().for_each(harmless),
        Value::Object(object) => object.values_mut().for_each(harmless),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// All of them, by name.
pub(super) fn all() -> Arc<[Entry]> {
    use super::{chunks, get, grep, insights, memories, retention, search, sessions, status};
    Arc::new([
        Entry::of::<memories::Remember>(),
        Entry::of::<memories::Recall>(),
        Entry::of::<memories::Forget>(),
        Entry::of::<memories::Done>(),
        Entry::of::<search::Search>(),
        Entry::of::<grep::GrepLines>(),
        Entry::of::<get::Get>(),
        Entry::of::<chunks::SaveChunk>(),
        Entry::of::<chunks::Peek>(),
        Entry::of::<chunks::ListChunks>(),
        Entry::of::<sessions::Sessions>(),
        Entry::of::<sessions::SessionDigest>(),
        Entry::of::<sessions::Timeline>(),
        Entry::of::<sessions::RelatedToFile>(),
        Entry::of::<sessions::Domains>(),
        Entry::of::<insights::Insights>(),
        Entry::of::<insights::Patterns>(),
        Entry::of::<insights::Proposals>(),
        Entry::of::<retention::RetentionPreview>(),
        Entry::of::<retention::RetentionRun>(),
        Entry::of::<retention::Restore>(),
        Entry::of::<status::Status>(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_schemas_of_objects_and_says_what_it_is_for() {
        for Entry { tool, .. } in &*all() {
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
            assert_eq!(tool.output_schema.as_ref().unwrap()["type"], "object", "{}", tool.name);
            assert!(tool.description.as_ref().unwrap().len() > 60, "{}", tool.name);
        }
    }

    #[test]
    fn what_models_write_otherwise_is_understood() {
        let tools = all();
        let forget = tools.iter().find(|it| it.tool.name == "forget").unwrap();
        let arguments = |value: Value| value.as_object().unwrap().clone();
        let fitting = forget.fit(arguments(serde_json::json!({ "insight_id": "1f3a77c2" }))).unwrap();
        assert_eq!(Value::Object(fitting), serde_json::json!({ "memory_id": "1f3a77c2" }));
        let recall = tools.iter().find(|it| it.tool.name == "recall").unwrap();
        let fitting =
            recall.fit(arguments(serde_json::json!({ "limit": "5", "query": null, "importance": "" }))).unwrap();
        assert_eq!(Value::Object(fitting), serde_json::json!({ "limit": 5, "importance": "" }));
        let fitting = recall.fit(arguments(serde_json::json!({ "limit": 7.0 }))).unwrap();
        assert_eq!(Value::Object(fitting), serde_json::json!({ "limit": 7 }));
        assert!(recall.fit(arguments(serde_json::json!({ "limits": 5 }))).is_err());
    }
}
