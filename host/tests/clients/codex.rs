//! Codex with hooks of ours, which `totalrecall init --hooks` has put into its file: its sessions are read at their end, those
//! that were killed by the next worker, and nothing is left when we are gone.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::{
    api::{KEY, Reply},
    npm::Package,
    person::{Person, Ran},
    project::MENDED,
    terminal::{ENTER, Terminal},
    tests,
};

tests! {
    a_session_of_codex_is_read_at_its_end_once_its_hooks_are_trusted,
    a_killed_session_of_codex_is_read_by_the_next_worker,
}

/// The newest when these tests were written.
const VERSION: &str = "0.171.0";

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Lets hooks run that nobody has looked at.
const UNSEEN: &str = "--dangerously-bypass-hook-trust";

/// Installs it, if it was not yet. An error is a sentence that says why it is missing and what to do.
pub(crate) fn install() -> Result<(), String> {
    let package = Package { title: "Codex", name: "@openai/codex", version: Some(VERSION.to_owned()), find };
    PROGRAM.set(package.install()?).unwrap();
    Ok(())
}

/// The program is in the package for this system.
fn find(folder: &Path) -> Option<PathBuf> {
    let packages = fs::read_dir(folder.join("node_modules/@openai")).ok()?.flatten();
    let targets = packages.filter_map(|package| fs::read_dir(package.path().join("vendor")).ok()).flatten().flatten();
    targets.map(|target| target.path().join("bin/codex")).find(|program| program.is_file())
}

/// Someone who works with Codex, in a project whose test fails.
fn working(script: impl IntoIterator<Item = Reply>) -> Person {
    let person = Person::asking(script);
    person.break_tests();
    fs::create_dir(person.home().join(".codex")).unwrap();
    let settings = format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"tests\"\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n\
         check_for_update_on_startup = false\n\n[analytics]\nenabled = false\n\n[model_providers.tests]\nname = \"tests\"\n\
         base_url = \"{}/v1\"\nenv_key = \"CODEX_TEST_KEY\"\nwire_api = \"responses\"\nrequires_openai_auth = false\n\
         request_max_retries = 0\nstream_max_retries = 0\n\n[projects.{}]\ntrust_level = \"trusted\"\n",
        person.api.url(),
        json!(person.work().canonicalize().unwrap()),
    );
    fs::write(person.home().join(".codex/config.toml"), settings).unwrap();
    person.ok(&["init", "--hooks", "--tool", "codex"]);
    person
}

/// Runs the test, which fails, mends, and runs it again.
fn mending() -> [Reply; 4] {
    let run = |command: &str| ("exec_command", json!({ "cmd": command }));
    [
        Reply::calling("I run the tests first.", [run("sh test.sh")]),
        Reply::calling("It subtracts.", [run("sed -i 's/1 - /1 + /' calc.sh")]),
        Reply::calling("Once more.", [run("sh test.sh")]),
        Reply::text(MENDED),
    ]
}

impl Person {
    fn codex(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(PROGRAM.get().unwrap());
        command.args(arguments).env("CODEX_TEST_KEY", KEY);
        command
    }

    fn run_codex(&self, arguments: &[&str]) -> Ran {
        self.codex(&[&["exec", "--json", "--skip-git-repo-check"], arguments].concat()).output().unwrap().into()
    }

    /// Ids of the sessions that Codex has written down, sorted.
    fn rollouts(&self) -> Vec<String> {
        let mut files = Vec::new();
        crate::person::walk(&self.home().join(".codex/sessions"), &mut files);
        // `rollout-2026-11-30T08-48-06-<id>.jsonl`
        let id = |file: &PathBuf| {
            let name = file.file_stem().unwrap().to_str().unwrap();
            name[name.len() - 36..].to_owned()
        };
        let mut ids: Vec<_> = files.iter().map(id).collect();
        ids.sort();
        ids
    }

    fn codex_settings(&self) -> String {
        fs::read_to_string(self.home().join(".codex/config.toml")).unwrap()
    }
}

fn a_session_of_codex_is_read_at_its_end_once_its_hooks_are_trusted() {
    let person = working(mending());
    // Nobody has looked at the hooks: none is run, and Codex does not say so.
    let ran = person.run_codex(&["The test fails. Mend it."]);
    assert_eq!((ran.code, person.is_mended()), (Some(0), true), "{ran}");
    assert_eq!(person.notices(), [] as [serde_json::Value; 0]);
    let untold = person.rollouts();
    assert_eq!(untold.len(), 1, "{ran}");
    // Any worker finds it all the same.
    person.ok(&["worker", "--reconcile", "--quiet"]);
    person.assert_stored(&[&untold[0]]);

    // Trusted as a person does it.
    let mut terminal = Terminal::start(person.codex(&["--no-daemon"]));
    terminal.wait_for("Hooks need review");
    let since = Instant::now();
    // It paints the question before it listens.
    while !terminal.text().contains("› 2. Trust all and continue") {
        assert!(since.elapsed() < Duration::from_secs(60), "{}", terminal.text());
        terminal.press("2");
        std::thread::sleep(Duration::from_millis(200));
    }
    terminal.press(ENTER);
    while !person.codex_settings().contains("trusted_hash") {
        assert!(since.elapsed() < Duration::from_secs(60), "{}\n{}", terminal.text(), person.codex_settings());
        std::thread::sleep(Duration::from_millis(50));
    }
    terminal.close();
    drop(terminal);

    person.break_tests();
    person.api.answer(mending());
    let ran = person.run_codex(&["The test fails again. Mend it."]);
    assert_eq!((ran.code, person.is_mended()), (Some(0), true), "{ran}");
    let all = person.rollouts();
    assert_eq!(all.len(), 2, "{all:?}");
    person.wait_until_stored(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let signals = person.signals();
    let failed = signals.iter().filter(|(kind, detail)| kind == "tool-error" && detail.contains("FAIL test_add"));
    assert_eq!(failed.count(), 2, "{signals:?}");
    let page = person.ok(&["insights"]).out;
    assert!(page.contains("FAIL test_add"), "{page}");

    person.ok(&["uninstall", "--purge", "--yes"]);
    assert!(!person.home().join(".codex/hooks.json").exists());
    let settings = person.codex_settings();
    assert!(!settings.contains("hooks") && settings.contains("gpt-5.5"), "{settings}");
    assert!(!person.state().exists());
}

fn a_killed_session_of_codex_is_read_by_the_next_worker() {
    let [first, ..] = mending();
    let person = working([first, Reply::slow()]);
    let arguments = ["exec", "--json", "--skip-git-repo-check", UNSEEN, "The test fails. Mend it."];
    let mut child = person.codex(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    person.api.wait_for_questions(2);
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let [killed] = &person.rollouts()[..] else { panic!("{:?}", person.rollouts()) };
    let events: Vec<_> = person.notices().iter().map(|notice| notice["event"].to_string()).collect();
    assert_eq!(events, ["\"SessionStart\""], "it was not told of an end");
    assert_eq!(person.stored(), [] as [String; 0]);

    // Another session begins: what was left is read, and at its end so is that one.
    person.api.answer([Reply::text("Hello.")]);
    let ran = person.run_codex(&[UNSEEN, "Hello!"]);
    assert_eq!(ran.code, Some(0), "{ran}");
    let all = person.rollouts();
    assert!(all.len() == 2 && all.contains(killed), "{all:?}");
    person.wait_until_stored(&all.iter().map(String::as_str).collect::<Vec<_>>());
}
