//! Each signal and its false friends.

use totalrecall_sdk::types::*;

use crate::script::Script;

#[test]
fn an_error_and_a_block_are_tool_errors() {
    let session = Script::new()
        .bash("cargo test", Status::Error, "Exit code 101\nerror: test failed")
        .bash("rm x", Status::Blocked, "Claude requested permissions to run rm, but you haven't granted it yet.")
        .bash("grep error log", Status::Ok, "error: nothing");
    assert_eq!(session.lines("tool-error"), [2, 4]);
    let signal = &session.signals()[0];
    assert_eq!(signal.subject, "Bash: error: test failed");
    assert_eq!(signal.evidence, [1, 2]);
}

#[test]
fn a_refusal_and_its_marker_are_one_event() {
    let session = Script::new()
        .call("Bash", ToolKind::Execute, Some("git push origin main"), &[])
        .result(1, Status::Denied, "The user doesn't want to proceed", Some("no, ask first"))
        .interrupt(true)
        .human("ask before you push");
    assert_eq!(session.lines("permission-denied"), [2]);
    assert_eq!(session.lines("interrupt"), [0u64; 0]);
    let signal = session.signals().into_iter().find(|signal| signal.kind == "permission-denied").expect("found");
    assert_eq!(signal.subject, "Bash: git push");
    assert!(signal.detail.contains("no, ask first"), "{}", signal.detail);
}

#[test]
fn a_stopped_tool_and_its_marker_are_one_interrupt() {
    let marked = Script::new().bash("sleep 9", Status::Interrupted, "").interrupt(true);
    assert_eq!(marked.found(), [("interrupt".into(), 3)]);
    assert_eq!(marked.signals()[0].evidence, [2, 3]);
    let unmarked = Script::new().bash("sleep 9", Status::Interrupted, "").human("why so slow");
    assert_eq!(unmarked.lines("interrupt"), [2]);
    let writing = Script::new().agent("I will").interrupt(false);
    assert_eq!(writing.lines("interrupt"), [2]);
    assert_eq!(writing.signals()[0].subject, "reply");
    let parallel = Script::new()
        .call("Bash", ToolKind::Execute, Some("a"), &[])
        .call("Bash", ToolKind::Execute, Some("b"), &[])
        .result(2, Status::Interrupted, "", None)
        .result(2, Status::Interrupted, "", None)
        .interrupt(true);
    assert_eq!(parallel.lines("interrupt"), [5]);
}

#[test]
fn three_successful_edits_churn() {
    let session = Script::new()
        .edit("a.rs", "one one", "two two")
        .call("Edit", ToolKind::Edit, None, &[("a.rs", "x", "y")])
        .result(1, Status::Error, "String to replace not found", None)
        .edit("a.rs", "two two", "three three")
        .edit("b.rs", "x", "y")
        .edit("a.rs", "three three", "four four")
        .edit("a.rs", "four four", "five five");
    assert_eq!(session.lines("churn"), [9]);
    let signal = session.signals().into_iter().find(|signal| signal.kind == "churn").expect("found");
    assert_eq!(signal.subject, "a.rs");
    assert_eq!(signal.evidence, [1, 5, 9, 11]);
}

#[test]
fn threads_churn_apart() {
    let session = Script::new()
        .edit("a.rs", "1", "2")
        .thread(Some("sub"))
        .edit("a.rs", "2", "3")
        .thread(None)
        .edit("a.rs", "3", "4");
    assert_eq!(session.lines("churn"), [0u64; 0]);
}

#[test]
fn one_call_with_many_replacements_is_one_edit() {
    let edits = [("a.rs", "1", "2"), ("a.rs", "3", "4"), ("a.rs", "5", "6")];
    let session = Script::new().call("MultiEdit", ToolKind::Edit, None, &edits).result(1, Status::Ok, "updated", None);
    assert_eq!(session.lines("churn"), [0u64; 0]);
}

#[test]
fn putting_back_is_a_revert() {
    let swap =
        Script::new().edit("a.rs", "fn old_name()", "fn new_name()").edit("a.rs", "fn new_name()", "fn old_name()");
    assert_eq!(swap.lines("revert"), [3]);
    let in_context =
        Script::new().edit("a.rs", "{\nlet a = 1;\n}", "{\nlet a = 2;\n}").edit("a.rs", "let a = 2;", "let a = 1;");
    assert_eq!(in_context.lines("revert"), [3]);
    let other_file =
        Script::new().edit("a.rs", "fn old_name()", "fn new_name()").edit("b.rs", "fn new_name()", "fn old_name()");
    assert_eq!(other_file.lines("revert"), [0u64; 0]);
    let whole = Script::new().edit("a.rs", "", "first").edit("a.rs", "", "second").edit("a.rs", "", "first");
    assert_eq!(whole.lines("revert"), [5]);
    let same_again = Script::new().edit("a.rs", "", "first").edit("a.rs", "", "first");
    assert_eq!(same_again.lines("revert"), [0u64; 0]);
}

#[test]
fn git_undoes_only_when_it_worked() {
    let session = Script::new()
        .bash("git checkout -- src", Status::Ok, "")
        .bash("git reset --hard", Status::Denied, "")
        .bash("git checkout main", Status::Ok, "")
        .bash("git stash", Status::Error, "not a git repository");
    assert_eq!(session.lines("revert"), [1]);
}

#[test]
fn the_same_failure_three_times_is_a_loop() {
    let session = Script::new()
        .bash("npm test", Status::Error, "1 failing")
        .bash("npm test 2>&1", Status::Error, "1 failing")
        .bash("ls", Status::Ok, "")
        .bash("npm  test", Status::Error, "1 failing")
        .bash("npm test", Status::Error, "1 failing");
    assert_eq!(session.lines("retry-loop"), [8]);
    let signal = session.signals().into_iter().find(|signal| signal.kind == "retry-loop").expect("found");
    assert_eq!(signal.evidence, [2, 4, 8, 10]);
    assert!(signal.detail.contains("4 times"));
}

#[test]
fn calls_cancelled_with_a_refused_one_are_no_friction_of_their_own() {
    let session = Script::new()
        .bash("git merge --abort", Status::Denied, "The user doesn't want to proceed with this tool use.")
        .bash("git status", Status::Blocked, "The user doesn't want to take this action right now. STOP.")
        .bash("git pull", Status::Blocked, "This command requires approval");
    assert_eq!(session.lines("permission-denied"), [2]);
    assert_eq!(session.lines("tool-error"), [6]);
}

#[test]
fn a_call_that_a_rule_blocks_again_and_again_is_a_loop() {
    let blocked = |script: Script| script.bash("swift build", Status::Blocked, "This command requires approval");
    assert_eq!(blocked(blocked(blocked(Script::new()))).lines("retry-loop"), [6]);
}

#[test]
fn an_edit_or_a_success_ends_a_loop() {
    let fail = |script: Script| script.bash("npm test", Status::Error, "1 failing");
    let edited = fail(fail(fail(Script::new()).edit("a.js", "aaaaaa", "bbbbbb")));
    assert_eq!(fail(edited.edit("a.js", "cccccc", "dddddd")).lines("retry-loop"), [0u64; 0]);
    let passed = fail(fail(Script::new())).bash("npm test", Status::Ok, "");
    assert_eq!(fail(passed).lines("retry-loop"), [0u64; 0]);
}

#[test]
fn one_outage_is_one_signal() {
    let ended = Script::new().api_error(true).api_error(true).human("hello?").api_error(true).api_error(false);
    assert_eq!(ended.lines("api-error"), [5]);
    assert!(ended.signals().iter().any(|signal| signal.detail.contains("3 retries")));
    let recovered = Script::new().api_error(true).api_error(true).agent("here").api_error(true).agent("again");
    assert_eq!(recovered.lines("api-error"), [1, 4]);
    assert_eq!(Script::new().api_error(true).api_error(true).lines("api-error"), [1]);
}

#[test]
fn a_compaction_is_seen_where_it_happened() {
    let compaction = Compaction { manual: Some(true), tokens_before: Some(1000) };
    let session = Script::new().human("/compact").event(Body::Compaction(compaction));
    assert_eq!(session.found(), [("compaction".into(), 2)]);
}

#[test]
fn a_thread_that_ends_on_an_error_is_unresolved() {
    let broken = Script::new().bash("make", Status::Error, "fatal: x").agent("I will look at it later.");
    assert_eq!(broken.lines("unresolved-error"), [2]);
    let went_on = Script::new().bash("make", Status::Error, "fatal: x").bash("ls", Status::Ok, "");
    assert_eq!(went_on.lines("unresolved-error"), [0u64; 0]);
    let refused = Script::new().bash("make", Status::Error, "fatal: x").bash("rm", Status::Denied, "");
    assert_eq!(refused.lines("unresolved-error"), [0u64; 0]);
    let sub =
        Script::new().thread(Some("sub")).bash("make", Status::Error, "x").thread(None).bash("ls", Status::Ok, "");
    assert_eq!(sub.lines("unresolved-error"), [2]);
}

#[test]
fn what_was_copied_does_not_count() {
    let session = Script::new()
        .copied(true)
        .bash("make", Status::Error, "fatal: x")
        .bash("git push", Status::Denied, "")
        .interrupt(true)
        .bash("sleep 1", Status::Interrupted, "")
        .interrupt(true)
        .api_error(false)
        .edit("a", "aaaaaa", "bbbbbb")
        .human("Never touch the generated files in src/gen please")
        .copied(false)
        .human("Never touch the generated files in src/gen please");
    assert_eq!(session.found(), [("repeated-instruction".into(), 13)]);
}

#[test]
fn what_is_said_twice_is_repeated() {
    let session = Script::new()
        .human("Only touch the files under Settings, nothing else")
        .agent("Understood.")
        .human("continue")
        .human("continue")
        .human("again: only touch files under Settings, nothing else!")
        .human("設定フォルダのファイルだけ変更してください")
        .human("設定フォルダのファイルだけを変更してください。");
    assert_eq!(session.lines("repeated-instruction"), [5, 7]);
}

#[test]
fn looking_for_something_in_vain_is_no_error() {
    let session = Script::new()
        .exits("rg -n needle src", 1, "")
        .exits("test -f build.rs", 1, "Exit code 1")
        .exits("diff a b", 1, "Exit code 1\n1c1\n< x")
        .exits("rg -n needle nowhere", 2, "rg: nowhere: No such file or directory")
        .exits("cargo test", 1, "")
        .exits("rg -n needle src", 1, "");
    assert_eq!(session.found(), [("tool-error".into(), 8), ("tool-error".into(), 10)]);
    let again = Script::new().exits("rg x", 1, "").exits("rg x", 1, "").exits("rg x", 1, "");
    assert_eq!(again.found(), []);
    // Where the code is not known, the status decides.
    let unknown = Script::new().bash("rg x", Status::Error, "");
    assert_eq!(unknown.lines("tool-error"), [2]);
}

#[test]
fn another_session_in_the_same_transcript_begins_anew() {
    let failing = |script: Script| script.exits("cargo test", 101, "error: no").exits("cargo test", 101, "error: no");
    let apart = failing(failing(Script::new().session("s1")).session("s2"));
    assert_eq!(apart.lines("retry-loop"), [0u64; 0]);
    // The first session ended on an error, and so did the second.
    assert_eq!(apart.lines("unresolved-error"), [5, 10]);
    let together = failing(failing(Script::new().session("s1")).session("s1"));
    assert_eq!((together.lines("retry-loop"), together.lines("unresolved-error")), (vec![8], vec![10]));
    // A fork's transcript begins with what it copied, under the other id, and goes on with it.
    let fork = failing(failing(Script::new().session("s1")).fork("s2", Some("s1")));
    assert_eq!((fork.lines("retry-loop"), fork.lines("unresolved-error")), (vec![8], vec![10]));
    let churn = |second: &str| {
        let first = Script::new().session("s1").edit("a.rs", "one", "two").edit("a.rs", "two", "three");
        first.session(second).edit("a.rs", "three", "four").lines("churn")
    };
    assert_eq!((churn("s1").len(), churn("s2").len()), (1, 0));
    let said = |second: &str| {
        let words = "always run the whole test suite before you commit anything";
        let first = Script::new().session("s1").human(words).agent("Done.");
        let found = first.session(second).human(words).agent("Done.").signals();
        found.iter().filter(|signal| signal.kind == "repeated-instruction").count()
    };
    assert_eq!((said("s1"), said("s2")), (1, 0));
}
