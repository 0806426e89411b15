//! `plugin/bin/totalrecall`: which program it becomes, and how.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::desk::{Desk, NAME, find};

/// The shells that are `sh` somewhere. Those that are not here are left out; `sh` itself always is.
const SHELLS: &[&str] = &["sh", "dash", "bash", "bash --posix", "busybox sh"];

/// A desk for each shell that there is.
fn desks() -> impl Iterator<Item = Desk> {
    let is_here = |shell: &&&str| find(shell.split(' ').next().unwrap()).is_some();
    SHELLS.iter().filter(is_here).map(|shell| Desk::new().in_shell(shell))
}

#[track_caller]
fn assert_runs(desk: &Desk, program: &Path) {
    let ran = desk.launch(&["status"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""), "{ran:?}");
    assert_eq!(desk.called().unwrap(), [program.as_os_str(), "status".as_ref()]);
}

#[test]
fn it_takes_what_was_set_then_the_plugins_own_then_what_is_on_path() {
    for desk in desks() {
        let on_path = desk.put(&Path::new("some").join(NAME).join("totalrecall"));
        let path = std::env::join_paths([desk.path().join("nothing"), on_path.parent().unwrap().to_owned()]).unwrap();
        let desk = desk.with("PATH", path);
        assert_runs(&desk, &on_path);

        let own = desk.put(&desk.data().join("bin/totalrecall"));
        assert_runs(&desk, &own);

        let set = desk.put(&Path::new("set").join(NAME).join("any name"));
        let desk = desk.with("CLAUDE_PLUGIN_OPTION_BINARY", &set);
        assert_runs(&desk, &set);
        let desk = desk.with("CLAUDE_PLUGIN_OPTION_BINARY", format!("~/set/{NAME}/any name"));
        assert_runs(&desk, &set);
    }
}

#[test]
fn what_was_set_counts_even_if_it_is_not_there() {
    for desk in desks() {
        desk.put(&desk.data().join("bin/totalrecall"));
        let desk = desk.with("CLAUDE_PLUGIN_OPTION_BINARY", "/nowhere/totalrecall");
        let ran = desk.launch(&["status"]);
        assert_eq!((ran.code, desk.called()), (Some(127), None), "{ran:?}");
        assert!(ran.err.contains("/nowhere/totalrecall is not a program that can be run"), "{ran:?}");
    }
}

#[test]
fn a_project_cannot_put_a_program_in_its_way() {
    for desk in desks() {
        for folder in ["work", "work/bin"] {
            desk.put(&Path::new(folder).join("totalrecall"));
        }
        let desk = desk.with("PATH", ":.:bin:./bin::");
        assert_eq!(desk.launch(&["status"]).code, Some(127));
        assert_eq!(desk.called(), None);
    }
}

#[test]
fn it_is_never_itself_nor_another_launcher() {
    for desk in desks() {
        let launcher = fs::read(desk.launcher()).unwrap();
        // Another version's, which lies wherever the client keeps it; a link; one in the plugin's own place.
        let other = desk.put_script(Path::new("other/totalrecall"), &launcher);
        fs::create_dir_all(desk.path().join("link")).unwrap();
        std::os::unix::fs::symlink(desk.launcher(), desk.path().join("link/totalrecall")).unwrap();
        desk.put_script(&desk.data().join("bin/totalrecall"), &launcher);
        let real = desk.put(Path::new("real/totalrecall"));
        let folders = [desk.launcher(), other.clone(), desk.path().join("link/totalrecall"), real.clone()];
        let folders: Vec<_> = folders.iter().map(|program| program.parent().unwrap().to_owned()).collect();
        let desk = desk.with("PATH", std::env::join_paths(&folders).unwrap());
        assert_runs(&desk, &real);

        let desk = desk.with("PATH", std::env::join_paths(&folders[..3]).unwrap());
        assert_eq!(desk.launch(&["status"]).code, Some(127));
        let desk = desk.with("CLAUDE_PLUGIN_OPTION_BINARY", other);
        assert_eq!(desk.launch(&["status"]).code, Some(127));
    }
}

#[test]
fn a_script_of_its_name_that_runs_it_again_is_noticed() {
    for desk in desks() {
        for exec in ["exec ", ""] {
            let launcher = desk.launcher();
            let launcher = launcher.to_str().unwrap().replace('\'', "'\\''");
            let script = format!("#!/bin/sh\n{exec}'{launcher}' \"$@\"\n");
            desk.put_script(&desk.data().join("bin/totalrecall"), script);
            let ran = desk.launch(&["status"]);
            assert_eq!((ran.code, ran.err.lines().count()), (Some(127), 1), "{ran:?}");
        }
    }
}

#[test]
fn arguments_arrive_as_they_are() {
    let hostile =
        ["hook", "", " ", "a b", "$(touch pwned)", "`touch pwned`", "'\"\\", "*", "-n", "--", "x\ny", "!", "%s"];
    for desk in desks() {
        let program = desk.put(&desk.data().join("bin/totalrecall"));
        assert_eq!(desk.launch(&hostile).code, Some(0));
        let mut expected = vec![program.into_os_string()];
        expected.extend(hostile.map(Into::into));
        assert_eq!(desk.called().unwrap(), expected);
        assert_eq!(fs::read_dir(desk.work()).unwrap().count(), 0);
    }
}

#[test]
fn the_end_of_the_program_is_its_own() {
    for desk in desks() {
        desk.put(&desk.data().join("bin/totalrecall"));
        assert_eq!(desk.with("DESK_CODE", "4").launch(&["status"]).code, Some(4));
    }
}

#[test]
fn the_program_is_told_the_version_and_the_home() {
    let version = env!("CARGO_PKG_VERSION");
    for desk in desks() {
        desk.put(&desk.data().join("bin/totalrecall"));
        desk.launch(&["status"]);
        assert_eq!(desk.told(), [version, ""]);
        let desk = desk.with("CLAUDE_PLUGIN_OPTION_HOME", NAME);
        desk.launch(&["status"]);
        assert_eq!(desk.told(), [version, NAME]);
        let desk = desk.with("CLAUDE_PLUGIN_OPTION_HOME", "~/x y");
        desk.launch(&["status"]);
        assert_eq!(desk.told()[1], desk.path().join("x y"));
        let desk = desk.with("TOTALRECALL_HOME", "/mine");
        desk.launch(&["status"]);
        assert_eq!(desk.told(), [version, "/mine"]);
    }
}

/// A skill calls the launcher in the Bash tool, where there are none of the client's variables. `tests/clients` shows that.
fn as_a_skill(desk: &Desk, arguments: &[&str]) -> Option<i32> {
    let mut command = desk.command(arguments);
    for name in ["CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "CLAUDE_PLUGIN_OPTION_BINARY", "CLAUDE_PLUGIN_OPTION_HOME"]
    {
        command.env_remove(name);
    }
    crate::run(command.env("CLAUDE_CONFIG_DIR", desk.config())).status.code()
}

#[test]
fn a_skill_finds_the_program_that_the_plugin_has() {
    for desk in desks() {
        assert_eq!(as_a_skill(&desk, &["insights", "x"]), Some(127));
        let program = desk.put(&desk.data().join("bin/totalrecall"));
        assert_eq!(as_a_skill(&desk, &["insights", "x y"]), Some(0));
        assert_eq!(desk.called().unwrap(), [program.as_os_str(), "insights".as_ref(), "x y".as_ref()]);
        // The marketplace may have another name, and there may be none.
        let other = desk.put(&desk.config().join("plugins/data/totalrecall-inline/bin/totalrecall"));
        fs::remove_file(program).unwrap();
        assert_eq!(as_a_skill(&desk, &["insights", "x"]), Some(0));
        assert_eq!(desk.called().unwrap()[0], other);
    }
}

#[test]
fn a_skill_uses_what_was_set() {
    let (program, home) = ("set/it's \"a\" $(touch pwned) `touch pwned`; *\\/program", "~/h'\" $(touch pwned) \\ o");
    for desk in desks() {
        let program = desk.put(Path::new(program));
        let desk = desk.with("CLAUDE_PLUGIN_OPTION_BINARY", &program).with("CLAUDE_PLUGIN_OPTION_HOME", home);
        // The client tells a hook.
        desk.hook("SessionStart", "{}");
        assert_eq!(desk.called().unwrap()[1..], ["hook", "SessionStart"]);
        assert_eq!(as_a_skill(&desk, &["insights", "x"]), Some(0));
        assert_eq!(desk.called().unwrap()[0], program);
        assert_eq!(desk.told()[1], desk.path().join(home.strip_prefix("~/").unwrap()));
        assert_eq!(fs::read_dir(desk.work()).unwrap().count(), 0);

        // What is not set any more is forgotten; other events change nothing.
        let own = desk.put(&desk.data().join("bin/totalrecall"));
        let desk = desk.with("CLAUDE_PLUGIN_OPTION_BINARY", "").with("CLAUDE_PLUGIN_OPTION_HOME", "");
        desk.hook("Stop", "{}");
        as_a_skill(&desk, &["insights"]);
        desk.called();
        assert_ne!(desk.told()[1], "");
        desk.hook("SessionStart", "{}");
        as_a_skill(&desk, &["insights"]);
        assert_eq!((desk.called().unwrap()[0].as_os_str(), desk.told()[1].is_empty()), (own.as_os_str(), true));
    }
}

#[test]
fn where_nothing_is_set_nothing_is_noted() {
    for desk in desks() {
        let program = desk.put(&desk.data().join("bin/totalrecall"));
        assert_eq!(desk.hook("SessionStart", "{}").out, "");
        let files: Vec<_> = fs::read_dir(desk.data()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files, [program.parent().unwrap()]);
        // Nor what cannot be written.
        fs::create_dir(desk.data().join("options")).unwrap();
        let desk = desk.with("CLAUDE_PLUGIN_OPTION_HOME", "/x");
        assert_eq!(desk.hook("SessionStart", "{}").out, "");
        assert_eq!(desk.told()[1], "/x");
    }
}

#[test]
fn a_program_for_another_machine_is_said_once_and_holds_nothing_up() {
    // busybox takes what the system cannot run for a script.
    for desk in desks().filter(|desk| !desk.is_in("busybox sh")) {
        let program: PathBuf =
            desk.put_script(&desk.data().join("bin/totalrecall"), b"\x7fELF\x02\x01\x01\0nonsense\0");
        for event in ["Stop", "SessionEnd"] {
            let ran = desk.launch(&["hook", event]);
            assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
        }
        // What says so needs more of a system than a shell.
        let desk = desk.with("PATH", "/usr/bin:/bin");
        let first = desk.launch(&["hook", "SessionStart"]);
        assert_eq!(first.code, Some(0), "{first:?}");
        let named = format!("is {}, which cannot be run", program.to_str().unwrap().replace('\n', " "));
        assert!(first.message().contains(&named), "{first:?}");
        assert_eq!(desk.launch(&["hook", "SessionStart"]).out, "");
        let typed = desk.launch(&["hook", "UserPromptExpansion"]);
        assert!(typed.code == Some(0) && typed.context().contains("which cannot be run"), "{typed:?}");
        assert_eq!(desk.launch(&["status"]).code, Some(127));
    }
}

/// These hooks are called at each prompt, and at each file that is read.
#[test]
fn hooks_of_asides_start_nothing_unless_they_are_wanted() {
    for (event, switch, option) in [
        ("UserPromptSubmit", "on-prompt", "CLAUDE_PLUGIN_OPTION_PROMPT_MEMORY"),
        ("PreToolUse", "on-file", "CLAUDE_PLUGIN_OPTION_FILE_MEMORY"),
    ] {
        for mut desk in desks() {
            let program = desk.put(&desk.data().join("bin/totalrecall"));
            let is_called = |desk: &Desk| {
                let ran = desk.hook(event, "{}");
                assert_eq!(ran.out, "", "{ran:?}");
                desk.called().is_some_and(|called| called == [program.as_os_str(), "hook".as_ref(), event.as_ref()])
            };
            assert!(!is_called(&desk), "{event}");
            // Where the settings want it, in whichever home.
            for (home, variable, value) in [
                (desk.path().join(".totalrecall"), "X", String::new()),
                (desk.path().join(NAME).join("b"), "CLAUDE_PLUGIN_OPTION_HOME", format!("~/{NAME}/b")),
                (desk.path().join("c"), "TOTALRECALL_HOME", desk.path().join("c").display().to_string()),
            ] {
                fs::create_dir_all(home.join("inject")).unwrap();
                desk = desk.with(variable, value);
                assert!(!is_called(&desk), "{event} {variable}");
                fs::write(home.join("inject").join(switch), "{}").unwrap();
                assert!(is_called(&desk), "{event} {variable}");
            }
            desk = desk.with(option, "false");
            assert!(!is_called(&desk), "{event}");
            let desk = desk.with("TOTALRECALL_HOME", "/nowhere").with(option, "true");
            assert!(is_called(&desk), "{event}");
            // Without a program they say nothing.
            fs::remove_file(&program).unwrap();
            assert_eq!(desk.hook(event, "{}").out, "");
        }
    }
}
