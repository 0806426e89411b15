//! `learn`: what is shown before anything is sent, what is sent, and what becomes of the answer. Another program stands in for
//! `claude`: it writes down what it was given.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde_json::json;
use totalrecall::store::{CallOutcome, Store};

use crate::support::{NOW, Ran, User, settle, touch};

const SESSION: &str = "075b217f-fbfd-4163-9d79-534c70e85013";

const FOUND: &str = r#"{"findings": [{"category": "rule-violation", "form": "rule-following", "subject": "sleep in commands",
    "description": "A command slept.", "severity": 2, "references": [4, 2, 99], "pattern": "not-shown",
    "hint": "Never use sleep in this repository."}]}"#;

/// One who has a session, and a program that answers like this; all that was asked of it is in the file that is named.
fn asking(answer: &str) -> (User, PathBuf) {
    let user = User::with("2.1.332-steering-and-refusal");
    user.ok(&["init"]);
    let (script, asked) = (user.home().join("answer.sh"), user.home().join("asked"));
    fs::write(&script, format!("/bin/cat >> '{}'\n/bin/cat <<'END'\n{answer}\nEND\n", asked.display())).unwrap();
    let command = format!("[model]\ncommand = [\"/bin/sh\", \"{}\"]\n", script.display());
    fs::write(user.state().join("config.toml"), command).unwrap();
    user.ok(&["worker", "--reconcile"]);
    (user, asked)
}

#[test]
fn nothing_is_sent_before_the_person_has_seen_what_and_agreed() {
    let (user, asked) = asking(FOUND);
    let offer = user.ok(&["learn"]);
    for part in ["1 due", "at most about USD", "what leaves", "answer.sh", "agreed       no"] {
        assert!(offer.out.contains(part), "{part}: {offer}");
    }
    assert!(offer.err.contains("`totalrecall learn --yes`"), "{offer}");
    let json = user.ok(&["learn", "--json"]).json();
    assert_eq!((&json["agreed"], &json["estimate"]["calls"]), (&false.into(), &1.into()), "{json}");
    user.ok(&["learn", "--dry-run"]);
    user.ok(&["worker", "--reconcile"]);
    assert!(!asked.exists());
}

#[test]
fn what_is_sent_is_what_was_shown_and_what_is_found_is_on_the_page() {
    let (user, asked) = asking(FOUND);
    let input = user.ok(&["learn", "--show-input", &SESSION[..6], "--json"]).json();
    let learned = user.ok(&["learn", "--yes"]);
    for part in ["1 session: 1 finding", "a reference to nothing that was shown ×1", "no such pattern ×1", "spent"] {
        assert!(learned.err.contains(part), "{part}: {learned}");
    }
    let sent = fs::read_to_string(&asked).unwrap();
    assert!(sent.ends_with(input["input"].as_str().unwrap()) && sent.contains(input["instructions"].as_str().unwrap()));

    let patterns = user.ok(&["patterns", "--json", "--limit", "100"]).json();
    let found = patterns.as_array().unwrap().iter().find(|it| it["subject"] == "sleep in commands");
    let found = found.unwrap_or_else(|| panic!("{patterns:#}"));
    assert_eq!(
        (&found["category"], &found["hint"]),
        (&"rule-violation".into(), &"Never use sleep in this repository.".into())
    );
    assert!(user.ok(&["status"]).out.contains("0 due, 1 done"));

    // It was answered, so it is not asked about again, by nobody.
    assert_eq!(user.run(&["learn"]).code, Some(3));
    user.ok(&["worker", "--reconcile"]);
    assert_eq!(fs::read_to_string(&asked).unwrap(), sent);
    // Unless the person wants it to be, or takes everything back.
    user.ok(&["learn", "--session", SESSION]);
    let twice = fs::read_to_string(&asked).unwrap();
    assert!(twice[sent.len()..].contains("sleep in commands"), "now it is a known pattern: {twice}");
    user.ok(&["learn", "--withdraw"]);
    user.ok(&["learn", "--session", SESSION]);
    assert_eq!(fs::read_to_string(&asked).unwrap(), twice);
}

#[test]
fn a_worker_asks_once_the_person_has_agreed_and_not_when_told_not_to() {
    let (user, asked) = asking(r#"{"findings": []}"#);
    user.ok(&["learn", "--yes", "--limit", "0"]);
    assert!(!asked.exists());
    user.ok(&["worker", "--no-model"]);
    assert!(!asked.exists());
    let worked = user.ok(&["worker"]);
    assert!(asked.exists() && worked.err.contains("0 findings, 1 with nothing"), "{worked}");
}

#[test]
fn a_failure_is_no_answer_and_is_told_until_there_is_one() {
    let (user, asked) = asking("I could not say.");
    let ran = user.run(&["learn", "--yes"]);
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.err.contains(SESSION) && ran.err.contains("(garbage)"), "{ran}");
    let status = user.ok(&["status"]).out;
    assert!(status.contains("0 due, 1 failed, to be tried again") && status.contains("garbage"), "{status}");
    let first = fs::metadata(&asked).unwrap().len();
    user.run(&["learn"]);
    assert_eq!(fs::metadata(&asked).unwrap().len(), first, "not at once");
    assert!(user.ok(&["retry"]).err.contains("asked again about 1 session"));
    assert!(user.ok(&["status"]).out.contains("1 due"));
}

#[test]
fn sessions_that_are_not_shown_say_why() {
    let (user, _) = asking(FOUND);
    fs::write(user.state().join("config.toml"), "[transcripts]\nignore = [\"**/075b*\"]\n").unwrap();
    let offer = user.run(&["learn"]);
    assert_eq!(offer.code, Some(3));
    assert!(offer.out.contains("0 due, 1 skipped (1 ignored by the settings)"), "{offer}");
    let unknown = user.run(&["learn", "--show-input", "nope"]);
    assert_eq!(unknown.code, Some(2), "{unknown}");
}

#[test]
fn a_session_that_went_on_is_asked_about_again() {
    let (user, asked) = asking(FOUND);
    user.ok(&["learn", "--yes"]);
    let sent = fs::read_to_string(&asked).unwrap();
    let path = user.projects().join(format!("{SESSION}.jsonl"));
    let line = format!(
        r#"{{"type":"user","uuid":"3f1f6a53-0000-4000-8000-000000000001","sessionId":"{SESSION}","timestamp":"2026-11-30T08:00:00.000Z","cwd":"/home/dev/work/demo","version":"2.1.332","isSidechain":false,"userType":"external","message":{{"role":"user","content":"no, that is wrong, I said never use sleep"}}}}"#
    );
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{line}\n")).unwrap();
    touch(&path, std::time::Duration::from_secs(300));
    user.ok(&["worker", "--reconcile"]);
    let again = fs::read_to_string(&asked).unwrap();
    assert!(again[sent.len()..].contains("I said never use sleep"), "{again}");
}

const DAY: i64 = 24 * 60 * 60 * 1000;

/// Sessions in each of which a command failed, and someone who has agreed to asking a program that answers by the script, for
/// `usd` a day.
fn with_sessions(count: usize, script: &str, usd: f64) -> User {
    let user = User::new();
    for number in 0..count {
        let id = format!("00000000-0000-4000-8000-{number:012}");
        let record = |kind: &str, n: usize, content: serde_json::Value| {
            json!({ "type": kind, "sessionId": id, "uuid": format!("{id}-{n}"), "parentUuid": null, "isSidechain": false, "cwd": "/w/shop",
                "version": "2.1.332", "timestamp": format!("2026-11-20T08:0{n}:00.000Z"), "message": { "role": kind, "content": content } })
        };
        let call =
            json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": format!("make {number}") } }]);
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "is_error": true, "content": "Exit code 2\nmake: *** No rule" }]);
        let lines = [record("user", 0, json!("Build it.")), record("assistant", 1, call), record("user", 2, result)];
        let file = user.projects().join("-w-shop").join(format!("{id}.jsonl"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        settle(&file);
    }
    user.ok(&["init"]);
    let program = user.home().join("answer.sh");
    fs::write(&program, script).unwrap();
    let settings = format!(
        "[model]\ncommand = [\"/bin/sh\", \"{}\"]\nusd-per-day = {usd:?}\ncalls-per-run = 1000\ntimeout-seconds = 1\n",
        program.display()
    );
    fs::write(user.state().join("config.toml"), settings).unwrap();
    user.ok(&["worker", "--reconcile", "--quiet"]);
    user
}

/// `learn`, so many days later.
fn learn(user: &User, days: i64) -> Ran {
    let now = NOW.parse::<jiff::Timestamp>().unwrap().as_millisecond() + days * DAY;
    let now = jiff::Timestamp::from_millisecond(now).unwrap().to_string();
    Ran::of(user, user.command(&["learn", "--yes"]).env("TOTALRECALL_NOW", now).output().unwrap())
}

/// USD by day, as the budget counts them.
fn spent(user: &User) -> BTreeMap<i64, f64> {
    let mut days = BTreeMap::new();
    for call in Store::open_read_only(&user.state()).unwrap().calls(0).unwrap() {
        *days.entry(call.at.div_euclid(DAY)).or_default() += call.usd();
    }
    days
}

/// One failure after the other, of every kind that does not end a run by itself: each mode is the next one's turn.
const FAILING: &str = r#"n=$(cat "$HOME/turn" 2>/dev/null || echo 0); echo $((n + 1)) > "$HOME/turn"; cat > /dev/null
case $((n % 7)) in
  0) exit 1 ;;
  1) echo 'I could not say.' ;;
  2) ;;
  3) kill -9 $$ ;;
  4) echo '{"findings": "none"}' ;;
  5) echo '{"findings": [{"category": "made-up", "references": [1]}]}' ;;
  6) [ "$n" -lt 14 ] && sleep 30; echo '{"findings": [' ;;
esac
"#;

#[test]
fn a_hundred_failures_in_a_row_neither_overspend_nor_lose_a_session() {
    let (count, usd) = (30, 2.0);
    let user = with_sessions(count, FAILING, usd);
    let calls = || Store::open_read_only(&user.state()).unwrap().calls(0).unwrap();
    let mut days = 0;
    while calls().len() < 100 {
        days += 1;
        assert!(days < 100, "{} calls in {days} days", calls().len());
        // Three failures in a row end a run; the next one goes on, until the budget is used up or nothing may be tried yet.
        for _ in 0..20 {
            let before = calls().len();
            learn(&user, days);
            if calls().len() == before {
                break;
            }
        }
        user.ok(&["retry"]);
    }
    let made = calls();
    assert!(made.iter().all(|call| call.outcome == CallOutcome::Failed && call.kind.is_some()), "{made:?}");
    assert!(spent(&user).values().all(|spent| *spent <= usd), "{:?}", spent(&user));
    assert!(spent(&user).values().any(|spent| *spent > usd / 2.0), "the budget was the limit: {:?}", spent(&user));
    let status = user.ok(&["status", "--json"]).json();
    let done = status["reviews"].as_array().unwrap().iter().filter(|it| it["state"] == "done").count();
    assert_eq!((done, &status["status"]["sessions"]), (0, &json!(count)), "{status:#}");
    assert!(user.ok(&["patterns", "--json", "--limit", "100"]).out.contains("tool-error"));

    // All of them are still there to be asked about.
    fs::write(user.home().join("answer.sh"), "cat > /dev/null; echo '{\"findings\": []}'\n").unwrap();
    for _ in 0..10 {
        user.run(&["retry"]);
        days += 1;
        learn(&user, days);
    }
    let status = user.ok(&["status"]).out;
    assert!(status.contains(&format!("0 due, {count} done")), "{status}");
    assert!(spent(&user).values().all(|spent| *spent <= usd), "{:?}", spent(&user));
}
