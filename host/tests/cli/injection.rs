//! Memory in sessions: what an agent is told when one begins, what is kept before one is compacted, and what nobody saved.

mod aside;
mod guard;
mod inject;
mod unsaved;

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use serde_json::{Value, json};
use totalrecall::{
    memory::{self, NewMemory},
    redact::{Redactor, Settings},
    store::Store,
};

use crate::support::{NOW, User, settle};

/// `NOW` in milliseconds since the Unix epoch.
fn now() -> i64 {
    NOW.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

/// A session as Claude Code writes it down.
struct Script {
    id: String,
    folder: String,
    day: u32,
    lines: Vec<Value>,
}

impl Script {
    /// One that begins at nine in the morning of a day of November 2026, in this folder.
    fn new(number: usize, folder: &Path, day: u32) -> Self {
        let id = format!("{number:08}-0000-4000-8000-000000000000");
        Self { id, folder: folder.to_string_lossy().into_owned(), day, lines: Vec::new() }
    }

    fn record(mut self, kind: &str, more: &Value) -> Self {
        let step = self.lines.len();
        let mut record = json!({
            "type": kind, "uuid": format!("{}-{step}", self.id), "sessionId": self.id, "cwd": self.folder,
            "parentUuid": step.checked_sub(1).map(|before| format!("{}-{before}", self.id)),
            "timestamp": format!("2026-11-{:02}T09:{:02}:{:02}.000Z", self.day, step / 60, step % 60),
            "version": "2.1.332", "isSidechain": false, "userType": "external",
        });
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.lines.push(record);
        self
    }

    fn says(self, text: &str) -> Self {
        self.record("user", &json!({ "message": { "role": "user", "content": text } }))
    }

    fn replies(self, text: &str) -> Self {
        let id = format!("m{}-{}", self.id, self.lines.len());
        let content = json!([{ "type": "text", "text": text }]);
        self.record("assistant", &json!({ "message": { "role": "assistant", "id": id, "content": content } }))
    }

    fn calls(self, tool: &str, input: &Value, answer: &str, is_error: bool) -> Self {
        let call = format!("t{}-{}", self.id, self.lines.len());
        let content = json!([{ "type": "tool_use", "id": call, "name": tool, "input": input }]);
        let result = json!([{ "type": "tool_result", "tool_use_id": call, "is_error": is_error, "content": answer }]);
        self.record(
            "assistant",
            &json!({ "message": { "role": "assistant", "id": format!("m{call}"), "content": content } }),
        )
        .record("user", &json!({ "message": { "role": "user", "content": result } }))
    }

    fn edits(self, file: &str) -> Self {
        let path = format!("{}/{file}", self.folder);
        let text = format!("line {}", self.lines.len());
        self.calls("Edit", &json!({ "file_path": path, "old_string": "x", "new_string": text }), "updated", false)
    }

    fn runs(self, line: &str) -> Self {
        self.calls("Bash", &json!({ "command": line }), "done", false)
    }

    fn fails(self, line: &str, error: &str) -> Self {
        self.calls("Bash", &json!({ "command": line }), &format!("Exit code 1\n{error}"), true)
    }

    /// Where it lies then.
    fn write(&self, user: &User) -> PathBuf {
        let path = user.projects().join(format!("p/{}.jsonl", self.id));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, self.lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        settle(&path);
        path
    }
}

/// A repository with a folder in it, and a worktree.
fn repository(user: &User) -> [PathBuf; 3] {
    let base = user.folder().canonicalize().unwrap();
    let (app, fix) = (base.join("app"), base.join("app-fix"));
    fs::create_dir_all(app.join("src")).unwrap();
    fs::create_dir_all(app.join(".git/worktrees/fix")).unwrap();
    fs::create_dir_all(&fix).unwrap();
    fs::write(app.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(fix.join(".git"), format!("gitdir: {}\n", app.join(".git/worktrees/fix").display())).unwrap();
    fs::write(app.join(".git/worktrees/fix/gitdir"), format!("{}\n", fix.join(".git").display())).unwrap();
    [app.clone(), app.join("src"), fix]
}

/// Remembers something and prepares anew, as whoever remembers does.
fn remember(user: &User, memory: NewMemory) -> String {
    let mut store = Store::open(&user.state()).unwrap();
    let redactor = Redactor::new(&Settings::default());
    memory::remember(&mut store, &redactor, memory, now()).unwrap().id
}

/// What a hook did.
fn call(user: &User, event: &str, input: &Value, environment: &[(&str, &str)]) -> Output {
    let mut child = user
        .command(&["hook", event])
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.to_string().as_bytes());
    child.wait_with_output().unwrap()
}

/// What the agent is told when a session begins. The hook must end well and say nothing else.
fn told_with(user: &User, folder: &Path, session: &str, source: &str, environment: &[(&str, &str)]) -> Option<String> {
    // Without a transcript nothing is noted, so that no worker prepares anything behind our back.
    let input = json!({ "session_id": session, "cwd": folder, "hook_event_name": "SessionStart", "source": source });
    // The line for the person is another matter.
    let environment: Vec<_> = environment.iter().copied().chain([("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")]).collect();
    let output = call(user, "SessionStart", &input, &environment);
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    if output.stdout.is_empty() {
        return None;
    }
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer.as_object().unwrap().keys().collect::<Vec<_>>(), ["hookSpecificOutput"], "{answer}");
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "SessionStart");
    Some(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned())
}

fn told(user: &User, folder: &Path, session: &str, source: &str) -> Option<String> {
    told_with(user, folder, session, source, &[])
}

/// Every text of every event that is stored.
fn stored(user: &User) -> String {
    let store = Store::open_read_only(&user.state()).unwrap();
    let mut texts = String::new();
    for session in store.sessions().unwrap() {
        for transcript in store.transcripts(session.id).unwrap() {
            texts += &format!("{:#?}\n", store.events(transcript.id, 0, 10_000).unwrap().0);
        }
    }
    texts
}
