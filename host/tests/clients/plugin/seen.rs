//! Sessions, and what the client itself says of our hooks in them.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::{
    person::{Person, Ran},
    terminal::{CTRL_D, Terminal},
};

/// What every session is started with: who decides about tools and which need no permission, and where the client writes what it does.
fn usual(log: &std::path::Path) -> Vec<String> {
    let log = format!("--debug-file={}", log.display());
    ["--model=sonnet", "--permission-mode=default", "--allowedTools=Bash,Read,Edit", &log].map(str::to_owned).into()
}

/// A hook of ours that the client ran, by its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hook {
    /// `SessionStart:clear`, `Stop`, …
    pub(crate) name: String,
    pub(crate) status: i32,
    /// Of hooks that nobody waits for the client does not say it, and Claude Code 2.1.197 of none.
    pub(crate) milliseconds: Option<u64>,
}

impl std::fmt::Display for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let time = self.milliseconds.map_or_else(|| "?".to_owned(), |time| time.to_string());
        write!(f, "{} {time}", self.name)
    }
}

/// What the client wrote while it ran.
pub(crate) struct Log(String);

impl Log {
    /// Our hooks, in the order they ended. Claude Code 2.1.197 writes those only that nobody waits for.
    pub(crate) fn hooks(&self) -> Vec<Hook> {
        self.0.lines().filter_map(hook).collect()
    }

    /// Panics if the client says that a hook failed, was cut off, said what it could not read, or blocked anything.
    #[track_caller]
    pub(crate) fn assert_nothing_wrong(&self) {
        for hook in self.hooks() {
            assert_eq!(hook.status, 0, "{hook:?}");
        }
        for wrong in ["Hook cancelled", "blocked by", ") error: ", "non-blocking error", "JSON validation failed"] {
            let is_so = |line: &&str| line.to_lowercase().contains("hook") && line.contains(wrong);
            let lines: Vec<_> = self.0.lines().filter(is_so).collect();
            assert!(lines.is_empty(), "{lines:#?}");
        }
    }
}

/// `… Hooks: Stop [/…/plugin/bin/totalrecall hook Stop] (plugin totalrecall@totalrecall) finished with status 0 (4ms)`, or
/// `… SessionEnd:other [${CLAUDE_PLUGIN_ROOT}/plugin/bin/totalrecall hook SessionEnd] completed with status 0`
fn hook(line: &str) -> Option<Hook> {
    let (name, rest) = line.split_once("[DEBUG] ")?.1.split_once(" [")?;
    let (command, rest) = rest.split_once("] ")?;
    let (_, how) = rest.split_once("ed with status ")?;
    command.contains("totalrecall").then_some(())?;
    let (status, time) = how.split_once(' ').unwrap_or((how, ""));
    let milliseconds = time.trim_matches(['(', ')']).trim_end_matches("ms").parse().ok();
    Some(Hook { name: name.trim_start_matches("Hooks: ").to_owned(), status: status.parse().ok()?, milliseconds })
}

/// A session that was asked for by a command, and is over.
pub(crate) struct Session {
    pub(crate) ran: Ran,
    pub(crate) log: Log,
}

impl Session {
    /// What it printed: an event a line.
    pub(crate) fn events(&self) -> Vec<Value> {
        let event = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.ran.out.lines().map(event).collect()
    }

    /// What became of it.
    pub(crate) fn result(&self) -> Value {
        self.events().into_iter().find(|event| event["type"] == "result").unwrap_or_else(|| panic!("{}", self.ran))
    }

    pub(crate) fn id(&self) -> String {
        self.result()["session_id"].as_str().unwrap().to_owned()
    }

    /// Panics unless it went as it does without us.
    #[track_caller]
    pub(crate) fn assert_undisturbed(&self) {
        assert_eq!((self.ran.code, self.ran.err.as_str()), (Some(0), ""), "{}", self.ran);
        assert_eq!(self.result()["is_error"], json!(false), "{}", self.ran);
        for event in self.events().iter().filter(|event| event["subtype"] == "hook_response") {
            assert_eq!((&event["exit_code"], &event["outcome"]), (&json!(0), &json!("success")), "{event}");
            assert_eq!(event["stderr"], "", "{event}");
        }
        self.log.assert_nothing_wrong();
    }
}

/// A session at a terminal.
pub(crate) struct Sitting {
    pub(crate) terminal: Terminal,
    log: PathBuf,
}

impl Sitting {
    /// Ends the session as a person does who is done.
    #[track_caller]
    pub(crate) fn leave(&mut self) {
        // Where something is typed, this key only deletes.
        self.terminal.clear_line();
        self.terminal.press(CTRL_D);
        self.terminal.wait_for("Ctrl-D again");
        self.terminal.press(CTRL_D);
        assert_eq!(self.terminal.ended().code(), Some(0));
    }

    pub(crate) fn log(&self) -> Log {
        Log(fs::read_to_string(&self.log).unwrap())
    }
}

impl Person {
    /// A session without a terminal: it answers one prompt. What it is told besides comes last.
    pub(crate) fn session(&self, prompt: &str, more: &[&str]) -> Session {
        let log = self.new_log();
        let mut command = self.session_command(&log, more);
        command.args(["-p", "--output-format=stream-json", "--verbose", "--include-hook-events"]);
        // After everything that could take it for one of its values.
        let ran: Ran = command.arg("--").arg(prompt).output().unwrap().into();
        Session { ran, log: Log(fs::read_to_string(log).unwrap_or_default()) }
    }

    /// A session without a terminal that answers one prompt after the other.
    pub(crate) fn conversation<'a>(&self, prompts: impl IntoIterator<Item = &'a str>) -> Session {
        let log = self.new_log();
        let mut command = self.session_command(&log, &[]);
        command.args(["-p", "--input-format=stream-json", "--output-format=stream-json", "--verbose"]);
        command.arg("--include-hook-events").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut client = command.spawn().unwrap();
        let mut input = client.stdin.take().unwrap();
        let mut output = BufReader::new(client.stdout.take().unwrap());
        let mut out = String::new();
        for prompt in prompts {
            let message = json!({ "type": "user", "message": { "role": "user", "content": prompt } });
            writeln!(input, "{message}").unwrap();
            // The next one only when this one was answered: the client may take two for one.
            let mut is_answered = false;
            while !is_answered {
                let mut line = String::new();
                assert_ne!(
                    output.read_line(&mut line).unwrap(),
                    0,
                    "it has ended without an answer to {prompt:?}: {out}"
                );
                is_answered = serde_json::from_str::<Value>(&line).unwrap()["type"] == "result";
                out += &line;
            }
        }
        drop(input);
        output.read_to_string(&mut out).unwrap();
        let mut ran = Ran::from(client.wait_with_output().unwrap());
        ran.out = out;
        Session { ran, log: Log(fs::read_to_string(log).unwrap_or_default()) }
    }

    /// Sits down at a terminal and starts a session, which is ready for them.
    pub(crate) fn sit_down(&self, more: &[&str]) -> Sitting {
        self.has_been_here();
        let log = self.new_log();
        let terminal = Terminal::start(self.session_command(&log, more));
        terminal.wait_for("❯");
        Sitting { terminal, log }
    }

    fn session_command(&self, log: &std::path::Path, more: &[&str]) -> Command {
        let mut command = self.claude(&[]);
        command.args(usual(log)).args(&self.sessions_have).args(more);
        command
    }

    fn new_log(&self) -> PathBuf {
        let count = fs::read_dir(self.path()).unwrap().count();
        let log = self.path().join(format!("log-{count}"));
        fs::write(&log, "").unwrap();
        log
    }

    /// Answers what the client asks of a newcomer: how it should look, whether this key and this folder may be used.
    fn has_been_here(&self) {
        let file = self.home().join(".claude.json");
        let mut settings: Value =
            fs::read(&file).map_or_else(|_| json!({}), |bytes| serde_json::from_slice(&bytes).unwrap());
        settings["hasCompletedOnboarding"] = json!(true);
        settings["theme"] = json!("dark");
        settings["customApiKeyResponses"] = json!({ "approved": [crate::api::KEY], "rejected": [] });
        let work = self.work().canonicalize().unwrap();
        settings["projects"][work.to_str().unwrap()] =
            json!({ "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true });
        fs::write(file, settings.to_string()).unwrap();
    }
}
