use std::{collections::BTreeSet, path::Path};

use super::{Ahead, Pause, Pauses, Place, Sieve, State, begin, end, is_paused, load};
use crate::event::{Author, Body, Channel, Event, Message, Session};

const HOUR: i64 = 3_600_000;
const BEGUN: i64 = 1_700_000_000_000;

fn event(at: Option<i64>, body: Body) -> Event {
    Event { line: 1, at, thread: None, key: None, copied: false, body }
}

fn text(at: Option<i64>, text: &str, channel: Channel) -> Event {
    event(at, Body::Message(Message { author: Author::Human, channel, text: text.to_owned(), omitted: 0 }))
}

fn says(at: i64, words: &str) -> Event {
    text(Some(at), words, Channel::Prompt)
}

fn session(at: Option<i64>, cwd: Option<&str>, title: Option<&str>) -> Event {
    let own = |text: Option<&str>| text.map(str::to_owned);
    event(
        at,
        Body::Session(Session {
            id: None,
            cwd: own(cwd),
            branch: None,
            title: own(title),
            version: None,
            parent: None,
        }),
    )
}

fn pause(from: i64, until: i64, place: Option<&str>) -> Pause {
    let place = place.map(|path| Place { path: path.to_owned(), folders: BTreeSet::new() });
    Pause { from, until: Some(until), place }
}

/// What passes, in short: a text, or folder and title.
fn pass(sieve: &mut Sieve, events: Vec<Event>) -> Vec<String> {
    let mut kept = Vec::new();
    for event in events {
        match sieve.tell(&event).1 {
            true => sieve.drop(event),
            false => sieve.keep(event, &mut kept),
        }
    }
    let short = |event: &Event| match &event.body {
        Body::Message(message) => message.text.clone(),
        Body::Session(session) => format!("{:?} {:?}", session.cwd.as_deref(), session.title.as_deref()),
        other => format!("{other:?}"),
    };
    kept.iter().map(short).collect()
}

fn sieve(pauses: Vec<Pause>, ahead: Ahead) -> Sieve {
    Sieve::new(Pauses(pauses), "codex", State::default(), ahead, 5)
}

#[test]
fn a_pause_holds_from_its_beginning_to_before_its_end() {
    let mut sieve = sieve(vec![pause(10, 20, None), pause(30, 40, None)], Ahead::default());
    let events = [9, 10, 19, 20, 29, 30, 39, 40].map(|at| says(at, &at.to_string())).to_vec();
    assert_eq!(pass(&mut sieve, events), ["9", "20", "29", "40"]);
    assert_eq!(sieve.state.dropped, 4);
}

#[test]
fn what_has_no_time_has_that_of_the_event_before_or_the_first_or_the_file() {
    let untimed = |words: &str| text(None, words, Channel::Notice);
    let events = || vec![untimed("a"), says(15, "b"), untimed("c"), says(25, "d"), untimed("e")];
    let first = Ahead { at: Some(15), cwd: None };
    assert_eq!(pass(&mut sieve(vec![pause(10, 20, None)], first), events()), ["d", "e"]);
    assert_eq!(pass(&mut sieve(vec![pause(0, 10, None)], Ahead::default()), vec![untimed("a")]), [""; 0]);
    assert_eq!(pass(&mut sieve(vec![pause(6, 10, None)], Ahead::default()), vec![untimed("a")]), ["a"]);
}

#[test]
fn a_session_is_where_it_began_and_where_it_is() {
    let of = |place| sieve(vec![pause(0, 100, Some(place))], Ahead { at: Some(1), cwd: Some("/w/a".to_owned()) });
    let events = || {
        vec![
            says(1, "before it says where"),
            session(Some(2), Some("/w/a"), None),
            says(3, "in a"),
            session(Some(4), Some("/w/b/deep"), None),
            says(5, "in b"),
            session(Some(6), Some("/w/c"), None),
            says(7, "in c"),
        ]
    };
    assert_eq!(pass(&mut of("/w/a"), events()), [""; 0], "it began in a");
    let kept = pass(&mut of("/w/b"), events());
    assert_eq!(kept, ["before it says where", "Some(\"/w/a\") None", "in a", "Some(\"/w/c\") None", "in c"]);
    assert_eq!(pass(&mut of("/w/b/deeper"), events()).len(), 7);
    assert!(!of("/w/c").kept_nothing());
}

#[test]
fn what_a_session_is_waits_for_what_is_kept_and_what_sums_it_up_goes() {
    let mut sieve = sieve(vec![pause(10, 20, None)], Ahead::default());
    let held = vec![session(Some(10), Some("/a"), Some("a secret")), says(11, "a secret")];
    assert_eq!(pass(&mut sieve, held), [""; 0]);
    assert!(sieve.kept_nothing());
    // A later reading goes on from here.
    let state: State = serde_json::from_str(&serde_json::to_string(&sieve.state).unwrap()).unwrap();
    assert_eq!(state, sieve.state);
    let after = vec![
        session(Some(20), None, Some("a secret")),
        text(Some(21), "a secret", Channel::Summary),
        says(22, "after"),
        session(Some(23), Some("/b"), Some("a secret")),
    ];
    assert_eq!(pass(&mut sieve, after), ["Some(\"/a\") None", "after", "Some(\"/b\") None"]);
    assert_eq!(sieve.state.dropped, 4, "the title, the words, the title, the summary");
    assert!(!sieve.kept_nothing());
}

#[test]
fn of_a_tool_that_tells_only_when_a_run_began_more_is_left_out() {
    let pauses = || Pauses(vec![pause(BEGUN, BEGUN + HOUR, None)]);
    let kept = |at| {
        let mut sieve = Sieve::new(pauses(), "aider", State::default(), Ahead::default(), 5);
        !pass(&mut sieve, vec![says(at, "x")]).is_empty()
    };
    assert!(!kept(BEGUN + 13 * HOUR), "it began in the pause, in another zone");
    assert!(!kept(BEGUN - 20 * HOUR), "it may have gone on in the pause");
    assert!(kept(BEGUN - 40 * HOUR) && kept(BEGUN + 16 * HOUR));
}

#[test]
fn pauses_are_kept_as_they_were_said() {
    let home = tempfile::tempdir().unwrap();
    let (home, app) = (home.path().join("home"), home.path().join("app"));
    std::fs::create_dir(&app).unwrap();
    assert_eq!(load(&home).unwrap(), Pauses::default());
    assert!(!is_paused(&home, Some(&app)));
    assert!(begin(&home, None, || BEGUN).unwrap().is_news);
    assert!(!begin(&home, None, || BEGUN + 1).unwrap().is_news);
    assert!(begin(&home, Some(&app), || BEGUN + 2).unwrap().is_news);
    assert!(is_paused(&home, Some(Path::new("/elsewhere"))) && is_paused(&home, None));
    // A clock that was set back.
    assert_eq!(end(&home, None, || BEGUN - 5).unwrap().pause.unwrap().until, Some(BEGUN));
    assert!(!is_paused(&home, Some(Path::new("/elsewhere"))), "only the project is paused");
    assert!(is_paused(&home, Some(&app.join("src"))) && is_paused(&home, None), "what is not known may be meant");
    assert_eq!(end(&home, None, || BEGUN).unwrap().pause, None);
    assert!(end(&home, Some(&app), || BEGUN + 9).unwrap().is_news);
    let times: Vec<_> = load(&home).unwrap().0.iter().map(|pause| (pause.from, pause.until)).collect();
    assert_eq!(times, [(BEGUN, Some(BEGUN)), (BEGUN + 2, Some(BEGUN + 9))]);
    assert!(!is_paused(&home, Some(&app)));
}
