//! A user: a home directory with transcripts, and the program.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, UNIX_EPOCH},
};

/// What is fixed so that output is the same every day.
pub(crate) const NOW: &str = "2026-12-01T12:00:00Z";

/// A person's home directory, deleted at the end.
pub(crate) struct User {
    dir: tempfile::TempDir,
}

impl User {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        Self { dir }
    }

    /// One who has the transcripts of a fixture in `~/.claude/projects`.
    pub(crate) fn with(case: &str) -> Self {
        let user = Self::new();
        copy(&fixture(case), &user.projects());
        user
    }

    /// One who has the transcripts of a tool's fixture where the tool keeps them, databases made of their statements.
    pub(crate) fn with_tool(tool: &str, case: &str) -> Self {
        let user = Self::new();
        let kept = user.home().join(kept(tool));
        totalrecall::conformance::lay_out(&fixtures().join(tool).join(case).join("transcripts"), &kept).unwrap();
        crate::life::walk(&kept).iter().for_each(|file| settle(file));
        user
    }

    /// Where commands are run.
    pub(crate) fn folder(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn projects(&self) -> PathBuf {
        self.home().join(".claude/projects")
    }

    /// Where the program keeps everything.
    pub(crate) fn state(&self) -> PathBuf {
        self.home().join(".totalrecall")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_totalrecall"));
        command
            .args(arguments)
            .current_dir(self.dir.path())
            .env_clear()
            .env("HOME", self.home())
            // Compiled components are shared between tests: compiling them each time would be all that tests do.
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .env("TOTALRECALL_NOW", NOW)
            .env("LANG", "en_US.UTF-8")
            .env("TZ", "UTC");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self, self.command(arguments).output().unwrap())
    }

    /// Runs what must succeed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}:\n{ran}");
        ran
    }

    /// What is printed, without what differs from run to run.
    fn filter(&self, text: &[u8]) -> String {
        let dir = self.dir.path().to_string_lossy().into_owned();
        let real = self.dir.path().canonicalize().unwrap().to_string_lossy().into_owned();
        String::from_utf8_lossy(text)
            .replace(&real, "[DIR]")
            .replace(&dir, "[DIR]")
            .replace(env!("CARGO_TARGET_TMPDIR"), "[CACHE]")
    }
}

/// How a command ended.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(user: &User, output: Output) -> Self {
        Self { code: output.status.code(), out: user.filter(&output.stdout), err: user.filter(&output.stderr) }
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}:\n{self}"))
    }

    /// JSON objects, one a line.
    pub(crate) fn json_lines(&self) -> Vec<serde_json::Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code: {:?}\n----- stdout\n{}\n----- stderr\n{}", self.code, self.out, self.err)
    }
}

/// The folder of all tools' cases.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// The tools that there are cases of, by name. In `import` are homes of other programs.
pub(crate) fn tools() -> Vec<String> {
    let mut tools: Vec<_> =
        fs::read_dir(fixtures()).unwrap().map(|tool| tool.unwrap().file_name().into_string().unwrap()).collect();
    tools.retain(|tool| tool != "import");
    tools.sort();
    tools
}

/// Where a tool keeps what the `transcripts` of its cases hold, below the home directory.
pub(crate) fn kept(tool: &str) -> &'static str {
    match tool {
        "aider" => "src/project",
        "claude-code" => ".claude/projects",
        "codex" => ".codex",
        "cursor" => ".config/Cursor/User/globalStorage",
        "gemini-cli" => ".gemini/tmp",
        "opencode" => ".local/share/opencode",
        other => panic!("{other}: where does it keep its transcripts?"),
    }
}

/// The transcripts of a case.
pub(crate) fn fixture(case: &str) -> PathBuf {
    fixtures().join("claude-code").join(case).join("transcripts")
}

/// Copies a folder; the copies are as old as the originals, so that they count as settled.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
            settle(&target);
        }
    }
}

/// Makes a file look as if it was last written some minutes before `NOW`.
pub(crate) fn settle(file: &Path) {
    touch(file, Duration::from_secs(400));
}

/// Makes a file look as if it was last written so long before `NOW`.
pub(crate) fn touch(file: &Path, age: Duration) {
    let now: jiff::Timestamp = NOW.parse().unwrap();
    let now = UNIX_EPOCH + Duration::from_millis(now.as_millisecond().unsigned_abs());
    fs::File::options().write(true).open(file).unwrap().set_modified(now - age).unwrap();
}

/// The guest of this name with something else between the marks in its data: `{name:…}`, padded with dots.
pub(crate) fn marked(name: &str, changes: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = crate::guests::guest(name).bytes().to_vec();
    for (name, value) in changes {
        let mark = format!("{{{name}:");
        let found = bytes.windows(mark.len()).position(|window| window == mark.as_bytes());
        let at = found.unwrap() + mark.len();
        let end = at + bytes[at..].iter().position(|byte| *byte == b'}').unwrap();
        assert!(value.len() <= end - at, "no room for {value}");
        bytes[at..end].fill(b'.');
        bytes[at..at + value.len()].copy_from_slice(value.as_bytes());
    }
    bytes
}
