//! Rows of many shapes, one by one: what the fixtures do not hold.

use totalrecall_sdk::types::{Author, Body, Channel, Event, ToolKind};

use crate::trail::{read, told};

const SESSION: &str = r#"{"id":"ses_1","directory":"/w","title":"t","version":"1.18.33","time":{"created":1}}"#;
const PROMPT: &str = r#"{"id":"msg_1","role":"user","time":{"created":10}}"#;
const RESPONSE: &str = r#"{"id":"msg_2","role":"assistant","time":{"created":20,"completed":30},"modelID":"m"}"#;
const ABORTED: &str = r#"{"id":"msg_2","role":"assistant","time":{"created":20,"completed":30},"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}"#;

fn typed(text: &str) -> String {
    format!(r#"{{"id":"prt_1","messageID":"msg_1","type":"text","text":"{text}"}}"#)
}

/// A tool call of the message `msg_2`.
fn tool(id: u32, name: &str, state: &str) -> String {
    format!(
        r#"{{"id":"prt_{id}","messageID":"msg_2","type":"tool","tool":"{name}","callID":"call_{id}","state":{{{state}}}}}"#
    )
}

fn events(rows: &[&str]) -> Vec<Event> {
    let (events, tally) = read("ses_1", (rows.join("\n") + "\n").as_bytes(), 16384);
    assert!(totalrecall_trail::drift(&tally).is_empty(), "{tally:?}");
    events
}

fn story(rows: &[&str]) -> Vec<String> {
    events(rows).iter().filter_map(|event| Some(format!("{} {}", event.line, told(event)?))).collect()
}

/// The person refuses: with words, without, and what else waited is refused with it. A rule refuses.
#[test]
fn refusals() {
    let no = "The user rejected permission to use this specific tool call";
    let plain = format!(r#""status":"error","input":{{}},"error":"{no}.""#);
    let said = format!(r#""status":"error","input":{{}},"error":"{no} with the following feedback: use pytest""#);
    let rule = r#""status":"error","input":{},"error":"The user has specified a rule which prevents you from using this specific tool call. Here are some of the relevant rules []""#;
    let calls = [tool(1, "bash", &plain), tool(2, "bash", &plain), tool(3, "edit", &said), tool(4, "bash", rule)];
    let rows = [SESSION, RESPONSE, &calls[0], &calls[1], &calls[2], &calls[3]];
    assert_eq!(story(&rows), ["3 stopped", "4 stopped", "5 denied: use pytest", "6 blocked"]);
    assert_eq!(story(&[SESSION, RESPONSE, &calls[0], &calls[1]]), ["3 denied: -", "4 stopped"]);
    // What ran is cut off by the refusal, and comes after it.
    let timed =
        |call: &str, end: u32| call.replace(r#""input""#, &format!(r#""time":{{"start":21,"end":{end}}},"input""#));
    let cut = tool(5, "bash", r#""status":"error","input":{},"error":"Tool execution aborted""#);
    let rows = [SESSION, RESPONSE, &timed(&cut, 29), &timed(&calls[0], 28)];
    assert_eq!(story(&rows), ["4 denied: -", "3 stopped"]);
    // `opencode run` refuses in the person's name.
    let headless = SESSION
        .replace(r#""title""#, r#""permission":[{"permission":"question","pattern":"*","action":"deny"}],"title""#);
    assert_eq!(story(&[&headless, RESPONSE, &calls[0], &calls[2]]), ["3 blocked", "4 denied: use pytest"]);
}

/// What one response calls for is called for before the first of it has ended.
#[test]
fn calls_made_together() {
    let call = |id, end: u32| {
        tool(
            id,
            "read",
            &format!(r#""status":"completed","input":{{}},"output":"a","time":{{"start":21,"end":{end}}}"#),
        )
    };
    let text = r#"{"id":"prt_9","messageID":"msg_2","type":"text","text":"Well","time":{"start":29}}"#;
    let events = events(&[SESSION, RESPONSE, &call(1, 25), &call(2, 24), text, &call(3, 30)]);
    let told: Vec<_> = events
        .iter()
        .map(|event| match &event.body {
            Body::ToolCall(_) => format!("{} call", event.line),
            Body::ToolResult(_) => format!("{} result", event.line),
            _ => event.line.to_string(),
        })
        .collect();
    assert_eq!(told, ["1", "3 call", "4 call", "4 result", "3 result", "5", "6 call", "6 result"]);
}

/// The person stops a response: while it wrote, while a tool ran, while a command ran.
#[test]
fn interrupts() {
    let text = r#"{"id":"prt_1","messageID":"msg_2","type":"text","text":"Well","time":{"start":21,"end":22}}"#;
    assert_eq!(story(&[SESSION, ABORTED, text]), ["2 interrupt"]);
    let cut = tool(
        1,
        "read",
        r#""status":"error","input":{},"error":"Tool execution aborted","metadata":{"interrupted":true}"#,
    );
    assert_eq!(story(&[SESSION, ABORTED, &cut]), ["3 stopped", "2 interrupt of a tool"]);
    let command = tool(
        1,
        "bash",
        r#""status":"completed","input":{"command":"sleep 9"},"output":"(no output)\n\n<bash_metadata>\nUser aborted the command\n</bash_metadata>","metadata":{"exit":null}"#,
    );
    assert_eq!(story(&[SESSION, ABORTED, &command]), ["3 stopped", "2 interrupt of a tool"]);
    let running = tool(1, "bash", r#""status":"running","input":{"command":"sleep 9"},"time":{"start":21}"#);
    assert_eq!(story(&[SESSION, ABORTED, &running]), ["2 interrupt of a tool"]);
    // What another failure of the response ended was not stopped.
    let failed = ABORTED.replace("MessageAbortedError", "UnknownError");
    assert_eq!(
        story(&[SESSION, &failed, &cut]),
        ["3 failed: Tool execution aborted", "2 api error None, retried false"]
    );
}

/// A call that has not ended has no result; it has the key that it will have.
#[test]
fn calls_that_run() {
    let keys = |state: &str| -> Vec<_> {
        let call = tool(1, "bash", state);
        events(&[SESSION, RESPONSE, &call]).into_iter().filter_map(|event| event.key).collect()
    };
    assert_eq!(keys(r#""status":"pending","input":{},"raw":"""#), ["20a/call_1"]);
    assert_eq!(keys(r#""status":"running","input":{"command":"ls"},"time":{"start":21}"#), ["20a/call_1"]);
    let completed = keys(r#""status":"completed","input":{"command":"ls"},"output":"a","metadata":{"exit":0}"#);
    assert_eq!(completed, ["20a/call_1", "20a/call_1/result"]);
}

/// A command that ran too long failed, and says so.
#[test]
fn timeouts() {
    let state = r#""status":"completed","input":{"command":"sleep 999"},"output":"a\n\n<bash_metadata>\nbash tool terminated command after exceeding timeout 1000 ms\n</bash_metadata>","metadata":{"exit":null}"#;
    let events = events(&[SESSION, RESPONSE, &tool(1, "bash", state)]);
    let Body::ToolResult(result) = &events[2].body else { panic!("{events:?}") };
    assert_eq!(result.text, "a\nbash tool terminated command after exceeding timeout 1000 ms");
}

/// A call to a tool that is not there, or with an input that is none, is a completed call of `invalid`.
#[test]
fn invalid_calls() {
    let state = r#""status":"completed","input":{"tool":"Bash","error":"no such tool"},"output":"The arguments provided to the tool are invalid: no such tool","metadata":{}"#;
    let rows = [SESSION, RESPONSE, &tool(1, "invalid", state)];
    assert_eq!(story(&rows), ["3 failed: The arguments provided to the tool are invalid: no such tool"]);
    assert!(events(&rows).iter().any(|event| matches!(&event.body, Body::ToolCall(call) if call.name == "Bash")));
}

/// The person runs a command: `!ls`.
#[test]
fn commands_of_the_person() {
    let announced = r#"{"id":"prt_1","messageID":"msg_1","type":"text","synthetic":true,"text":"The following tool was executed by the user"}"#;
    let ran =
        tool(2, "bash", r#""status":"completed","input":{"command":"false"},"output":"oh","metadata":{"exit":1}"#);
    let agents = ran.replace("msg_2", "msg_3");
    let next = RESPONSE.replace("msg_2", "msg_3").replace("20", "40");
    let rows = [SESSION, PROMPT, announced, RESPONSE, &ran, &next, &agents];
    assert_eq!(story(&rows), ["5 human, shell: false", "7 failed: 1"]);
}

/// What is put in the person's mouth is not theirs.
#[test]
fn texts_of_the_harness() {
    let synthetic = typed("Summarize").replace(r#""text","#, r#""text","synthetic":true,"#);
    let ignored = typed("Noted").replace(r#""text","#, r#""text","ignored":true,"#);
    assert!(story(&[SESSION, PROMPT, &synthetic, &ignored]).is_empty());
    assert_eq!(events(&[SESSION, PROMPT, &synthetic, &ignored]).len(), 3);
}

/// Said while the agent was at work.
#[test]
fn steering() {
    let late = PROMPT.replace("10", "25").replace("msg_1", "msg_3");
    let said = typed("use pytest").replace("msg_1", "msg_3");
    let after = PROMPT.replace("10", "31").replace("msg_1", "msg_4");
    let thanks = typed("thanks").replace("msg_1", "msg_4");
    let rows = [SESSION, PROMPT, &typed("go"), RESPONSE, &late, &said, &after, &thanks];
    assert_eq!(story(&rows), ["3 human: go", "6 human, at work: use pytest", "8 human: thanks"]);
}

/// A compaction is told once: by its part, or up to 0.x by the summary. A prompt that did not fit is put again after it.
#[test]
fn compactions() {
    let compact = r#"{"id":"msg_3","role":"user","time":{"created":40}}"#;
    let part = |auto: bool| {
        format!(r#"{{"id":"prt_3","messageID":"msg_3","type":"compaction","auto":{auto},"overflow":{auto}}}"#)
    };
    let summary = r#"{"id":"msg_4","role":"assistant","summary":true,"time":{"created":50}}"#;
    let text = r#"{"id":"prt_4","messageID":"msg_4","type":"text","text":"It was about calc."}"#;
    let again = PROMPT.replace("10", "60").replace("msg_1", "msg_5");
    let same = typed("go").replace("msg_1", "msg_5");
    let told = |auto: bool| story(&[SESSION, PROMPT, &typed("go"), compact, &part(auto), summary, text, &again, &same]);
    assert_eq!(told(true), ["3 human: go", "5 compaction, manual Some(false)"]);
    assert_eq!(told(false), ["3 human: go", "5 compaction, manual Some(true)", "9 human: go"]);
    assert_eq!(story(&[SESSION, PROMPT, summary, text]), ["3 compaction, manual None"]);
    let events = events(&[SESSION, summary, text]);
    let said = |event: &Event| match &event.body {
        Body::Message(message) => Some((message.author, message.channel)),
        _ => None,
    };
    assert_eq!(events.iter().find_map(said), Some((Author::Harness, Channel::Summary)));
}

/// A question that was answered, and one that was not.
#[test]
fn questions() {
    let answered = tool(
        1,
        "question",
        r#""status":"completed","input":{},"output":"User has answered your questions: …","metadata":{"answers":[["The first"],["a","b"],[]]}"#,
    );
    let dismissed =
        tool(2, "question", r#""status":"error","input":{},"error":"Error: The user dismissed this question""#);
    assert_eq!(story(&[SESSION, RESPONSE, &answered, &dismissed]), ["3 human, asked: The first\na\nb", "4 denied: -"]);
}

/// The service was asked again.
#[test]
fn retries() {
    let retry = r#"{"id":"prt_1","messageID":"msg_2","type":"retry","attempt":1,"error":{"name":"APIError","data":{"message":"Overloaded","statusCode":529}},"time":{"created":22}}"#;
    assert_eq!(story(&[SESSION, RESPONSE, retry]), ["3 api error Some(529), retried true"]);
}

/// `/undo`: from a message on, or from a part of one.
#[test]
fn undone() {
    let reply = r#"{"id":"prt_2","messageID":"msg_2","type":"text","text":"Well","time":{"start":21}}"#;
    let call = tool(3, "bash", r#""status":"completed","input":{},"output":"","metadata":{"exit":0}"#);
    let undone = |revert: &str| {
        let session = SESSION.replace(r#""title""#, &format!(r#""revert":{revert},"title""#));
        let events = events(&[&session, PROMPT, &typed("go"), RESPONSE, reply, &call]);
        match events.last().unwrap().body.clone() {
            Body::Rewind(key) => events.iter().find(|event| event.key.as_ref() == Some(&key)).map(|event| event.line),
            _ => None,
        }
    };
    assert_eq!(undone(r#"{"messageID":"msg_1"}"#), Some(3));
    assert_eq!(undone(r#"{"messageID":"msg_2","partID":"prt_3"}"#), Some(6));
    assert_eq!(undone(r#"{"messageID":"msg_9"}"#), None);
    assert_eq!(undone("null"), None);
}

/// Up to 0.x a response has several steps, and its own row the tokens of the last.
#[test]
fn steps() {
    let step = |id: u32, input: u32| {
        format!(
            r#"{{"id":"prt_{id}","messageID":"msg_2","type":"step-finish","tokens":{{"input":{input},"output":2,"reasoning":1,"cache":{{"read":5,"write":0}}}}}}"#
        )
    };
    let response = RESPONSE.replace(r#""modelID""#, r#""tokens":{"input":20,"output":2},"modelID""#);
    let usage = |rows: &[&str]| -> Vec<_> {
        let figures = |event: Event| match event.body {
            Body::Usage(usage) => Some((usage.input, usage.output, usage.cache_read)),
            _ => None,
        };
        events(rows).into_iter().filter_map(figures).collect()
    };
    assert_eq!(usage(&[SESSION, &response, &step(1, 10), &step(2, 20)]), [(30, 6, 10)]);
    assert_eq!(usage(&[SESSION, &response]), [(20, 2, 0)]);
}

/// A patch is edits of files.
#[test]
fn patches() {
    let state = r#""status":"completed","input":{"patchText":"*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** End Patch"},"output":"ok""#;
    let events = events(&[SESSION, RESPONSE, &tool(1, "apply_patch", state)]);
    let Body::ToolCall(call) = &events[1].body else { panic!("{events:?}") };
    assert_eq!((call.kind, call.paths.as_slice()), (ToolKind::Edit, ["a.rs".to_owned()].as_slice()));
    assert_eq!((call.edits[0].removed.as_str(), call.edits[0].added.as_str()), ("x", "y"));
}

/// A command that a sub-agent carries out.
#[test]
fn typed_commands() {
    let part = r#"{"id":"prt_1","messageID":"msg_1","type":"subtask","agent":"general","command":"review","prompt":"Review it all"}"#;
    assert_eq!(story(&[SESSION, PROMPT, part]), ["3 human, command: /review"]);
}

/// Parts of a message whose own row is missing: what was done is told, who spoke is not known.
#[test]
fn parts_without_their_message() {
    let call = tool(1, "bash", r#""status":"completed","input":{},"output":"oh","metadata":{"exit":2}"#);
    assert_eq!(story(&[SESSION, &typed("go"), &call]), ["3 failed: 2"]);
}

/// A message of before there were parts is told by the tally.
#[test]
fn messages_with_their_parts_inside() {
    let old = r#"{"id":"msg_1","role":"user","metadata":{"time":{"created":1}},"parts":[{"type":"text","text":"go"}]}"#;
    let (events, tally) = read("ses_1", old.as_bytes(), 300);
    assert!(events.is_empty());
    assert_eq!(tally[0].what, "message with its parts inside");
}
