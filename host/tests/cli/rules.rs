//! Rules: drafted, applied, taken back, and what that does to the person's files.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use crate::support::{Ran, User, fixture, settle};

const RULES: &str = "totalrecall-rules.md";
const READ_FIRST: &str = "p-tool-error-edit-string-to-replace-not-found-in-file";
const PYTEST: &str = "p-correction-no-don-t-use-assert-scripts";

/// Someone to whom the same has happened in three sessions.
fn user() -> User {
    let user = User::new();
    let original = fs::read(fixture("2.1.120-tui").join("3cf2385f-440a-4ac0-8d12-6dc76fa532be.jsonl")).unwrap();
    fs::create_dir_all(user.projects().join("-home-dev-work-demo")).unwrap();
    for number in 0..3_u8 {
        let path =
            user.projects().join(format!("-home-dev-work-demo/3cf2385f-440a-4ac0-8d12-6dc76fa532b{number}.jsonl"));
        fs::write(&path, renamed(&original, number)).unwrap();
        settle(&path);
    }
    user.ok(&["worker", "--reconcile"]);
    user
}

/// A session with other ids: what has the same ones would be a copy.
fn renamed(text: &[u8], number: u8) -> Vec<u8> {
    let mut text = text.to_vec();
    let is_id = |id: &[u8]| {
        id.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    let mut at = 0;
    while at + 36 <= text.len() {
        if is_id(&text[at..at + 36]) {
            text[at + 35] = b'0' + number;
            at += 36;
        } else {
            at += 1;
        }
    }
    text
}

fn claude(user: &User) -> PathBuf {
    user.home().join(".claude")
}

fn status(user: &User, id: &str) -> String {
    let all = user.run(&["proposals", "--all", "--json"]).json();
    let found = all.as_array().unwrap().iter().find(|it| it["id"].as_str().unwrap().starts_with(id));
    found.unwrap_or_else(|| panic!("{id} in {all:#}"))["status"].as_str().unwrap().to_owned()
}

fn text(path: impl AsRef<Path>) -> String {
    String::from_utf8(fs::read(path).unwrap()).unwrap()
}

/// Files of a folder, by their names below it.
fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = crate::life::walk(folder)
        .into_iter()
        .map(|file| {
            (file.strip_prefix(folder).unwrap().to_string_lossy().into_owned(), fs::read(&file).unwrap_or_default())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn from_pattern_to_rule_and_back() {
    let user = user();
    insta::assert_snapshot!("propose", user.ok(&["propose"]));
    insta::assert_snapshot!("proposals_page", text(user.state().join("proposals.md")));
    let again = user.run(&["propose"]);
    assert_eq!(again.code, Some(3), "{again}");

    fs::write(claude(&user).join("CLAUDE.md"), "My own words.\n").unwrap();
    let before = tree(&claude(&user));
    insta::with_settings!({filters => vec![(r"-[0-9a-f]{8}-CLAUDE", "-[HASH]-CLAUDE")]}, {
        insta::assert_snapshot!("apply_dry_run", user.ok(&["apply", READ_FIRST, "--dry-run"]));
        assert_eq!(tree(&claude(&user)), before, "nothing was changed");
        insta::assert_snapshot!("apply", user.ok(&["apply", READ_FIRST]));
    });
    insta::assert_snapshot!("rules_file", text(claude(&user).join(RULES)));
    assert_eq!(text(claude(&user).join("CLAUDE.md")), "My own words.\n\n@totalrecall-rules.md\n");
    assert_eq!(status(&user, READ_FIRST), "applied");
    insta::assert_snapshot!("proposals", user.ok(&["proposals"]));

    user.ok(&["apply", PYTEST]);
    assert_eq!(text(claude(&user).join("CLAUDE.md")), "My own words.\n\n@totalrecall-rules.md\n", "one line for all");
    let two = text(claude(&user).join(RULES));
    assert_eq!(two.matches("<!-- totalrecall:rule ").count(), 2, "{two}");
    user.ok(&["revert", READ_FIRST]);
    assert!(text(claude(&user).join(RULES)).contains("pytest"));
    user.ok(&["revert", "--all"]);
    assert_eq!(tree(&claude(&user)), before, "as it was before, to the byte");
    assert_eq!(status(&user, PYTEST), "reverted");
    // And once more.
    user.ok(&["apply", PYTEST]);
    assert_eq!(status(&user, PYTEST), "applied");
}

#[test]
fn what_is_in_claude_md_stays_whatever_it_is() {
    let user = user();
    user.ok(&["propose"]);
    let path = claude(&user).join("CLAUDE.md");
    for body in [
        &b""[..],
        b"no line break at the end",
        b"windows\r\nlines\r\n",
        b"windows\r\nand an end",
        b"\xef\xbb\xbfwith a mark\n",
        b"latin-1: caf\xe9\n\n\n",
        b"# T\n\n- list\n  - inner",
        b"```sh\nnever closed\n",
        b"\n\n",
    ] {
        fs::write(&path, body).unwrap();
        user.ok(&["apply", READ_FIRST]);
        let now = fs::read(&path).unwrap();
        assert!(now.windows(body.len().max(1)).any(|it| it == body) || body.is_empty(), "the body is untouched");
        user.ok(&["apply", READ_FIRST]);
        assert_eq!(fs::read(&path).unwrap(), now, "twice is once");
        user.ok(&["revert", READ_FIRST]);
        assert_eq!(fs::read(&path).unwrap(), body, "{:?}", String::from_utf8_lossy(body));
    }
    fs::remove_file(&path).unwrap();
    user.ok(&["apply", READ_FIRST]);
    assert_eq!(text(&path), "@totalrecall-rules.md\n");
    user.ok(&["revert", READ_FIRST]);
    assert!(!path.exists() && !claude(&user).join(RULES).exists());
    // What is written later stays.
    fs::write(&path, "mine").unwrap();
    user.ok(&["apply", READ_FIRST]);
    fs::write(&path, format!("top\n{}later\n", text(&path))).unwrap();
    user.ok(&["revert", READ_FIRST]);
    assert_eq!(text(&path), "top\nmine\n\nlater\n");
    // A file in another encoding is no place for our bytes.
    fs::write(&path, b"\xff\xfea\0").unwrap();
    let ran = user.run(&["apply", READ_FIRST]);
    assert!(ran.code == Some(1) && ran.err.contains("UTF-16"), "{ran}");
    assert_eq!(fs::read(&path).unwrap(), b"\xff\xfea\0");
}

#[cfg(unix)]
#[test]
fn links_permissions_and_what_cannot_be_written() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let user = user();
    user.ok(&["propose"]);
    let (path, dotfiles) = (claude(&user).join("CLAUDE.md"), user.home().join("dotfiles.md"));
    fs::write(&dotfiles, "mine\n").unwrap();
    fs::set_permissions(&dotfiles, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&dotfiles, &path).unwrap();
    user.ok(&["apply", READ_FIRST]);
    assert_eq!(fs::read_link(&path).unwrap(), dotfiles);
    assert_eq!(text(&dotfiles), "mine\n\n@totalrecall-rules.md\n");
    assert_eq!(fs::metadata(&dotfiles).unwrap().permissions().mode() & 0o777, 0o600);
    user.ok(&["revert", READ_FIRST]);
    assert_eq!(text(&dotfiles), "mine\n");

    let refused = |what: &str| {
        let before = tree(&claude(&user));
        let ran = user.run(&["apply", READ_FIRST]);
        assert!(ran.code == Some(1) && ran.err.contains(what) && ran.err.contains("hint"), "{ran}");
        assert_eq!(status(&user, READ_FIRST), "reverted", "it stays what it was");
        assert_eq!(tree(&claude(&user)), before, "nothing half-done");
    };
    fs::set_permissions(&dotfiles, fs::Permissions::from_mode(0o400)).unwrap();
    refused("read-only");
    fs::remove_file(&dotfiles).unwrap();
    refused("link to a file that does not exist");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused("is not a file");
}

#[test]
fn projects_and_other_tools() {
    let user = user();
    user.ok(&["propose"]);
    let project = user.folder().join("demo");
    fs::create_dir(&project).unwrap();
    let dir = project.to_str().unwrap();
    user.ok(&["apply", READ_FIRST, "--project", dir, "--tool", "all"]);
    assert_eq!(text(project.join("CLAUDE.md")), "@.claude/totalrecall-rules.md\n");
    assert!(text(project.join(".claude").join(RULES)).contains("exactly"));
    assert!(text(project.join("AGENTS.md")).starts_with("<!-- totalrecall:rule p-"));
    assert!(!claude(&user).join(RULES).exists());
    user.ok(&["revert", READ_FIRST]);
    assert_eq!(tree(&project), []);
    assert!(!project.join(".claude").exists(), "folders of ours are gone, too");

    // Where Claude Code reads AGENTS.md, it is written once.
    fs::write(project.join("AGENTS.md"), "shared\n").unwrap();
    let once = |user: &User| {
        let before = tree(&project);
        user.ok(&["apply", READ_FIRST, "--project", dir, "--tool", "claude-code,codex"]);
        assert!(text(project.join("AGENTS.md")).contains("totalrecall:rule"));
        assert!(!project.join(".claude").exists());
        user.ok(&["revert", READ_FIRST]);
        assert_eq!(tree(&project), before);
    };
    once(&user);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("AGENTS.md", project.join("CLAUDE.md")).unwrap();
        once(&user);
        fs::remove_file(project.join("CLAUDE.md")).unwrap();
    }
    fs::write(project.join("CLAUDE.md"), "@AGENTS.md\n").unwrap();
    once(&user);

    // Codex and OpenCode have files of the person's, too.
    user.ok(&["apply", PYTEST, "--tool", "codex,opencode"]);
    for file in [".codex/AGENTS.md", ".config/opencode/AGENTS.md"] {
        assert!(text(user.home().join(file)).contains("pytest"), "{file}");
    }
    user.ok(&["revert", PYTEST]);
    assert!(!user.home().join(".codex").exists() && !user.home().join(".config/opencode").exists());
    assert_eq!(user.run(&["apply", PYTEST, "--tool", "vim"]).code, Some(2));
    assert_eq!(user.run(&["apply", PYTEST, "--project", "absent"]).code, Some(2));
}

#[test]
fn the_person_decides() {
    let user = user();
    user.ok(&["propose", "--top", "3"]);
    assert_eq!(user.ok(&["proposals", "--json"]).json().as_array().unwrap().len(), 3);
    user.ok(&["propose"]);
    user.ok(&["reject", READ_FIRST]);
    assert_eq!(status(&user, READ_FIRST), "rejected");
    assert_eq!(user.run(&["propose"]).code, Some(3), "it is not drafted for again");
    assert_eq!(user.run(&["apply", READ_FIRST]).code, Some(1));
    let all = user.ok(&["proposals", "--all", "--json"]).json();
    let rejected = all.as_array().unwrap().iter().find(|it| it["status"] == "rejected").unwrap();
    user.ok(&["propose", "--pattern", rejected["pattern"].as_str().unwrap()]);
    let second = format!("{}-2", rejected["id"].as_str().unwrap());
    assert_eq!(status(&user, &second), "drafted");
    assert_eq!(user.run(&["propose", "--pattern", rejected["pattern"].as_str().unwrap()]).code, Some(1));

    let ambiguous = user.run(&["apply", "p-tool"]);
    assert!(ambiguous.code == Some(1) && ambiguous.err.contains("beginning of several"), "{ambiguous}");
    assert_eq!(user.run(&["apply", "p-none"]).code, Some(1));
    assert_eq!(user.run(&["apply"]).code, Some(2));
    assert_eq!(user.run(&["revert", PYTEST]).code, Some(1), "it is not in force");
    assert!(!claude(&user).join(RULES).exists());
}

#[test]
fn what_was_changed_by_hand_is_not_overwritten() {
    let user = user();
    user.ok(&["propose"]);
    user.ok(&["apply", PYTEST]);
    let path = claude(&user).join(RULES);
    let edited = text(&path).replace("Keep to", "Please keep to");
    fs::write(&path, &edited).unwrap();
    let ran = user.run(&["revert", PYTEST]);
    assert!(ran.code == Some(1) && ran.err.contains("changed by hand") && ran.err.contains("--force"), "{ran}");
    assert_eq!(text(&path), edited);
    // Others come and go beside it.
    user.ok(&["apply", READ_FIRST]);
    user.ok(&["revert", READ_FIRST]);
    assert_eq!(text(&path), edited);
    let forced = user.ok(&["revert", PYTEST, "--force"]);
    assert!(!path.exists());
    assert!(forced.out.contains("kept a copy in"), "{forced}");
}

#[test]
fn rules_have_a_budget() {
    let user = user();
    user.ok(&["propose"]);
    fs::write(user.state().join("config.toml"), "[rules]\ntokens = 60\n").unwrap();
    user.ok(&["apply", PYTEST]);
    let ran = user.run(&["apply", READ_FIRST]);
    assert!(ran.code == Some(1) && ran.err.contains("allows 60"), "{ran}");
    assert!(ran.err.contains(&format!("totalrecall revert {PYTEST}")), "it says what could go: {ran}");
    assert_eq!(status(&user, READ_FIRST), "drafted");
}

/// Runs a review with these answers.
fn review(user: &User, arguments: &[&str], answers: &str) -> Ran {
    let mut child =
        user.command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
    Ran::of(user, child.wait_with_output().unwrap())
}

#[test]
fn a_review_goes_through_the_drafts() {
    let user = user();
    let refused = review(&user, &["propose", "--review"], "a\n");
    assert!(refused.code == Some(2) && refused.err.contains("standard input is no terminal"), "{refused}");
    assert!(!user.state().join("proposals.md").exists());
    let ran =
        review(&user, &["propose", "--top", "4", "--review", "--stdin"], "x\ne\n@~/secret Use pytest.\na\nr\ns\nq\n");
    assert_eq!(ran.code, Some(0), "{ran}");
    insta::with_settings!({filters => vec![(r"-[0-9a-f]{8}-CLAUDE", "-[HASH]-CLAUDE")]}, {
        insta::assert_snapshot!("review", ran);
    });
    let rules = text(claude(&user).join(RULES));
    assert!(rules.contains("- `@~/secret` Use pytest.\n"), "what would be an import is none: {rules}");
    let all = user.ok(&["proposals", "--all", "--json"]).json();
    let mut states: Vec<_> =
        all.as_array().unwrap().iter().map(|it| it["status"].as_str().unwrap().to_owned()).collect();
    states.sort();
    assert_eq!(states, ["applied", "drafted", "drafted", "rejected"]);
    // Nobody answers any more: that is an end, not a failure.
    assert_eq!(review(&user, &["proposals", "--review", "--stdin"], "").code, Some(0));
}

/// Everything that a state of files and store must be, whenever the program was killed.
fn assert_whole(user: &User, body: &str) {
    let (entry, rules) = (text(claude(user).join("CLAUDE.md")), claude(user).join(RULES));
    let imports = entry == format!("{body}\n@totalrecall-rules.md\n");
    assert!(imports || entry == body, "{entry:?}");
    assert!(!imports || rules.exists(), "nothing is brought in that is not there");
    if rules.exists() {
        let rules = text(&rules);
        assert_eq!(rules.matches("<!-- totalrecall:rule ").count(), rules.matches("<!-- /totalrecall:rule ").count());
    }
    if status(user, PYTEST) == "applied" {
        assert!(imports && text(&rules).contains("pytest"), "what is said to be in force is");
    }
}

#[test]
fn killed_at_any_instant_it_can_be_completed() {
    let user = user();
    user.ok(&["propose"]);
    let body = "My own words.\n";
    fs::write(claude(&user).join("CLAUDE.md"), body).unwrap();
    let run = |arguments: &[&str], after: Option<Duration>| {
        let began = Instant::now();
        let mut child = user.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while child.try_wait().unwrap().is_none() {
            if after.is_some_and(|after| began.elapsed() >= after) {
                child.kill().unwrap();
                child.wait().unwrap();
            }
            std::thread::yield_now();
        }
        began.elapsed()
    };
    let whole = run(&["apply", PYTEST], None);
    assert_whole(&user, body);
    run(&["revert", PYTEST], None);
    for step in 0..16 {
        let after = whole * step / 14;
        run(&["apply", PYTEST], Some(after));
        assert_whole(&user, body);
        user.ok(&["apply", PYTEST]);
        assert_eq!(status(&user, PYTEST), "applied");
        assert_whole(&user, body);
        run(&["revert", PYTEST], Some(after));
        assert_whole_or_taken(&user, body);
        if status(&user, PYTEST) == "applied" {
            user.ok(&["revert", PYTEST]);
        }
        assert_eq!(text(claude(&user).join("CLAUDE.md")), body);
        assert!(!claude(&user).join(RULES).exists());
    }
    let left: Vec<_> = tree(&claude(&user)).into_iter().filter(|(name, _)| !name.starts_with("projects")).collect();
    // A file that lay ready when the program was killed is the only thing that may lie about.
    assert!(left.iter().all(|(name, _)| name == "CLAUDE.md" || name.starts_with(".totalrecall-")), "{left:?}");
}

/// Taking back may end when the files are done and the store does not know.
fn assert_whole_or_taken(user: &User, body: &str) {
    let entry = text(claude(user).join("CLAUDE.md"));
    assert!(entry == body || claude(user).join(RULES).exists(), "nothing is brought in that is not there: {entry:?}");
}

#[test]
fn two_at_once_are_one_after_the_other() {
    let user = user();
    user.ok(&["propose"]);
    fs::write(claude(&user).join("CLAUDE.md"), "mine").unwrap();
    let ids: Vec<String> = user.ok(&["proposals", "--json"]).json().as_array().unwrap()[..4]
        .iter()
        .map(|it| it["id"].as_str().unwrap().to_owned())
        .collect();
    let children: Vec<_> = ids
        .iter()
        .map(|id| user.command(&["apply", id]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
        .collect();
    for child in children {
        let ran = Ran::of(&user, child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran}");
    }
    assert_eq!(text(claude(&user).join("CLAUDE.md")), "mine\n\n@totalrecall-rules.md\n");
    let rules = text(claude(&user).join(RULES));
    for id in &ids {
        assert!(rules.contains(&format!("<!-- totalrecall:rule {id} ")), "{id} in {rules}");
    }
}

#[test]
fn uninstall_takes_back_what_is_ours_and_leaves_the_rest() {
    let user = user();
    user.ok(&["propose"]);
    fs::write(claude(&user).join("CLAUDE.md"), "mine").unwrap();
    let before = tree(&claude(&user));
    let project = user.folder().join("demo");
    fs::create_dir(&project).unwrap();
    user.ok(&["apply", READ_FIRST]);
    user.ok(&["apply", PYTEST, "--project", project.to_str().unwrap(), "--tool", "all"]);
    // A rule that the store knows nothing of: of a home that was lost.
    let rules = claude(&user).join(RULES);
    let stray = text(&rules).replace("p-tool-error", "p-stray-error");
    let stray = stray.split_once("\n\n").unwrap().1;
    fs::write(&rules, format!("{}{stray}", text(&rules))).unwrap();
    fs::write(claude(&user).join("settings.json"), r#"{"hooks":"totalrecall check x"}"#).unwrap();

    let cache = user.folder().join("cache");
    fs::create_dir_all(cache.join("totalrecall/components")).unwrap();
    fs::write(user.state().join("notes.txt"), "mine").unwrap();
    let run = |arguments: &[&str]| {
        let ran = Ran::of(&user, user.command(arguments).env("XDG_CACHE_HOME", &cache).output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran}");
        ran
    };
    let shown = run(&["uninstall", "--dry-run", "--purge"]);
    assert!(shown.out.contains("would delete") && rules.exists() && cache.join("totalrecall").exists(), "{shown}");
    let ran = run(&["uninstall"]);
    assert!(ran.err.contains("settings.json still runs"), "{ran}");
    fs::remove_file(claude(&user).join("settings.json")).unwrap();
    assert_eq!(tree(&claude(&user)), before);
    assert_eq!(tree(&project), []);
    assert!(!cache.join("totalrecall").exists() && user.state().join("totalrecall.db").exists());
    run(&["uninstall", "--purge", "--yes"]);
    assert_eq!(tree(&user.state()), [("notes.txt".to_owned(), b"mine".to_vec())], "what is not ours stays");
}
