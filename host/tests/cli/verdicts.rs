//! Rules in force and what the sessions since say of them, and the hook that a person installs for one.

use std::{
    fs,
    io::Write as _,
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use totalrecall::{
    check::{Check, CommandPattern},
    pattern::Anchor,
    proposal::{Author, Place, Proposal, Status, Step},
    store::Store,
};

use crate::support::{NOW, Ran, User, settle};

const DAY: i64 = 24 * 60 * 60 * 1000;

fn now() -> i64 {
    NOW.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

/// A session of Claude Code that runs these commands, so many days ago; those of `npm` fail.
fn session(user: &User, days_ago: i64, commands: &[&str]) {
    let id = format!("00000000-0000-4000-8000-{days_ago:012}");
    let at = |minutes: i64| {
        jiff::Timestamp::from_millisecond(now() - days_ago * DAY + minutes * 60_000).unwrap().to_string()
    };
    let record = |kind: &str, n: usize, content: Value| {
        json!({ "type": kind, "sessionId": id, "uuid": format!("{id}-{n}"), "parentUuid": null, "isSidechain": false, "cwd": "/w/shop",
            "version": "2.1.332", "timestamp": at(n as i64), "message": { "role": kind, "content": content } })
    };
    let mut lines = vec![record("user", 0, json!("Do the next thing."))];
    for (n, command) in commands.iter().enumerate() {
        let call = format!("toolu_{days_ago}_{n}");
        lines.push(record(
            "assistant",
            2 * n + 1,
            json!([{ "type": "tool_use", "id": call, "name": "Bash", "input": { "command": command } }]),
        ));
        let failed = command.starts_with("npm install");
        let said = if failed { "Exit code 1\nnpm error code EUSEPNPM" } else { "ok" };
        lines.push(record(
            "user",
            2 * n + 2,
            json!([{ "type": "tool_result", "tool_use_id": call, "is_error": failed, "content": said }]),
        ));
    }
    let file = user.projects().join("-w-shop").join(format!("{id}.jsonl"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    settle(&file);
}

fn pattern(program: &str, words: &[&str]) -> CommandPattern {
    CommandPattern {
        program: program.into(),
        words: words.iter().map(|&word| word.into()).collect(),
        without: Vec::new(),
    }
}

fn pnpm() -> Check {
    Check::Command {
        violations: vec![pattern("npm", &["install"])],
        opportunities: vec![pattern("pnpm", &["install"]), pattern("pnpm", &["add"])],
    }
}

/// A rule that was applied so many days ago.
fn apply(user: &User, days_ago: i64, check: Option<Check>) {
    let mut store = Store::open(&user.state()).unwrap();
    let at = now() - days_ago * DAY;
    let anchor =
        Anchor { id: "use-pnpm".into(), kind: "correction".into(), subject: "use pnpm".into(), ..Anchor::default() };
    store.put_anchor(&anchor, at).unwrap();
    store
        .put_proposal(&Proposal {
            id: "p-use-pnpm".into(),
            pattern: "use-pnpm".into(),
            status: Status::Applied,
            step: Step::Rule,
            text: "Install with pnpm.".into(),
            rationale: String::new(),
            paths: Vec::new(),
            check,
            author: Author::Template,
            replaces: None,
            tokens: 5,
            occurrences: 20,
            last_seen: at,
            created_at: at,
            applied_at: Some(at),
            ended_at: None,
            places: vec![Place { tool: "claude-code".into(), file: "rules.md".into(), project: None }],
        })
        .unwrap();
}

#[test]
fn calls_are_counted_where_a_check_tells_them() {
    let user = User::new();
    for day in 1..=40_i64 {
        let (install, before) = ("npm install left-pad", day > 12);
        let commands: &[&str] = if before {
            &[install, "cd x && npm install", "npm test"]
        } else {
            &["pnpm install", "pnpm add x", "echo npm install"]
        };
        session(&user, day, commands);
    }
    user.ok(&["reconcile"]);
    user.ok(&["worker", "--quiet"]);
    apply(&user, 12, Some(pnpm()));
    let verdicts = user.ok(&["verdicts", "--json"]).json();
    let verdict = &verdicts[0];
    assert_eq!((&verdict["unit"], &verdict["simple"]), (&json!("calls"), &json!("pending")), "{verdict:#}");
    assert_eq!((&verdict["since"]["occurrences"], &verdict["since"]["opportunities"]), (&json!(0), &json!(24)));
    assert_eq!(verdict["before"]["occurrences"], verdict["before"]["opportunities"]);
    let page = user.ok(&["insights", "--json"]).json();
    assert_eq!(page["rules"][0]["proposal"], "p-use-pnpm");
    let text = user.ok(&["verdicts", "p-use-pnpm"]).out;
    assert!(text.contains("calls before") && text.contains("Install with pnpm."), "{text}");
}

#[test]
fn without_rules_there_is_nothing_to_judge() {
    let user = User::with("2.1.332-headless");
    assert_eq!(user.run(&["verdicts"]).code, Some(3));
    user.ok(&["reconcile"]);
    user.ok(&["worker", "--quiet"]);
    let ran = user.run(&["verdicts"]);
    assert_eq!(ran.code, Some(3), "{ran}");
    assert!(ran.err.contains("No rule is in force"), "{ran}");
    apply(&user, 3, None);
    assert_eq!(user.ok(&["verdicts", "--json", "use-pnpm"]).json()[0]["outcome"], "not-enough-data");
    assert_eq!(user.run(&["verdicts", "p-other"]).code, Some(3));
}

/// Runs `check` as Claude Code does.
fn check(user: &User, file: &str, call: &[u8]) -> Ran {
    let mut command = user.command(&["check", file]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It may end without reading a call that it does not need.
    let _ = child.stdin.take().unwrap().write_all(call);
    Ran::of(user, child.wait_with_output().unwrap())
}

fn scaffold(user: &User, check: &Check) -> String {
    let file = user.folder().join("hook.json");
    fs::write(&file, json!({ "id": "p-x", "message": "Not like that.", "check": check }).to_string()).unwrap();
    file.to_string_lossy().into_owned()
}

/// What Claude Code 2.1.332 writes to a hook of `PreToolUse`.
fn call(tool: &str, input: &Value) -> Vec<u8> {
    json!({
        "session_id": "4d8217bf-21b6-42ac-99f6-1dcef2d812ad", "transcript_path": "/home/dev/.claude/projects/x/4d82.jsonl",
        "cwd": "/w/shop", "prompt_id": "8d7a415c", "permission_mode": "default", "effort": { "level": "high" },
        "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": "toolu_01",
    })
    .to_string()
    .into_bytes()
}

#[test]
fn a_hook_refuses_what_breaks_its_rule_and_nothing_else() {
    let user = User::new();
    let file = scaffold(&user, &pnpm());
    let bash = |line: &str| check(&user, &file, &call("Bash", &json!({ "command": line, "description": "x" })));
    let refused = bash("cd a && npm install x");
    assert_eq!(refused.code, Some(0));
    let answer = &refused.json()["hookSpecificOutput"];
    assert_eq!((&answer["hookEventName"], &answer["permissionDecision"]), (&json!("PreToolUse"), &json!("deny")));
    assert_eq!(answer["permissionDecisionReason"], "Not like that. (rule p-x)");
    for line in ["pnpm install", "npm test", "git commit -m 'npm install'", ""] {
        let ran = bash(line);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""), "{line}");
    }
    let file = scaffold(&user, &Check::Path { violations: vec!["dist/**".into()], opportunities: Vec::new() });
    let edit =
        |tool: &str, path: &str| check(&user, &file, &call(tool, &json!({ "file_path": path, "content": "x" }))).out;
    assert!(edit("Write", "/w/shop/dist/a.js").contains("deny"));
    assert_eq!((edit("Write", "/w/shop/src/a.js"), edit("Read", "/w/shop/dist/a.js")), (String::new(), String::new()));
}

#[test]
fn a_hook_that_cannot_be_asked_says_nothing() {
    let user = User::new();
    let file = scaffold(&user, &pnpm());
    let good = call("Bash", &json!({ "command": "npm install" }));
    let broken = user.folder().join("broken.json");
    fs::write(&broken, "{").unwrap();
    for (file, call) in [
        (file.as_str(), &b"{"[..]),
        (&file, b""),
        (&file, br#"{"tool_name": "Bash", "tool_input": {"command": 3}}"#),
        (&file, br#"{"tool_name": "mcp__x__y", "tool_input": {"text": "npm install"}}"#),
        (
            &file,
            br#"{"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "npm install"}}"#,
        ),
        (broken.to_str().unwrap(), &good),
        ("not-there.json", &good),
    ] {
        let ran = check(&user, file, call);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""), "{file}");
    }
    let mut child = user.command(&["check", &file]);
    let ran = Ran::of(&user, child.env("TOTALRECALL_ANALYSIS", "1").stdin(Stdio::null()).output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""));
    // To Claude Code, 2 would mean that the tool may not be used.
    assert_eq!(user.run(&["check"]).code, Some(0));
}

#[test]
fn a_hook_answers_at_once() {
    let user = User::new();
    let file = scaffold(&user, &pnpm());
    let call = call("Bash", &json!({ "command": "npm install" }));
    let times = (0..11).map(|_| {
        let begin = Instant::now();
        assert!(check(&user, &file, &call).out.contains("deny"));
        begin.elapsed()
    });
    // Some fold of the 20 ms that are promised: this is no release build, and other tests run beside it.
    assert!(times.min().unwrap() < Duration::from_millis(200));
}

/// The rule that is in force is as old as it says.
fn age(user: &User, id: &str, days_ago: i64, change: impl Fn(&mut Proposal)) {
    let mut store = Store::open(&user.state()).unwrap();
    let mut rule = store.proposal(id).unwrap().unwrap_or_else(|| panic!("{id}"));
    assert_eq!(rule.status, Status::Applied, "{rule:?}");
    (rule.applied_at, rule.created_at) = (Some(now() - days_ago * DAY), now() - days_ago * DAY);
    change(&mut rule);
    store.put_proposal(&rule).unwrap();
}

/// What is proposed in the place of a rule.
fn instead_of(user: &User, id: &str) -> Value {
    let proposed = user.ok(&["propose", "--min-occurrences", "1000", "--json"]).json();
    let [draft] = &proposed["drafted"].as_array().unwrap()[..] else { panic!("{proposed:#}") };
    assert_eq!(draft["replaces"], id, "{draft:#}");
    draft.clone()
}

#[test]
fn what_does_not_work_is_said_once_more_and_then_refused_by_a_hook() {
    let user = User::new();
    for day in 1..=120_i64 {
        session(&user, day, &["npm install left-pad", "npm install left-pad", "pnpm install"]);
    }
    let project = user.folder().join("shop");
    fs::create_dir_all(&project).unwrap();
    user.ok(&["reconcile"]);
    user.ok(&["worker", "--quiet"]);
    let drafted = user.ok(&["propose", "--json"]).json();
    let drafts = drafted["drafted"].as_array().unwrap();
    let first = drafts.iter().find(|it| it["id"].as_str().unwrap().starts_with("p-tool-error")).unwrap();
    let first = first["id"].as_str().unwrap();
    user.ok(&["apply", first]);
    // As if it had been in force for half of the time.
    age(&user, first, 60, |rule| rule.check = Some(pnpm()));
    let verdict = user.ok(&["verdicts", "--json"]).json()[0].clone();
    assert_eq!((&verdict["outcome"], &verdict["unit"]), (&json!("not-working"), &json!("calls")), "{verdict:#}");
    assert!(user.ok(&["verdicts"]).out.contains("totalrecall propose"), "{}", user.ok(&["verdicts"]).out);

    // The same once more, with what has happened since.
    let again = instead_of(&user, first);
    assert!(again["text"].as_str().unwrap().contains("since it is a rule"), "{again:#}");
    assert_eq!(again["step"], "rule");
    let again = again["id"].as_str().unwrap();
    user.ok(&["apply", again]);
    assert!(user.ok(&["insights"]).out.contains("Outcome of applied rules"), "the page tells at once");
    let rules = || fs::read_to_string(user.home().join(".claude/totalrecall-rules.md")).unwrap_or_default();
    assert!(rules().contains(again) && !rules().contains(&format!("{first} ")), "{}", rules());

    // Then a hook, because a check tells it.
    age(&user, again, 60, |_| {});
    let hook = instead_of(&user, again);
    assert_eq!((&hook["step"], &hook["check"]["command"]["violations"][0]["program"]), (&json!("hook"), &json!("npm")));
    let hook = hook["id"].as_str().unwrap();
    let applied = user.ok(&["apply", hook]);
    for part in ["PreToolUse", "totalrecall check", "\"Bash\""] {
        assert!(applied.out.contains(part), "{part}: {applied}");
    }
    assert!(!user.home().join(".claude/settings.json").exists(), "the person installs it");
    let file = user.state().join("hooks").join(format!("{hook}.json"));
    let bash = |line: &str| check(&user, file.to_str().unwrap(), &call("Bash", &json!({ "command": line })));
    assert!(bash("npm install x").out.contains("deny"));
    assert_eq!(bash("pnpm install x").out, "");
    user.ok(&["revert", hook]);
    assert!(!file.exists() && rules().is_empty());
    assert!(!user.ok(&["insights"]).out.contains("Outcome of applied rules"));
}

#[test]
fn a_rule_for_paths_is_read_where_they_are() {
    let user = User::new();
    for day in 1..=4_i64 {
        session(&user, day, &["npm install left-pad"]);
    }
    user.ok(&["reconcile"]);
    user.ok(&["worker", "--quiet"]);
    let drafted = user.ok(&["propose", "--json"]).json();
    let mut draft: Proposal = serde_json::from_value(drafted["drafted"][0].clone()).unwrap();
    (draft.step, draft.paths) = (Step::PathRule, vec!["src/**/*.ts".to_owned()]);
    Store::open(&user.state()).unwrap().put_proposal(&draft).unwrap();
    let project = user.folder().join("shop");
    fs::create_dir_all(&project).unwrap();
    let unknown = user.run(&["apply", &draft.id]);
    assert!(unknown.code == Some(1) && unknown.err.contains("--project DIR"), "{unknown}");
    user.ok(&["apply", &draft.id, "--project", project.to_str().unwrap()]);
    let file = project.join(".claude/rules").join(format!("totalrecall-{}.md", draft.id));
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("---\npaths:\n") && text.contains("src/**/*.ts") && text.contains(&draft.text), "{text}");
    user.ok(&["revert", &draft.id]);
    assert!(!file.exists() && !project.join(".claude").exists(), "nothing of it is left");
}
