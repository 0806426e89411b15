//! The fixtures of this adapter.

use totalrecall_claude_code::ClaudeCode;
use totalrecall_sdk::Parser;
pub(crate) use totalrecall_trail::told;

pub(crate) type Case = totalrecall_trail::Case<ClaudeCode>;

pub(crate) fn case(name: &str) -> Case {
    totalrecall_trail::case(name)
}

pub(crate) fn parser(path: &str, text_limit: u32, resume: Option<&[u8]>) -> Parser<ClaudeCode> {
    totalrecall_trail::parser(path, text_limit, resume)
}

pub(crate) fn cases() -> Vec<Case> {
    totalrecall_trail::cases()
}
