//! Bytes of a transcript to signals, natively.

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use totalrecall_bench::native::{TEXT_LIMIT, read};
use totalrecall_bench::writer::Tool;
use totalrecall_claude_code::ClaudeCode;
use totalrecall_codex::Codex;
use totalrecall_opencode::OpenCode;
use totalrecall_sdk::Signal;
use totalrecall_sdk::adapter::Origin;

/// Every signal of a transcript, settled and provisional.
pub(crate) fn signals(tool: Tool, path: &str, bytes: &[u8]) -> anyhow::Result<Vec<Signal>> {
    let origin = Origin { path: path.into(), key: None, text_limit: TEXT_LIMIT };
    match tool {
        Tool::ClaudeCode => read::<ClaudeCode>(origin, bytes, |_| {}),
        Tool::Codex => read::<Codex>(origin, bytes, |_| {}),
        Tool::OpenCode => read::<OpenCode>(origin, bytes, |_| {}),
    }
}

/// Digest of a file, as it is written.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The beginning of what a record says, for error lists.
pub(crate) fn words(record: &[u8]) -> String {
    let record: Value = serde_json::from_slice(record).unwrap_or_default();
    let payload = &record["payload"];
    let content = [
        &record["message"]["content"],
        &record["content"],
        &record["attachment"]["prompt"],
        &payload["content"],
        &payload["message"],
        &payload["output"],
        &record["text"],
        &record["state"]["output"],
        &record["state"]["error"],
    ];
    let text = content.into_iter().map(texts).find(|text| !text.is_empty()).unwrap_or_default();
    text.chars().take(200).map(|c| if c.is_whitespace() { ' ' } else { c }).collect()
}

fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let text = |block: &Value| {
                let text = block["text"].as_str().or(block["content"].as_str())?;
                Some(text.to_owned())
            };
            blocks.iter().filter_map(text).collect::<Vec<_>>().join(" | ")
        }
        _ => String::new(),
    }
}
