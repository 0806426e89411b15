//! What is remembered on purpose: kept once, found in whatever words, and gone when it is forgotten.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use totalrecall::store::{FILE, Store};

use crate::support::{Ran, User};

/// The id that `remember` gave.
fn remember(user: &User, arguments: &[&str]) -> String {
    let ran = user.ok(&[&["remember", "--json"], arguments].concat());
    ran.json()["id"].as_str().unwrap().to_owned()
}

/// Ids that `recall` gives, in order.
fn recall(user: &User, arguments: &[&str]) -> Vec<String> {
    let ran = user.run(&[&["recall", "--json"], arguments].concat());
    let found = ran.json();
    assert_eq!(ran.code, Some(if found["total"] == 0 { 3 } else { 0 }), "{ran}");
    found["memories"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

fn with_input(user: &User, arguments: &[&str], input: &str) -> Ran {
    let mut child =
        user.command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // One that refuses before it has read all closes its end.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    Ran::of(user, child.wait_with_output().unwrap())
}

/// Does the database, or its log, hold these bytes anywhere?
fn holds(user: &User, text: &str) -> bool {
    ["", "-wal"].iter().any(|ending| {
        let bytes = fs::read(user.state().join(format!("{FILE}{ending}"))).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[test]
fn what_matters_is_recalled_first_and_what_is_cut_is_told() {
    let user = User::new();
    assert_eq!(user.run(&["recall"]).code, Some(3), "nothing is there yet");
    assert!(!user.state().exists(), "asking makes nothing");
    for number in 1..=12 {
        remember(&user, &[&format!("Fact number {number}")]);
    }
    let low = remember(&user, &["An aside", "--importance", "low"]);
    for number in 1..=3 {
        remember(&user, &[&format!("Never do {number}"), "--importance", "critical", "--category", "decision"]);
    }
    assert_eq!(recall(&user, &["--limit", "100"]).last(), Some(&low));
    let ran = user.ok(&["recall"]);
    assert!(ran.out.starts_with("16 memories\nshowing 10 of 16: use --limit 16\n"), "{ran}");
    assert_eq!(ran.out.matches("critical decision").count(), 3, "{ran}");
    let ran = user.ok(&["recall", "--limit", "2"]);
    assert!(ran.out.contains("showing 2 of 16, of which 1 critical is not shown: use --limit 16"), "{ran}");
    let ran = user.ok(&["recall", "never", "--category", "decision"]);
    assert!(ran.out.starts_with("3 of 16 memories\n\n"), "{ran}");
    assert_eq!(recall(&user, &["--importance", "high", "--limit", "50"]).len(), 3);
    assert_eq!(recall(&user, &["unheard-of"]), [""; 0]);
}

#[test]
fn it_is_found_in_whatever_words() {
    let user = User::new();
    let french = remember(&user, &["Le déploiement se fait le mardi", "--tags", "Équipe,release"]);
    let chinese = remember(&user, &["生产环境的部署密钥在保险库里"]);
    let english = remember(&user, &["The deploy key is in the vault", "--ticket", "OPS-7"]);
    for (words, expected) in [
        (vec!["déploiement"], vec![&french]),
        (vec!["DEPLOIEMENT"], vec![&french]),
        (vec!["equipe"], vec![&french]),
        (vec!["部署密钥"], vec![&chinese]),
        (vec!["密钥在哪里"], vec![&chinese]),
        (vec!["ops-7"], vec![&english]),
        (vec!["deploy", "key", "vault", "mardi"], vec![&english, &french]),
        (vec![french.as_str()], vec![&french]),
    ] {
        assert_eq!(recall(&user, &words).iter().collect::<Vec<_>>(), expected, "{words:?}");
    }
    assert_eq!(recall(&user, &["--tag", "équipe"]), [french]);
}

/// A repository with a worktree, as git lays them out.
fn repository(user: &User) {
    let base = user.folder();
    for folder in ["app/.git/worktrees/fix", "app/src", "fix/docs", "other"] {
        fs::create_dir_all(base.join(folder)).unwrap();
    }
    fs::write(base.join("app/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(base.join("fix/.git"), format!("gitdir: {}\n", base.join("app/.git/worktrees/fix").display())).unwrap();
    let back = base.join("fix/.git");
    fs::write(base.join("app/.git/worktrees/fix/gitdir"), format!("{}\n", back.display())).unwrap();
}

fn within(user: &User, folder: &str, arguments: &[&str]) -> Ran {
    Ran::of(user, user.command(arguments).current_dir(user.folder().join(folder)).output().unwrap())
}

#[test]
fn it_holds_everywhere_or_in_a_repository_with_its_worktrees() {
    let user = User::new();
    repository(&user);
    let ran = user.ok(&["remember", "Everywhere"]);
    assert!(ran.out.ends_with("it holds everywhere.\n"), "{ran}");
    let ran = within(&user, "fix/docs", &["remember", "In the app", "--project"]);
    assert!(ran.out.ends_with("it holds in [DIR]/app.\n"), "{ran}");
    user.ok(&["remember", "In the other", "--project=other"]);
    let found = |folder: &str, arguments: &[&str]| -> Vec<String> {
        let ran = within(&user, folder, &[&["recall", "--json"], arguments].concat());
        let found = ran.json();
        let found = found["memories"].as_array().unwrap().iter();
        let mut found: Vec<_> = found.map(|it| it["content"].as_str().unwrap().to_owned()).collect();
        found.sort();
        found
    };
    for folder in ["app", "app/src", "fix", "fix/docs"] {
        assert_eq!(found(folder, &["--project"]), ["Everywhere", "In the app"], "{folder}");
    }
    assert_eq!(found("other", &["--project"]), ["Everywhere", "In the other"]);
    assert_eq!(found("", &["--project=app"]), ["Everywhere", "In the app"]);
    assert_eq!(found("", &[]).len(), 3);
    assert_eq!(user.run(&["remember", "x", "--project=nowhere"]).code, Some(2));
    assert_eq!(user.run(&["recall", "--project=nowhere"]).code, Some(2));
}

#[test]
fn what_does_not_hold_any_more_is_left_out_and_marked() {
    let user = User::new();
    let old = remember(&user, &["The vault is on host a"]);
    let new = remember(&user, &["The vault is on host b", "--supersedes", &old]);
    let todo = remember(&user, &["Rotate the vault's key", "--category", "todo"]);
    let brief = remember(&user, &["The vault is down", "--expires", "2d"]);
    assert_eq!(recall(&user, &["vault"]).len(), 3);
    assert_eq!(user.ok(&["done", &todo]).err, "1 todo is done.\n");
    let wrong = user.run(&["done", &new, "00000000"]);
    assert_eq!(wrong.code, Some(3));
    assert!(wrong.err.contains("is no todo") && wrong.err.contains("there is no memory 00000000"), "{wrong}");

    let later = |arguments: &[&str]| {
        Ran::of(&user, user.command(arguments).env("TOTALRECALL_NOW", "2026-12-04T12:00:00Z").output().unwrap())
    };
    let ran = later(&["recall", "vault"]);
    assert!(ran.out.starts_with("1 of 4 memories\n") && ran.out.contains(&new), "{ran}");
    assert!(ran.err.contains("3 more are superseded, expired or done: use --all"), "{ran}");
    let ran = later(&["recall", "vault", "--all"]);
    for told in [format!("superseded by {new}"), "expired on 2026-12-03".to_owned(), "done on 2026-12-01".to_owned()] {
        assert!(ran.out.contains(&told), "{told}: {ran}");
    }
    // The old one does not come back because the one that took its place is forgotten.
    user.ok(&["forget", &new, &brief, "--yes"]);
    assert_eq!(recall(&user, &["vault"]), [""; 0]);
    assert!(user.ok(&["recall", "vault", "--all"]).out.contains("superseded by one that was forgotten"));
    for (arguments, code) in [
        (vec!["remember", "x", "--supersedes", "00000000"], 1),
        (vec!["remember", "x", "--expires", "2020-01-01"], 2),
        (vec!["remember", "x", "--confidence", "2"], 1),
        (vec!["remember", "x", "--category", "rumour"], 2),
        (vec!["remember"], 2),
    ] {
        assert_eq!(user.run(&arguments).code, Some(code), "{arguments:?}");
    }
}

#[test]
fn the_same_twice_is_one_and_can_still_take_a_place() {
    let user = User::new();
    let old = remember(&user, &["Tabs"]);
    let id = remember(&user, &["Spaces"]);
    let ran = user.ok(&["remember", "  Spaces ", "--supersedes", &old, "--json"]).json();
    assert_eq!(
        (ran["id"].as_str(), ran["known"].as_bool(), ran["total"].as_u64()),
        (Some(id.as_str()), Some(true), Some(2))
    );
    assert_eq!(recall(&user, &[]), std::slice::from_ref(&id));
    // It cannot take its own place.
    user.ok(&["remember", "Spaces", "--supersedes", &id]);
    assert_eq!(recall(&user, &[]), [id]);
}

#[test]
fn one_that_names_a_file_which_is_gone_is_possibly_outdated() {
    let user = User::new();
    repository(&user);
    fs::write(user.folder().join("app/src/price.rs"), "").unwrap();
    let keep = |text: &str| within(&user, "app", &["remember", text, "--project"]);
    keep("Rounding is in src/price.rs");
    keep("Tax is in src/tax.rs; it runs on Node.js");
    let ran = user.ok(&["recall"]);
    assert_eq!(ran.out.matches("possibly outdated").count(), 1, "{ran}");
    assert!(ran.out.contains("possibly outdated: src/tax.rs is not there any more"), "{ran}");
    fs::remove_file(user.folder().join("app/src/price.rs")).unwrap();
    let found = user.ok(&["recall", "rounding", "--json"]).json();
    assert_eq!(found["memories"][0]["missing"], serde_json::json!(["src/price.rs"]));
}

#[test]
fn secrets_are_not_remembered_and_escapes_are_not_shown() {
    let user = User::new();
    let secret = ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    let ran = user.ok(&[
        "remember",
        &format!("the token {secret} and <private>my salary</private> \x1b]0;title\x07x"),
        "--tags",
        &format!("a,{secret}"),
    ]);
    assert!(ran.err.contains("secrets were taken out"), "{ran}");
    let ran = user.ok(&["recall"]);
    assert!(
        ran.out.contains("[redacted:github-token]") && !ran.out.contains('\x1b') && !ran.out.contains("title"),
        "{ran}"
    );
    for gone in [secret.as_str(), "salary"] {
        assert!(!holds(&user, gone), "{gone}");
    }
}

#[test]
fn it_is_read_from_standard_input_within_bounds() {
    let user = User::new();
    let ran = with_input(&user, &["remember", "-", "--json"], "two\nlines\n");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(user.ok(&["recall", "--json"]).json()["memories"][0]["content"], "two\nlines");
    let long = "ü".repeat(9_000);
    for (input, why) in
        [("", "there is nothing to remember"), (" \n", "nothing"), (long.as_str(), "save it as a chunk")]
    {
        let ran = with_input(&user, &["remember", "-"], input);
        assert!(ran.code == Some(1) && ran.err.contains(why), "{ran}");
    }
}

#[test]
fn what_is_forgotten_was_shown_and_is_gone() {
    let user = User::new();
    let id = remember(&user, &["The old vault is in Zanzibar"]);
    let other = remember(&user, &["The new vault is elsewhere"]);
    let ran =
        with_input(&user, &["chunk", "save", "-", "--summary", "Moving"], "We left the old vault in Zanzibar behind.");
    assert_eq!(ran.code, Some(0), "{ran}");
    let chunk = "2026-12-01_none_001";
    let ran = user.ok(&["forget", "--matching", "VAULT old", "--dry-run"]);
    assert!(ran.out.contains(&id) && ran.out.contains(chunk) && !ran.out.contains(&other), "{ran}");
    let ran = with_input(&user, &["forget", "--matching", "zanzibar"], "n\n");
    assert!(ran.err.ends_with("Nothing was forgotten.\n"), "{ran}");
    assert_eq!(recall(&user, &[]).len(), 2);
    assert!(holds(&user, "Zanzibar"));

    let before = Store::open_read_only(&user.state()).unwrap().removals_after(0).unwrap().last().map_or(0, |it| it.id);
    let ran = with_input(&user, &["forget", "--matching", "zanzibar"], "yes\n");
    assert_eq!((ran.code, ran.err.ends_with("2 are forgotten.\n")), (Some(0), true), "{ran}");
    assert_eq!(recall(&user, &["--all"]), [other]);
    assert_eq!(user.run(&["chunk", "show", chunk]).code, Some(3));
    assert!(!holds(&user, "Zanzibar"), "it was overwritten");
    let store = Store::open_read_only(&user.state()).unwrap();
    assert_eq!(store.removals_after(before).unwrap().len(), 2, "indexes forget it, too");

    let ran = user.run(&["forget", &id, "--yes"]);
    assert!(ran.code == Some(3) && ran.err.contains("there is no memory and no chunk"), "{ran}");
    assert_eq!(user.run(&["forget", "--matching", "?!", "--yes"]).code, Some(2));
    assert_eq!(user.run(&["forget"]).code, Some(2));
}

#[test]
fn chunks_are_saved_once_and_shown_in_parts() {
    let user = User::new();
    fs::create_dir(user.folder().join("ledger")).unwrap();
    let file = user.folder().join("notes.md");
    fs::write(&file, "# How it was found\n\n    indented\nlast\n").unwrap();
    let save =
        ["chunk", "save", "notes.md", "--kind", "debug", "--project=ledger", "--ticket", "BILL-7", "--tags", "a,b"];
    let ran = user.ok(&save);
    let id = "2026-12-01_ledger_001_bill-7";
    assert!(ran.out.starts_with(&format!("Saved as {id} (about ")), "{ran}");
    fs::write(&file, "# how it WAS found\n indented last").unwrap();
    let ran = user.ok(&save);
    assert_eq!(ran.out, format!("{id} has this text already: How it was found\n"));
    let ran = user.ok(&["chunk", "list", "--project=ledger"]);
    assert!(
        ran.out.starts_with("1 chunk\n") && ran.out.contains("debug, about") && ran.out.contains("#a, #b"),
        "{ran}"
    );
    assert_eq!(user.run(&["chunk", "list", "--tag", "c"]).code, Some(3));
    assert_eq!(user.ok(&["chunk", "show", id]).out, "# How it was found\n\n    indented\nlast\n");
    let ran = user.ok(&["chunk", "show", id, "--lines", "3-"]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("    indented\nlast\n", "lines 3-4 of 4\n"));
    assert_eq!(user.ok(&["chunk", "show", id, "--lines", "2-3", "--json"]).json()["content"], "\n    indented");
    assert_eq!(user.run(&["chunk", "show", id, "--lines", "9"]).code, Some(3));
    for lines in ["0", "3-2", "x", ""] {
        assert_eq!(user.run(&["chunk", "show", id, "--lines", lines]).code, Some(2), "{lines}");
    }
    assert_eq!(user.run(&["chunk", "show", "../../etc/passwd"]).code, Some(3));
    assert_eq!(user.run(&["chunk", "save", "nowhere.md"]).code, Some(1));
    fs::write(&file, [0xff, 0xfe, 0x00]).unwrap();
    let ran = user.run(&["chunk", "save", "notes.md"]);
    assert!(ran.code == Some(1) && ran.err.contains("notes.md is no UTF-8 from byte 0 on"), "{ran}");

    let mut store = Store::open(&user.state()).unwrap();
    let row = store.chunk(id).unwrap().unwrap().row;
    store.archive_chunk(row, 1_796_000_000_000).unwrap();
    drop(store);
    let ran = user.ok(&["chunk", "show", id, "--lines", "4"]);
    assert!(ran.out == "last\n" && ran.err.contains("It is archived, in no index: `totalrecall restore"), "{ran}");
    assert!(user.ok(&["chunk", "list"]).out.contains("archived: How it was found"));
    assert!(user.ok(&["forget", "--matching", "indented last", "--dry-run"]).out.contains("(archived)"));
}

pub(crate) fn database(user: &User) -> rusqlite::Connection {
    rusqlite::Connection::open(user.state().join(FILE)).unwrap()
}

#[test]
fn many_remember_at_once_and_one_is_killed() {
    let user = User::new();
    let start = |number: usize| -> std::process::Child {
        let text = format!("Fact number {number}");
        let mut command: Command = user.command(&["remember", &text]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut children: Vec<_> = (0..12).map(start).collect();
    children[0].kill().unwrap();
    let failed: Vec<_> = children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .skip(1)
        .filter(|output| !output.status.success())
        .map(|output| String::from_utf8_lossy(&output.stderr).into_owned())
        .collect();
    assert_eq!(failed, [""; 0]);
    let count = recall(&user, &["--limit", "100"]).len();
    assert!((11..=12).contains(&count), "{count}");
    assert_eq!(database(&user).query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
}

#[test]
fn help_says_where_a_memory_holds() {
    let help = User::new().ok(&["remember", "--help"]).out;
    assert!(help.contains("Without --project it holds everywhere"), "{help}");
    assert!(Path::new(env!("CARGO_BIN_EXE_totalrecall")).exists());
}
