//! `tool-error`: a tool's result is an error, or a rule, mode or hook kept the tool from running.
//!
//! **Why it matters.** One failing command costs a turn; the same failure in ten sessions is a missing line in the project's
//! instructions (the tests need an environment, the file must be read before it is edited).
//!
//! **Example.** `Bash`, `Exit code 101`, `` error[E0597]: `db` does not live long enough `` has the subject
//! `Bash: error[E0597]: <name> does not live long enough`.
//!
//! **False friends.** A refusal by the person (`permission-denied`) and the calls that were cancelled with the refused one, a call
//! the person stopped (`interrupt`), and output full of "error" that came with status ok: the status decides. But a command that
//! only looked for something (`rg`, `grep`, `test`, `which`) or compared (`diff`) and ends with 1 has found nothing, or a difference:
//! that is an answer, not an error.

use serde::{Deserialize, Serialize};
use totalrecall_sdk::types::{Status, ToolResult};
use totalrecall_sdk::{Signal, SignalKind};

use super::{Detector, Place, Refine as _, kind};
use crate::moment::Moment;
use crate::template::{telling_line, template};
use crate::text::one_line;

const NAME: &str = "tool-error";

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ToolError;

impl Detector for ToolError {
    fn kind() -> SignalKind {
        kind(
            NAME,
            2,
            "A tool's result is an error, or a rule kept the tool from running.",
            "If it recurs, say in the project's instructions how the tool is used here.",
        )
    }

    fn observe(&mut self, moment: &Moment, found: &mut Vec<Signal>) {
        if moment.event.copied {
            return;
        }
        if let Some(result) = moment.failure() {
            let signal = Place::of(moment.event).signal(NAME, subject(moment, result), detail(moment, result));
            found.push(signal.resting_on(moment.call.map(|call| call.line)));
        }
    }
}

/// `Tool: template`: what equal failures have in common.
pub(crate) fn subject(moment: &Moment, result: &ToolResult) -> String {
    format!("{}: {}", moment.tool(), template(&result.text))
}

fn detail(moment: &Moment, result: &ToolResult) -> String {
    let gist = moment.call.map_or("", |call| call.gist.as_str());
    let what = match (result.status, result.exit_code) {
        (Status::Blocked, _) => "was blocked by a rule".to_owned(),
        (_, Some(code)) => format!("failed with exit code {code}"),
        (_, None) => "failed".to_owned(),
    };
    let said = one_line(telling_line(&result.text), 160);
    if gist.is_empty() {
        format!("{} {what}: {said}", moment.tool())
    } else {
        format!("{} `{}` {what}: {said}", moment.tool(), one_line(gist, 80))
    }
}
