//! What is never granted.

use totalrecall::grant::{Grant, Granted};

fn files(root: std::path::PathBuf) -> Grant {
    Grant(vec![Granted::Files { root, globs: vec!["**/*".to_owned()] }])
}

#[test]
fn a_home_what_is_around_it_and_secrets_are_refused() {
    let home = totalrecall::paths::user_home().unwrap();
    let refused = |path: &str| files(home.join(path)).check().err().map(|error| error.to_string());
    for (path, word) in [
        ("", "home directory"),
        ("..", ".."),
        (".ssh", "keys"),
        (".ssh/deep/below", "keys"),
        (".config", "keys"),
        (".aws", "keys"),
        (".local/share", "keys"),
        ("tool/../.ssh", ".."),
    ] {
        let why = refused(path).unwrap_or_else(|| panic!("~/{path} is granted"));
        assert!(why.contains(word), "{path}: {why}");
    }
    for path in [".tool", ".local/share/tool/sessions", "src/project"] {
        assert_eq!(refused(path), None);
    }
    assert!(files("/".into()).check().unwrap_err().to_string().contains("whole file system"));
    assert!(files(home.parent().unwrap().to_owned()).check().is_err());

    let database = |path: &str| Grant(vec![Granted::Database { path: home.join(path), queries: Vec::new() }]).check();
    database(".local/share/tool/tool.db").unwrap();
    for path in ["tool.db", ".ssh/known.db", ".mozilla/firefox/x/cookies.sqlite"] {
        database(path).unwrap_err();
    }
    let tree =
        |level: &str| Grant(vec![Granted::Tree { root: home.join(".tool"), levels: vec![level.to_owned()] }]).check();
    tree("{session}.json").unwrap();
    tree("../{session}.json").unwrap_err();
}

#[cfg(unix)]
#[test]
fn links_are_resolved_before_anyone_agrees() {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().canonicalize().unwrap();
    std::fs::create_dir(real.join("kept")).unwrap();
    std::os::unix::fs::symlink(real.join("kept"), real.join("link")).unwrap();
    assert_eq!(files(real.join("link")).resolved(), files(real.join("kept")));
    let database =
        |folder: &str| Grant(vec![Granted::Database { path: real.join(folder).join("x*.db"), queries: Vec::new() }]);
    assert_eq!(database("link").resolved(), database("kept"));
}
