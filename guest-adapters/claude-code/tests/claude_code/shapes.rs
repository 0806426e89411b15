//! Shapes that no fixture has, written by hand after the formats of the versions named.

use totalrecall_sdk::types::{Body, Event};

use crate::trail::{parser, told};

fn read(lines: &[&str]) -> Vec<Event> {
    let mut parser = parser("1.jsonl", 16384, None);
    let mut events = parser.feed((lines.join("\n") + "\n").as_bytes()).unwrap();
    events.extend(parser.finish().unwrap());
    events
}

fn story(lines: &[&str]) -> Vec<String> {
    read(lines).iter().filter_map(|event| Some(format!("{} {}", event.line, told(event)?))).collect()
}

fn call(id: &str, name: &str) -> String {
    format!(
        r#"{{"type":"assistant","version":"2.1.17","message":{{"id":"msg_1","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}]}}}}"#
    )
}

fn failed(id: &str, text: &str, more: &str) -> String {
    format!(
        r#"{{"type":"user","version":"2.1.17","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","is_error":true,"content":"{text}"}}]}}{more}}}"#
    )
}

const NO: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
const NOT_NOW: &str = "The user doesn't want to take this action right now.";

#[test]
fn one_refusal_of_parallel_calls_counts_once() {
    let lines = [call("a", "Bash"), call("b", "Bash"), failed("a", NO, ""), failed("b", NOT_NOW, "")];
    let marker = r#"{"type":"user","version":"2.1.17","message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}"#;
    let [a, b, c, d] = lines.each_ref().map(String::as_str);
    assert_eq!(story(&[a, b, c, d, marker]), ["3 denied: -", "4 blocked", "5 interrupt of a tool"]);
    // Since 2.1.2xx the marker may tell that both were running.
    let cut = marker.replace(r#""version""#, r#""interruptedMessageId":"msg_1","version""#);
    assert_eq!(story(&[a, b, c, d, &cut]), ["3 stopped", "4 stopped", "5 interrupt of a tool"]);
    // At the end of what is written so far it is taken for a refusal.
    assert_eq!(story(&[a, b, c]), ["3 denied: -"]);
}

/// Before 2.1.8x the queue is all that tells of what was said at work.
#[test]
fn queued_texts() {
    let queued = |operation: &str, text: &str| {
        format!(r#"{{"type":"queue-operation","operation":"{operation}","timestamp":"2026-01-01T00:00:00Z"{text}}}"#)
    };
    let lines = [
        queued("enqueue", r#","content":"use pytest""#),
        queued("remove", ""),
        queued("enqueue", r#","content":"/help""#),
        queued("remove", ""),
        queued("enqueue", r#","content":"later""#),
        queued("dequeue", ""),
        queued("enqueue", r#","content":"taken back""#),
        queued("popAll", ""),
        call("a", "Bash"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(story(&lines), ["1 human, at work: use pytest"]);
}

#[test]
fn answers_and_amended_edits() {
    let ask = call("a", "AskUserQuestion");
    let answered = r#"{"type":"user","version":"2.1.17","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"…"}]},"toolUseResult":{"questions":[],"answers":{"Which?":"The first","And?":"Stop"}}}"#;
    let quoted = r#"{"type":"user","version":"2.1.17","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"Your questions have been answered: \"Which?\"=\"The first\", \"And?\"=\"Stop\". You can go on."}]}}"#;
    for answer in [answered, quoted] {
        assert_eq!(story(&[&ask, answer]), ["2 human, asked: The first\nStop"]);
    }
    let amended = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]},"toolUseResult":{"filePath":"/a","userModified":true}}"#;
    let events = read(&[amended]);
    assert!(events.iter().any(|event| matches!(&event.body, Body::ToolResult(result) if result.amended)));
}

/// 2.0.7x to 2.1.8x repeat a sub-agent's messages in the main file: same thread and keys as in its own.
#[test]
fn progress_of_sub_agents() {
    let message = r#"{"type":"user","uuid":"dc63c38d-8b2f-4e57-b2dd-092d459b5da1","timestamp":"2026-01-23T00:50:52.336Z","message":{"role":"user","content":"Review it"}}"#;
    let progress = format!(
        r#"{{"type":"progress","sessionId":"s","uuid":"1","data":{{"message":{message},"type":"agent_progress","agentId":"a5cbd18"}}}}"#
    );
    let mut own = parser("/p/agent-a5cbd18.jsonl", 16384, None);
    let own = own.feed(format!("{message}\n").as_bytes()).unwrap();
    let repeated = read(&[&progress]);
    assert_eq!(own, repeated);
    assert_eq!(repeated[0].thread.as_deref(), Some("a5cbd18"));
}

#[test]
fn a_torn_record_hides_nothing() {
    let torn = r#"{"type":"file-history-snapshot","messageId":"x","snapshot":{"tracked"#;
    let next = r#"{"parentUuid":null,"type":"user","version":"2.1.17","message":{"content":"go on"}}"#;
    assert_eq!(story(&[&format!("{torn}{next}")]), ["1 human: go on"]);
}

/// What our own hooks print lies in the transcript as that of other hooks does.
#[test]
fn what_we_have_said_ourselves_is_stepped_over() {
    let attachment = |fields: &str| {
        format!(r#"{{"type":"attachment","version":"2.1.332","uuid":"u","attachment":{{{fields},"hookName":"H"}}}}"#)
    };
    let ours = [
        attachment(
            r#""type":"hook_system_message","content":"TotalRecall: 3 sessions read. New pattern: “No, use pnpm”.""#,
        ),
        attachment(
            r#""type":"hook_additional_context","content":["<totalrecall-output>\nNo, that is wrong.\n</totalrecall-output>"]"#,
        ),
        attachment(r#""type":"hook_success","content":"","stdout":"{\"systemMessage\":\"TotalRecall: x\"}\n""#),
    ];
    let of_others = [
        attachment(r#""type":"hook_system_message","content":"Linter: use pnpm""#),
        attachment(r#""type":"hook_additional_context","content":["TotalRecall: is a film"]"#),
    ];
    let messages = |lines: &[String]| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        read(&lines).iter().filter(|event| matches!(event.body, Body::Message(_))).count()
    };
    assert_eq!(messages(&ours), 0);
    assert_eq!(messages(&of_others), 2);
    // What others say beside it is theirs, in whichever order the hooks have ended.
    let ours = r"<totalrecall-output>\nNo, that is wrong.\n</totalrecall-output>";
    let beside = [
        format!(r#"["Use pnpm.","{ours}"]"#),
        format!(r#"["{ours}","Use pnpm."]"#),
        format!(r#"["Use pnpm.\n{ours}\n"]"#),
        format!(r#""{ours}\nUse pnpm.""#),
    ];
    for content in beside {
        let line = attachment(&format!(r#""type":"hook_additional_context","content":{content}"#));
        let events = read(&[line.as_str()]);
        let message = |event: &Event| match &event.body {
            Body::Message(message) => Some(message.text.clone()),
            _ => None,
        };
        assert_eq!(events.iter().filter_map(message).collect::<Vec<_>>(), ["H: Use pnpm."], "{content}");
    }
}
