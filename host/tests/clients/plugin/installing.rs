//! The plugin comes from everywhere it can come from, works there, and goes away again.

use std::{fs, path::Path};

use serde_json::json;

use super::{Source, tree};
use crate::{
    api::Reply,
    claude::Claude,
    person::{Person, walk},
    tests,
};

tests! {
    without_the_program_it_says_so_once_and_is_silent_then;
    each:
    it_is_strictly_valid,
    it_works_from_everywhere_it_comes_from,
    nothing_of_ours_is_left_when_it_is_gone,
}

fn it_is_strictly_valid(claude: Claude) {
    let person = Person::having(claude, [Reply::text("never said")]);
    let checkout = person.checkout();
    // Of the folder the older one reads the marketplace only.
    for what in [".", ".claude-plugin/marketplace.json", ".claude-plugin/plugin.json"] {
        let ran = person.claude_ok(&["plugin", "validate", "--strict", checkout.join(what).to_str().unwrap()]);
        assert!(ran.out.contains("Validation passed"), "{what}: {ran}");
    }
    assert_eq!(person.api.asked().len(), 0);
}

fn it_works_from_everywhere_it_comes_from(claude: Claude) {
    for source in Source::ALL {
        let mut person = Person::having(claude, [Reply::text("Hello.")]);
        let checkout = person.checkout();
        let before = tree(&checkout);
        person.install(source, &[]);
        assert_eq!(person.api.asked().len(), 0, "installing asks nobody");
        let session = person.session("Hello!", &[]);
        session.assert_undisturbed();
        let begun = &session.events()[0];
        let hooks = session.events().into_iter().filter(|event| event["subtype"] == "hook_response");
        let names: Vec<_> = hooks.map(|hook| hook["hook_event"].as_str().unwrap().to_owned()).collect();
        // The end comes after the last thing that the client prints.
        assert_eq!(names, ["SessionStart", "UserPromptSubmit", "Stop"], "{source:?}: {begun}");
        person.wait_until_stored(&[&session.id()]);
        person.api.assert_asked_nothing_else();

        // It ran from where it was said to, and wrote nothing there.
        let cache = person.home().join(".claude/plugins/cache/totalrecall/totalrecall");
        if source == Source::Git {
            let [copy] = &fs::read_dir(&cache).unwrap().map(|it| it.unwrap().path()).collect::<Vec<_>>()[..] else {
                panic!("several copies")
            };
            fs::remove_dir_all(&checkout).unwrap();
            let mut after = tree(copy);
            // The client's own notes.
            after.retain(|name, _| !name.starts_with(".in_use"));
            assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
            assert!(after == before, "a file was changed");
        } else {
            assert!(tree(&checkout) == before, "{source:?}: the folder was changed");
        }
    }
}

fn nothing_of_ours_is_left_when_it_is_gone(claude: Claude) {
    for source in [Source::Folder, Source::Git] {
        let mut person = Person::having(claude, [Reply::text("Hello.")]);
        // Compiled components are a trace, too. They are there already, because compiling them takes long.
        let cache = person.home().join(".cache");
        for (name, component) in tree(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("totalrecall")) {
            let file = cache.join("totalrecall").join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, component).unwrap();
        }
        person = person.with("XDG_CACHE_HOME", cache.to_str().unwrap());
        person.install(source, &["session_line=true"]);
        let session = person.session("Hello!", &[]);
        session.assert_undisturbed();
        person.wait_until_stored(&[&session.id()]);
        person.wait_until_no_worker_runs();

        person.claude_ok(&["plugin", "uninstall", "totalrecall@totalrecall"]);
        person.claude_ok(&["plugin", "marketplace", "remove", "totalrecall"]);
        person.ok(&["uninstall", "--purge", "--yes"]);
        let mut files = Vec::new();
        walk(&person.home(), &mut files);
        let left: Vec<_> = files
            .iter()
            .map(|file| file.strip_prefix(person.home()).unwrap())
            .filter(|name| {
                // The client keeps what was said in its transcripts, the copy that it ran from for some days, a backup of its settings,
                // how often what was used, and what servers said.
                let is_the_clients = [
                    ".cache/claude-cli-nodejs",
                    ".claude/projects",
                    ".claude/plugins/cache/totalrecall",
                    ".claude/backups",
                    ".claude.json",
                    ".gitconfig",
                ];
                !is_the_clients.iter().any(|folder| name.starts_with(folder))
            })
            .filter(|name| {
                let text = fs::read(person.home().join(name)).unwrap_or_default();
                let text = String::from_utf8_lossy(&text).to_lowercase();
                name.to_str().unwrap().to_lowercase().contains("totalrecall") || text.contains("totalrecall")
            })
            .collect();
        assert!(left.is_empty(), "{source:?}: {left:#?}");
        let copies = person.home().join(".claude/plugins/cache/totalrecall/totalrecall");
        for copy in fs::read_dir(copies).into_iter().flatten() {
            assert!(copy.unwrap().path().join(".orphaned_at").exists(), "the client will not delete its copy");
        }
        // The next session is as if we had never been.
        let session = person.session("Hello again!", &["--setting-sources=user"]);
        session.assert_undisturbed();
        assert!(session.events().iter().all(|event| event["subtype"] != "hook_response"), "{}", session.ran);
        assert!(!person.state().exists());
    }
}

fn without_the_program_it_says_so_once_and_is_silent_then() {
    let mut person = Person::asking([Reply::text("Hello.")]);
    person.install(Source::Folder, &[]);
    person.lose_the_program();
    let said = |session: &super::seen::Session| -> Vec<String> {
        let events = session.events();
        let hooks = events.iter().filter(|event| event["subtype"] == "hook_response");
        hooks.map(|hook| hook["stdout"].as_str().unwrap().to_owned()).filter(|text| !text.is_empty()).collect()
    };
    let first = person.session("Hello!", &[]);
    first.assert_undisturbed();
    let [line] = &said(&first)[..] else { panic!("{}", first.ran) };
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let message = line["systemMessage"].as_str().unwrap();
    assert!(message.contains("/recall-setup") && message.lines().count() == 1, "{message}");
    assert_eq!(line, json!({ "systemMessage": message }));
    for _ in 0..2 {
        let later = person.session("Hello again!", &[]);
        later.assert_undisturbed();
        assert_eq!(said(&later), [] as [&str; 0], "{}", later.ran);
    }
    // What it says there are ways to get it.
    person.api.forget();
    person.session("/recall-setup", &[]).assert_undisturbed();
    let text = person.api.questions()[0].text();
    assert!(text.contains("cargo install") && text.contains(".sha256"), "{text}");
    assert!(!person.state().exists(), "it kept something");
}
