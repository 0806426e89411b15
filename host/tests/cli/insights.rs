//! `insights`: parts of the page, as Markdown, HTML and JSON.

use std::fs;

use crate::support::User;

/// A home in which a fixture's sessions were read.
fn read() -> User {
    let user = User::with("2.1.120-tui");
    user.ok(&["worker", "--reconcile"]);
    user
}

#[test]
fn a_project_is_found_by_its_name_or_its_folder() {
    let user = read();
    let all = user.ok(&["insights", "--json"]).json();
    assert_eq!(all["view"]["project"], serde_json::Value::Null);
    let folder = all["patterns"][0]["evidence"][0]["project"].as_str().unwrap();
    let name = folder.rsplit('/').next().unwrap();
    let page = user.ok(&["insights", "--project", name]).out;
    assert!(page.contains(&format!("Only the project `{folder}`.")), "{page}");
    assert_eq!(user.ok(&["insights", "--project", folder]).out, page);
    assert_eq!(user.ok(&["insights", "--json", "--project", name]).json()["view"]["project"], folder);

    let unknown = user.run(&["insights", "--project", "nothing-like-it"]);
    assert_eq!(unknown.code, Some(1));
    insta::assert_snapshot!("insights_unknown_project", unknown);
    let here = user.run(&["insights", "--project"]);
    assert_eq!(here.code, Some(1));
    assert!(here.err.contains("no session of the project `[DIR]` was read; known are"), "{here}");
}

#[test]
fn a_part_never_takes_the_place_of_the_page() {
    let user = read();
    let file = user.state().join("insights.md");
    let page = fs::read_to_string(&file).unwrap();
    let part = user.ok(&["insights", "--since", "30y"]).out;
    assert!(part.contains("Only sessions that ended from 1996-12-01 to 2026-12-01"), "{part}");
    let refused = user.run(&["insights", "--since", "30y", "--output", "home/.totalrecall/insights.md"]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.err.contains("is the page that TotalRecall keeps"), "{refused}");
    assert_eq!(fs::read_to_string(&file).unwrap(), page);
}

#[test]
fn html_goes_to_standard_output_or_a_file() {
    let user = read();
    let printed = user.ok(&["insights", "--html"]).out;
    assert!(printed.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{printed}");
    let written = user.ok(&["insights", "--html", "-o", "home/page.html"]);
    assert_eq!((written.out.as_str(), written.err.as_str()), ("", "Written to [DIR]/home/page.html\n"));
    assert_eq!(fs::read_to_string(user.home().join("page.html")).unwrap(), printed);
    let chinese = user.command(&["insights", "--html"]).env("LANG", "zh_CN.UTF-8").output().unwrap();
    assert!(String::from_utf8(chinese.stdout).unwrap().contains("<html lang=\"zh\">"));
}

#[test]
fn periods_that_make_no_sense_are_refused() {
    let user = read();
    for (arguments, why) in [
        (&["--since", "soon"][..], "`soon` is neither a length of time that has passed (30d, 2w, 6m, 1y) nor a day"),
        (&["--until", "-1d"], "`-1d` is neither"),
        (&["--since", "1w", "--until", "2w"], "the period ends before it begins"),
        (&["--path", "--json"], "cannot be used with"),
    ] {
        let ran = user.run(&[&["insights"], arguments].concat());
        assert_eq!(ran.code, Some(2), "{ran}");
        assert!(ran.err.contains(why), "{ran}");
    }
    let nothing = user.run(&["insights", "--until", "2001-01-01"]);
    assert_eq!(nothing.code, Some(3), "{nothing}");
    assert!(nothing.out.contains("No session that was read is of this project and period."), "{nothing}");
}

#[test]
fn before_anything_was_read_there_are_no_parts() {
    let user = User::new();
    for arguments in [&["insights", "--html"][..], &["insights", "--project"], &["insights", "--since", "1w"]] {
        let ran = user.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran}");
        assert!(ran.err.contains("Nothing was read yet"), "{ran}");
    }
}

/// Tests have neither a desktop nor a terminal: what is left is to say where the file lies.
#[test]
fn opening_without_a_desktop_says_where_the_page_lies() {
    let user = User::with("2.1.120-tui");
    user.ok(&["worker", "--reconcile"]);
    assert_eq!(user.ok(&["insights", "--open"]).out, "[DIR]/home/.totalrecall/insights.html\n");
    let html = std::fs::read_to_string(user.state().join("insights.html")).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>"), "{html:.80}");
    // A window would open on another machine's screen.
    let mut far = user.command(&["insights", "--open"]);
    far.envs([("DISPLAY", ":0"), ("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")]);
    assert!(String::from_utf8(far.output().unwrap().stdout).unwrap().ends_with("insights.html\n"));
}

#[test]
fn some_words_show_what_they_are_about() {
    let user = User::with("2.1.120-tui");
    user.ok(&["worker", "--reconcile"]);
    let all = user.ok(&["patterns", "--json"]).json();
    let first = &all[0];
    let word = first["subject"].as_str().unwrap().split_whitespace().next().unwrap().to_uppercase();
    let ran = user.ok(&["insights", "--", &word]);
    assert!(ran.out.contains(first["id"].as_str().unwrap()) && ran.out.contains(" line "), "{ran}");
    assert!(ran.out.lines().count() <= 80, "{ran}");
    let json = user.ok(&["insights", "--json", "--", &word]).json();
    assert!(json.as_array().unwrap().iter().any(|it| it["id"] == first["id"]));
    let ran = user.run(&["insights", "no", "such", "pattern", "\u{1b}[2J"]);
    assert!(ran.code == Some(3) && ran.err.contains("no such pattern") && !ran.err.contains('\u{1b}'), "{ran}");
}
