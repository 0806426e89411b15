//! `plugin/bin/setup`: what is said while there is no program, and how one is built.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::json;

use crate::desk::{Desk, NAME, find};

/// What it may call. No Rust is among them, whatever this machine has. The way to a program needs none of them.
const TOOLS: &[&str] = &[
    "awk", "cat", "cp", "cut", "grep", "head", "ln", "mkdir", "mv", "nice", "perl", "ps", "rm", "setsid", "sleep",
    "tail", "touch", "tr",
];

/// The event of a command that a person typed.
fn typed(name: &str, arguments: &str) -> String {
    json!({
        "session_id": "0", "transcript_path": format!("/{NAME}"), "effort": { "level": "high" },
        "nothing": null, "hook_event_name": "UserPromptExpansion", "expansion_type": "slash_command",
        "command_name": name, "command_args": arguments, "command_source": "plugin", "prompt": format!("/{name} {arguments}"),
    })
    .to_string()
}

fn desk() -> Desk {
    let desk = Desk::new();
    let path = tools(&desk);
    desk.with("PATH", path)
}

/// A folder that has the tools.
fn tools(desk: &Desk) -> PathBuf {
    let tools = desk.path().join("tools");
    fs::create_dir(&tools).unwrap();
    for tool in TOOLS {
        // Some systems have one of setsid and perl only.
        if let Some(found) = find(tool) {
            std::os::unix::fs::symlink(found, tools.join(tool)).unwrap();
        }
    }
    tools
}

#[test]
fn a_missing_program_is_said_once() {
    let desk = desk();
    let message = desk.hook("SessionStart", "{}").message();
    for way in ["/recall-setup", "release archive", "checksum", "cargo install"] {
        assert!(message.contains(way), "{message}");
    }
    for _ in 0..2 {
        assert_eq!(desk.hook("SessionStart", "{}").out, "");
    }
    // A script's session has told nobody, and so is told apart.
    let desk = desk.with("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    assert_eq!(desk.hook("SessionStart", "{}").message(), message);
    assert_eq!(desk.hook("SessionStart", "{}").out, "");
}

#[test]
fn it_is_said_again_when_the_program_has_been_there_or_is_missing_otherwise() {
    let desk = desk();
    let message = desk.hook("SessionStart", "{}").message();
    let program = desk.put(&desk.data().join("bin/totalrecall"));
    assert_eq!(desk.hook("SessionStart", "{}").out, "");
    assert!(desk.called().is_some());
    fs::remove_file(program).unwrap();
    assert_eq!(desk.hook("SessionStart", "{}").message(), message);

    let desk = desk.with("CLAUDE_PLUGIN_OPTION_BINARY", format!("/nowhere/{NAME}"));
    let other = desk.hook("SessionStart", "{}").message();
    assert!(
        other.contains(&format!("/nowhere/{}", NAME.replace('\n', " "))) && other.contains("/plugin configure"),
        "{other}"
    );
    assert_eq!(desk.hook("SessionStart", "{}").out, "");
}

#[test]
fn other_events_are_silent() {
    let desk = desk();
    for event in ["SessionEnd", "Stop", "SubagentStop", "PreCompact", "AnythingElse", ""] {
        assert_eq!(desk.hook(event, "{}").out, "", "{event}");
    }
    assert_eq!(fs::read_dir(desk.data()).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_noted_is_said_all_the_same() {
    let desk = desk();
    fs::remove_dir(desk.data()).unwrap();
    fs::write(desk.data(), "in the way").unwrap();
    for _ in 0..2 {
        desk.hook("SessionStart", "{}").message();
    }
    // A client that names no folder is told nothing.
    for nowhere in ["", "relative"] {
        let command = crate::run(desk.command(&["hook", "SessionStart"]).env("CLAUDE_PLUGIN_DATA", nowhere));
        assert!(command.status.success() && command.stdout.is_empty() && command.stderr.is_empty(), "{command:?}");
    }
}

#[test]
fn recall_setup_says_how_to_get_it() {
    let desk = desk();
    for name in ["recall-setup", "totalrecall:recall-setup"] {
        let text = desk.hook("UserPromptExpansion", &typed(name, "")).context();
        assert!(text.starts_with("The program of TotalRecall is not installed"), "{text}");
        let data = desk.data();
        for part in [".sha256", "cargo install --locked --path host", "/recall-setup build", data.to_str().unwrap()] {
            assert!(text.contains(part), "{part:?} is missing: {text}");
        }
        // Its folder, as it can be pasted into a shell.
        let root = desk.root().to_str().unwrap().replace('\'', "'\\''");
        assert!(text.contains(&format!("cd '{root}' && ")), "{text}");
        assert!(text.contains("cargo is missing"), "{text}");
    }
}

#[test]
fn the_other_commands_say_that_there_is_no_program() {
    let desk = desk();
    for name in crate::names("commands") {
        let name = name.strip_suffix(".md").unwrap();
        if name != "recall-setup" {
            let text = desk.hook("UserPromptExpansion", &typed(&format!("totalrecall:{name}"), "build")).context();
            assert!(text.contains("not installed") && text.contains("/recall-setup"), "{text}");
        }
    }
}

#[test]
fn hostile_arguments_are_compared_and_nothing_else() {
    let desk = with_cargo("touch \"$DESK/built\"; exit 1");
    let long = "build ".repeat(100_000);
    for arguments in [
        "build; touch mine",
        "build\ntouch mine",
        "\"build\"",
        "$(touch mine)",
        "`touch mine`",
        "' touch mine '",
        "\",\"command_args\":\"build",
        "\\\",\"command_args\":\"build",
        "\\",
        "\u{0}build",
        "build\u{202e}",
        "%s%n",
        "-build",
        "b\u{fc}ild",
        long.as_str(),
    ] {
        let text = desk.hook("UserPromptExpansion", &typed("totalrecall:recall-setup", arguments)).context();
        assert!(text.contains("not installed") && !text.contains("touch mine"), "{arguments:?}: {text}");
    }
    assert_eq!(fs::read_dir(desk.work()).unwrap().count(), 0);
    assert!(!desk.path().join("built").exists() && !desk.data().join("setup").exists(), "a build was started");
}

#[test]
fn what_is_no_event_starts_nothing() {
    let desk = with_cargo("touch \"$DESK/built\"; exit 1");
    for event in [
        "",
        "null",
        "[]",
        "build",
        "{",
        "{\"command_name\"",
        "{\"command_name\":\"recall-setup\",\"command_args\":\"build",
        "{\"x\":\"\\\",\\\"command_name\\\":\\\"recall-setup\\\",\\\"command_args\\\":\\\"build\\\"\"}",
        "{\"command_name\":[\"recall-setup\"],\"command_args\":[\"build\"]}",
    ] {
        let text = desk.hook("UserPromptExpansion", event).context();
        assert!(text.contains("not installed"), "{event}: {text}");
    }
    assert!(!desk.path().join("built").exists() && !desk.data().join("setup").exists(), "a build was started");
}

/// Below the home directory.
const CARGO: &str = ".cargo/bin/cargo";

/// Someone who has Rust, or something of its name: `cargo` is this script.
fn with_cargo(script: &str) -> Desk {
    let desk = Desk::new();
    // Where rustup puts it; a client that was started from a desktop does not have that on its PATH.
    desk.put_script(Path::new(CARGO), format!("#!/bin/sh\n{script}\n"));
    desk.put_script(
        &desk.root().join("scripts/setup"),
        "#!/bin/sh\n[ \"$*\" = --no-root ] || exit 9\necho setup-ran\n",
    );
    let path = tools(&desk);
    desk.with("PATH", path)
}

/// A `cargo` that notes how it is called and installs a program of this version, which notes how it is called.
const BUILDS: &str = "
printf '%s\\n' \"$*\" >>\"$DESK/cargo\"
printf '%s' \"${ANTHROPIC_API_KEY-}${CLAUDE_CODE_MESSAGING_TOKEN-}\" >\"$DESK/secrets\"
for root; do :; done
[ \"$CARGO_TARGET_DIR\" = \"$root/setup/target\" ] && [ -d plugin/bin ] || exit 8
mkdir -p \"$CARGO_TARGET_DIR/deep\" \"$root/bin\"
cp \"$DESK/program\" \"$root/bin/totalrecall\"
";

/// The program that it installs.
const PROGRAM: &str = "#!/bin/sh
[ \"$1\" != --version ] || { echo \"totalrecall $VERSION\"; exit 0; }
printf '%s\\n' \"$*\" >>\"$DESK/ran\"
[ \"$1\" != hook ] || printf '%s' \"${SAYS-}\"
";

fn with_everything() -> Desk {
    let desk = with_cargo(BUILDS).with("VERSION", env!("CARGO_PKG_VERSION"));
    desk.put_script(Path::new("program"), PROGRAM);
    desk.with("ANTHROPIC_API_KEY", "secret").with("CLAUDE_CODE_MESSAGING_TOKEN", "secret")
}

impl Desk {
    fn build(&self) -> String {
        self.hook("UserPromptExpansion", &typed("totalrecall:recall-setup", " build ")).context()
    }

    /// Waits until it is so: what happens in the background takes as long as it takes.
    #[track_caller]
    fn wait_for(&self, what: &str, is_so: impl Fn(&Path) -> bool) {
        for _ in 0..1_200 {
            if is_so(&self.data().join("setup")) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{what}: {:?}", fs::read_to_string(self.data().join("setup/build.log")));
    }

    #[track_caller]
    fn wait_for_end(&self) {
        self.wait_for("the build has not ended", |state| {
            state.join("outcome").exists() && !state.join("lock").exists()
        });
    }

    /// All files of the plugin, with what is in them.
    fn plugin(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, all);
                } else {
                    all.insert(path.clone(), fs::read(path).unwrap());
                }
            }
        }
        let mut all = BTreeMap::new();
        walk(&self.root(), &mut all);
        all
    }
}

#[test]
fn a_build_is_made_in_the_background_and_said_once() {
    let desk = with_everything();
    let before = desk.plugin();
    assert!(desk.build().contains("is being built in the background"));
    desk.wait_for_end();
    let data = desk.data();
    let calls = fs::read_to_string(desk.path().join("cargo")).unwrap();
    assert_eq!(calls, format!("install --locked --force --path host --root {}\n", data.display()));
    assert_eq!(fs::read_to_string(desk.path().join("secrets")).unwrap(), "");
    assert!(!data.join("setup/target").exists(), "what it was built with is left");
    assert_eq!(desk.plugin(), before, "something was written into the plugin's folder");
    // What there is was read at once.
    assert_eq!(fs::read_to_string(desk.path().join("ran")).unwrap(), "worker --quiet --reconcile\n");

    // What the program has to say comes first, and nobody reads what a script's session is told.
    let says = "{\"systemMessage\":\"theirs\"}";
    let ran = crate::run(desk.command(&["hook", "SessionStart"]).env("SAYS", says));
    assert_eq!(String::from_utf8(ran.stdout).unwrap().trim_end(), says);
    let ran = crate::run(desk.command(&["hook", "SessionStart"]).env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"));
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), "");
    // What the agent is told goes on its way, whatever it quotes.
    let told = json!({ "hookSpecificOutput": {
        "hookEventName": "SessionStart", "additionalContext": "\"systemMessage\":\"theirs\" }{ \n 字",
    } });
    let script = [("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"), ("SAYS", &told.to_string())];
    let ran = crate::run(desk.command(&["hook", "SessionStart"]).envs(script));
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&ran.stdout).unwrap(), told);
    let ran = crate::run(desk.command(&["hook", "SessionStart"]).env("SAYS", told.to_string()));
    let both: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let message = both["systemMessage"].as_str().unwrap();
    assert!(message.contains("has been built and is ready"), "{message}");
    assert_eq!(both["hookSpecificOutput"], told["hookSpecificOutput"]);
    assert_eq!(desk.hook("SessionStart", "{}").out, "");
    let ran = fs::read_to_string(desk.path().join("ran")).unwrap();
    assert_eq!(ran.matches("hook SessionStart\n").count(), 5, "{ran}");
}

#[test]
fn a_build_that_fails_says_why_and_where_the_log_is() {
    for (what, why) in [
        ("cargo", "error: no such command \"x\""),
        ("setup", "a C compiler is missing"),
        ("version", "does not say that it is"),
    ] {
        let mut desk = with_everything();
        match what {
            "cargo" => drop(desk.put_script(
                Path::new(CARGO),
                "#!/bin/sh\nmkdir -p \"$CARGO_TARGET_DIR\"\necho 'error: no such command \"x\"' >&2\nexit 101\n",
            )),
            "setup" => drop(desk.put_script(
                &desk.root().join("scripts/setup"),
                "#!/bin/sh\necho 'setup: a C compiler is missing' >&2\nexit 1\n",
            )),
            _ => desk = desk.with("VERSION", "9.9.9"),
        }
        desk.build();
        desk.wait_for_end();
        assert!(!desk.data().join("setup/target").exists(), "{what}");
        let script = crate::run(desk.command(&["hook", "SessionStart"]).env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"));
        assert_eq!(String::from_utf8(script.stdout).unwrap(), "", "nobody reads it there");
        let message = desk.hook("SessionStart", "{}").message();
        let log = desk.data().join("setup/build.log").to_str().unwrap().replace('\n', " ");
        assert!(message.contains("could not be built") && message.contains(why) && message.contains(&log), "{message}");
        // A program of another version is one; that it is another it says itself.
        if what != "version" {
            let text = desk.hook("UserPromptExpansion", &typed("recall-setup", "")).context();
            assert!(text.contains(why), "{text}");
        }
    }
}

#[test]
fn there_is_one_build_at_a_time() {
    let desk = with_everything();
    desk.put_script(
        Path::new(CARGO),
        "#!/bin/sh\necho started >>\"$DESK/cargo\"\nwhile [ ! -e \"$DESK/go\" ]; do sleep 0.1; done\nexit 1\n",
    );
    desk.build();
    desk.wait_for("it has not begun", |_| desk.path().join("cargo").exists());
    assert!(desk.build().contains("is being built already"));
    // Nor when two were started before either has begun.
    let mut second = Command::new("/bin/sh");
    second.arg(desk.root().join("plugin/bin/setup")).args(["run", env!("CARGO_PKG_VERSION")]);
    for (name, value) in desk.command(&[]).get_envs() {
        second.env(name, value.unwrap());
    }
    assert!(crate::run(&mut second).status.success());
    // A session says nothing of it in the meantime.
    assert_eq!(desk.hook("SessionStart", "{}").out, "");
    let text = desk.hook("UserPromptExpansion", &typed("recall-setup", "")).context();
    assert!(text.contains("is being built in the background"), "{text}");
    fs::write(desk.path().join("go"), "").unwrap();
    desk.wait_for_end();
    assert_eq!(fs::read_to_string(desk.path().join("cargo")).unwrap(), "started\n");
}

#[test]
fn a_build_that_was_killed_does_not_bar_the_next_one() {
    for left in ["", "4000000000\n", "1\n", "../../x\n"] {
        let desk = with_everything();
        fs::create_dir(desk.data().join("setup")).unwrap();
        fs::write(desk.data().join("setup/lock"), left).unwrap();
        assert!(desk.build().contains("is being built in the background"), "{left:?}");
        desk.wait_for_end();
        assert!(desk.data().join("bin/totalrecall").exists(), "{left:?}");
    }
}

#[test]
fn who_has_a_program_may_have_another_one_built() {
    let desk = with_everything();
    desk.put_script(Path::new("own/totalrecall"), "#!/bin/sh\ncat >\"$DESK/event\"\nprintf '%s' \"$*\"\n");
    let path = std::env::join_paths([desk.path().join("own"), desk.path().join("tools")]).unwrap();
    let desk = desk.with("PATH", path);
    // Every other command is the program's, with the event as it came.
    for (name, arguments) in [
        ("recall-status", "build"),
        ("recall-setup", ""),
        ("recall-setup", "build; touch pwned\n"),
        ("x", "%s\\n$(x) 字"),
    ] {
        let event = format!("{}\n\n", typed(&format!("totalrecall:{name}"), arguments));
        assert_eq!(desk.hook("UserPromptExpansion", &event).out, "hook UserPromptExpansion");
        assert_eq!(fs::read_to_string(desk.path().join("event")).unwrap(), event);
    }
    assert_eq!(desk.hook("UserPromptExpansion", "no JSON").out, "hook UserPromptExpansion");
    assert!(!desk.data().join("setup").exists(), "a build was started");

    assert!(desk.build().contains("is being built in the background"));
    desk.wait_for_end();
    assert!(desk.data().join("bin/totalrecall").exists());
    let desk = desk.with("CLAUDE_PLUGIN_OPTION_BINARY", "~/own/totalrecall");
    assert!(desk.build().contains("once the option binary no longer names another program"));
    desk.wait_for_end();
}

#[test]
fn without_rust_nothing_is_started() {
    let desk = desk();
    let text = desk.build();
    assert!(text.contains("cargo is missing") && text.contains("https://rustup.rs"), "{text}");
    assert!(!desk.data().join("setup").exists());
}

/// They differ in what a backslash means in a replacement, and in brackets.
#[test]
fn it_is_the_same_with_every_awk() {
    for awk in ["mawk", "gawk", "original-awk", "busybox"].into_iter().filter_map(find) {
        let desk = desk();
        let link = desk.path().join("tools/awk");
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&awk, link).unwrap();
        let text = desk.build();
        assert!(text.contains("cargo is missing. Install"), "{}: {text}", awk.display());
        let text = desk.hook("UserPromptExpansion", &typed("recall-setup", "\\build")).context();
        let root = desk.root().to_str().unwrap().replace('\'', "'\\''");
        assert!(text.contains(&format!("cd '{root}' && ")), "{}: {text}", awk.display());
        assert!(text.contains(desk.data().to_str().unwrap()), "{}: {text}", awk.display());
    }
}
