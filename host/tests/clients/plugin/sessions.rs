//! A person works, and does not think of us: every session is learned from once, and none is disturbed.

use serde_json::json;

use super::{Source, seen::Hook};
use crate::{
    api::Reply,
    claude::Claude,
    person::Person,
    project::{FAILURE, MENDED},
    tests,
};

tests! {
    asking_a_model_is_no_session_of_the_plugin,
    a_sub_agent_is_read_with_its_session,
    the_line_at_the_start_of_a_session_is_shown_once_and_not_learned_from;
    each:
    a_failing_and_a_mended_test_are_learned_from,
    clearing_compacting_and_resuming_leave_each_session_once,
}

/// What is in a transcript only because we said it. The text of a command is another matter: it is the same each time, and
/// stored as what it is, a notice of the client's.
const MARKS: [&str; 2] = ["totalrecall-output", "TotalRecall printed this"];

/// How the line begins that is shown when a session begins.
const LINE: &str = "TotalRecall: ";

/// What a hook may take, in milliseconds, by the client's own words: 20 where nothing else runs, which is for
/// `docs/performance.md`.
const SLOWEST: u64 = 10 * 20;

/// Panics if our hooks were slow, and says how slow they were. The client measures its own work, too, and a machine for tests
/// is busy with others: where one hook was quick, it was not we who were slow in another. Those of asides, which are off, start
/// no program.
#[track_caller]
fn assert_quick(hooks: &[Hook]) {
    println!("hooks, in milliseconds: {}", hooks.iter().map(Hook::to_string).collect::<Vec<_>>().join(", "));
    let starts_us = |hook: &&Hook| !hook.name.starts_with("UserPromptSubmit") && !hook.name.starts_with("PreToolUse");
    let quickest = hooks.iter().filter(starts_us).filter_map(|hook| hook.milliseconds).min();
    // A client that tells of those it waits for tells how long that was.
    let tells = hooks.iter().any(|hook| hook.name.starts_with("SessionStart"));
    assert!(quickest.map_or(!tells, |quickest| quickest <= SLOWEST), "{hooks:#?}");
}

/// One who has the plugin, and a project whose test fails.
fn working(claude: Claude) -> Person {
    let mut person = Person::having(claude, [Reply::text("Hello.")]);
    person.break_tests();
    person.install(Source::Folder, &[]);
    person
}

fn a_sub_agent_is_read_with_its_session() {
    let person = working(Claude::Newest);
    let agent = json!({
        "description": "Count the files", "prompt": "Count the files here.", "subagent_type": "general-purpose"
    });
    person.api.answer([Reply::calling("I send someone.", [("Agent", agent)]), Reply::text("There is one.")]);
    let session = person.session("How many files are here?", &["--allowedTools=Agent"]);
    session.assert_undisturbed();
    let hooks = session.log.hooks();
    assert!(hooks.iter().any(|hook| hook.name.starts_with("SubagentStop")), "{hooks:#?}");
    let agents = person.transcripts().len() - person.session_ids().len();
    assert_eq!(agents, 1, "{:#?}", person.transcripts());
    // One session, whose transcripts are two.
    person.wait_until_stored(&[&session.id()]);
    assert_eq!(person.ok(&["status", "--json"]).json()["status"]["done"], 2);
    assert!(person.words().iter().any(|words| words.contains("Count the files here.")), "{:#?}", person.words());
}

fn a_failing_and_a_mended_test_are_learned_from(claude: Claude) {
    let person = working(claude);
    person.api.answer(person.mending());
    let session = person.session("The test fails. Mend it.", &[]);
    session.assert_undisturbed();
    assert_eq!(session.result()["result"], MENDED, "{}", session.ran);
    assert!(person.is_mended());
    assert_quick(&session.log.hooks());
    person.wait_until_stored(&[&session.id()]);

    let page = person.ok(&["insights"]).out;
    assert!(page.contains("Bash") && page.contains(&session.id()[..8]), "{page}");
    let signals = person.signals();
    assert!(
        signals.iter().any(|(kind, detail)| kind == "tool-error" && detail.contains("FAIL test_add")),
        "{signals:?}"
    );
    assert!(FAILURE.starts_with("FAIL test_add"));

    // Whoever reads it all again finds nothing new.
    person.ok(&["worker", "--reconcile", "--quiet"]);
    person.assert_stored(&[&session.id()]);
    person.api.assert_asked_nothing_else();
    assert_eq!(person.api.questions().len(), 5, "we asked the model");
}

fn clearing_compacting_and_resuming_leave_each_session_once(claude: Claude) {
    let person = working(claude);
    let mut mending = person.mending();
    mending.push(Reply::text("Nothing is left to be done."));
    person.api.answer(mending);
    let mut sitting = person.sit_down(&[]);
    let screen = &mut sitting.terminal;
    screen.say("The test fails. Mend it.");
    screen.wait_for(MENDED);
    screen.say("What else is there?");
    screen.wait_for("Nothing is left");
    person.api.answer([
        Reply::text("<analysis>a</analysis><summary>They mended add().</summary>"),
        Reply::text("As before."),
    ]);
    screen.say("/compact");
    screen.wait_for("Compacted");
    screen.say("Where were we?");
    screen.wait_for("As before.");
    person.api.answer([Reply::text("A new leaf.")]);
    screen.say("/clear");
    screen.wait_until("an empty screen", |text| !text.contains("As before."));
    screen.say("Something else.");
    screen.wait_for("A new leaf.");
    sitting.leave();
    let log = sitting.log();
    log.assert_nothing_wrong();
    let hooks = log.hooks();
    assert_quick(&hooks);
    for (name, count) in [("PreCompact:manual", 1), ("SessionEnd:clear", 1), ("SessionEnd:prompt_input_exit", 1)] {
        assert_eq!(hooks.iter().filter(|hook| hook.name == name).count(), count, "{name}: {hooks:#?}");
    }

    let ids = person.session_ids();
    assert_eq!(ids.len(), 2, "{ids:?}");
    let known: Vec<&str> = ids.iter().map(String::as_str).collect();
    person.wait_until_stored(&known);

    // It goes on, by the latest and by its id.
    person.api.answer([Reply::text("Back again.")]);
    let resumed = person.session("Are you there?", &["--continue"]);
    resumed.assert_undisturbed();
    let first = ids.iter().find(|id| **id != resumed.id()).unwrap();
    let other = person.session("And you?", &["--resume", first]);
    other.assert_undisturbed();
    assert_eq!(&other.id(), first);
    person.wait_until_read();
    person.wait_until_stored(&known);
    assert_eq!(person.session_ids(), ids);
    let words = person.words();
    for (word, count) in [("Are you there?", 1), ("And you?", 1), ("The test fails. Mend it.", 1)] {
        assert_eq!(words.iter().filter(|text| text.as_str() == word).count(), count, "{word}: {words:#?}");
    }
}

fn the_line_at_the_start_of_a_session_is_shown_once_and_not_learned_from() {
    let person = working(Claude::Newest);
    person.api.answer(person.mending());
    let session = person.session("The test fails. Mend it.", &[]);
    person.wait_until_stored(&[&session.id()]);
    person.wait_until_no_worker_runs();
    person.api.answer([Reply::text("Hello.")]);
    let mut sitting = person.sit_down(&[]);
    sitting.terminal.wait_for(LINE);
    sitting.terminal.say("Hi!");
    sitting.terminal.wait_for("Hello.");
    sitting.leave();
    person.api.answer([Reply::text("Hello again.")]);
    let mut sitting = person.sit_down(&[]);
    sitting.terminal.say("Hi again!");
    sitting.terminal.wait_for("Hello again.");
    assert!(!sitting.terminal.text().contains(LINE), "{}", sitting.terminal.text());
    sitting.leave();
    let status = person.session("/recall-status", &[]);
    status.assert_undisturbed();
    let ids = person.session_ids();
    person.wait_until_stored(&ids.iter().map(String::as_str).collect::<Vec<_>>());
    let transcripts: String = person.transcripts().iter().map(|it| std::fs::read_to_string(it).unwrap()).collect();
    for mark in MARKS {
        assert!(
            transcripts.contains(mark),
            "the client has not written down `{mark}`, so that nothing could be learned of it"
        );
    }
    let texts = person.everything_stored();
    assert!(texts.iter().any(|text| text.contains("Hi again!")));
    for mark in MARKS.into_iter().chain([LINE]) {
        let found: Vec<_> = texts.iter().filter(|text| text.contains(mark)).collect();
        assert!(found.is_empty(), "{mark}: {found:#?}");
    }
}

fn asking_a_model_is_no_session_of_the_plugin() {
    let person = working(Claude::Newest);
    person.agree("");
    person.api.answer(person.mending());
    let session = person.session("The test fails. Mend it.", &[]);
    session.assert_undisturbed();
    // From now on it is the worker that asks.
    person.api.answer([Reply::good(json!({ "findings": [] }))]);
    person.wait_until_stored(&[&session.id()]);
    person.wait_until_no_worker_runs();
    let later = person.session("Hello!", &[]);
    person.wait_until_stored(&[&session.id(), &later.id()]);
    person.wait_until_no_worker_runs();
    assert_eq!(person.session_ids().len(), 2, "a question of ours is kept as a session");
    assert_eq!(person.notices(), [] as [serde_json::Value; 0]);
    assert!(!person.calls().is_empty(), "no model was asked:\n{}", person.run(&["status"]));
}
