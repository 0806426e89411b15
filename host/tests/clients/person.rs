//! Someone who has Claude Code and TotalRecall, on a machine of their own.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

use crate::{
    api::{Api, KEY, Reply},
    claude::Claude,
};

/// What time it is for TotalRecall: long after whatever is written while tests run, so that all sessions have settled.
const NOW: &str = "2036-06-01T12:00:00Z";

/// A person with an empty home directory, deleted at the end, and an API of their own.
pub(crate) struct Person {
    dir: tempfile::TempDir,
    pub(crate) api: Api,
    environment: Vec<(String, String)>,
    /// What each of their sessions is started with besides.
    pub(crate) sessions_have: Vec<String>,
}

impl Person {
    /// One whose API answers like this, with the newest Claude Code.
    pub(crate) fn asking(script: impl IntoIterator<Item = Reply>) -> Self {
        Self::having(Claude::Newest, script)
    }

    /// One with this Claude Code.
    pub(crate) fn having(claude: Claude, script: impl IntoIterator<Item = Reply>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["home", "work", "bin"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        symlink(claude.program(), dir.path().join("bin/claude")).unwrap();
        symlink(env!("CARGO_BIN_EXE_totalrecall"), dir.path().join("bin/totalrecall")).unwrap();
        Self { dir, api: Api::start(script), environment: Vec::new(), sessions_have: Vec::new() }
    }

    /// With another variable in everything they run.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// All that is theirs.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// Where they work.
    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// Where TotalRecall keeps everything.
    pub(crate) fn state(&self) -> PathBuf {
        self.home().join(".totalrecall")
    }

    /// The transcripts that Claude Code has written, and what lies beside them.
    pub(crate) fn transcripts(&self) -> Vec<PathBuf> {
        let mut all = Vec::new();
        walk(&self.home().join(".claude/projects"), &mut all);
        all.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
        all
    }

    /// Notices that hooks have left.
    pub(crate) fn notices(&self) -> Vec<Value> {
        let mut all = Vec::new();
        walk(&self.state().join("inbox"), &mut all);
        all.iter().map(|file| serde_json::from_slice(&fs::read(file).unwrap()).unwrap()).collect()
    }

    /// Settings of Claude Code.
    pub(crate) fn set_up(&self, settings: &Value) {
        let folder = self.home().join(".claude");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    }

    /// A program of theirs, with what belongs to it in the environment and nothing of this machine.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let path = std::env::join_paths([self.dir.path().join("bin"), "/usr/bin".into(), "/bin".into()]);
        command
            .current_dir(self.work())
            .env_clear()
            .env("PATH", path.unwrap())
            .env("HOME", self.home())
            .env("TMPDIR", self.dir.path())
            .env("LANG", "en_US.UTF-8")
            .env("TZ", "UTC")
            .env("ANTHROPIC_BASE_URL", self.api.url())
            .env("ANTHROPIC_API_KEY", KEY)
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_ERROR_REPORTING", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            // Whatever else they would ask of the world, they ask the API, which refuses and remembers it.
            .env("HTTP_PROXY", self.api.url())
            .env("HTTPS_PROXY", self.api.url())
            .env("NO_PROXY", "127.0.0.1")
            .env("TOTALRECALL_NOW", NOW)
            // Compiled components are shared between tests.
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// `claude` with these arguments.
    pub(crate) fn claude(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(&self.dir.path().join("bin/claude"));
        command.args(arguments);
        command
    }

    /// Runs `claude` with something on its standard input.
    pub(crate) fn ask_claude(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = self.claude(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    }

    /// `totalrecall` with these arguments.
    pub(crate) fn totalrecall(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(Path::new(env!("CARGO_BIN_EXE_totalrecall")));
        command.args(arguments);
        command
    }

    /// Runs `totalrecall`.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.totalrecall(arguments).output().unwrap().into()
    }

    /// Runs `totalrecall`, which must succeed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}:\n{ran}");
        ran
    }
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// None: killed.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// What it printed, as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}:\n{self}"))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code: {:?}\n----- stdout\n{}\n----- stderr\n{}", self.code, self.out, self.err)
    }
}

/// All files below a folder, sorted.
pub(crate) fn walk(folder: &Path, all: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() { walk(&entry, all) } else { all.push(entry) }
    }
}
