//! A home of another program: what is taken over, what is said of it, and what is left as it was.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    life::walk,
    support::{Ran, User, copy, fixtures},
};

/// The session that the fixture's first evidence is of.
const SESSION: &str = "3cf2385f-440a-4ac0-8d12-6dc76fa532be";
const TESTS: &str = "Runs the whole test suite after every edit although only one file changed";

/// A person who has the fixture's home in `~/old/home`.
fn user() -> User {
    let user = User::new();
    lay_out(&user);
    user
}

fn lay_out(user: &User) {
    let case = fixtures().join("import/totalrecall-0.1");
    copy(&case.join("around"), &user.home().join("old"));
    copy(&case.join("claude"), &user.home().join(".claude"));
}

fn old(user: &User) -> PathBuf {
    user.home().join("old/home")
}

fn import(user: &User, more: &[&str]) -> Ran {
    user.run(&[&["import", "totalrecall", "home/old/home"], more].concat())
}

fn taken(user: &User) -> Value {
    let ran = import(user, &["--json"]);
    assert_eq!(ran.code, Some(0), "{ran}");
    ran.json()
}

fn change(file: &Path, with: impl FnOnce(&mut Value)) {
    let mut value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    with(&mut value);
    fs::write(file, value.to_string()).unwrap();
}

/// Sessions of each pattern, by what it is about.
fn occurrences(user: &User) -> BTreeMap<String, u64> {
    let patterns = user.ok(&["patterns", "--json", "--limit", "10000"]).json();
    let of = |it: &Value| (it["subject"].as_str().unwrap().to_owned(), it["occurrences"].as_u64().unwrap());
    patterns.as_array().unwrap().iter().map(of).collect()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    walk(folder).into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect()
}

#[test]
fn what_was_taken_over_is_told() {
    let user = user();
    let ran = import(&user, &[]);
    insta::assert_snapshot!("import", ran);
}

#[test]
fn sessions_count_as_they_did() {
    let user = user();
    taken(&user);
    let expected = [
        ("Adds_comments everywhere", 1),
        ("Edits generated files", 1),
        // The old program counted three sessions as one, and kept no other.
        ("Guesses the target branch", 1),
        (TESTS, 3),
        ("Writes secrets into the log", 1),
        ("应该用 pnpm，却用了 npm 安装依赖", 1),
        ("用户要的是解释，代理却直接改了代码", 2),
    ];
    assert_eq!(occurrences(&user), expected.map(|(about, count)| (about.to_owned(), count)).into());
    let patterns = user.ok(&["patterns", "--json"]).json();
    let ids: Vec<_> = patterns.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    for kept in ["runs-all-tests", "guesses-the-target-branch"] {
        assert!(ids.contains(&kept), "{ids:?}");
    }
}

#[test]
fn a_session_that_is_read_later_is_not_counted_twice() {
    let user = User::with("2.1.120-tui");
    user.ok(&["worker", "--reconcile"]);
    let read = user.ok(&["insights", "--json"]).json()["sessions"].as_u64().unwrap();

    let user = User::with("2.1.120-tui");
    lay_out(&user);
    let sessions = taken(&user)["sessions"].as_u64().unwrap();
    user.ok(&["worker", "--reconcile"]);
    let insights = user.ok(&["insights", "--json"]).json();
    assert_eq!(insights["sessions"], read + sessions - 1);
    assert_eq!(occurrences(&user)[TESTS], 3);
    // It now is a session of the project that its transcript tells.
    let pattern = insights["patterns"].as_array().unwrap().iter().find(|it| it["subject"] == TESTS).unwrap();
    let place = pattern["evidence"].as_array().unwrap().iter().find(|it| it["session"] == SESSION).unwrap();
    assert_ne!(place["project"], "");
}

#[test]
fn the_page_names_sessions_without_inventing_lines() {
    let user = user();
    taken(&user);
    user.ok(&["insights", "--renew"]);
    let page = user.ok(&["insights"]).out;
    assert!(page.contains("codex · `00000000-0000-4000-8000-"), "{page}");
    assert!(!page.contains("line 0"), "{page}");
}

#[test]
fn a_dry_run_says_the_same_and_writes_nothing() {
    let user = user();
    let mut dry = import(&user, &["--dry-run", "--json"]).json();
    assert!(!user.state().exists());
    let mut done = taken(&user);
    assert_eq!((dry["dry_run"].take(), done["dry_run"].take()), (json!(true), json!(false)));
    assert_eq!(dry, done);
    let before = fs::read(user.state().join("totalrecall.db")).unwrap();
    let again = import(&user, &["--dry-run", "--json"]).json();
    assert_eq!(again["findings"]["new"], 0);
    assert_eq!(fs::read(user.state().join("totalrecall.db")).unwrap(), before);
}

#[test]
fn the_old_home_stays_as_it_is() {
    let user = user();
    let before = (files(&user.home().join("old")), files(&user.home().join(".claude")));
    taken(&user);
    assert_eq!((files(&user.home().join("old")), files(&user.home().join(".claude"))), before);
}

#[test]
fn a_second_import_finds_everything_known_and_a_later_one_adds_what_came_since() {
    let user = user();
    taken(&user);
    let again = taken(&user);
    for sort in ["patterns", "findings", "proposals"] {
        assert_eq!((&again[sort]["new"], &again[sort]["changed"]), (&json!(0), &json!(0)), "{sort}");
    }
    assert!(import(&user, &[]).err.contains("Nothing new"));

    change(&old(&user).join("patterns/runs-all-tests.json"), |it| {
        it["evidence"].as_array_mut().unwrap().push(json!({
            "session_id": "new", "tool": "codex", "turn_refs": [1], "ts": "2026-11-29T00:00:00Z", "snippet_hash": "x",
        }));
        it["occurrences"] = json!(4);
    });
    change(&old(&user).join("proposals.json"), |it| it["p-pattern"]["status"] = json!("rejected"));
    let more = taken(&user);
    assert_eq!((&more["findings"]["new"], &more["findings"]["changed"]), (&json!(1), &json!(0)));
    assert_eq!((&more["patterns"]["new"], &more["patterns"]["changed"]), (&json!(0), &json!(1)));
    assert_eq!((&more["proposals"]["new"], &more["proposals"]["changed"]), (&json!(0), &json!(1)));
    assert_eq!(occurrences(&user)[TESTS], 4);
}

#[test]
fn what_is_damaged_is_named_and_the_rest_is_taken_over() {
    let user = user();
    let patterns = old(&user).join("patterns");
    fs::write(patterns.join("cut.json"), "{\"id\": \"cut\", \"evid").unwrap();
    fs::write(patterns.join("list.json"), "[1]").unwrap();
    fs::write(patterns.join("latin1.json"), b"{\"id\": \"caf\xe9\"}").unwrap();
    fs::create_dir(patterns.join("folder.json")).unwrap();
    let bom = format!("\u{feff}{}", fs::read_to_string(patterns.join("adds_comments.json")).unwrap());
    fs::write(patterns.join("adds_comments.json"), bom).unwrap();
    let huge = fs::File::create(patterns.join("huge.json")).unwrap();
    huge.set_len(33 << 20).unwrap();
    // Every field is of another type.
    let odd = json!({ "id": 7, "title": null, "evidence": [3, {}, { "session_id": "s", "turn_refs": "x", "ts": 5 }],
        "occurrences": "many", "severity": 99, "category": [] });
    fs::write(patterns.join("odd.json"), odd.to_string()).unwrap();
    change(&patterns.join("index.json"), |it| it["ids"].as_array_mut().unwrap().push(json!("lost")));
    fs::write(old(&user).join("ledger.json"), "").unwrap();
    fs::write(old(&user).join("config.toml"), "= 3").unwrap();
    change(&old(&user).join("proposals.json"), |it| it["p-none"] = json!({ "status": "drafted" }));

    let report = taken(&user);
    let skipped: BTreeMap<&str, &str> = report["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["what"].as_str().unwrap(), it["why"].as_str().unwrap()))
        .collect();
    for (what, why) in [
        ("patterns/cut.json", "it is damaged: "),
        ("patterns/list.json", "it holds no pattern"),
        ("patterns/latin1.json", "it is no UTF-8 from byte 11 on"),
        ("patterns/folder.json", "it is no file"),
        ("patterns/huge.json", "it is larger than the 32 MiB"),
        ("patterns/odd.json, evidence 1", "it is none"),
        ("patterns/odd.json, evidence 2", "it names no session"),
        ("patterns/lost.json", "patterns/index.json names it"),
        ("ledger.json", "it is damaged: "),
        ("config.toml", "it is damaged: "),
        ("proposals.json, p-none", "it has no pattern, or no rule"),
    ] {
        assert!(skipped.get(what).is_some_and(|it| it.starts_with(why)), "{what}: {skipped:#?}");
    }
    assert_eq!(skipped.len(), 11, "{skipped:#?}");
    assert_eq!(occurrences(&user)[TESTS], 3);
    assert_eq!(occurrences(&user)["Adds_comments everywhere"], 1);
    assert_eq!(occurrences(&user)["odd"], 1);
}

#[cfg(unix)]
#[test]
fn nothing_outside_of_the_folder_is_read_and_no_pipe_is_waited_for() {
    let user = user();
    let outside = user.home().join("outside.json");
    fs::copy(old(&user).join("patterns/runs-all-tests.json"), &outside).unwrap();
    change(&outside, |it| {
        it["id"] = json!("outside");
        it["description"] = json!("Not for us");
    });
    let patterns = old(&user).join("patterns");
    std::os::unix::fs::symlink(&outside, patterns.join("outside.json")).unwrap();
    std::os::unix::fs::symlink("nowhere", patterns.join("dangling.json")).unwrap();
    std::os::unix::fs::symlink("runs-all-tests.json", patterns.join("inside.json")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(patterns.join("pipe.json")).status().unwrap().success());
    let report = taken(&user);
    let skipped: Vec<_> = report["skipped"].as_array().unwrap().iter().map(|it| it["what"].as_str().unwrap()).collect();
    assert_eq!(skipped, ["patterns/dangling.json", "patterns/outside.json", "patterns/pipe.json"]);
    assert!(!occurrences(&user).contains_key("Not for us"));
    assert_eq!(occurrences(&user)[TESTS], 3, "a link to the same pattern counts nothing twice");
}

#[test]
fn secrets_are_taken_out_and_text_is_data() {
    let user = user();
    let secret = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    change(&old(&user).join("patterns/adds_comments.json"), |it| {
        it["description"] = json!(format!("Prints \u{1b}[31m{secret} as it is"));
        it["phase2_hint"] = json!(secret);
    });
    change(&old(&user).join("proposals.json"), |it| it["p-pattern"]["rule_text"] = json!(secret));
    let ran = import(&user, &[]);
    assert!(!ran.out.contains('\u{1b}') && !ran.out.contains(&secret), "{ran}");
    assert_eq!(ran.code, Some(0), "{ran}");
    for (file, bytes) in files(&user.state()) {
        assert!(!bytes.windows(secret.len()).any(|it| it == secret.as_bytes()), "{}", file.display());
    }
}

#[test]
fn a_folder_that_is_no_home_is_refused_and_so_is_our_own() {
    let user = User::new();
    for (folder, message) in [("home/none", "there is no folder"), ("home", "is no home of the Python TotalRecall")] {
        let ran = user.run(&["import", "totalrecall", folder]);
        assert_eq!(ran.code, Some(1), "{ran}");
        assert!(ran.err.contains(message) && ran.err.contains("hint: Name its state folder"), "{ran}");
    }
    assert!(!user.state().exists());
    // Where both programs keep their things by default.
    copy(&fixtures().join("import/totalrecall-0.1/around/home"), &user.state());
    let ran = user.run(&["import", "totalrecall", "home/.totalrecall"]);
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.err.contains("hint: Move the old home away and import it from there"), "{ran}");
}

#[test]
fn an_empty_home_has_nothing_to_take_over() {
    let user = User::new();
    fs::create_dir_all(user.home().join("old/home/patterns")).unwrap();
    let ran = import(&user, &[]);
    assert_eq!(ran.code, Some(3), "{ran}");
}
