//! Bytes of a Claude Code transcript to signals, natively.

use anyhow::anyhow;
use serde_json::Value;
use totalrecall_analyzer::Friction;
use totalrecall_claude_code::ClaudeCode;
use totalrecall_sdk::adapter::{Origin, Parser};
use totalrecall_sdk::{Analysis, Signal};

/// The host's default.
const TEXT_LIMIT: u32 = 16 * 1024;

/// Every signal of a transcript, settled and provisional.
pub(crate) fn signals(path: &str, bytes: &[u8]) -> anyhow::Result<Vec<Signal>> {
    let origin = Origin { path: path.into(), key: None, text_limit: TEXT_LIMIT };
    let mut parser = Parser::<ClaudeCode>::new(origin, None);
    let fault = |fault| anyhow!("{path}: {fault:?}");
    let mut events = parser.feed(bytes).map_err(fault)?;
    events.extend(parser.finish().map_err(fault)?);
    let mut analysis = Analysis::<Friction>::new(&[], None);
    let mut signals = analysis.observe(&events).map_err(fault)?;
    signals.extend(analysis.conclude().map_err(fault)?);
    Ok(signals)
}

/// The beginning of what a record says, for error lists.
pub(crate) fn words(record: &[u8]) -> String {
    let record: Value = serde_json::from_slice(record).unwrap_or_default();
    let content = [&record["message"]["content"], &record["content"], &record["attachment"]["prompt"]];
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
