//! Whatever is wrong with the home, a hook ends well, says nothing that could hold the agent up, and leaves nothing half-written;
//! and `doctor` says what it is.

use std::{
    fs,
    io::Write as _,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    life::walk,
    support::{User, copy, fixture},
};

/// Every event that calls us.
const EVENTS: [&str; 8] = [
    "SessionStart",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
];

/// Calls each hook as a client does, then asks `doctor`. A hook that hangs is ended and has another exit code; how long it took
/// otherwise is nobody's business here.
const SCRIPT: &str = r#"
for event in $EVENTS; do
    code=0
    printf '%s' "$EVENT" | timeout -s KILL 30 "$PROGRAM" hook "$event" >"$SAID/$event.out" 2>"$SAID/$event.err" || code=$?
    echo "$code" >"$SAID/$event.code"
done
ls -a "$STATE/inbox" >"$SAID/inbox" 2>/dev/null || true
timeout -s KILL 60 "$PROGRAM" doctor >"$SAID/doctor" 2>&1 || true
"#;

struct Case {
    user: User,
    said: PathBuf,
}

impl Case {
    fn new() -> Self {
        let user = User::with("2.1.120-tui");
        let said = user.folder().join("said");
        fs::create_dir(&said).unwrap();
        Self { user, said }
    }

    /// One with a store in which something is.
    fn with_store() -> Self {
        let case = Self::new();
        case.user.ok(&["worker", "--reconcile"]);
        case
    }

    /// The script after what makes it fail. Through `unshare` in a name space of mounts.
    fn script(&self, before: &str, unshare: bool) -> Command {
        let program = if unshare { "unshare" } else { "sh" };
        let mut command = Command::new(program);
        if unshare {
            command.args(["--mount", "--map-root-user", "sh"]);
        }
        let event = serde_json::json!({
            "session_id": "3cf2385f", "cwd": self.user.folder(), "prompt": "Which database do we use for staging?",
            "tool_name": "Read", "tool_input": { "file_path": "/work/p/src/lib.rs" }, "source": "startup",
            "transcript_path": self.user.projects().join("3cf2385f-440a-4ac0-8d12-6dc76fa532be.jsonl"),
        });
        let of_user = self.user.command(&[]);
        command
            .args(["-euc", &format!("{before}\n{SCRIPT}")])
            .env_clear()
            .envs(of_user.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("PROGRAM", env!("CARGO_BIN_EXE_totalrecall"))
            .env("EVENTS", EVENTS.join(" "))
            .env("EVENT", event.to_string())
            .env("SAID", &self.said)
            .env("STATE", self.user.state())
            .current_dir(self.user.folder());
        command
    }

    fn run(&self, mut script: Command) -> Told {
        let output = script.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{error}");
        let read = |name: &str| fs::read_to_string(self.said.join(name)).unwrap_or_default();
        for event in EVENTS {
            let (code, out, err) =
                (read(&format!("{event}.code")), read(&format!("{event}.out")), read(&format!("{event}.err")));
            assert_eq!((code.trim(), err.as_str()), ("0", ""), "{event}: {out}{error}");
            harmless(event, &out);
        }
        let inbox: Vec<String> = read("inbox").lines().map(str::to_owned).collect();
        for name in inbox.iter().filter(|name| !matches!(name.as_str(), "." | "..")) {
            assert!(!name.starts_with('.'), "{name} is half of a notice");
        }
        let notices = inbox.iter().filter(|name| name.ends_with(".json")).count();
        Told { doctor: read("doctor"), notices }
    }

    /// For whatever is not said of mounts.
    fn fails(&self, before: &str) -> Told {
        self.run(self.script(before, false))
    }

    /// Where mounts can be made; otherwise it is said that nothing was tested.
    fn fails_mounted(&self, before: &str) -> Option<Told> {
        let mut mount = Command::new("unshare");
        mount.args(["--mount", "--map-root-user", "mount", "-t", "tmpfs", "none"]).arg(&self.said);
        if !mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
            // Past the test runner, which keeps what a test that passes has printed.
            let skipped = "SKIPPED: nobody may mount anything here, so a disk that is full or read-only was not tried";
            let _ = writeln!(std::io::stderr(), "{skipped}");
            return None;
        }
        Some(self.run(self.script(before, true)))
    }
}

struct Told {
    doctor: String,
    /// Notices in the inbox after all events.
    notices: usize,
}

impl Told {
    /// A line of `doctor` in which all of this is.
    fn says(&self, health: &str, words: &[&str]) {
        let is_it = |line: &str| line.starts_with(health) && words.iter().all(|word| line.contains(word));
        assert!(self.doctor.lines().any(is_it), "{health} {words:?}:\n{}", self.doctor);
    }
}

/// Nothing that a client would take for a refusal, or show to the model.
fn harmless(event: &str, out: &str) {
    if out.is_empty() {
        return;
    }
    assert_eq!(event, "SessionStart", "{out}");
    let said: serde_json::Value = serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}"));
    let keys: Vec<_> = said.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["systemMessage"], "{out}");
}

#[test]
fn the_store_is_locked() {
    let case = Case::with_store();
    let store = rusqlite::Connection::open(case.user.state().join("totalrecall.db")).unwrap();
    store.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE x (y);").unwrap();
    let told = case.fails("");
    told.says("bad", &["store", "another process keeps the store locked"]);
    assert!(told.notices > 0, "what was left stays");
    drop(store);
    let ran = case.user.ok(&["worker"]);
    assert!(!ran.err.contains("warning"), "{ran}");
}

#[test]
fn the_disk_is_full() {
    let case = Case::new();
    fs::create_dir(case.user.state()).unwrap();
    let fill = "mount -t tmpfs -o size=256k none \"$STATE\"\nmkdir \"$STATE/inbox\"\n\
                dd if=/dev/zero of=\"$STATE/fill\" bs=1k 2>/dev/null || true";
    let Some(told) = case.fails_mounted(fill) else { return };
    told.says("bad", &["home", "cannot be written", "No space left on device"]);
    assert_eq!(told.notices, 0);
}

#[test]
fn the_home_is_read_only() {
    let case = Case::with_store();
    let read_only = "mount --bind \"$STATE\" \"$STATE\"\nmount -o remount,bind,ro \"$STATE\"";
    let Some(told) = case.fails_mounted(read_only) else { return };
    told.says("bad", &["home", "cannot be written", "Read-only file system"]);
    assert_eq!(told.notices, 0);
}

#[test]
fn the_settings_are_broken() {
    let case = Case::with_store();
    fs::write(case.user.state().join("config.toml"), "][").unwrap();
    let told = case.fails("");
    told.says("bad", &["settings", "config.toml"]);
    assert!(told.notices > 0);
}

#[test]
fn the_home_is_missing() {
    let case = Case::new();
    let told = case.fails("");
    assert!(told.doctor.contains("inbox"), "{}", told.doctor);
    assert!(case.user.state().join("inbox").is_dir(), "the first hook makes it");

    // It cannot be made.
    let told = case.fails("export TOTALRECALL_HOME=/proc/nowhere/home");
    told.says("bad", &["home", "/proc/nowhere/home cannot be made"]);
    assert!(!Path::new("/proc/nowhere").exists());
}

#[test]
fn the_home_is_a_file() {
    let case = Case::new();
    fs::write(case.user.state(), "mine").unwrap();
    case.fails("").says("bad", &["home", "is no folder"]);
    assert_eq!(fs::read_to_string(case.user.state()).unwrap(), "mine");
}

#[test]
fn the_inbox_is_a_file() {
    let case = Case::with_store();
    let inbox = case.user.state().join("inbox");
    fs::remove_dir_all(&inbox).unwrap_or_default();
    fs::write(&inbox, "mine").unwrap();
    case.fails("").says("bad", &["inbox", "cannot be written, so hooks leave no word"]);
    assert_eq!(fs::read_to_string(&inbox).unwrap(), "mine");
}

/// What sessions are told cannot be prepared; everything else goes on, and is said.
#[test]
fn the_folder_of_what_sessions_are_told_is_a_file() {
    let case = Case::new();
    fs::create_dir(case.user.state()).unwrap();
    let inject = case.user.state().join("inject");
    fs::write(&inject, "mine").unwrap();
    let ran = case.user.ok(&["worker", "--reconcile"]);
    assert!(ran.err.contains("what sessions are told is as it was before") && ran.err.contains("inject"), "{ran}");
    assert_eq!(case.user.ok(&["status", "--json"]).json()["status"]["sessions"], 1);
    assert!(case.user.state().join("index").is_dir(), "what comes after it was done, too");
    case.fails("").says("bad", &["folder", "inject cannot be written"]);
    assert_eq!(fs::read_to_string(&inject).unwrap(), "mine");
    // Who changes what holds is told that the old is still there.
    let ran = case.user.run(&["remember", "We use pnpm."]);
    assert!(ran.code == Some(0) && ran.err.contains("what sessions are told is as it was before"), "{ran}");
}

#[test]
fn there_is_no_home_directory() {
    let case = Case::new();
    case.fails("unset HOME").says("bad", &["settings", "there is no home directory"]);
    assert!(!case.user.state().exists());
}

#[test]
fn the_worker_hangs() {
    let case = Case::new();
    // Enough to be at it for a while.
    for number in 0..60 {
        copy(&fixture("2.1.332-headless"), &case.user.projects().join(number.to_string()));
    }
    let mut worker = Stopped::new(&case.user);
    let told = case.fails("");
    told.says("bad", &["worker", &format!("process {} is at it", worker.0.id()), "was stopped"]);
    assert!(told.notices > 0, "nobody took them");
    worker.end();
    case.user.ok(&["worker", "--reconcile"]);
    let left: Vec<PathBuf> = walk(&case.user.state().join("inbox"));
    assert!(left.is_empty(), "{left:?}");
    assert!(!case.user.run(&["doctor"]).out.contains("bad   worker"));
}

/// A worker that has its lock, and was stopped.
struct Stopped(Child);

impl Stopped {
    fn new(user: &User) -> Self {
        let mut command = user.command(&["worker", "--reconcile"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let child = command.spawn().unwrap();
        let lock = user.state().join("worker.lock");
        let deadline = Instant::now() + Duration::from_secs(60);
        while fs::read_to_string(&lock).unwrap_or_default().trim() != child.id().to_string() {
            assert!(Instant::now() < deadline, "it never took its lock");
            std::thread::sleep(Duration::from_millis(1));
        }
        let stopped = Self(child);
        stopped.signal("STOP");
        stopped
    }

    fn signal(&self, name: &str) {
        let kill = Command::new("kill").arg(format!("-{name}")).arg(self.0.id().to_string()).status().unwrap();
        assert!(kill.success());
    }

    fn end(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_pipe_that_nobody_writes_to_keeps_no_hook() {
    let user = User::new();
    for event in EVENTS {
        let mut hook = user.command(&["hook", event]);
        let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Held open, with half of an event in it.
        let mut pipe = hook.stdin.take().unwrap();
        pipe.write_all(b"{\"transcript_path\": \"/").unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        while hook.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "{event} waits for ever");
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = hook.wait_with_output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{event}: {output:?}");
    }
}
