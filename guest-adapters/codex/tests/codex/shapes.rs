//! Shapes that no fixture has, written by hand after the formats of the versions named.

use totalrecall_sdk::types::{Author, Body, Channel, Event, Status, ToolKind};

use crate::trail::{read, story};

fn line(kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-01-01T00:00:00.000Z","type":"{kind}","payload":{{{payload}}}}}"#)
}

fn event(payload: &str) -> String {
    line("event_msg", payload)
}

fn item(payload: &str) -> String {
    line("response_item", payload)
}

fn called(id: &str, name: &str, arguments: &str) -> String {
    let arguments = arguments.replace('\\', r"\\").replace('"', r#"\""#);
    item(&format!(r#""type":"function_call","name":"{name}","arguments":"{arguments}","call_id":"{id}""#))
}

fn output(id: &str, output: &str) -> String {
    item(&format!(r#""type":"function_call_output","call_id":"{id}","output":{output}"#))
}

fn read_all(lines: &[String]) -> Vec<Event> {
    read("rollout-1.jsonl", &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

fn told(lines: &[String]) -> Vec<String> {
    story(&read_all(lines))
}

#[test]
fn refusals() {
    let command = called("a", "exec_command", r#"{"cmd":"git push"}"#);
    let ended = |text: &str| told(&[command.clone(), output("a", text)]);
    assert_eq!(ended(r#""exec command rejected by user""#), ["2 denied: -"]);
    assert_eq!(
        ended(
            r#""exec_command failed for `git push`: CreateProcess { message: \"Rejected(\\\"rejected by user\\\")\" }""#
        ),
        ["2 denied: -"]
    );
    assert_eq!(
        ended(r#""approval policy is Never; reject command — you cannot ask for escalated permissions""#),
        ["2 blocked"]
    );
    // A command that prints such a text was not refused.
    let printed =
        r#""Chunk ID: 1\nWall time: 0 seconds\nProcess exited with code 1\nOutput:\nexec command rejected by user""#;
    assert_eq!(ended(printed), ["2 failed: 1"]);
    let patch = item(
        r#""type":"custom_tool_call","name":"apply_patch","call_id":"p","input":"*** Begin Patch\n*** Delete File: a\n*** End Patch""#,
    );
    let refused = item(r#""type":"custom_tool_call_output","call_id":"p","output":"patch rejected by user""#);
    let by_rule = refused.replace("by user", ": writing outside of the project; rejected by user approval settings");
    assert_eq!(told(&[patch.clone(), refused]), ["2 denied: -"]);
    assert_eq!(told(&[patch, by_rule]), ["2 blocked"]);
}

/// In the terminal a no stops the turn, and is written like an interruption; but what waited for an answer was asked for.
#[test]
fn refusals_that_stop_the_turn() {
    let aborted = event(r#""type":"turn_aborted","reason":"interrupted""#);
    let stopped = |call: String| told(&[call, output("a", r#""aborted by user after 9.1s""#), aborted.clone()]);
    let escalated = called("a", "exec_command", r#"{"cmd":"git push","sandbox_permissions":"require_escalated"}"#);
    let before = called("a", "shell", r#"{"command":["git","push"],"with_escalated_permissions":true}"#);
    let script = item(
        r#""type":"custom_tool_call","name":"exec","call_id":"a","input":"await tools.exec_command({cmd: 'git push', sandbox_permissions: 'require_escalated'})""#,
    );
    // Of two that waited, one was asked for.
    let two = [escalated.clone(), escalated.replace(r#""a""#, r#""b""#)];
    let [first, second] = two;
    let lines =
        [first, second, output("a", r#""aborted by user after 9.1s""#), output("b", r#""aborted by user after 9.1s""#)];
    assert_eq!(told(&lines), ["3 denied: -", "4 stopped"]);
    for call in [escalated, before, script] {
        assert_eq!(stopped(call), ["2 denied: -", "3 interrupt of a tool"]);
    }
    assert_eq!(stopped(called("a", "exec_command", r#"{"cmd":"git push"}"#)), ["2 stopped", "3 interrupt of a tool"]);
}

/// The oldest client: one document, no times; a refusal is followed by words that stand for it.
#[test]
fn a_document() {
    let document = r#"{
  "session": {"timestamp": "2025-04-20T10:00:00.000Z", "id": "s", "instructions": ""},
  "items": [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "function_call", "id": "fc_1", "name": "shell", "call_id": "c1", "arguments": "{\"command\":[\"rm\",\"-rf\",\"x y\"]}"},
    {"type": "function_call_output", "call_id": "c1", "output": "{\"output\":\"aborted\",\"metadata\":{}}"},
    {"type": "function_call", "id": "fc_2", "name": "shell", "call_id": "c2", "arguments": "{\"command\":[\"ls\"]}"},
    {"type": "function_call_output", "call_id": "c2", "output": "{\"output\":\"ls: no\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}"}
  ]
}"#;
    let events = read("/home/dev/.codex/sessions/rollout-2025-04-20-s.json", &document.lines().collect::<Vec<_>>());
    assert_eq!(story(&events), ["1 human: hello", "1 denied: -", "1 failed: 2"]);
    let Body::Session(session) = &events[0].body else { panic!() };
    assert_eq!(session.id.as_deref(), Some("s"));
    assert!(
        events.iter().any(
            |event| matches!(&event.body, Body::ToolCall(call) if call.command.as_deref() == Some("rm -rf 'x y'"))
        )
    );
}

#[test]
fn a_sub_agent() {
    let meta = |more: &str| {
        line(
            "session_meta",
            &format!(
                r#""id":"01a228e0-4e2c-78a3-ab7e-6db7eb56f880","cwd":"/w","source":{{"subagent":{{"thread_spawn":{{"parent_thread_id":"01a228df-83d7-70a1-9cfd-e499d418506e","depth":1}}}}}}{more}"#
            ),
        )
    };
    let typed = event(r#""type":"user_message","message":"Review it""#);
    let turn = |id: &str| event(&format!(r#""type":"task_started","turn_id":"{id}""#));
    let own = turn("01a228e0-4f2a-7573-a30e-ca50a961087f");
    let aborted = event(r#""type":"turn_aborted","reason":"interrupted""#);
    let events = read_all(&[meta(""), own.clone(), typed.clone(), aborted]);
    assert_eq!(story(&events), ["3 agent: Review it"]);
    assert!(events.iter().all(|event| event.thread.as_deref() == Some("01a228e0-4e2c-78a3-ab7e-6db7eb56f880")));
    let Body::Session(session) = &events[0].body else { panic!() };
    assert_eq!(session.id.as_deref(), Some("01a228df-83d7-70a1-9cfd-e499d418506e"));
    assert_eq!(session.id, session.parent);
    // With its parent's history before its own.
    let parents = line("session_meta", r#""id":"01a228df-83d7-70a1-9cfd-e499d418506e""#);
    let copied =
        [turn("01a228df-9cb5-7222-9e5a-455407e95ae9"), event(r#""type":"user_message","message":"Do it all""#)];
    let [before, said] = copied;
    let events = read_all(&[meta(""), parents, before, said, own, typed]);
    assert_eq!(story(&events), ["4 human: Do it all", "6 agent: Review it"]);
    assert_eq!(events.iter().map(|event| event.copied).collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn errors_of_the_service() {
    let stream =
        event(r#""type":"stream_error","message":"stream disconnected: unexpected status 503 Service Unavailable""#);
    let last = event(
        r#""type":"error","message":"exceeded retry limit, last status: 429 Too Many Requests","codex_error_info":{"response_too_many_failed_attempts":{"http_status_code":429}}"#,
    );
    let repeated = event(
        r#""type":"task_complete","turn_id":"","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}"#,
    );
    assert_eq!(
        told(&[stream, last, repeated]),
        ["1 api error Some(503), retried true", "2 api error Some(429), retried false"]
    );
}

/// Turn ids that other sessions have as well tell nothing apart.
#[test]
fn numbered_turns() {
    let session = |id: &str| {
        let turn = event(r#""type":"task_started","turn_id":"1""#);
        let typed = event(r#""type":"user_message","message":"hello""#);
        read_all(&[line("session_meta", &format!(r#""id":"{id}""#)), turn, typed])
    };
    assert_ne!(session("a")[1].key, session("b")[1].key);
}

#[test]
fn compactions_are_told_once() {
    let compacted = line("compacted", r#""message":"What was done.","replacement_history":[]"#);
    let event = event(r#""type":"context_compacted""#);
    let said = item(r#""type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]"#);
    let events = read_all(&[compacted.clone(), event.clone(), said, event]);
    assert_eq!(story(&events), ["1 compaction, manual None", "4 compaction, manual None"]);
    let summary = events
        .iter()
        .find(|event| matches!(&event.body, Body::Message(message) if message.channel == Channel::Summary));
    assert_eq!(summary.unwrap().line, 1);
}

#[test]
fn questions_and_shell_commands_of_the_person() {
    let asked = called("q", "request_user_input", r#"{"questions":[]}"#);
    let answer = output("q", r#""{\"answers\":{\"which\":{\"answers\":[\"The first\",\"user_note: and fast\"]}}}""#);
    assert_eq!(told(&[asked, answer]), ["2 human, asked: The first\nuser_note: and fast"]);
    let ran = item(
        r#""type":"message","role":"user","content":[{"type":"input_text","text":"<user_shell_command>\n<command>\ngit log\n</command>\n<result>\nExit code: 0\n</result>\n</user_shell_command>"}]"#,
    );
    assert_eq!(told(&[ran]), ["1 human, shell: git log"]);
}

/// A message waits for the event that says it was typed; what gets none is the client's, unless the file has no such events.
#[test]
fn messages_without_an_event() {
    let message = |text: &str| {
        item(&format!(r#""type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]"#))
    };
    let typed = |text: &str| event(&format!(r#""type":"user_message","message":"{text}""#));
    let said = item(r#""type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]"#);
    assert_eq!(
        told(&[message("a"), typed("a"), said.clone(), message("injected"), said.clone(), message("b"), typed("b")]),
        ["2 human: a", "7 human: b"]
    );
    assert_eq!(told(&[message("a"), said.clone(), message("b"), said]), ["1 human: a", "3 human: b"]);
}

/// Files that are not paginated have no items for what a script ran.
#[test]
fn scripts_without_items() {
    let script = |id: &str, text: &str| {
        item(&format!(r#""type":"custom_tool_call","name":"exec","call_id":"{id}","input":"{text}""#))
    };
    let came = |id: &str, text: &str| {
        item(&format!(
            r#""type":"custom_tool_call_output","call_id":"{id}","output":[{{"type":"input_text","text":"{text}"}}]"#
        ))
    };
    let events = read_all(&[
        script("a", r#"const r = await tools.exec_command({cmd: 'ls'}); text(r)"#),
        came("a", r#"Script completed\nWall time 0.1 seconds\nOutput:\n{\"exit_code\":2,\"output\":\"no\"}"#),
        script("b", r#"await tools.exec_command({cmd: 'sleep 99'});"#),
        came("b", r#"Script running with cell ID 7\nWall time 10 seconds\nOutput:\n"#),
        called("w", "wait", r#"{"cell_id":"7"}"#),
        output("w", r#""Script completed\nWall time 9 seconds\nOutput:\ndone""#),
        called("x", "wait", r#"{"cell_id":"99"}"#),
        output("x", r#""Script completed\nWall time 9 seconds\nOutput:\nbegun elsewhere""#),
        script("c", "text(1 + 1)"),
        came("c", r#"Script completed\nWall time 0.1 seconds\nOutput:\n2"#),
    ]);
    assert_eq!(story(&events), ["2 failed: 2"]);
    let calls: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolCall(call) => Some((event.line, call.name.as_str(), call.kind, call.command.as_deref())),
            _ => None,
        })
        .collect();
    assert_eq!(
        calls,
        [
            (1, "exec_command", ToolKind::Execute, Some("ls")),
            (3, "exec_command", ToolKind::Execute, Some("sleep 99")),
            (7, "exec", ToolKind::Other, None),
            (9, "exec", ToolKind::Other, None),
        ]
    );
}

/// In paginated files a script's refused command has an item, and the script fails with it.
#[test]
fn a_refusal_within_a_script_counts_once() {
    let script = item(
        r#""type":"custom_tool_call","name":"exec","call_id":"a","input":"await tools.exec_command({cmd: 'rm x'})""#,
    );
    let declined = event(
        r#""type":"item_completed","turn_id":"t","item":{"type":"CommandExecution","id":"exec-1","command":["/bin/bash","-lc","rm x"],"source":"unified_exec_startup","status":"declined","aggregated_output":"exec command rejected by user","exit_code":-1}"#,
    );
    let failed = item(
        r#""type":"custom_tool_call_output","call_id":"a","output":[{"type":"input_text","text":"Script failed\nWall time 0 seconds\nOutput:\n"},{"type":"input_text","text":"Script error:\nexec command rejected by user"}]"#,
    );
    assert_eq!(told(&[script.clone(), declined, failed.clone()]), ["2 denied: -"]);
    // Without an item, the script's text tells what was refused.
    let events = read_all(&[script, failed]);
    assert_eq!(story(&events), ["2 denied: -"]);
    assert!(matches!(&events[0].body, Body::ToolCall(call) if call.command.as_deref() == Some("rm x")));
}

#[test]
fn tools_of_other_servers() {
    let call = called("a", "mcp__github__get_issue", r#"{"path":"src/a.rs"}"#);
    let event = event(r#""type":"mcp_tool_call_end","call_id":"a","result":{"Ok":{"content":[],"isError":true}}"#);
    let ended = output("a", r#""Wall time: 0.1 seconds\nOutput:\n[{\"type\":\"text\",\"text\":\"not found\"}]""#);
    let events = read_all(&[call, event, ended]);
    assert_eq!(story(&events), ["3 failed: not found"]);
    assert!(
        matches!(&events[0].body, Body::ToolCall(call) if call.kind == ToolKind::Mcp && call.paths == ["src/a.rs"])
    );
}

/// Looking after a command in the background is one more go at it.
#[test]
fn commands_in_the_background() {
    let events = read_all(&[
        called("a", "exec_command", r#"{"cmd":"cargo test"}"#),
        output("a", r#""Wall time: 10 seconds\nProcess running with session ID 7\nOutput:\n""#),
        called("b", "write_stdin", r#"{"session_id":7,"chars":""}"#),
        output("b", r#""Wall time: 3 seconds\nProcess exited with code 101\nOutput:\ntest failed""#),
    ]);
    assert_eq!(story(&events), ["4 failed: 101"]);
    assert!(matches!(&events[2].body, Body::ToolCall(call) if call.command.as_deref() == Some("cargo test")));
    assert!(matches!(&events[1].body, Body::ToolResult(result) if result.status == Status::Ok));
}

#[test]
fn a_torn_record_hides_nothing() {
    let torn = r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"world_state","payload":{"full":true,"st"#;
    let next = event(r#""type":"user_message","message":"go on""#);
    assert_eq!(told(&[format!("{torn}{next}")]), ["1 human: go on"]);
}

#[test]
fn what_was_never_seen_is_counted() {
    let mut parser = crate::trail::parser("rollout-1.jsonl");
    let lines = [event(r#""type":"brand_new""#), item(r#""type":"newer""#), line("newest", ""), "{}".to_owned()];
    parser.feed((lines.join("\n") + "\n").as_bytes()).unwrap();
    let unknown: Vec<_> = parser.tally().into_iter().map(|entry| entry.what).collect();
    assert_eq!(unknown, ["event_msg/brand_new", "response_item/newer", "newest", "without a type"]);
}

#[test]
fn authors() {
    let developer = item(r#""type":"message","role":"developer","content":[{"type":"input_text","text":"Rules."}]"#);
    let events = read_all(&[developer]);
    assert!(matches!(&events[0].body, Body::Message(message) if message.author == Author::Harness));
}
