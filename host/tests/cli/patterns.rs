//! What a person says about patterns holds until they take it back.

use serde_json::Value;

use crate::support::User;

fn ids(user: &User, arguments: &[&str]) -> Vec<String> {
    let ran = user.run(&[&["patterns", "list", "--json", "--limit", "1000"], arguments].concat());
    let patterns = ran.json();
    patterns.as_array().unwrap().iter().map(|pattern| pattern["id"].as_str().unwrap().to_owned()).collect()
}

fn shown(user: &User, id: &str) -> Value {
    user.ok(&["patterns", "show", id, "--json"]).json()
}

#[test]
fn decisions_hold_and_are_taken_back() {
    let user = User::with("2.1.120-tui");
    user.ok(&["worker", "--reconcile"]);
    let before = ids(&user, &[]);
    let [a, b, ..] = &before[..] else { panic!("too few patterns: {before:?}") };

    // Everything about a pattern, with the paths of its transcripts.
    let show = shown(&user, a);
    let path = show["places"][0]["path"].as_str().unwrap();
    assert!(std::path::Path::new(&path.replace("[DIR]", user.folder().to_str().unwrap())).is_file(), "{show}");
    let text = user.ok(&["patterns", "show", &a[..a.len() - 2]]).out;
    assert!(text.contains(&format!("{path}:{}", show["places"][0]["line"])), "{text}");

    user.ok(&["patterns", "merge", a, b]);
    assert_eq!(ids(&user, &[]).len(), before.len() - 1);
    assert_eq!(shown(&user, b)["pattern"]["id"], **a, "the old id leads to it");
    assert_eq!(shown(&user, a)["decisions"][0]["by"], "person");
    let again = user.run(&["patterns", "merge", b, a]);
    assert_eq!(again.code, Some(2), "{again}");

    user.ok(&["patterns", "rename", a, "No\u{1b}[31m more\nof this"]);
    let listed = user.ok(&["patterns"]).out;
    assert!(listed.contains("of this") && !listed.contains('\u{1b}'), "{listed}");
    user.ok(&["patterns", "mute", a]);
    assert_eq!(&ids(&user, &["--muted"]), std::slice::from_ref(a));
    assert!(!ids(&user, &[]).contains(a));
    user.ok(&["patterns", "unmute", a]);

    let session = shown(&user, a)["places"][0]["session"].as_str().unwrap().to_owned();
    let all = user.run(&["patterns", "split", a, "--session", &session]);
    assert_eq!(all.code, Some(2), "it was seen in one session only: {all}");
    let subject = shown(&user, a)["pattern"]["subject"].as_str().unwrap().to_owned();
    user.ok(&["patterns", "split", a, "--subject", &subject]);
    assert_eq!(ids(&user, &[]).len(), before.len());

    let listed = user.ok(&["patterns", "undo", "--json"]).json();
    assert_eq!(listed.as_array().unwrap().len(), 5, "{listed}");
    for _ in 0..5 {
        user.ok(&["patterns", "undo", "--last"]);
    }
    assert_eq!(user.run(&["patterns", "undo", "--last"]).code, Some(3));
    assert_eq!(ids(&user, &[]), before);
    assert_eq!(user.run(&["patterns", "undo", "99"]).code, Some(2));
    assert_eq!(user.run(&["patterns", "show", "no-such"]).code, Some(2));
}

#[test]
fn synth_without_a_model_changes_nothing_that_signals_tell_apart() {
    let user = User::with("2.1.120-tui");
    user.ok(&["worker", "--reconcile"]);
    let before = ids(&user, &[]);
    assert_eq!(user.run(&["synth", "--dry-run"]).code, Some(3));
    assert_eq!(user.run(&["synth", "--no-model"]).code, Some(3));
    assert_eq!(ids(&user, &[]), before);
}
