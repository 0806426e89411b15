//! What the real client does with what we tell its sessions, and with a compaction that is refused.

use super::Source;
use crate::{api::Reply, claude::Claude, person::Person, project::MENDED, tests};

tests! {
    a_compaction_is_refused_once_where_that_is_wanted,
    after_a_compaction_it_is_told_again;
    each:
    a_session_is_told_of_the_last_one_and_that_is_not_learned_again,
}

/// How the client begins what we tell, and how we do.
const CONTEXT: &str = "SessionStart hook additional context: <totalrecall-output>\n";
const OURS: &str = "TotalRecall keeps this of earlier sessions.";

/// One whose last session mended a test.
fn having_mended(claude: Claude, options: &[&str]) -> Person {
    let mut person = Person::having(claude, [Reply::text("Hello.")]);
    person.break_tests();
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
    // The refusal is nobody's word.
    let words = person.words();
    let refusals: Vec<_> = words.iter().filter(|text| text.contains("nothing of this session was saved")).collect();
    let signals = person.signals();
    assert!(!signals.iter().any(|(_, detail)| detail.contains("was saved")), "{signals:#?}\n{refusals:#?}");
}
