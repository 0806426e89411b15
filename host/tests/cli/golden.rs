//! Golden trails: beside the transcripts of each case lie the events (compared by the adapter's own tests), the signals, and
//! the page. `BLESS=1` writes them anew.

use std::{fs, path::Path};

use crate::support::{User, fixtures};

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

#[test]
fn every_case_ends_in_its_signals_and_its_page() {
    let cases = fixtures();
    let mut names: Vec<_> =
        fs::read_dir(&cases).unwrap().map(|case| case.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.len() >= 12, "{names:?}");
    for name in names {
        let user = User::with(&name);
        let mut signals = String::new();
        for mut session in user.ok(&["analyze", "--format", "json", "home/.claude/projects"]).json_lines() {
            for signal in session["signals"].as_array_mut().unwrap().drain(..) {
                signals += &format!("{signal}\n");
            }
            signals += &format!("{session}\n");
        }
        user.ok(&["worker", "--reconcile"]);
        let page = user.ok(&["insights"]).out;
        for (file, content) in [("signals.jsonl", signals), ("insights.md", page)] {
            compare(&cases.join(&name).join(file), &content);
        }
    }
}
