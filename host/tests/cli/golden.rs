//! Golden trails: beside the transcripts of each case lie the events (compared by the adapter's own tests), the signals, and
//! the page. `BLESS=1` writes them anew.

use std::{fs, path::Path};

use totalrecall::conformance::cases;

use crate::support::{User, fixtures, kept, tools};

#[test]
fn the_reference_of_commands_is_generated() {
    compare(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cli.md"), &totalrecall::cli::reference());
}

/// Compares with a golden file, or writes it.
fn compare(path: &Path, content: &str) {
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, content).unwrap();
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    assert!(expected == content, "{} is not as blessed (`cargo xtask bless`, then read the diff)", path.display());
}

/// Cases and sessions of which there is, to be read, what a model would be shown.
const SHOWN: &[(&str, &str)] = &[
    ("2.1.332-steering-and-refusal", "075b217f-fbfd-4163-9d79-534c70e85013"),
    ("2.1.120-tui", "3cf2385f-440a-4ac0-8d12-6dc76fa532be"),
];

#[test]
fn every_case_ends_in_its_signals_and_its_page() {
    let mut seen = 0;
    for (tool, case) in
        tools().iter().flat_map(|tool| cases(&fixtures().join(tool)).unwrap().into_iter().map(move |it| (tool, it)))
    {
        let user = User::with_tool(tool, &case.name);
        let mut signals = String::new();
        let kept = format!("home/{}", kept(tool));
        for mut session in user.ok(&["analyze", "--format", "json", "--tool", tool, &kept]).json_lines() {
            for signal in session["signals"].as_array_mut().unwrap().drain(..) {
                signals += &format!("{signal}\n");
            }
            signals += &format!("{session}\n");
        }
        if tool == "aider" {
            user.ok(&["init"]);
            fs::write(user.state().join("config.toml"), "[roots]\naider = [\"~/src\"]\n").unwrap();
        }
        user.ok(&["worker", "--reconcile"]);
        let page = user.ok(&["insights"]).out;
        for (file, content) in [("signals.jsonl", signals), ("insights.md", page)] {
            compare(&case.folder.join(file), &content);
        }
        if let Some((_, id)) = SHOWN.iter().find(|(name, _)| *name == case.name) {
            let mut shown = user.ok(&["learn", "--show-input", id, "--json"]).json();
            let input = shown["input"].take();
            compare(&case.folder.join("findings-input.json"), input.as_str().unwrap());
        }
        seen += 1;
    }
    assert!(seen >= 12, "{seen} cases");
}
