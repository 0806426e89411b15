//! What a model is asked about a session: instructions, the form of the answer, and the session quoted as data.
//!
//! The input is one JSON document with a record a line. A JSON string cannot be broken out of, and the instructions say that
//! nothing inside is one.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Category, Form,
    window::{Excerpt, line_tokens},
};
use crate::{
    insights::clean,
    model::{prompt_hash, tokens},
    pattern::{Anchor, Pattern},
    redact::Redactor,
};

/// What the model shall do.
pub const INSTRUCTIONS: &str = include_str!("../../prompts/findings.md");

/// Sorts of friction that a model is asked for. Rework and the service are counted without one.
pub const CATEGORIES: [Category; 6] = [
    Category::MisunderstoodIntent,
    Category::RepeatedCorrection,
    Category::ClarificationGap,
    Category::RuleViolation,
    Category::ToolError,
    Category::Frustration,
];

/// Most findings of one session: what is beyond is no friction that someone remembers.
const MOST: usize = 12;

/// Part of the input, in percent, that known patterns may take at most.
const CATALOGUE_SHARE: u32 = 25;

/// Characters of a known pattern's subject and description.
const SUBJECT: usize = 100;
const DESCRIPTION: usize = 160;

/// Tokens for the frame of the document and for estimates that are a little off.
const SLACK: u32 = 200;

/// JSON Schema of the answer.
pub fn schema() -> Value {
    let forms: Vec<Value> = Form::ALL.iter().map(|form| form.name().into()).chain([Value::Null]).collect();
    let text = |most: usize| json!({ "type": "string", "maxLength": most });
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["findings"],
        "properties": { "findings": {
            "type": "array",
            "maxItems": MOST,
            "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["category", "form", "subject", "description", "severity", "references", "pattern", "hint"],
                "properties": {
                    "category": { "type": "string", "enum": CATEGORIES.map(Category::name) },
                    "form": { "type": ["string", "null"], "enum": forms },
                    "subject": text(120),
                    "description": text(400),
                    "severity": { "type": "integer", "minimum": 1, "maximum": 5 },
                    "references": { "type": "array", "minItems": 1, "items": { "type": "integer" } },
                    "pattern": { "type": ["string", "null"] },
                    "hint": { "type": ["string", "null"], "maxLength": 400 },
                },
            },
        } },
    })
}

/// Hash of the instructions and the schema: findings name the prompt that they come from.
pub fn hash() -> String {
    prompt_hash(INSTRUCTIONS, &schema())
}

/// Known patterns that the model is told of.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// Each a JSON object, strongest first.
    lines: Vec<String>,
    anchors: Vec<Anchor>,
}

/// A known pattern as the model sees it.
#[derive(Serialize)]
struct Entry<'a> {
    id: &'a str,
    category: &'static str,
    subject: String,
    description: String,
}

impl Catalogue {
    /// Those of `patterns` (strongest first) that have rules, and the `most` strongest others, as many as fit into a quarter of
    /// the input.
    pub fn new<'a>(
        patterns: impl IntoIterator<Item = &'a Pattern>,
        has_rule: impl Fn(&Pattern) -> bool,
        most: usize,
        input_tokens: u32,
        redactor: &Redactor,
    ) -> Self {
        let (ruled, others): (Vec<&Pattern>, Vec<&Pattern>) = patterns.into_iter().partition(|it| has_rule(it));
        let mut left = input_tokens / 100 * CATALOGUE_SHARE;
        let mut catalogue = Self::default();
        let short = |text: &str, most| clean(&redactor.redact(text), most);
        for pattern in ruled.into_iter().chain(others.into_iter().take(most)) {
            let entry = Entry {
                id: &pattern.id,
                category: pattern.category.name(),
                subject: short(&pattern.subject, SUBJECT),
                description: if pattern.description == pattern.subject {
                    String::new()
                } else {
                    short(&pattern.description, DESCRIPTION)
                },
            };
            let Ok(line) = serde_json::to_string(&entry) else { continue };
            let Some(rest) = left.checked_sub(line_tokens(&line)) else { break };
            left = rest;
            catalogue.lines.push(line);
            catalogue.anchors.push(pattern.anchor.clone());
        }
        catalogue
    }

    /// The known pattern of this id.
    pub fn anchor(&self, id: &str) -> Option<&Anchor> {
        self.anchors.iter().find(|anchor| anchor.id == id)
    }

    /// Patterns in it.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// No pattern is known.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn tokens(&self) -> u32 {
        self.lines.iter().map(|line| line_tokens(line)).sum()
    }
}

/// What is said of the session as a whole.
#[derive(Debug, Clone, Serialize)]
pub struct About {
    /// The tool.
    pub tool: String,
    /// The last part of its project's path.
    pub project: String,
    /// The day it ended.
    pub day: String,
    /// Events of its main conversation.
    pub events: u64,
}

/// Tokens that are left for the excerpt in a call of `input_tokens`.
pub fn budget(input_tokens: u32, catalogue: &Catalogue) -> u32 {
    let fixed = tokens(INSTRUCTIONS) + tokens(&schema().to_string()) + catalogue.tokens() + SLACK;
    input_tokens.saturating_sub(fixed)
}

/// The input for one session. Redacted again as a whole: no seam between two pieces may make a secret whole.
pub fn input(about: &About, catalogue: &Catalogue, excerpt: &Excerpt, redactor: &Redactor) -> String {
    let list = |lines: &[String]| {
        if lines.is_empty() { "[]".to_owned() } else { format!("[\n{}\n]", lines.join(",\n")) }
    };
    let about = About {
        tool: clean(&redactor.redact(&about.tool), SUBJECT),
        project: clean(&redactor.redact(&about.project), SUBJECT),
        ..about.clone()
    };
    let text = format!(
        "{{\"session\": {},\n\"known_patterns\": {},\n\"known_signals\": {},\n\"records\": {}}}\n",
        serde_json::to_string(&about).unwrap_or_default(),
        list(&catalogue.lines),
        list(&excerpt.signals),
        list(&excerpt.records),
    );
    redactor.redact(&text).into_owned()
}
