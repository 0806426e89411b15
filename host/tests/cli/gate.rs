//! `analyze` as a gate and as a source of reports for a CI.

use std::{fs, path::Path};

use crate::support::{Ran, User, copy, fixture};

/// Counts by kind of a report in JSON, those of sub-agents included.
fn count(user: &User, kind: &str) -> u64 {
    let sessions = user.ok(&["analyze", "--json", "home/.claude/projects"]).json_lines();
    let count = |counts: &str| sessions.iter().filter_map(|it| it[counts][kind].as_u64()).sum::<u64>();
    count("counts") + count("counts_subagents")
}

fn gate(user: &User, conditions: &str) -> Ran {
    user.run(&["analyze", "--fail-on", conditions, "home/.claude/projects"])
}

/// Something that is below a folder of transcripts and cannot be read as one.
fn spoil(user: &User) {
    fs::write(user.projects().join("spoilt.jsonl"), "{\"type\":\"user\",\"sessionId\":3,\n".repeat(3)).unwrap();
}

#[test]
fn a_violated_condition_is_told_after_the_report() {
    let user = User::with("2.1.120-tui");
    copy(&fixture("2.0-sidechain-files"), &user.projects());
    let errors = count(&user, "tool-error");
    assert!(errors > 1);
    let open = gate(&user, &format!("tool-error>{errors},revert>0"));
    assert_eq!((open.code, open.err.as_str()), (Some(0), ""), "{open}");
    let closed = gate(&user, &format!("revert>0,tool-error>={errors},any>0"));
    assert_eq!(closed.code, Some(4), "{closed}");
    assert_eq!(closed.out, open.out);
    let lines: Vec<_> = closed.err.lines().collect();
    assert_eq!(lines[0], format!("tool-error: {errors}, allowed {}", errors - 1));
    assert!(lines[1].starts_with("any: ") && lines[1].ends_with(", allowed 0") && lines.len() == 2, "{closed}");
}

#[test]
fn what_is_no_gate_is_wrong_usage() {
    let user = User::with("2.1.120-tui");
    for conditions in ["", "tool-error", "tool-error>x", "tool-error>0,", "any>=0"] {
        let ran = gate(&user, conditions);
        assert!(ran.code == Some(2) && ran.out.is_empty(), "{conditions:?}: {ran}");
    }
    insta::assert_snapshot!("gate_unknown_kind", gate(&user, "tool-eror>1"));
    assert_eq!(user.run(&["analyze", "--allow-unreadable", "home"]).code, Some(2));
}

#[test]
fn what_could_not_be_read_closes_the_gate() {
    let user = User::with("2.1.120-tui");
    for run in ["spoilt", "absent"] {
        let mut paths = vec!["home/.claude/projects"];
        match run {
            "spoilt" => spoil(&user),
            _ => {
                fs::remove_file(user.projects().join("spoilt.jsonl")).unwrap();
                paths.push("home/absent.jsonl");
            }
        }
        let gate = |more: &[&str]| user.run(&[&["analyze", "--fail-on", "revert>0"], more, &paths[..]].concat());
        let closed = gate(&[]);
        assert_eq!(closed.code, Some(4), "{run}: {closed}");
        assert!(
            closed.err.contains("warning: ") && closed.err.ends_with("unreadable: 1, allowed 0\n"),
            "{run}: {closed}"
        );
        let open = gate(&["--allow-unreadable"]);
        assert!(open.code == Some(0) && open.err.contains("warning: "), "{run}: {open}");
        let said = user.run(&[&["analyze", "--fail-on", "unreadable>1"], &paths[..]].concat());
        assert_eq!(said.code, Some(0), "{run}: {said}");
    }
    // Nothing at all could be read: that is no matter of conditions.
    let nothing = user.run(&["analyze", "--fail-on", "revert>0", "--allow-unreadable", "home/absent.jsonl"]);
    assert_eq!(nothing.code, Some(1), "{nothing}");
}

#[test]
fn nothing_found_opens_no_gate_and_leaves_an_empty_report() {
    let user = User::new();
    let ran = user.run(&["analyze", "--fail-on", "any>0", "--format", "junit", "--output", "empty.xml", "home"]);
    assert_eq!(ran.code, Some(3), "{ran}");
    let report = fs::read_to_string(user.folder().join("empty.xml")).unwrap();
    assert!(report.contains("<testsuites name=\"totalrecall\" tests=\"2\""), "the two conditions: {report}");
}

#[test]
fn a_reader_that_has_seen_enough_does_not_open_the_gate() {
    let user = User::with("2.1.120-tui");
    let mut child = user
        .command(&["analyze", "--fail-on", "any>0", "home/.claude/projects"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(4));
}

#[test]
fn every_format() {
    let user = User::with("2.1.332-steering-and-refusal");
    let format = |format: &str| user.run(&["analyze", "--format", format, "--fail-on", "user-correction>0", "home"]);
    let sarif = format("sarif");
    assert_eq!(sarif.code, Some(4), "{sarif}");
    let mut sarif = sarif.json();
    let driver = &mut sarif["runs"][0]["tool"]["driver"];
    for version in ["version", "semanticVersion"] {
        assert_eq!(driver[version].take(), env!("CARGO_PKG_VERSION"));
    }
    insta::assert_json_snapshot!("sarif", sarif);
    insta::assert_snapshot!("junit", format("junit"));
    insta::assert_snapshot!("markdown", format("markdown"));
}

#[test]
fn reports_go_to_files_and_summaries_are_added() {
    let user = User::with("2.1.120-tui");
    fs::write(user.folder().join("summary.md"), "before\n").unwrap();
    let arguments = [
        "--color",
        "always",
        "analyze",
        "--output",
        "report.txt",
        "--summary",
        "summary.md",
        "--github",
        "home/.claude/projects",
    ];
    let output = user.command(&arguments).env("GITHUB_STEP_SUMMARY", user.folder().join("step.md")).output().unwrap();
    let ran = Ran::of(&user, output);
    assert!(ran.code == Some(0) && ran.out.is_empty() && ran.err.starts_with("1 session: "), "{ran}");
    let report = fs::read_to_string(user.folder().join("report.txt")).unwrap();
    assert_eq!(report, user.ok(&["analyze", "home/.claude/projects"]).out);
    let summary = fs::read_to_string(user.folder().join("summary.md")).unwrap();
    let step = fs::read_to_string(user.folder().join("step.md")).unwrap();
    assert_eq!(summary, format!("before\n{step}"));
    assert!(step.starts_with("## "), "{step}");

    let unset = user.ok(&["analyze", "--github", "home/.claude/projects"]);
    assert!(unset.err.contains("GITHUB_STEP_SUMMARY is not set"), "{unset}");
    let nowhere = user.run(&["analyze", "--output", "absent/report.txt", "home/.claude/projects"]);
    assert!(
        nowhere.code == Some(1) && nowhere.err.contains("could not write the report to absent/report.txt"),
        "{nowhere}"
    );
    let device = user.ok(&["analyze", "--output", "/dev/null", "home/.claude/projects"]);
    assert!(!fs::metadata("/dev/null").unwrap().is_file(), "{device}");
}

/// As in a container without a user: no variable is set, and nowhere can anything be written.
#[cfg(target_os = "linux")]
#[test]
fn it_needs_no_home_no_cache_and_nothing_to_write_to() {
    let user = User::with("2.1.120-tui");
    let transcripts = user.projects();
    let transcripts = transcripts.to_str().unwrap();
    for variables in [&[][..], &[("HOME", "/proc/nobody"), ("XDG_CACHE_HOME", "/proc/cache"), ("TMPDIR", "/proc/tmp")]]
    {
        let mut command = user.command(&["analyze", "--fail-on", "any>0", "--format", "sarif", transcripts]);
        let command = command.env_clear().envs(variables.iter().copied()).current_dir(Path::new("/proc"));
        let ran = Ran::of(&user, command.output().unwrap());
        assert_eq!(ran.code, Some(4), "{ran}");
        assert_eq!(ran.json()["runs"][0]["invocations"][0]["executionSuccessful"], true);
    }
}
