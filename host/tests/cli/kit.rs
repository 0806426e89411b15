//! `adapters test`: our own adapters pass, and for each promise there is one who breaks it and is found out.

use std::{
    fs,
    path::{Path, PathBuf},
};

use totalrecall::{
    conformance::{Check, HEADS, Kit, Report, Verdict},
    sandbox::{Guest, Limits, Sandbox},
};

use crate::{
    guests,
    support::{User, copy, fixtures, marked},
};

fn kit(fixtures: &Path, bless: bool, only: &[Check]) -> Kit {
    let cache = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("totalrecall/components"));
    Kit { cache, fixtures: fixtures.to_owned(), bless, only: only.to_vec() }
}

/// The checks that failed, with everything that they said.
fn failed(report: &Report) -> Vec<(&'static str, String)> {
    let failed = report.checks.iter().filter_map(|checked| match &checked.verdict {
        Verdict::Failed { failures, .. } => Some((checked.check.name(), format!("{failures:#?}"))),
        Verdict::Passed | Verdict::NotApplicable { .. } => None,
    });
    failed.collect()
}

#[test]
fn the_built_in_adapters_pass() {
    let mut surprises = Vec::new();
    for guest in Guest::builtin_adapters() {
        let report = kit(&fixtures().join(guest.name()), false, &[]).test(&guest).unwrap();
        // Each check has something to say of each of them; the figures show with `--nocapture`.
        println!("{} {:#?}", guest.name(), report);
        surprises.extend(
            report
                .checks
                .into_iter()
                .filter(|checked| !matches!(checked.verdict, Verdict::Passed))
                .map(|checked| (guest.name().to_owned(), checked)),
        );
    }
    assert!(surprises.is_empty(), "{surprises:#?}");
}

/// The heads that others are held to refuse are real ones: their tool's adapter takes them, and it alone.
#[test]
fn heads_of_other_tools_are_what_their_adapters_recognise() {
    let sandbox = Sandbox::new(kit(Path::new(""), false, &[]).cache, Limits::default());
    let mut surprises = Vec::new();
    for guest in Guest::builtin_adapters() {
        let adapter = sandbox.adapter(&guest).unwrap();
        let tool = &adapter.descriptor().tool;
        assert!(HEADS.iter().any(|(of, _)| of == tool), "{tool}: a head is missing");
        for (of, head) in HEADS {
            if adapter.recognise(head.as_bytes()).unwrap() != (of == tool) {
                surprises.push(format!("{tool} says otherwise of {of}: {head}"));
            }
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn the_built_in_analyzer_passes() {
    let folder = tempfile::tempdir().unwrap();
    // Its signals of these as the program reports them stand in files of the same name, in another form.
    for case in ["2.1.120-tui", "2.1.332-steering-and-refusal"] {
        let to = folder.path().join(case);
        fs::create_dir(&to).unwrap();
        fs::copy(fixtures().join("claude-code").join(case).join("events.jsonl"), to.join("events.jsonl")).unwrap();
    }
    let guest = Guest::builtin_analyzer();
    let report = kit(folder.path(), true, &[]).test(&guest).unwrap();
    assert!(report.passed(), "{:#?}", failed(&report));
    let written = fs::read_to_string(folder.path().join("2.1.120-tui/signals.jsonl")).unwrap();
    assert!(written.lines().count() > 3, "{written}");
    assert!(kit(folder.path(), false, &[Check::Golden]).test(&guest).unwrap().passed());
}

/// A transcript of the wrong adapter's tool: every kind of record, texts that are cut, letters of several bytes.
fn transcript() -> String {
    let mut text = "{\"type\":\"head\",\"wrong\":1}\n".to_owned();
    for number in 0..12 {
        let at = 1_764_000_000_000_i64 + number * 1_000;
        let long = "naïve café 東京 😀 ".repeat(if number == 7 { 40 } else { 1 });
        text += &format!("{{\"type\":\"said\",\"at\":{at},\"id\":\"s{number}\",\"text\":\"{long}\"}}\n");
        text += &format!("{{\"type\":\"call\",\"at\":{at},\"id\":\"c{number}\",\"text\":\"ls\"}}\n");
        text += "{\"type\":\"noise\"}\n";
        text += &format!(
            "{{\"type\":\"result\",\"at\":{at},\"id\":\"r{number}\",\"call\":\"c{number}\",\"text\":\"ok\"}}\n"
        );
    }
    text
}

fn wrong_fixtures() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let transcripts = folder.path().join("case/transcripts");
    fs::create_dir_all(&transcripts).unwrap();
    fs::write(transcripts.join("one.jsonl"), transcript()).unwrap();
    fs::write(transcripts.join("two.jsonl"), "{\"type\":\"head\",\"wrong\":1}\n{\"type\":\"noise\"}\n").unwrap();
    fs::write(transcripts.join("wrong.db.sql"), "CREATE TABLE t (x);").unwrap();
    folder
}

/// Runs all checks on a guest that breaks this promise, with golden files that are its own where it can be read; tells the
/// checks that failed if they are others than expected.
fn surprise(guest: &str, folder: &Path, (promise, check, words): (&str, &str, &str)) -> Option<String> {
    let breaking = |promise| Guest::new(guest, marked(guest, &[("promise", promise)]));
    let blessed = breaking(if promise == "golden" { "" } else { promise });
    kit(folder, true, &[Check::Golden]).test(&blessed).unwrap();
    let found = failed(&kit(folder, false, &[]).test(&breaking(promise)).unwrap());
    let expected = match &found[..] {
        [] => promise.is_empty(),
        [(name, said)] => *name == check && said.contains(words),
        _ => false,
    };
    (!expected).then(|| format!("{promise}: {found:#?}"))
}

#[test]
fn every_promise_that_an_adapter_breaks_is_found_and_nothing_else() {
    let folder = wrong_fixtures();
    let promises = [
        ("", "", ""),
        ("load", "describe", "crashed in `describe`"),
        ("describe", "describe", "the same descriptor each time"),
        ("name", "describe", "is no name for a component"),
        ("root", "describe", "it is not absolute"),
        ("grant", "describe", "it is your home directory"),
        ("glob", "describe", "unclosed character class"),
        ("levels", "describe", "no-name"),
        ("sql", "describe", "no such table: nowhere"),
        ("lost", "describe", "none of the files in `transcripts` is named"),
        ("golden", "golden", "@@ line 1 of 36 and 36 @@"),
        ("greedy", "recognise", "a transcript of claude-code"),
        ("shy", "recognise", "one.jsonl"),
        ("nervous", "recognise", "random bytes"),
        ("restless", "chunks", "one byte at a time"),
        ("forgetful", "resume", "settled event"),
        ("hasty", "resume", "where the last record ends"),
        ("hoarder", "resume", "states of at most"),
        ("shaky", "determinism", "asked for on the way"),
        ("fragile", "mutations", "a run of NUL bytes"),
        ("fussy", "mutations", "is damaged: as told (malformed)"),
        ("despair", "mutations", "before the damage"),
        ("glutton", "mutations", "a line of 8 MB"),
        ("time", "events", "time out of range"),
        ("name-of-call", "events", "control characters in a name"),
        ("key", "events", "a key that no other event"),
        ("call-id", "events", "a call's id that no other call has"),
        ("result", "events", "nowhere"),
        ("line", "events", "a line from 1 to 49"),
        ("text", "events", "texts of at most 400 bytes"),
        ("silent", "tally", "one more that is unknown"),
        ("short", "tally", "49 records, as many as lines"),
        ("fat", "limits", "bytes of memory"),
        ("slow", "speed", "MB a second"),
    ];
    let surprises: Vec<_> =
        promises.into_iter().filter_map(|promise| surprise("wrong", folder.path(), promise)).collect();
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn a_damaged_line_of_the_fixtures_may_be_several_records() {
    let folder = wrong_fixtures();
    let transcripts = folder.path().join("case/transcripts");
    // A torn record, and the next one on its line.
    let torn = "{\"type\":\"sa{\"type\":\"noise\"}";
    fs::write(transcripts.join("torn.jsonl"), format!("{{\"type\":\"head\",\"wrong\":1}}\n{torn}\n")).unwrap();
    assert_eq!(surprise("wrong", folder.path(), ("", "", "")), None);
}

/// A line of an analyzer's `events.jsonl`.
fn said(line: usize, text: &str) -> String {
    let message = serde_json::json!({ "author": "Human", "channel": "Prompt", "text": text, "omitted": 0 });
    let event = serde_json::json!({
        "line": line, "at": null, "thread": null, "key": null, "copied": false, "body": { "Message": message },
    });
    format!("{}\n", serde_json::json!({ "transcript": "a", "event": event }))
}

#[test]
fn every_promise_that_an_analyzer_breaks_is_found_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let events: String = (1..=120).map(|line| said(line, &format!("message {line}"))).collect();
    fs::write(folder.path().join("events.jsonl"), events).unwrap();
    let promises = [
        ("", "", ""),
        ("describe", "describe", "the same descriptor each time"),
        ("name", "describe", "is no name for a component"),
        ("kind", "describe", "a kind with a kebab-case name"),
        ("severity", "describe", "a severity from 1 to 5"),
        ("advice", "describe", "summary and advice of one line"),
        ("setting", "describe", "a setting with a kebab-case name"),
        ("none", "describe", "kinds of signals"),
        ("golden", "golden", "@@ line 1 of 60 and 60 @@"),
        ("restless", "chunks", "in random groups"),
        ("forgetful", "resume", "settled signal"),
        ("hoarder", "resume", "states of at most"),
        ("shaky", "determinism", "with checkpoints on the way"),
        ("fragile", "mutations", "all events at one line"),
        ("fussy", "mutations", "all events copied"),
        ("glutton", "mutations", "a text of 8 MB"),
        ("undeclared", "signals", "a kind that was declared"),
        ("evidence", "signals", "evidence that ascends"),
        ("nowhere", "signals", "evidence that is lines of events"),
        ("confidence", "signals", "a confidence from 0 to 1"),
        ("detail", "signals", "subject and detail of one line"),
        ("time", "signals", "a time that can be one"),
        ("fat", "limits", "bytes of memory"),
        ("slow", "speed", "MB a second"),
    ];
    let surprises: Vec<_> =
        promises.into_iter().filter_map(|promise| surprise("careless", folder.path(), promise)).collect();
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn an_analyzer_that_fails_at_its_fixtures_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("events.jsonl"), said(1, "a crash")).unwrap();
    let report = kit(folder.path(), true, &[]).test(&guests::guest("counter")).unwrap();
    let found = failed(&report);
    assert!(matches!(&found[..], [("golden", said)] if said.contains("counter crashed in `observe`")), "{found:#?}");
    assert!(!folder.path().join("signals.jsonl").exists(), "nothing is written that is not whole");
}

fn file(user: &User, name: &str, bytes: &[u8]) -> PathBuf {
    let path = user.home().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn the_command_tells_people_and_machines() {
    let user = User::new();
    copy(wrong_fixtures().path(), &user.home().join("fixtures"));
    file(&user, "good.wasm", &marked("wrong", &[]));
    file(&user, "bad.wasm", &marked("wrong", &[("promise", "golden")]));
    let test = |file: &str, more: &[&str]| {
        let arguments = [&["adapters", "test", file, "--fixtures", "home/fixtures"], more].concat();
        // No home is needed: there is none.
        let output = user.command(&arguments).env_remove("HOME").output().unwrap();
        crate::support::Ran::of(&user, output)
    };
    let missing = test("home/good.wasm", &["--only", "golden"]);
    assert_eq!(missing.code, Some(1), "{missing}");
    assert!(missing.out.contains("run it once with --bless"), "{missing}");
    let blessed = test("home/good.wasm", &["--bless"]);
    assert_eq!(blessed.code, Some(0), "{blessed}");
    assert!(blessed.out.contains("✓ golden") && blessed.out.contains("golden files written 1"), "{blessed}");

    let bad = test("home/bad.wasm", &["--only", "golden", "--only", "events"]);
    assert_eq!(bad.code, Some(1), "{bad}");
    insta::with_settings!({filters => vec![(r"[0-9a-f]{64}", "[SHA256]"), (r"size     .*", "size     [SIZE]")]}, {
        insta::assert_snapshot!("adapters_test", bad);
    });
    let json = test("home/bad.wasm", &["--json", "--only", "golden", "--only", "signals"]).json();
    assert_eq!(json["component"]["name"], "wrong");
    assert_eq!(json["checks"][0]["check"], "golden");
    assert_eq!(json["checks"][0]["verdict"], "failed");
    assert_eq!(json["checks"][0]["failures"][0]["case"], "case");
    assert_eq!(json["checks"][1]["verdict"], "not-applicable");

    assert_eq!(test("home/bad.wasm", &["--only", "nonsense"]).code, Some(2));
    let none = user.run(&["adapters", "test", "home/good.wasm", "--fixtures", "home"]);
    assert!(none.code == Some(1) && none.err.contains("holds no case"), "{none}");
    let no_file = user.run(&["adapters", "test", "home/none.wasm", "--fixtures", "home/fixtures"]);
    assert!(no_file.code == Some(1) && no_file.err.contains("could not read home/none.wasm"), "{no_file}");
}
