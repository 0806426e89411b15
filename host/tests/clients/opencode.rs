//! OpenCode with a plugin of ours, which `totalrecall init --hooks` has put into its folder.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::{
    api::{KEY, Reply},
    npm::Package,
    person::{Person, Ran},
    project::MENDED,
    tests,
};

tests! {
    a_session_of_opencode_is_read_at_its_end,
    a_killed_session_of_opencode_is_read_by_the_next_worker,
    opencode_goes_on_without_the_program,
}

/// The newest when these tests were written.
const VERSION: &str = "1.18.33";

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Installs it, if it was not yet. An error is a sentence that says why it is missing and what to do.
pub(crate) fn install() -> Result<(), String> {
    let package = Package { title: "OpenCode", name: "opencode-ai", version: Some(VERSION.to_owned()), find };
    PROGRAM.set(package.install()?).unwrap();
    Ok(())
}

/// The program is in the package for this system. There is one for older processors, too, which runs on all.
fn find(folder: &Path) -> Option<PathBuf> {
    let packages = fs::read_dir(folder.join("node_modules")).ok()?;
    let mut programs: Vec<_> = packages.flatten().map(|package| package.path().join("bin/opencode")).collect();
    programs.sort();
    let answers =
        |program: &PathBuf| Command::new(program).arg("--version").output().is_ok_and(|it| it.status.success());
    programs.into_iter().filter(|program| program.is_file()).rfind(answers)
}

/// Someone who works with OpenCode, in a project whose test fails.
fn working(script: impl IntoIterator<Item = Reply>) -> Person {
    let person = Person::asking(script);
    person.break_tests();
    let folder = person.home().join(".config/opencode");
    fs::create_dir_all(folder.join("node_modules")).unwrap();
    // As it leaves them when it first sees a plugin and has a network: here it has none.
    let lock =
        json!({ "lockfileVersion": 3, "packages": { "": { "dependencies": { "@opencode-ai/plugin": VERSION } } } });
    fs::write(folder.join("package-lock.json"), lock.to_string()).unwrap();
    let options = json!({ "baseURL": format!("{}/v1", person.api.url()), "apiKey": KEY });
    let model = json!({ "name": "Tests", "tool_call": true, "limit": { "context": 200_000, "output": 32_000 } });
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": "Tests", "options": options, "models": { "model": model },
    });
    let settings = json!({
        "$schema": "https://opencode.ai/config.json", "autoupdate": false, "share": "disabled",
        "model": "tests/model", "small_model": "tests/model",
        "permission": { "edit": "allow", "bash": "allow", "webfetch": "deny" },
        "provider": { "tests": provider },
    });
    fs::write(folder.join("opencode.json"), settings.to_string()).unwrap();
    person.ok(&["init", "--hooks", "--tool", "opencode"]);
    person
}

/// Runs the test, which fails, mends, and runs it again.
fn mending() -> [Reply; 4] {
    let run = |command: &str| ("bash", json!({ "command": command, "description": "Work" }));
    [
        Reply::calling("I run the tests first.", [run("sh test.sh")]),
        Reply::calling("It subtracts.", [run("sed -i 's/1 - /1 + /' calc.sh")]),
        Reply::calling("Once more.", [run("sh test.sh")]),
        Reply::text(MENDED),
    ]
}

impl Person {
    fn opencode(&self, prompt: &str) -> Command {
        let mut command = self.command(PROGRAM.get().unwrap());
        command.args(["run", "--format", "json", prompt]);
        for off in ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE"] {
            command.env(format!("OPENCODE_DISABLE_{off}"), "1");
        }
        // It would ask even this machine by them.
        command.env_remove("HTTP_PROXY").env_remove("HTTPS_PROXY");
        command
    }

    /// Ids of the sessions that OpenCode has, sorted.
    fn of_opencode(&self) -> Vec<String> {
        let database = self.home().join(".local/share/opencode/opencode.db");
        let Ok(database) = rusqlite::Connection::open(database) else { return Vec::new() };
        let mut rows = database.prepare("SELECT id FROM session ORDER BY id").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }
}

fn a_session_of_opencode_is_read_at_its_end() {
    let person = working(mending());
    let ran: Ran = person.opencode("The test fails. Mend it.").output().unwrap().into();
    assert_eq!((ran.code, person.is_mended()), (Some(0), true), "{ran}");
    let all = person.of_opencode();
    assert_eq!(all.len(), 1, "{ran}");
    person.wait_until_stored(&[&all[0]]);
    let signals = person.signals();
    let failed = signals.iter().filter(|(kind, detail)| kind == "tool-error" && detail.contains("FAIL test_add"));
    assert_eq!(failed.count(), 1, "{signals:?}");
    let page = person.ok(&["insights"]).out;
    assert!(page.contains("FAIL test_add"), "{page}");
    person.ok(&["worker", "--reconcile", "--quiet"]);
    person.assert_stored(&[&all[0]]);

    let settings = person.home().join(".config/opencode/opencode.json");
    let before = fs::read(&settings).unwrap();
    person.ok(&["uninstall", "--purge", "--yes"]);
    assert!(!person.home().join(".config/opencode/plugin").exists() && !person.state().exists());
    assert_eq!(fs::read(&settings).unwrap(), before);
}

fn a_killed_session_of_opencode_is_read_by_the_next_worker() {
    let [first, ..] = mending();
    let person = working([first, Reply::slow()]);
    let mut child =
        person.opencode("The test fails. Mend it.").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    person.api.wait_for_questions(2);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    child.wait().unwrap();
    assert_eq!(person.stored(), [] as [String; 0]);

    person.api.answer([Reply::text("Hello.")]);
    let ran: Ran = person.opencode("Hello!").output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran}");
    let all = person.of_opencode();
    assert_eq!(all.len(), 2, "{all:?}");
    person.wait_until_stored(&all.iter().map(String::as_str).collect::<Vec<_>>());
}

fn opencode_goes_on_without_the_program() {
    let person = working(mending());
    let plugin = person.home().join(".config/opencode/plugin/totalrecall.js");
    let text = fs::read_to_string(&plugin).unwrap();
    let program = person.path().join("bin/totalrecall");
    assert!(text.contains(&json!(program).to_string()), "as it is found on the PATH: {text}");
    person.lose_the_program();
    let ran: Ran = person.opencode("The test fails. Mend it.").output().unwrap().into();
    assert_eq!((ran.code, person.is_mended()), (Some(0), true), "{ran}");
    assert_eq!(ran.err, "", "{ran}");
}
