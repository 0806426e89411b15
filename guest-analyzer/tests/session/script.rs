//! A session as a test writes it: one call per event, one line per event.

use totalrecall_sdk::types::*;
use totalrecall_sdk::{Analysis, Signal};

use totalrecall_analyzer::Friction;

/// Builds the events of a session.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) events: Vec<Event>,
    thread: Option<String>,
    copied: bool,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// What follows happens in a sub-agent, or in the main thread again.
    pub(crate) fn thread(mut self, thread: Option<&str>) -> Self {
        self.thread = thread.map(str::to_owned);
        self
    }

    /// What follows repeats another transcript, or no more.
    pub(crate) fn copied(mut self, copied: bool) -> Self {
        self.copied = copied;
        self
    }

    pub(crate) fn event(mut self, body: Body) -> Self {
        let line = self.events.len() as u64 + 1;
        self.events.push(Event {
            line,
            at: Some(line as i64 * 1000),
            thread: self.thread.clone(),
            key: None,
            copied: self.copied,
            body,
        });
        self
    }

    pub(crate) fn says(self, author: Author, channel: Channel, text: &str) -> Self {
        self.event(Body::Message(Message { author, channel, text: text.into(), omitted: 0 }))
    }

    /// A human prompt.
    pub(crate) fn human(self, text: &str) -> Self {
        self.says(Author::Human, Channel::Prompt, text)
    }

    /// The agent's text.
    pub(crate) fn agent(self, text: &str) -> Self {
        self.says(Author::Agent, Channel::Reply, text)
    }

    pub(crate) fn call(self, name: &str, kind: ToolKind, command: Option<&str>, edits: &[(&str, &str, &str)]) -> Self {
        let id = format!("call-{}", self.events.len() + 1);
        let edits: Vec<Edit> = edits
            .iter()
            .map(|(path, removed, added)| Edit {
                path: (*path).into(),
                removed: (*removed).into(),
                added: (*added).into(),
            })
            .collect();
        self.event(Body::ToolCall(ToolCall {
            id,
            name: name.into(),
            kind,
            paths: edits.iter().map(|edit| edit.path.clone()).collect(),
            command: command.map(str::to_owned),
            input: command.map_or_else(|| format!("{edits:?}"), str::to_owned),
            edits,
            omitted: 0,
        }))
    }

    /// The result of the call `back` events ago.
    pub(crate) fn result(self, back: usize, status: Status, text: &str, words: Option<&str>) -> Self {
        let call = format!("call-{}", self.events.len() + 1 - back);
        self.event(Body::ToolResult(ToolResult {
            call,
            status,
            exit_code: None,
            text: text.into(),
            omitted: 0,
            words: words.map(str::to_owned),
            amended: false,
        }))
    }

    /// A command and its result.
    pub(crate) fn bash(self, command: &str, status: Status, text: &str) -> Self {
        self.call("Bash", ToolKind::Execute, Some(command), &[]).result(1, status, text, None)
    }

    /// A command that ends with an exit code.
    pub(crate) fn exits(self, command: &str, code: i32, text: &str) -> Self {
        let mut script = self.bash(command, if code == 0 { Status::Ok } else { Status::Error }, text);
        if let Some(Body::ToolResult(result)) = script.events.last_mut().map(|event| &mut event.body) {
            result.exit_code = Some(code);
        }
        script
    }

    /// The transcript tells of this session from here on.
    pub(crate) fn session(self, id: &str) -> Self {
        self.fork(id, None)
    }

    /// The same, of a session that was made from another one.
    pub(crate) fn fork(self, id: &str, parent: Option<&str>) -> Self {
        let (cwd, branch, title, version) = (None, None, None, None);
        let (id, parent) = (Some(id.into()), parent.map(str::to_owned));
        self.event(Body::Session(Session { id, cwd, branch, title, version, parent }))
    }

    /// A successful edit.
    pub(crate) fn edit(self, path: &str, removed: &str, added: &str) -> Self {
        self.call("Edit", ToolKind::Edit, None, &[(path, removed, added)]).result(1, Status::Ok, "updated", None)
    }

    pub(crate) fn interrupt(self, in_tool: bool) -> Self {
        self.event(Body::Interrupt(Interrupt { in_tool }))
    }

    pub(crate) fn api_error(self, retried: bool) -> Self {
        self.event(Body::ApiError(ApiError { status: Some(529), text: "overloaded".into(), retried }))
    }

    /// Every signal of the session, settled and provisional.
    pub(crate) fn signals(&self) -> Vec<Signal> {
        let mut analysis = Analysis::<Friction>::new(&[], None);
        let mut signals = analysis.observe(&self.events).expect("no fault");
        signals.extend(analysis.conclude().expect("no fault"));
        signals
    }

    /// Kind and line of every signal but corrections' and repetitions', which have tests of their own.
    pub(crate) fn found(&self) -> Vec<(String, u64)> {
        let mut found: Vec<_> = self.signals().into_iter().map(|signal| (signal.kind, signal.line)).collect();
        found.sort_by_key(|(kind, line)| (*line, kind.clone()));
        found
    }

    /// Lines of one kind of signal.
    pub(crate) fn lines(&self, kind: &str) -> Vec<u64> {
        self.found().into_iter().filter(|(found, _)| found == kind).map(|(_, line)| line).collect()
    }
}
