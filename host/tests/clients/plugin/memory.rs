//! What the real client does with what we tell its sessions, and with a compaction that is refused.

use std::fs;

use serde_json::json;

use super::Source;
use crate::{api::Reply, claude::Claude, person::Person, project::MENDED, tests};

tests! {
    a_compaction_is_refused_once_where_that_is_wanted,
    after_a_compaction_it_is_told_again;
    each:
    a_session_is_told_of_the_last_one_and_that_is_not_learned_again,
    asides_reach_the_model_once_and_are_not_learned_again,
}

/// How the client begins what we tell, and how we do.
const CONTEXT: &str = "SessionStart hook additional context: <totalrecall-output>\n";
const OURS: &str = "TotalRecall keeps this of earlier sessions.";

/// One whose last session mended a test.
fn having_mended(claude: Claude, options: &[&str]) -> Person {
    let mut person = Person::having(claude, [Reply::text("Hello.")]);
    person.break_tests();
    fs::create_dir_all(person.state()).unwrap();
    // A machine that runs tests is slower than one that people work at.
    fs::write(person.state().join("config.toml"), "[inject]\naside-milliseconds = 4000\n").unwrap();
    person.install(Source::Folder, options);
    person.api.answer(person.mending());
    let session = person.session("The test fails. Mend it.", &[]);
    session.assert_undisturbed();
    assert!(!person.api.questions()[0].text().contains(OURS), "there was nothing to tell");
    person.wait_until_stored(&[&session.id()]);
    person.api.forget();
    person
}

fn a_session_is_told_of_the_last_one_and_that_is_not_learned_again(claude: Claude) {
    let person = having_mended(claude, &[]);
    person.api.answer([Reply::text("We mended add().")]);
    let session = person.session("What did we do?", &[]);
    session.assert_undisturbed();
    let told = person.api.questions()[0].text();
    assert_eq!((told.matches(CONTEXT).count(), told.matches(OURS).count()), (1, 1), "{told}");
    for part in ["began with \"The test fails. Mend it.\"", "changed calc.sh", "`totalrecall show SOURCE`"] {
        assert!(told.contains(part), "{part}:\n{told}");
    }
    person.wait_until_read();
    // It goes on, and has it still.
    person.api.forget();
    let resumed = person.session("And then?", &["--resume", &session.id()]);
    resumed.assert_undisturbed();
    let told = person.api.questions()[0].text();
    assert_eq!(told.matches(OURS).count(), 1, "{told}");
    person.wait_until_read();
    let stored = person.everything_stored();
    assert!(stored.iter().any(|text| text.contains("And then?")));
    let ours: Vec<_> =
        stored.iter().filter(|text| text.contains(OURS) || text.contains("totalrecall-output")).collect();
    assert!(ours.is_empty(), "{ours:#?}");
    let transcripts: String = person.transcripts().iter().map(|it| std::fs::read_to_string(it).unwrap()).collect();
    assert!(transcripts.contains(OURS), "the client has not written it down, so that nothing could be learned of it");
    // It was told of in one session, and in none where it is not wanted.
    person.api.forget();
    let mut without = person.claude(&["-p", "--model=sonnet", "--", "Hello!"]);
    // What a person sets goes into the hook's environment.
    let output = without.env("CLAUDE_PLUGIN_OPTION_SESSION_MEMORY", "false").output().unwrap();
    assert!(output.status.success());
    assert!(!person.api.questions()[0].text().contains(OURS));
}

/// What is told at a prompt and before a file is read stands where the model reads it, and nothing else becomes of the call.
fn asides_reach_the_model_once_and_are_not_learned_again(claude: Claude) {
    let person = having_mended(claude, &["prompt_memory=true", "file_memory=true", "session_memory=false"]);
    let read = || Reply::calling("I look.", [("Read", json!({ "file_path": person.work().join("calc.sh") }))]);
    person.api.answer([read(), read(), Reply::text("By its operator."), Reply::text("As I said.")]);
    let prompt = "Which operator did the function add() use, and was it mended?";
    let session = person.session(prompt, &[]);
    session.assert_undisturbed();
    let questions = person.api.questions();
    let at_prompt =
        "UserPromptSubmit hook additional context: <totalrecall-output>\nTotalRecall found this in earlier sessions";
    assert_eq!(questions[0].text().matches(at_prompt).count(), 1, "{}", questions[0].text());
    assert!(questions[0].text().contains(&format!("\"{MENDED}\"")), "{}", questions[0].text());
    let at_file = "<totalrecall-output>\nTotalRecall knows this of the file that is being read";
    // The first reading is told with its result, the second is told nothing more.
    for question in &questions[1..] {
        let text = question.text();
        assert_eq!((text.matches(at_prompt).count(), text.matches(at_file).count()), (1, 1), "{text}");
        assert!(text.contains("changed it once"), "{text}");
    }
    let results: String = questions[1].latest().concat();
    assert!(results.contains("add() { echo"), "the file was read: {results}");
    // Neither is stored as what anybody said.
    person.wait_until_read();
    let stored = person.everything_stored();
    assert!(stored.iter().any(|text| text.contains("Which operator did the function add() use")));
    assert!(
        !stored.iter().any(|text| text.contains("TotalRecall found this") || text.contains("TotalRecall knows this"))
    );
    assert!(!stored.iter().any(|text| text.contains("totalrecall-output")));
}

fn after_a_compaction_it_is_told_again() {
    let person = having_mended(Claude::Newest, &[]);
    person.api.answer([Reply::text("First."), Reply::text("Second.")]);
    let mut sitting = person.sit_down(&[]);
    let screen = &mut sitting.terminal;
    screen.say("One?");
    screen.wait_for("First.");
    screen.say("Two?");
    screen.wait_for("Second.");
    person
        .api
        .answer([Reply::text("<analysis>a</analysis><summary>They counted.</summary>"), Reply::text("As before.")]);
    screen.say("/compact");
    screen.wait_for("Compacted");
    person.api.forget();
    screen.say("Where were we?");
    screen.wait_for("As before.");
    let told = person.api.questions()[0].text();
    assert_eq!(told.matches(OURS).count(), 1, "{told}");
    sitting.leave();
    sitting.log().assert_nothing_wrong();
    person.wait_until_read();
    assert!(!person.everything_stored().iter().any(|text| text.contains(OURS)));
    let ids = person.session_ids();
    assert_eq!(person.stored(), ids);
}

fn a_compaction_is_refused_once_where_that_is_wanted() {
    let person = having_mended(Claude::Newest, &["compact_guard=true"]);
    let mut answers = person.mending();
    answers.push(Reply::text("Nothing is left."));
    person.api.answer(answers);
    let mut sitting = person.sit_down(&[]);
    let screen = &mut sitting.terminal;
    screen.say("Mend it once more.");
    screen.wait_for(MENDED);
    screen.say("What else is there?");
    screen.wait_for("Nothing is left");
    person.api.answer([Reply::text("<analysis>a</analysis><summary>They mended add().</summary>")]);
    let asked = person.api.asked().len();
    screen.say("/compact");
    screen.wait_for("blocked by PreCompact");
    assert_eq!(person.api.asked().len(), asked, "it was compacted all the same");
    screen.say("/compact");
    screen.wait_for("Compacted");
    sitting.leave();
    person.wait_until_read();
    // The refusal is nobody's word: the client may write it down, as a notice of its own at most.
    let signals = person.signals();
    assert!(!signals.iter().any(|(_, detail)| detail.contains("was saved")), "{signals:#?}");
    let said = person.prompts();
    assert!(said.iter().any(|text| text.contains("What else is there?")), "{said:#?}");
    assert!(!said.iter().any(|text| text.contains("of this session was saved")), "{said:#?}");
}
