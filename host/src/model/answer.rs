//! What a program left, read as an answer or as a failure. Nothing of it is believed but what is in the form it must have.

use serde_json::{Map, Value};

use super::Kind;
use crate::child::{Ended, Output};

/// Exit code by which a program says: later (`EX_TEMPFAIL` of sysexits).
const EXIT_LATER: i32 = 75;
/// Exit code by which a program says: not allowed (`EX_NOPERM`).
const EXIT_NOT_ALLOWED: i32 = 77;
/// Lines of complaints that tell why a program failed. What stands before may be anything: some print the question.
const TELLING_LINES: usize = 3;

/// What was made of it.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The object, or how it failed, with the program's words.
    pub(super) answer: Option<Result<Value, (Kind, String)>>,
    pub(super) model: Option<String>,
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) cost_usd: Option<f64>,
}

/// Where an answer may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// In the envelope of `claude --output-format json --json-schema`, and nowhere else.
    Claude,
    /// Bare, in an envelope, or in the last fenced block.
    Any,
}

/// Reads it.
pub(super) fn read(output: &Output, form: Form) -> Said {
    let text = String::from_utf8_lossy(&output.stdout);
    let object = object_in(&text, form);
    let envelope = object.as_ref().filter(|object| form == Form::Claude || is_envelope(object));
    let mut said = envelope.map(costs).unwrap_or_default();
    said.answer = Some(match failure(output, &text, envelope) {
        Some(failure) => Err(failure),
        None => match object {
            Some(mut object) if form == Form::Claude || is_envelope(&object) => inside(&mut object, form),
            Some(object) => Ok(Value::Object(object)),
            None => Err((Kind::Garbage, format!("what it said holds no JSON object: {}", first_words(&text)))),
        },
    });
    said
}

/// How the program, or the envelope, says that it failed.
fn failure(output: &Output, text: &str, envelope: Option<&Map<String, Value>>) -> Option<(Kind, String)> {
    let status = match &output.ended {
        Ended::TimedOut => return Some((Kind::Timeout, "it took too long and was stopped".to_owned())),
        Ended::Stopped => return Some((Kind::Interrupted, "it was interrupted".to_owned())),
        Ended::TooMuch => return Some((Kind::TooMuch, "it wrote more than any answer has and was stopped".to_owned())),
        Ended::Exited(status) => status,
    };
    if let Some(envelope) = envelope {
        let subtype = envelope.get("subtype").and_then(Value::as_str).unwrap_or("success");
        let is_error = envelope.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        if is_error || subtype != "success" || !status.success() {
            return Some(reported(envelope, subtype));
        }
        return None;
    }
    let complaints = complaints(&output.stderr);
    if let Some(code) = status.code().filter(|code| *code != 0) {
        // Some say on standard output why they fail.
        let words = if complaints.is_empty() { first_words(text) } else { complaints };
        let kind = match code {
            EXIT_LATER => Kind::RateLimited,
            EXIT_NOT_ALLOWED => Kind::Auth,
            _ => Kind::of_message(&words).unwrap_or(Kind::Exit),
        };
        return Some((kind, format!("it ended with exit code {code}: {words}")));
    }
    if !status.success() {
        return Some((Kind::Signal, format!("it was ended by {status}")));
    }
    match text.trim() {
        "" => Some((Kind::Empty, "it said nothing".to_owned())),
        // What Claude Code says, with exit code 0, when something has sent it an interrupt.
        "Execution error" => Some((Kind::Interrupted, "it was interrupted".to_owned())),
        said if said.len() < 400 && Kind::of_message(said) == Some(Kind::Auth) => Some((Kind::Auth, said.to_owned())),
        _ => None,
    }
}

/// A failure that an envelope tells of. Claude Code puts errors of the API under `subtype: success`.
fn reported(envelope: &Map<String, Value>, subtype: &str) -> (Kind, String) {
    let text = |key: &str| envelope.get(key).and_then(Value::as_str);
    let errors = envelope.get("errors").and_then(Value::as_array).and_then(|errors| errors.first()?.as_str());
    let words = first_words(text("result").or(errors).unwrap_or(subtype));
    let kind = match subtype {
        "error_max_budget_usd" => Kind::Budget,
        "error_max_turns" => Kind::MaxTurns,
        "error_max_structured_output_retries" => Kind::NoAnswer,
        _ => {
            let status = envelope.get("api_error_status").and_then(Value::as_u64);
            status.and_then(Kind::of_status).or_else(|| Kind::of_message(&words)).unwrap_or(Kind::Error)
        }
    };
    (kind, words)
}

/// The answer in an envelope.
fn inside(envelope: &mut Map<String, Value>, form: Form) -> Result<Value, (Kind, String)> {
    if let Some(value @ Value::Object(_)) = envelope.remove("structured_output") {
        return Ok(value);
    }
    let found = match envelope.get("result") {
        Some(Value::Object(object)) => Some(object.clone()),
        Some(Value::String(text)) => object_in(text, Form::Any),
        _ => None,
    };
    match found {
        // Claude Code has checked only what it puts into `structured_output`.
        Some(object) if form == Form::Any => Ok(Value::Object(object)),
        _ => Err((Kind::NoAnswer, "the model did not answer in the form that was asked for".to_owned())),
    }
}

/// What tells an envelope from an answer.
fn is_envelope(object: &Map<String, Value>) -> bool {
    let has = |key: &str| object.contains_key(key);
    has("structured_output") || (has("result") && (has("is_error") || has("usage") || has("total_cost_usd")))
}

/// The object that a text is or ends with.
fn object_in(text: &str, form: Form) -> Option<Map<String, Value>> {
    let text = text.trim().trim_start_matches('\u{feff}');
    let last_line = || text.lines().next_back().and_then(object);
    match form {
        Form::Claude => {
            object(text).or_else(last_line).filter(|it| it.contains_key("result") || it.contains_key("type"))
        }
        Form::Any => object(text).or_else(|| fenced(text)).or_else(last_line),
    }
}

fn object(text: &str) -> Option<Map<String, Value>> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    }
}

/// The object in the last fenced block that holds one.
fn fenced(text: &str) -> Option<Map<String, Value>> {
    let mut blocks: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        match (line.trim_start().starts_with("```"), open) {
            (true, false) => {
                blocks.push(String::new());
                open = true;
            }
            (true, true) => open = false,
            (false, true) => {
                if let Some(block) = blocks.last_mut() {
                    block.push_str(line);
                    block.push('\n');
                }
            }
            (false, false) => {}
        }
    }
    blocks.iter().rev().find_map(|block| object(block))
}

/// What an envelope says of model, tokens and cost. Numbers that cannot be are left out.
fn costs(envelope: &Map<String, Value>) -> Said {
    let usage = envelope.get("usage");
    let tokens = |names: &[&str]| {
        let counts = names.iter().filter_map(|name| usage?.get(name)?.as_u64());
        counts.fold(None, |sum: Option<u64>, count| Some(sum.unwrap_or(0).saturating_add(count)))
    };
    let cost = envelope.get("total_cost_usd").and_then(Value::as_f64);
    Said {
        answer: None,
        model: model(envelope),
        input_tokens: tokens(&["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]),
        output_tokens: tokens(&["output_tokens"]),
        cost_usd: cost.filter(|cost| (0.0..1e6).contains(cost)),
    }
}

/// The model that cost most: Claude Code may use a small one for chores.
fn model(envelope: &Map<String, Value>) -> Option<String> {
    let cost = |entry: &Value| entry.get("costUSD").and_then(Value::as_f64).unwrap_or(0.0);
    let used = envelope.get("modelUsage").and_then(Value::as_object);
    let most = used.and_then(|used| used.iter().max_by(|(_, a), (_, b)| cost(a).total_cmp(&cost(b))));
    most.map(|(name, _)| name.as_str())
        .or_else(|| envelope.get("model").and_then(Value::as_str))
        .filter(|name| !name.is_empty() && name.len() <= 100 && !name.contains(char::is_control))
        .map(str::to_owned)
}

/// The last lines of what it complained about.
fn complaints(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let mut lines: Vec<&str> = text.lines().rev().filter(|line| !line.trim().is_empty()).take(TELLING_LINES).collect();
    lines.reverse();
    lines.join(" ")
}

fn first_words(text: &str) -> String {
    text.trim().chars().take(300).collect()
}
