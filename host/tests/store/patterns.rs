//! Patterns: a planted year, and decisions that are kept.

#[path = "../../../bench/src/history.rs"]
#[expect(unreachable_pub, reason = "the measurements use it from outside")]
mod history;

use totalrecall::{
    finding::Category,
    pattern::{Act, Anchor, By, Decision},
    store::Store,
};

/// The small version of `bench/src/bin/patterns.rs`; `docs/patterns.md` has the figures of the large one.
#[test]
fn every_planted_friction_is_one_pattern() {
    for seed in [7, 8] {
        let history = history::write(300, seed);
        let score = history.score();
        assert_eq!((score.planted, score.once), (44, 44), "{score:#?}");
        assert!(score.mixed.is_empty() && score.scattered.is_empty() && score.f1() >= 0.999, "{score:#?}");
        let recurring = history.patterns().iter().filter(|pattern| pattern.recurs()).count();
        assert_eq!(recurring, 44, "what is nobody else's came up once");
    }
}

#[test]
fn decisions_are_kept_and_undone_by_number_or_by_run() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::open(home.path()).unwrap();
    let anchor = |id: &str| Anchor { id: id.into(), category: Category::Rework, ..Anchor::default() };
    let decision = |run: Option<&str>, act: Act| Decision {
        id: 0,
        at: 5,
        by: if run.is_some() { By::Similarity } else { By::Person },
        run: run.map(str::to_owned),
        pattern: "a".into(),
        act,
        undone_at: None,
    };
    let merge = |other: &str| Act::Merge { others: vec![other.into()] };
    let mute = decision(None, Act::Mute);
    assert!(store.decide(&[], std::slice::from_ref(&mute), 5).is_err(), "no pattern is anchored");
    assert_eq!(store.all_decisions().unwrap(), []);

    let run = [decision(Some("r"), merge("b")), decision(Some("r"), merge("c")), mute];
    let numbers = store.decide(&[anchor("a"), anchor("b"), anchor("c")], &run, 5).unwrap();
    let kept = store.decisions().unwrap();
    assert_eq!(kept.iter().map(|kept| kept.id).collect::<Vec<_>>(), numbers);
    for (kept, given) in kept.iter().zip(&run) {
        assert_eq!(Decision { id: 0, ..kept.clone() }, *given);
    }
    assert_eq!(store.undo(&kept[2], 6).unwrap(), 1);
    assert_eq!(store.undo(&kept[2], 7).unwrap(), 0, "it was undone already");
    assert_eq!(store.undo(&kept[0], 8).unwrap(), 2, "the run as a whole");
    drop(store);
    let store = Store::open_read_only(home.path()).unwrap();
    assert_eq!(store.decisions().unwrap(), []);
    let times: Vec<_> = store.all_decisions().unwrap().iter().map(|decision| decision.undone_at).collect();
    assert_eq!(times, [Some(8), Some(8), Some(6)]);
}
