//! Someone who has worked with Claude Code for a while and has nothing of ours: what the README promises them.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use super::Source;
use crate::{api::Reply, claude::Claude, person::Person, tests};

tests! {
    three_commands_from_nothing_to_the_first_insight,
}

/// Stand-ins for Rust: what they build is what these tests were built with. Building takes minutes, and a network.
fn have_rust(person: &Person) {
    let sysroot = person.path().join("rust");
    fs::create_dir_all(sysroot.join("lib/rustlib/wasm32-unknown-unknown/lib")).unwrap();
    let program = env!("CARGO_BIN_EXE_totalrecall");
    let cargo = format!(
        "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" != --root ] || root=$2; shift; done\n\
         mkdir -p \"$root/bin\" && cp '{program}' \"$root/new\" && mv \"$root/new\" \"$root/bin/totalrecall\"\n"
    );
    let rustc = format!("#!/bin/sh\necho '{}'\n", sysroot.display());
    for (name, script) in [("cargo", cargo.as_str()), ("rustc", &rustc), ("cc", "#!/bin/sh\n")] {
        let file = person.path().join("bin").join(name);
        fs::write(&file, script).unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn three_commands_from_nothing_to_the_first_insight() {
    let mut person = Person::having(Claude::Newest, [Reply::text("Understood.")]);
    person.lose_the_program();
    have_rust(&person);
    let case =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/claude-code/2.1.332-steering-and-refusal/transcripts");
    totalrecall::conformance::lay_out(&case, &person.home().join(".claude/projects/-work")).unwrap();

    // The first two commands, with the repository's address for SOMEONE.
    person.install(Source::Git, &[]);
    // The third.
    let setup = person.session("/recall-setup build", &[]);
    setup.assert_undisturbed();
    let text = person.api.questions()[0].text();
    assert!(text.contains("is being built in the background"), "{text}");
    // It goes on although the session is over, and what is there is read.
    let ids = person.session_ids();
    person.wait_until("the earlier session is stored", || ids.iter().any(|id| person.stored().contains(id)));
    person.wait_until_read();

    // The first insight, without another command.
    let mut sitting = person.sit_down(&[]);
    sitting.terminal.wait_for("TotalRecall:");
    person.api.forget();
    sitting.terminal.say("/recall-insights");
    person.api.wait_for_questions(1);
    let text = person.api.questions()[0].text();
    assert!(text.contains("<totalrecall-output>") && text.contains("$ totalrecall insights"), "{text}");
    let readme = fs::read_to_string(person.checkout().join("README.md")).unwrap();
    for command in
        ["claude plugin marketplace add ", "claude plugin install totalrecall@totalrecall", "/recall-setup build"]
    {
        assert!(readme.contains(command), "the README does not name {command}");
    }
}
