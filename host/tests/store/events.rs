//! What goes in comes out; copies are told; what is provisional is replaced.

use proptest::{collection::vec, option, prelude::*};
use totalrecall::{
    event::{
        ApiError, Author, Body, Channel, Compaction, Edit, Event, Interrupt, Message, Session, Status, ToolCall,
        ToolKind, ToolResult, Usage,
    },
    store::{Begin, Finality, Role, UsageRow},
};

use crate::support::{Home, done, facts, home, says, texts};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-z /\\.\"\\\\\n]{1,40}", "\\PC{0,60}", Just("改行\u{0}\u{1F600}".to_owned())]
}

fn body() -> impl Strategy<Value = Body> {
    use {Author as A, Channel as C, Status as S, ToolKind as K};
    let author = prop::sample::select(vec![A::Human, A::Agent, A::Harness]);
    let channel = prop::sample::select(vec![
        C::Prompt,
        C::Steering,
        C::Comment,
        C::Answer,
        C::Command,
        C::Shell,
        C::Reply,
        C::Reasoning,
        C::Summary,
        C::Notice,
    ]);
    let kind = prop::sample::select(vec![
        K::Read,
        K::Edit,
        K::Create,
        K::Delete,
        K::Execute,
        K::Search,
        K::Fetch,
        K::Delegate,
        K::Plan,
        K::Ask,
        K::Mcp,
        K::Other,
    ]);
    let status = prop::sample::select(vec![S::Ok, S::Error, S::Denied, S::Blocked, S::Interrupted]);
    let message = (author, channel, text(), any::<u64>())
        .prop_map(|(author, channel, text, omitted)| Body::Message(Message { author, channel, text, omitted }));
    let call = (
        text(),
        text(),
        kind,
        vec(text(), 0..3),
        option::of(text()),
        vec((0..4_u8, text(), text()), 0..3),
        text(),
        any::<u64>(),
    );
    let call = call.prop_map(|(id, name, kind, paths, command, edits, rest, omitted)| {
        let edit = |(path, removed, added): (u8, String, String)| {
            let path = paths.get(usize::from(path)).cloned().unwrap_or_else(|| "/elsewhere".into());
            Edit { path, removed, added }
        };
        let edits: Vec<_> = edits.into_iter().map(edit).collect();
        // Often the input holds what the other fields hold, which is then not stored twice.
        let input = edits.iter().map(|edit| edit.added.as_str()).chain(command.as_deref()).chain([rest.as_str()]);
        let input = input.collect();
        Body::ToolCall(ToolCall { id, name, kind, paths, command, edits, input, omitted })
    });
    let result = (text(), status, any::<Option<i32>>(), text(), any::<u64>(), option::of(text()), any::<bool>());
    let result = result.prop_map(|(call, status, exit_code, text, omitted, words, amended)| {
        Body::ToolResult(ToolResult { call, status, exit_code, text, omitted, words, amended })
    });
    let session = vec(option::of(text()), 6).prop_map(|mut fields| {
        let mut next = || fields.pop().flatten();
        let (id, cwd, branch) = (next(), next(), next());
        Body::Session(Session { id, cwd, branch, title: next(), version: next(), parent: next() })
    });
    let usage = (text(), any::<[u64; 4]>()).prop_map(|(model, [input, output, cache_read, cache_write])| {
        Body::Usage(Usage { model, input, output, cache_read, cache_write })
    });
    prop_oneof![
        message,
        call,
        result,
        any::<bool>().prop_map(|in_tool| Body::Interrupt(Interrupt { in_tool })),
        (any::<Option<bool>>(), any::<Option<u64>>())
            .prop_map(|(manual, tokens_before)| Body::Compaction(Compaction { manual, tokens_before })),
        (any::<Option<u16>>(), text(), any::<bool>()).prop_map(|(status, text, retried)| Body::ApiError(ApiError {
            status,
            text,
            retried
        })),
        text().prop_map(Body::Rewind),
        usage,
        session,
    ]
}

fn event() -> impl Strategy<Value = Event> {
    (any::<u64>(), any::<Option<i64>>(), option::of(text()), option::of(text()), any::<bool>(), body())
        .prop_map(|(line, at, thread, key, copied, body)| Event { line, at, thread, key, copied, body })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Events read back exactly as `mark_copied` left them, in their order, settled and provisional ones apart.
    #[test]
    fn events_read_back_exactly(settled in vec(event(), 0..12), provisional in vec(event(), 0..4), page in 1..5_usize) {
        let mut home = home();
        let job = home.claim("/t.jsonl", 1);
        let id = job.transcript;
        let (mut settled, mut provisional) = (settled, provisional);
        let mut ingest = home.store.ingest(job, Begin::Anew).unwrap();
        ingest.mark_copied(&mut settled).unwrap();
        ingest.add_events(&settled, Finality::Settled).unwrap();
        ingest.mark_copied(&mut provisional).unwrap();
        ingest.add_events(&provisional, Finality::Provisional).unwrap();
        ingest.done(&done(1), 1).unwrap();

        let job = home.store.job(id).unwrap().unwrap();
        let ingest = home.store.ingest(job, Begin::Stored).unwrap();
        for (finality, expected) in [(Finality::Settled, &settled), (Finality::Provisional, &provisional)] {
            let (mut read, mut from) = (Vec::new(), None);
            loop {
                let (events, next) = ingest.stored(finality, from, page).unwrap();
                read.extend(events);
                from = next;
                if from.is_none() { break }
            }
            prop_assert_eq!(&read, expected);
        }
    }
}

fn two_of_one_history() -> Home {
    let mut home = home();
    home.put(
        "/p/a.jsonl",
        10,
        Begin::Anew,
        &[says(1, "u1", "one"), says(2, "u2", "two")],
        &[],
        Some(facts("a", Role::Main)),
    );
    let fork = [says(1, "u1", "one"), says(2, "u2", "two"), says(3, "u3", "three")];
    home.put("/p/b.jsonl", 20, Begin::Anew, &fork, &[], Some(facts("b", Role::Main)));
    home
}

#[test]
fn history_that_another_transcript_brought_is_copied() {
    let home = two_of_one_history();
    assert_eq!(texts(&home.events_of("/p/a.jsonl")), ["one", "two"]);
    assert_eq!(texts(&home.events_of("/p/b.jsonl")), ["copied one", "copied two", "three"]);
    let counts: Vec<_> = home.store.sessions().unwrap().iter().map(|session| session.events).collect();
    assert_eq!(counts, [2, 1]);
    assert_eq!(home.store.status().unwrap().events, 3);
}

#[test]
fn keys_of_different_tools_are_different_keys() {
    let mut home = home();
    home.put("/p/a.jsonl", 10, Begin::Anew, &[says(1, "u1", "one")], &[], None);
    let mut other = crate::support::found("/p/c.jsonl", 5);
    other.tool = "codex".into();
    home.store.enqueue([&other], 0).unwrap();
    let job = home.store.claim_next(0).unwrap().unwrap();
    home.put_job(job, 5, Begin::Anew, &[says(1, "u1", "one")], &[], None);
    assert_eq!(texts(&home.events_of("/p/c.jsonl")), ["one"]);
}

#[test]
fn reading_a_transcript_again_changes_nothing() {
    let mut home = two_of_one_history();
    let before = (home.store.status().unwrap(), home.store.sessions().unwrap());
    home.put(
        "/p/a.jsonl",
        10,
        Begin::Anew,
        &[says(1, "u1", "one"), says(2, "u2", "two")],
        &[],
        Some(facts("a", Role::Main)),
    );
    assert_eq!(texts(&home.events_of("/p/a.jsonl")), ["one", "two"]);
    assert_eq!(texts(&home.events_of("/p/b.jsonl")), ["copied one", "copied two", "three"]);
    let after = (home.store.status().unwrap(), home.store.sessions().unwrap());
    assert_eq!(before, after);
    assert_eq!(home.store.stale_analyses(crate::support::ANALYZER).unwrap(), []);
}

/// The only copy left counts, and its transcript is analysed again.
#[test]
fn a_copy_outlives_its_original() {
    let mut home = two_of_one_history();
    home.put("/p/a.jsonl", 4, Begin::Anew, &[says(1, "u1", "one")], &[], Some(facts("a", Role::Main)));
    assert_eq!(texts(&home.events_of("/p/b.jsonl")), ["copied one", "two", "three"]);
    assert_eq!(home.store.status().unwrap().events, 3);
    let b = home.job_of("/p/b.jsonl").transcript;
    assert_eq!(home.store.stale_analyses(crate::support::ANALYZER).unwrap(), [b]);

    let job = home.store.job(b).unwrap().unwrap();
    let mut ingest = home.store.ingest(job, Begin::Stored).unwrap();
    ingest.add_signals(&[crate::support::signal(2, "again")], Finality::Settled).unwrap();
    let session = ingest.reanalysed(crate::support::ANALYZER, &[9]).unwrap().unwrap();
    assert_eq!(home.store.stale_analyses(crate::support::ANALYZER).unwrap(), []);
    let subjects: Vec<_> = home.store.signals(session).unwrap().into_iter().map(|signal| signal.subject).collect();
    assert_eq!(subjects, ["again"]);
    assert_eq!(home.store.job(b).unwrap().unwrap().resume.unwrap().analysis, [9]);
}

/// What an adapter declares to be a copy stays one, whatever is stored.
#[test]
fn a_declared_copy_of_something_unknown_never_counts() {
    let mut home = home();
    let mut event = says(1, "u9", "old");
    event.copied = true;
    home.put("/p/a.jsonl", 10, Begin::Anew, &[event], &[], None);
    assert_eq!(texts(&home.events_of("/p/a.jsonl")), ["copied old"]);
    assert_eq!(home.store.status().unwrap().events, 0);
}

#[test]
fn what_is_provisional_is_replaced_when_the_transcript_grows() {
    let mut home = home();
    let session = home.put(
        "/p/a.jsonl",
        10,
        Begin::Anew,
        &[says(1, "u1", "one")],
        &[says(2, "u2", "tw")],
        Some(facts("a", Role::Main)),
    );
    assert_eq!(texts(&home.events_of("/p/a.jsonl")), ["one", "tw"]);
    home.put(
        "/p/a.jsonl",
        20,
        Begin::Onward,
        &[says(2, "u2", "two"), says(3, "u3", "three")],
        &[says(4, "u4", "f")],
        None,
    );
    assert_eq!(texts(&home.events_of("/p/a.jsonl")), ["one", "two", "three", "f"]);
    home.put("/p/a.jsonl", 30, Begin::Onward, &[says(4, "u4", "four")], &[], None);
    assert_eq!(texts(&home.events_of("/p/a.jsonl")), ["one", "two", "three", "four"]);

    let row = home.store.session(session.unwrap()).unwrap().unwrap();
    assert_eq!(
        (row.events, row.messages, row.started_at, row.ended_at),
        (4, 4, Some(1_700_000_001_000), Some(1_700_000_004_000))
    );
    let lines: Vec<_> = home.store.signals(row.id).unwrap().iter().map(|signal| signal.line).collect();
    assert_eq!(lines, [1, 2, 3, 4]);
}

/// Transcripts repeat a response with growing figures, and forks repeat it altogether.
#[test]
fn a_response_is_counted_once_with_its_largest_figures() {
    let usage = |line, key: &str, output| Event {
        body: Body::Usage(Usage { model: "m".into(), input: 10, output, cache_read: 1, cache_write: 2 }),
        ..says(line, key, "")
    };
    let mut home = home();
    let a = [usage(1, "r1", 3), usage(2, "r1", 40), usage(3, "r2", 5)];
    let a = home.put("/p/a.jsonl", 10, Begin::Anew, &a, &[], Some(facts("a", Role::Main))).unwrap();
    let b = [usage(1, "r1", 40), usage(2, "r3", 7)];
    let b = home.put("/p/b.jsonl", 10, Begin::Anew, &b, &[], Some(facts("b", Role::Main))).unwrap();
    let row =
        |input, output, cache_read, cache_write| UsageRow { model: "m".into(), input, output, cache_read, cache_write };
    assert_eq!(home.store.usage(a).unwrap(), [row(20, 45, 2, 4)]);
    assert_eq!(home.store.usage(b).unwrap(), [row(10, 7, 1, 2)]);
}

/// A failure takes back what was stored so far, and only that.
#[test]
fn a_failure_keeps_the_old_state_and_the_others_of_its_batch() {
    let mut home = home();
    home.put("/p/a.jsonl", 10, Begin::Anew, &[says(1, "u1", "one")], &[], Some(facts("a", Role::Main)));
    home.put("/p/b.jsonl", 10, Begin::Anew, &[says(1, "v1", "eins")], &[], Some(facts("b", Role::Main)));
    let job = home.claim("/p/a.jsonl", 20);
    let mut ingest = home.store.ingest(job, Begin::Anew).unwrap();
    ingest.add_events(&[says(1, "w1", "changed")], Finality::Settled).unwrap();
    drop(ingest);
    assert_eq!(texts(&home.events_of("/p/a.jsonl")), ["one"]);
    assert_eq!(texts(&home.events_of("/p/b.jsonl")), ["eins"]);
}
