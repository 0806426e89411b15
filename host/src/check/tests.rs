use super::*;

fn pattern(line: &str) -> CommandPattern {
    let (wanted, without) = line.split_once(" -- ").unwrap_or((line, ""));
    let mut words = wanted.split(' ').map(str::to_owned);
    CommandPattern {
        program: words.next().unwrap(),
        words: words.collect(),
        without: without.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect(),
    }
}

fn command(violations: &[&str], opportunities: &[&str]) -> Check {
    let patterns = |lines: &[&str]| lines.iter().map(|line| pattern(line)).collect();
    Check::Command { violations: patterns(violations), opportunities: patterns(opportunities) }
}

#[test]
fn the_subcommand_counts_and_not_only_the_program() {
    let check = command(&["cargo build"], &["cargo *"]);
    for (line, expected) in [
        ("cargo build --release", Found::Broken),
        ("cd x && /usr/bin/cargo +nightly build", Found::Broken),
        ("RUSTFLAGS=-g sudo -E cargo build", Found::Broken),
        ("cargo clippy", Found::Kept),
        ("cargo test build_all", Found::Kept),
        ("npm run build", Found::Nothing),
        ("echo 'cargo build'", Found::Nothing),
        ("git commit -m 'cargo build'", Found::Nothing),
        ("cat <<EOF\ncargo build\nEOF", Found::Nothing),
        ("", Found::Nothing),
    ] {
        assert_eq!(check.look(&Call::Shell(line)), expected, "{line}");
    }
}

#[test]
fn words_are_in_order_and_some_may_not_be_there() {
    let check = command(&["git push -f*", "git push --force -- --dry-run"], &["git push"]);
    for (line, expected) in [
        ("git push --force origin", Found::Broken),
        ("git -C x push origin main -f", Found::Broken),
        ("git push --force --dry-run", Found::Kept),
        ("git push --force-with-lease", Found::Kept),
        ("git stash -f push", Found::Kept),
        ("git status", Found::Nothing),
    ] {
        assert_eq!(check.look(&Call::Shell(line)), expected, "{line}");
    }
}

#[test]
fn files_are_those_of_the_project() {
    let check = Check::Path { violations: vec!["dist/**".into(), "*.lock".into()], opportunities: Vec::new() };
    let look = |path: &str| check.look(&Call::Files { paths: &[path.to_owned()], project: "/home/dev/shop" });
    assert_eq!(look("/home/dev/shop/dist/a/b.js"), Found::Broken);
    assert_eq!(look("/home/dev/shop/sub/Cargo.lock"), Found::Broken);
    assert_eq!(look("./src/../dist/x.js"), Found::Broken);
    assert_eq!(look("/home/dev/shop/src/dist/x.js"), Found::Kept);
    assert_eq!(look("/home/dev/shop2/dist/x.js"), Found::Nothing);
    assert_eq!(look("../dist/x.js"), Found::Nothing);
    let some = Check::Path { violations: vec!["src/gen/**".into()], opportunities: vec!["src/**".into()] };
    let look = |path: &str| some.look(&Call::Files { paths: &[path.to_owned()], project: "" });
    assert_eq!(
        (look("src/a.rs"), look("docs/a.md"), look("src/gen/a.rs")),
        (Found::Kept, Found::Nothing, Found::Broken)
    );
}

#[test]
fn a_pattern_that_fits_everything_fits_nothing() {
    assert_eq!(command(&["*"], &[]).look(&Call::Shell("ls")), Found::Nothing);
    assert_eq!(command(&["* --force"], &[]).look(&Call::Shell("git push --force")), Found::Broken);
}

#[test]
fn a_scaffold_is_read_as_it_is_written() {
    let text = r#"{"id": "p-x", "message": "Use pnpm.", "check": {"command": {"violations": [{"program": "npm", "words": ["install"]}],
        "opportunities": []}}}"#;
    let hook: Hook = serde_json::from_str(text).unwrap();
    assert_eq!(hook.check, command(&["npm install"], &[]));
}
