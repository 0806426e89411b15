//! Codex CLI transcripts ("rollouts", from the first version on) to events.
//!
//! One line is one record; the oldest client wrote one document. Most of what happens is told twice, as an item of the
//! model's API and as an event of the client, and each version has another choice of both. What is read where:
//!
//! | what | up to 0.2x | up to 0.16x | since 0.171 ("paginated") |
//! | --- | --- | --- | --- |
//! | prompts | messages that do not look like the client's | `user_message` events | `UserMessage` items |
//! | replies, reasoning, calls, outputs | response items | response items | response items |
//! | what a script ran ([`script`]) | | the script's text | `CommandExecution`, `FileChange` … items |
//! | interrupts, compactions, going back, errors, tokens | | events | events, `token_usage_record` |
//!
//! | module | reads |
//! | --- | --- |
//! | [`response`] | response items |
//! | [`event`] | events of the client |
//! | [`item`] | items of paginated files |
//! | [`document`] | the oldest client's documents |
//! | [`session`] | whose records these are |
//!
//! Others help: [`prompts`] tells what was typed, [`record`] has the fields, [`call`], [`patch`] and [`shell`] know the tools, [`output`] how calls ended,
//! [`harness`] who wrote what stands where a prompt would, [`keys`] makes copies recognisable.

mod call;
mod document;
mod event;
mod harness;
mod item;
mod keys;
mod output;
mod patch;
mod prompts;
mod record;
mod response;
mod script;
mod session;
mod shell;

use memchr::memmem;
use serde::{Deserialize, Serialize};
use totalrecall_sdk::adapter::{Adapter, Descriptor, Files, Framing, Origin, Output, Record, Source, Trouble, Verdict};
use totalrecall_sdk::hash::Hashes;
use totalrecall_sdk::text::cap;
use totalrecall_sdk::time::parse_rfc3339;
use totalrecall_sdk::types::{Author, Body, Channel, Event, Message};

use crate::call::Calls;
use crate::keys::Keys;
use crate::prompts::Prompts;
use crate::record::{Line, Payload, Peek};
use crate::script::Scripts;
use crate::session::{Facts, Meta};

/// Reads one transcript. The state is what later records need; it stays small however long the transcript is, but for
/// eight bytes per call, and some for each record of the turn that goes on.
#[derive(Default, Serialize, Deserialize)]
pub struct Codex {
    /// The oldest client's.
    #[serde(skip)]
    document: bool,
    /// The record is an item itself, and there are no events.
    #[serde(skip)]
    bare: bool,
    facts: Facts,
    keys: Keys,
    calls: Calls,
    /// Ids of all calls that response items told.
    called: Hashes,
    scripts: Scripts,
    prompts: Prompts,
    /// Calls that an event said had failed, before their output came: hashes of their ids.
    failed: Vec<u64>,
    /// A tool was stopped in this turn.
    stopped: bool,
    /// A compaction was told, and the model has not answered since: the event that repeats it may follow.
    compacted: bool,
    /// Tokens that the last response took and gave: about how large the conversation is.
    size: Option<u64>,
    /// Tokens of all responses so far, as last told.
    usage: Option<u64>,
    /// Hash of the last error of this turn.
    error: u64,
}

totalrecall_sdk::export_adapter!(Codex);

/// Where a record stands.
#[derive(Debug, Clone, Copy)]
struct Place {
    line: u64,
    at: Option<i64>,
}

/// Response items of no use here. Stepped over undecoded.
const SKIPPED_ITEMS: [&str; 7] = [
    "response_item/additional_tools",
    "response_item/ghost_snapshot",
    "response_item/compaction",
    "response_item/compaction_summary",
    "response_item/context_compaction",
    "response_item/compaction_trigger",
    "response_item/other",
];

/// Events of no use here: what another record says better, settings, figures. Stepped over undecoded.
const SKIPPED_EVENTS: [&str; 48] = [
    "event_msg/agent_message",
    "event_msg/agent_reasoning",
    "event_msg/agent_reasoning_raw_content",
    "event_msg/agent_reasoning_section_break",
    "event_msg/background_event",
    "event_msg/collab_agent_interaction_begin",
    "event_msg/collab_agent_interaction_end",
    "event_msg/collab_agent_spawn_begin",
    "event_msg/collab_agent_spawn_end",
    "event_msg/collab_close_begin",
    "event_msg/collab_close_end",
    "event_msg/collab_resume_begin",
    "event_msg/collab_resume_end",
    "event_msg/collab_waiting_begin",
    "event_msg/collab_waiting_end",
    "event_msg/deprecation_notice",
    "event_msg/dynamic_tool_call_request",
    "event_msg/dynamic_tool_call_response",
    "event_msg/entered_review_mode",
    "event_msg/exec_approval_request",
    "event_msg/exec_command_begin",
    "event_msg/exec_command_end",
    "event_msg/exited_review_mode",
    "event_msg/guardian_assessment",
    "event_msg/hook_completed",
    "event_msg/hook_started",
    "event_msg/image_generation_begin",
    "event_msg/image_generation_end",
    "event_msg/item_started",
    "event_msg/mcp_tool_call_begin",
    "event_msg/model_reroute",
    "event_msg/patch_apply_begin",
    "event_msg/patch_apply_end",
    "event_msg/plan_update",
    "event_msg/session_configured",
    "event_msg/shutdown_complete",
    "event_msg/sub_agent_activity",
    "event_msg/terminal_interaction",
    "event_msg/thread_goal_updated",
    "event_msg/thread_settings_applied",
    "event_msg/turn_diff",
    "event_msg/undo_completed",
    "event_msg/undo_started",
    "event_msg/view_image_tool_call",
    "event_msg/warning",
    "event_msg/guardian_warning",
    "event_msg/web_search_begin",
    "event_msg/web_search_end",
];

/// Types of lines that hold something.
const LINES: [&str; 8] = [
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "token_usage_record",
    "inter_agent_communication",
];

/// Bytes kept of what the client tells the model: enough to see what it is.
const NOTICE: usize = 2048;

impl Adapter for Codex {
    fn describe() -> Descriptor {
        let root = |folder| format!("${{CODEX_HOME:-~/.codex}}/{folder}");
        Descriptor {
            name: "codex".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            tool: "codex".into(),
            sources: vec![Source::Files(Files {
                roots: vec![root("sessions"), root("archived_sessions")],
                globs: ["jsonl", "jsonl.zst", "json"].map(|ending| format!("**/rollout-*.{ending}")).into(),
            })],
        }
    }

    fn recognise(head: &[u8]) -> bool {
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        if document::is_one(head) {
            return true;
        }
        head.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(64).any(is_ours)
    }

    fn begin(&mut self, origin: &Origin) {
        self.document = origin.path.ends_with(".json");
    }

    fn framing(&self) -> Framing {
        if self.document { Framing::Whole } else { Framing::Lines }
    }

    fn record(&mut self, record: &Record<'_>, out: &mut Output) -> Result<Verdict, Trouble> {
        if self.document {
            return self.whole(record, out);
        }
        let bytes = record.bytes;
        match record::peek(bytes) {
            Peek::Line(kind, inner) => {
                if let Some(what) = skipped(kind, inner) {
                    // A torn record may swallow the next one on its line.
                    if holds_another(bytes) {
                        return Err(Trouble::Unreadable("torn record"));
                    }
                    return Ok(Verdict::Skipped(what.into()));
                }
                Ok(self.line(&record.decode()?, record.line, out))
            }
            Peek::Item(_) => Ok(self.bare(&record.decode()?, record.line, out)),
            Peek::Unsure => {
                let line: Line<'_> = record.decode()?;
                if LINES.contains(&line.kind.as_str()) {
                    return Ok(self.line(&line, record.line, out));
                }
                Ok(self.bare(&record.decode()?, record.line, out))
            }
        }
    }

    fn finish(&mut self, out: &mut Output) {
        self.settle(out);
    }
}

/// Is the line one of this tool's?
fn is_ours(line: &[u8]) -> bool {
    match record::peek(line) {
        Peek::Line(kind, inner) => match kind {
            "session_meta" => true,
            "turn_context" | "compacted" => memmem::find(line, b"\"timestamp\"").is_some(),
            "response_item" | "event_msg" => !inner.is_empty(),
            _ => false,
        },
        // Response items are the API's: other tools may write them, too.
        Peek::Item(_) => false,
        Peek::Unsure => {
            let has = |key: &[u8]| memmem::find(line, key).is_some();
            line.starts_with(b"{\"id\":\"") && has(b"\"timestamp\":\"") && has(b"\"instructions\":")
        }
    }
}

/// The name of a record that is stepped over.
fn skipped(kind: &str, inner: &str) -> Option<&'static str> {
    let (list, start): (&[&'static str], usize) = match kind {
        "event_msg" => (&SKIPPED_EVENTS, "event_msg/".len()),
        "response_item" => (&SKIPPED_ITEMS, "response_item/".len()),
        "world_state" => return Some("world_state"),
        "inter_agent_communication_metadata" => return Some("inter_agent_communication_metadata"),
        _ => return None,
    };
    list.iter().find(|known| known[start..] == *inner).copied()
}

/// Does another record begin within this line?
fn holds_another(line: &[u8]) -> bool {
    memmem::find(line.get(1..).unwrap_or_default(), b"{\"timestamp\":\"").is_some()
}

impl Codex {
    /// A line since 0.3x.
    fn line(&mut self, line: &Line<'_>, number: u64, out: &mut Output) -> Verdict {
        let place = Place { line: number, at: parse_rfc3339(line.timestamp.as_str()) };
        self.bare = false;
        self.facts.paginated |= line.ordinal.0.is_some();
        let payload = &line.payload;
        if line.kind.as_str() != "session_meta" {
            self.facts.written(place.at, self.keys.are_named());
        }
        match line.kind.as_str() {
            "session_meta" => self.meta(payload, place, out),
            "turn_context" => self.context(payload, place, out),
            "response_item" => self.response(payload, place, out),
            "event_msg" => self.event(payload, place, out),
            "compacted" => self.compacted(payload, place, out),
            "token_usage_record" => {
                self.turn(payload.turn.as_str());
                let total = payload.thread_usage.total();
                self.tokens(&payload.usage, total, place, out);
                Verdict::Understood("token_usage_record".into())
            }
            "inter_agent_communication" => {
                self.between_agents(payload, place, out);
                Verdict::Understood("inter_agent_communication".into())
            }
            "" => Verdict::Unknown("without a type".into()),
            other => Verdict::Unknown(other.to_owned().into()),
        }
    }

    /// A line up to 0.2x.
    fn bare(&mut self, item: &Payload<'_>, number: u64, out: &mut Output) -> Verdict {
        let place = Place { line: number, at: None };
        self.bare = true;
        if !item.kind.as_str().is_empty() {
            return self.response(item, place, out);
        }
        if item.record_type.get().is_some() {
            return Verdict::Skipped("state".into());
        }
        match item.id.get() {
            Some(_) if !item.timestamp.as_str().is_empty() => {
                let at = parse_rfc3339(item.timestamp.as_str());
                self.meta(item, Place { at, ..place }, out)
            }
            _ => Verdict::Unknown("without a type".into()),
        }
    }

    fn meta(&mut self, meta: &Payload<'_>, place: Place, out: &mut Output) -> Verdict {
        match self.facts.meta(meta) {
            Meta::Own(news) => {
                self.keys.session(meta.id.as_str());
                self.tell(place, None, Body::Session(news), out);
                Verdict::Understood("session_meta".into())
            }
            Meta::Copied(id) => {
                self.keys.session(&id);
                self.facts.written(place.at, false);
                Verdict::Skipped("session_meta of another session".into())
            }
            Meta::Again => Verdict::Skipped("session_meta again".into()),
        }
    }

    /// A `turn_context`: where and with what the turn goes on.
    fn context(&mut self, context: &Payload<'_>, place: Place, out: &mut Output) -> Verdict {
        self.turn(context.turn.as_str());
        if let Some(model) = context.model.get() {
            model.clone_into(&mut self.facts.model);
        }
        if let Some(cwd) = self.facts.moved(context.cwd.as_str()) {
            let news = totalrecall_sdk::types::Session { cwd: Some(cwd), ..session::nothing() };
            self.tell(place, None, Body::Session(news), out);
        }
        Verdict::Understood("turn_context".into())
    }

    /// A record belongs to this turn.
    fn turn(&mut self, id: &str) {
        if id != self.keys.now() && keys::is_unique(id) {
            self.facts.turn(id);
            self.keys.turn(id);
            self.stopped = false;
            self.error = 0;
        }
    }

    /// Passes an event on.
    fn tell(&self, place: Place, key: Option<String>, body: Body, out: &mut Output) {
        let Place { line, at } = place;
        let (thread, copied) = (self.facts.thread.clone(), self.facts.copying);
        out.push(Event { line, at, thread, key, copied, body });
    }

    /// Tells a text of the client.
    fn notice(&mut self, text: &str, place: Place, out: &mut Output) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let key = self.keys.text('h', text);
        let (short, omitted) = cap(text, NOTICE);
        let (short, more) = out.cap(&short);
        let body = Message { author: Author::Harness, channel: Channel::Notice, text: short, omitted: omitted + more };
        self.tell(place, Some(key), Body::Message(body), out);
    }
}

/// A message within the host's limit.
fn message(author: Author, channel: Channel, text: &str, out: &Output) -> Body {
    let (text, omitted) = out.cap(text);
    Body::Message(Message { author, channel, text, omitted })
}
