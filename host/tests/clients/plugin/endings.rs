//! Sessions that end in every way there is: what was said in them is read all the same, by a worker that outlives them.

use std::{fs, path::PathBuf};

use rustix::process::Signal;
use totalrecall::store::FILE;

use super::{Source, seen::Sitting};
use crate::{api::Reply, claude::Claude, person::Person, project::MENDED, tests};

tests! {
    closing_the_terminal_ends_a_session_that_is_read,
    ending_the_whole_job_ends_a_session_that_is_read;
    each:
    a_terminated_session_is_read,
    a_session_that_is_left_is_read,
    what_a_killed_session_left_is_read_when_the_next_one_begins,
}

/// One who has worked for a turn, and sits there.
fn sitting(claude: Claude) -> (Person, Sitting) {
    let mut person = Person::having(claude, [Reply::text("Hello.")]);
    person.break_tests();
    person.install(Source::Folder, &[]);
    person.api.answer(person.mending());
    let mut sitting = person.sit_down(&[]);
    sitting.terminal.say("The test fails. Mend it.");
    sitting.terminal.wait_for(MENDED);
    (person, sitting)
}

/// The session ends in this way, and was read by a worker that did it when the client was gone already.
#[track_caller]
fn end(person: &Person, sitting: Sitting, end: impl FnOnce(&mut Sitting)) {
    let mut sitting = sitting;
    // Nobody can write into the store until the client is gone.
    person.ok(&["init"]);
    let store = rusqlite::Connection::open(person.state().join(FILE)).unwrap();
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    end(&mut sitting);
    sitting.terminal.ended();
    person.assert_stored(&[]);
    store.execute_batch("ROLLBACK").unwrap();
    sitting.log().assert_nothing_wrong();
    let ids = person.session_ids();
    let [id] = &ids[..] else { panic!("{ids:?}") };
    person.wait_until_stored(&[id]);
    assert!(person.signals().iter().any(|(kind, _)| kind == "tool-error"));
}

fn a_terminated_session_is_read(claude: Claude) {
    let (person, sitting) = sitting(claude);
    end(&person, sitting, |sitting| {
        sitting.terminal.signal(Signal::TERM);
        assert_eq!(sitting.terminal.ended().code(), Some(143));
    });
}

fn a_session_that_is_left_is_read(claude: Claude) {
    let (person, sitting) = sitting(claude);
    end(&person, sitting, Sitting::leave);
}

fn ending_the_whole_job_ends_a_session_that_is_read() {
    let (person, sitting) = sitting(Claude::Newest);
    end(&person, sitting, |sitting| sitting.terminal.signal_group(Signal::TERM));
}

fn closing_the_terminal_ends_a_session_that_is_read() {
    let (person, sitting) = sitting(Claude::Newest);
    end(&person, sitting, |sitting| sitting.terminal.close());
}

fn what_a_killed_session_left_is_read_when_the_next_one_begins(claude: Claude) {
    let (person, mut sitting) = sitting(claude);
    // In the middle of a turn.
    let asked = person.api.questions().len();
    person.api.answer([Reply::slow()]);
    sitting.terminal.say("Is there more?");
    person.api.wait_for_questions(asked + 1);
    // It notes first that something was typed, and then what was said.
    let is_said = |line: &str| line.contains(r#""type":"user""#) && line.contains("Is there more?");
    let is_written = |file: &PathBuf| {
        fs::read_to_string(file).unwrap().split_inclusive('\n').any(|line| line.ends_with('\n') && is_said(line))
    };
    person.wait_until("the client has written it down", || person.transcripts().iter().any(is_written));
    sitting.terminal.signal(Signal::KILL);
    assert_eq!(sitting.terminal.ended().code(), None);
    let ids = person.session_ids();
    let [killed] = &ids[..] else { panic!("{ids:?}") };
    assert!(!person.notices().is_empty(), "a crash loses more than a turn");
    person.assert_stored(&[]);

    person.api.answer([Reply::slow()]);
    let next = person.sit_down(&[]);
    person.wait_until_stored(&[killed]);
    assert!(person.words().iter().any(|word| word == "Is there more?"), "{:#?}", person.words());
    drop(next);
}
