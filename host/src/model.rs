//! The model: an optional helper outside of this process, asked through a program (`claude -p`, or what the settings name),
//! under a budget, and never without a row in the ledger of calls.
//!
//! An answer is data. Whoever asks validates what is in it.

use serde_json::Value;

/// What the model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Findings of one session.
    Findings,
    /// A rule for a pattern.
    Draft,
    /// Which patterns are the same.
    Synth,
}

/// A question.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What for.
    pub purpose: Purpose,
    /// What it is about, for a person who reads the ledger: a session, a pattern.
    pub subject: &'a str,
    /// What the model shall do: a prompt of ours, without anything from a transcript.
    pub instructions: &'a str,
    /// What it shall do it with: text of others, quoted as data. Redacted once more before it leaves.
    pub input: &'a str,
    /// JSON Schema of the answer, an object.
    pub schema: &'a Value,
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The object that was asked for. It satisfies the schema only as far as the program saw to it.
    pub value: Value,
    /// Row of the ledger.
    pub call: i64,
    /// The model, as it names itself; as it was asked for where it does not.
    pub model: String,
    /// What the call cost in USD; estimated where the program does not say.
    pub cost_usd: f64,
    /// Hash of the instructions and the schema: [`prompt_hash`].
    pub prompt: String,
}

/// Tells prompts apart: 16 hexadecimal digits of instructions and schema.
pub fn prompt_hash(instructions: &str, schema: &Value) -> String {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    hasher.update(instructions.as_bytes());
    hasher.update(&[0]);
    hasher.update(schema.to_string().as_bytes());
    format!("{:016x}", hasher.digest())
}

/// Tokens of a text, about: four characters of scripts that separate words, one of others. Tokenizers differ by a third.
pub fn tokens(text: &str) -> u32 {
    let (mut narrow, mut wide) = (0_u32, 0_u32);
    for c in text.chars() {
        if c < '\u{2e80}' { narrow += 1 } else { wide += 1 }
    }
    narrow.div_ceil(4) + wide
}
