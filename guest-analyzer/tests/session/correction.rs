//! Corrections and their false friends, with what surrounds them.

use totalrecall_sdk::types::*;

use crate::script::Script;

/// A session in which the agent has done something and says so.
fn worked(claim: &str) -> Script {
    Script::new()
        .human("Please add retries to the client.")
        .edit("client.rs", "let answer = send();", "let answer = retry(send);")
        .agent(claim)
}

fn corrected(session: &Script) -> bool {
    !session.lines("user-correction").is_empty()
}

#[test]
fn words_and_a_concession_are_a_correction() {
    for (words, reply) in [
        ("no, that's the wrong client. use the async one instead", "You're right, I'll switch."),
        ("hmm, could we keep the old name?", "Good point, I'll restore it."),
        ("still failing, same error", "Sorry, I missed a case."),
        ("非同步的那個不對，應該用另一個", "您說得對，我改回來。"),
        ("还是不行，报一样的错", "抱歉，我漏了一处。"),
        ("non, ce n'est pas ce que j'ai demandé", "Vous avez raison, je corrige."),
        ("違います、非同期のほうです。戻してください", "失礼しました。戻します。"),
    ] {
        let session = worked("Done. Retries are in.").human(words).agent(reply);
        assert_eq!(session.lines("user-correction"), [5], "{words}");
    }
}

#[test]
fn false_friends_are_none() {
    for words in [
        "great, thanks!",
        "perfect, no problem with that one",
        "now write a test for the empty case",
        "and also update the changelog please",
        "just wondering, what is the default timeout?",
        "I changed my mind, the client wants five attempts",
        "好的，继续",
        "没问题，谢谢",
        "merci, parfait",
        "ありがとうございます、問題ないです",
    ] {
        let session = worked("Done. Retries are in.").human(words).agent("Here you are.");
        assert!(!corrected(&session), "{words}");
    }
}

#[test]
fn the_first_prompt_is_no_correction() {
    let session =
        Script::new().human("the login is broken, it should not fail. don't touch the tests").agent("Understood.");
    assert!(!corrected(&session));
}

#[test]
fn an_answer_is_no_correction() {
    let session = worked("Should it retry three times or five?").human("three, not five").agent("Three it is.");
    assert!(!corrected(&session));
}

#[test]
fn a_refusals_words_are_a_correction_too() {
    let session = worked("Done.")
        .call("Bash", ToolKind::Execute, Some("git push"), &[])
        .result(1, Status::Denied, "refused", Some("no, never push without asking"))
        .agent("You're right, sorry.");
    assert!(corrected(&session));
    assert_eq!(session.lines("user-correction"), [6]);
    assert_eq!(session.lines("permission-denied"), [6]);
}

#[test]
fn commands_answers_and_sub_agents_are_not_judged() {
    let session = worked("Done.")
        .says(Author::Human, Channel::Command, "/undo no, that's wrong")
        .says(Author::Human, Channel::Answer, "no, the wrong one")
        .says(Author::Harness, Channel::Notice, "no, that's wrong. revert it")
        .thread(Some("sub"))
        .human("no, that's wrong. revert it")
        .agent("You're right, sorry.");
    assert!(!corrected(&session));
}

#[test]
fn pasted_material_is_not_the_persons() {
    let paste = "here is the review, thanks:\n> no, this is wrong\n> why did you remove it?\n> don't do that";
    assert!(!corrected(&worked("Done.").human(paste).agent("I'll go through it.")));
}

#[test]
fn a_correction_rests_on_its_surroundings() {
    let session = worked("Done. Retries are in.")
        .interrupt(false)
        .human("no, put it back")
        .agent("You're right, reverting.")
        .edit("client.rs", "let answer = retry(send);", "let answer = send();");
    let signal = session.signals().into_iter().find(|signal| signal.kind == "user-correction").expect("found");
    assert_eq!(signal.line, 6);
    assert_eq!(signal.evidence, [5, 6, 7, 9]);
    assert!(signal.confidence > 0.9);
    assert!(signal.detail.contains("the agent concedes"), "{}", signal.detail);
}
