//! A client of the server. It takes nothing but the protocol, and waits for nothing for ever.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::User;

/// Longer than a machine that is busy with other tests needs.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    next: u64,
    /// The folders that it says it works in; none: it says nothing.
    roots: Option<Vec<String>>,
}

impl Agent {
    /// Starts a server in a folder, and says nothing yet.
    pub(crate) fn silent(user: &User, here: &Path) -> Self {
        Self::started(user.command(&["mcp"]), here)
    }

    /// One that was started in a session of Claude Code.
    pub(crate) fn in_session(user: &User, session: &str) -> Self {
        let mut command = user.command(&["mcp"]);
        command.env("CLAUDE_CODE_SESSION_ID", session);
        let mut agent = Self::started(command, user.folder());
        agent.greet();
        agent
    }

    fn started(mut command: Command, here: &Path) -> Self {
        command.current_dir(here).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, output) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, output, next: 0, roots: None }
    }

    /// One that was greeted, in the user's folder.
    pub(crate) fn of(user: &User) -> Self {
        Self::in_folder(user, user.folder())
    }

    pub(crate) fn in_folder(user: &User, here: &Path) -> Self {
        let mut agent = Self::silent(user, here);
        agent.greet();
        agent
    }

    /// One that says where it works.
    pub(crate) fn with_roots(user: &User, roots: &[String]) -> Self {
        let mut agent = Self::silent(user, user.folder());
        agent.roots = Some(roots.to_vec());
        agent.greet();
        agent
    }

    pub(crate) fn greet(&mut self) -> Value {
        let capabilities = if self.roots.is_some() { json!({ "roots": { "listChanged": true } }) } else { json!({}) };
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
        let answer = self.ask("initialize", params);
        self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        answer["result"].clone()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn write(&mut self, line: &str) {
        self.write_bytes(line.as_bytes());
    }

    pub(crate) fn write_bytes(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// The next message of the server.
    pub(crate) fn hear(&self) -> Value {
        let line = self.output.recv_timeout(PATIENCE).expect("the server says nothing");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("no message of the protocol: {error}: {line}"))
    }

    /// Asks, without waiting. Gives the number of the question.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }).to_string());
        self.next
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// What is answered to a question, whatever comes before it.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear();
            if message["id"] == id && message["method"].is_null() {
                return message;
            }
            if message["method"] == "roots/list" {
                let roots: Vec<_> = self.roots.iter().flatten().map(|uri| json!({ "uri": uri })).collect();
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "roots": roots } });
                self.write(&answer.to_string());
            }
        }
    }

    /// Calls a tool. Gives its result, which may be a refusal.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let message = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(message["error"].is_null(), "{tool}: {message}");
        message["result"].clone()
    }

    /// What a tool answers, as a value. What must not be overlooked stands in the text, too.
    #[track_caller]
    pub(crate) fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        let (value, text) = (&result["structuredContent"], text(&result));
        assert!(text.starts_with(value["about"].as_str().unwrap()), "{tool}: {result}");
        value.clone()
    }

    /// What a tool answers, as text.
    #[track_caller]
    pub(crate) fn text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        text(&result)
    }

    /// Why a tool does not do it.
    #[track_caller]
    pub(crate) fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        text(&result)
    }

    /// Closes its standard input and waits for its end.
    pub(crate) fn leave(mut self) -> ExitStatus {
        drop(self.input.take());
        self.ended()
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn ended(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap().to_owned()
}
