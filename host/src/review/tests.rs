//! Which sessions are due, and what becomes of them.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::{
    event::{Author, Body, Channel, Event, Message},
    model::{Answer, Request},
    sandbox::{analyze::Signal, parse::Checkpoint},
    store::{Begin, Done, Edges, Finality, Found, ReviewState, Role, SessionFacts, Stamp},
};

const DAY: i64 = 24 * 60 * 60 * 1000;
const NOW: i64 = 1_800_000_000_000;

struct World {
    _dir: TempDir,
    home: Home,
    config: Config,
    kinds: Vec<SignalKind>,
    store: Store,
    now: i64,
}

/// One that answers from a list, and remembers what it was asked.
#[derive(Default)]
struct Script {
    answers: Vec<Result<Value, NoAnswer>>,
    asked: Vec<String>,
    calls: i64,
}

impl Ask for Script {
    fn ask(&mut self, _: &mut Store, request: &Request<'_>) -> Result<Answer, NoAnswer> {
        self.asked.push(request.subject.to_owned());
        self.calls += 1;
        let value = if self.answers.is_empty() { Ok(one("package manager")) } else { self.answers.remove(0) };
        value.map(|value| Answer {
            value,
            call: self.calls,
            model: "sonnet-x".into(),
            cost_usd: 0.05,
            prompt: prompt::hash(),
        })
    }
}

fn one(subject: &str) -> Value {
    json!({ "findings": [{
        "category": "repeated-correction", "form": null, "subject": subject, "description": "d", "severity": 3,
        "references": [1], "pattern": null, "hint": null
    }] })
}

fn failed(kind: &str, elsewhere: bool) -> Result<Value, NoAnswer> {
    Err(NoAnswer::Failed { kind: kind.into(), why: "it failed".into(), elsewhere })
}

impl World {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let home = Home::choose(Some(dir.path().join("home"))).unwrap();
        let store = Store::open(home.path()).unwrap();
        let kind = |name: &str, severity| SignalKind {
            name: name.into(),
            summary: String::new(),
            severity,
            advice: String::new(),
        };
        let kinds = vec![kind("tool-error", 2), kind("user-correction", 4), kind("api-error", 1)];
        Self { _dir: dir, home, config: Config::default(), kinds, store, now: NOW }
    }

    /// Stores a session that ended so long ago, with so many turns of the person and signals of these kinds.
    fn session(&mut self, id: &str, ago: i64, turns: u64, signals: &[&str]) {
        self.session_in(id, ago, turns, signals, "/p/app", Channel::Prompt);
    }

    fn session_in(&mut self, id: &str, ago: i64, turns: u64, signals: &[&str], cwd: &str, channel: Channel) {
        let found = Found {
            adapter: "a".into(),
            tool: "claude-code".into(),
            path: format!("/t/{id}.jsonl"),
            key: String::new(),
            stamp: Stamp { size: turns, ..Stamp::default() },
            named: false,
        };
        self.store.enqueue([&found], 0).unwrap();
        let job = self.store.claim_next(0).unwrap().unwrap();
        let mut ingest = self.store.ingest(job, Begin::Anew).unwrap();
        let events: Vec<Event> = (1..=turns)
            .map(|line| Event {
                line,
                at: Some(NOW - ago - 1_000 * (turns - line) as i64),
                thread: None,
                key: None,
                copied: false,
                body: Body::Message(Message {
                    author: Author::Human,
                    channel: if line == 1 { Channel::Prompt } else { channel },
                    text: format!("turn {line}"),
                    omitted: 0,
                }),
            })
            .collect();
        ingest.add_events(&events, Finality::Settled).unwrap();
        let signals: Vec<Signal> = signals
            .iter()
            .map(|kind| Signal {
                kind: (*kind).into(),
                subject: "x".into(),
                line: 1,
                at: None,
                thread: None,
                confidence: 1.0,
                detail: String::new(),
                evidence: vec![1],
            })
            .collect();
        ingest.add_signals(&signals, Finality::Settled).unwrap();
        ingest.set_session(SessionFacts {
            native_id: id.into(),
            role: Role::Main,
            project: Some(cwd.into()),
            cwd: Some(cwd.into()),
            branch: None,
            title: None,
            version: None,
            parent: None,
        });
        let done = Done {
            stamp: found.stamp,
            parsed_by: "p".into(),
            analyzed_by: "a".into(),
            checkpoint: Checkpoint { offset: 0, state: vec![] },
            edges: Edges::default(),
            analysis: vec![],
            tally: vec![],
            sieve: String::new(),
            dropped: 0,
        };
        ingest.done(&done, 0).unwrap();
        self.store.commit().unwrap();
    }

    fn reviewer(&self) -> Reviewer<'_> {
        Reviewer::new(&self.home, &self.config, &self.kinds, self.now).unwrap()
    }

    fn plan(&self) -> Plan {
        self.reviewer().plan(&self.store, false).unwrap()
    }

    fn due(&self) -> Vec<String> {
        self.plan().due.into_iter().map(|due| due.native_id).collect()
    }

    fn run(&mut self, script: &mut Script) -> Learned {
        let reviewer = Reviewer::new(&self.home, &self.config, &self.kinds, self.now).unwrap();
        let plan = reviewer.plan(&self.store, false).unwrap();
        let stop = AtomicBool::new(false);
        reviewer.run(&mut self.store, &plan, usize::MAX, script, &stop, &mut |_, _| {}).unwrap()
    }

    fn state(&self, id: &str) -> (ReviewState, u32, Option<i64>) {
        let session = self.store.reviewable().unwrap().into_iter().find(|it| it.native_id == id).unwrap();
        let review = session.review.unwrap();
        (review.state, review.attempts, review.next_try)
    }
}

#[test]
fn what_is_left_out_says_why_and_the_rest_comes_by_value() {
    let mut world = World::new();
    world.config.transcripts.ignore = vec!["**/secret.jsonl".into()];
    world.session("error-today", DAY, 3, &["tool-error"]);
    world.session("correction-today", DAY, 3, &["user-correction"]);
    world.session("correction-long-ago", 90 * DAY, 3, &["user-correction"]);
    world.session("quiet", DAY, 3, &[]);
    world.session("service", DAY, 3, &["api-error"]);
    world.session("secret", DAY, 3, &["tool-error"]);
    world.session("going-on", 10_000, 3, &["tool-error"]);
    world.session_in("steered", DAY, 3, &[], "/p/app", Channel::Steering);
    let analysis = world.home.path().join("analysis").to_string_lossy().into_owned();
    world.session_in("ours", DAY, 3, &["tool-error"], &analysis, Channel::Prompt);

    assert_eq!(world.due(), ["correction-today", "steered", "error-today", "correction-long-ago"]);
    let plan = world.plan();
    let skipped: Vec<(&str, u64)> = plan.skipped.iter().map(|(why, count)| (*why, *count)).collect();
    assert_eq!(skipped, [(plan::OWN, 1), (plan::IGNORED, 1), (plan::QUIET, 2)]);
    assert_eq!((plan.waiting, plan.done), (1, 0));

    let mut script = Script::default();
    let learned = world.run(&mut script);
    assert_eq!(script.asked, ["correction-today", "steered", "error-today", "correction-long-ago"]);
    assert_eq!((learned.asked, learned.findings, learned.left), (4, 4, 0));
    assert!((learned.spent_usd - 0.2).abs() < 1e-9);
    assert_eq!(world.state("quiet").0, ReviewState::Skipped);
    assert_eq!(world.due(), [] as [&str; 0], "all is done");

    world.config.model.quiet_sessions = true;
    assert_eq!(world.due(), ["service", "quiet"]);
}

#[test]
fn findings_are_stored_beside_those_of_signals_and_replaced() {
    let mut world = World::new();
    world.session("a", DAY, 3, &["tool-error"]);
    crate::library::renew(&mut world.store, &world.kinds).unwrap();
    world.run(&mut Script::default());
    let kinds = |world: &World| {
        let findings = world.store.findings().unwrap();
        findings.into_iter().map(|(_, finding)| format!("{} {}", finding.kind, finding.subject)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&world), ["tool-error x", "repeated-correction package manager"]);

    world.session("a", DAY, 5, &["tool-error"]);
    assert_eq!(world.plan().due[0].reason, Reason::Grown);
    world.run(&mut Script { answers: vec![Ok(one("commit first"))], ..Script::default() });
    crate::library::renew(&mut world.store, &world.kinds).unwrap();
    assert_eq!(
        kinds(&world).into_iter().rev().collect::<Vec<_>>(),
        ["tool-error x", "repeated-correction commit first"]
    );
    world.session("a", DAY, 6, &["tool-error"]);
    let learned = world.run(&mut Script { answers: vec![Ok(json!({ "findings": [] }))], ..Script::default() });
    assert_eq!((learned.asked, learned.empty, learned.findings), (1, 1, 0));
    assert_eq!(world.state("a").0, ReviewState::Done);
    assert_eq!(kinds(&world), ["tool-error x"]);
}

#[test]
fn a_failure_is_tried_again_with_growing_waits_and_then_given_up() {
    let mut world = World::new();
    world.session("a", DAY, 3, &["tool-error"]);
    let mut waits = Vec::new();
    for attempt in 1..=5 {
        let learned = world.run(&mut Script { answers: vec![Ok(json!({ "nonsense": 1 }))], ..Script::default() });
        assert_eq!((learned.failed.len(), learned.asked, learned.findings), (1, 0, 0), "{learned:?}");
        let (state, attempts, next_try) = world.state("a");
        assert_eq!((state, attempts), (ReviewState::Failed, attempt));
        assert_eq!(world.due(), [] as [&str; 0]);
        let Some(next_try) = next_try else { break };
        waits.push((next_try - world.now) / 60_000);
        world.now = next_try;
        assert_eq!(world.due(), ["a"]);
    }
    assert_eq!(waits, [15, 60, 240, 960]);
    assert_eq!(world.plan().given_up, 1);
    let counts = world.store.review_counts().unwrap();
    assert_eq!((counts[0].given_up, counts[0].why.as_deref()), (true, Some("unusable-answer")));

    assert_eq!(world.store.retry_reviews(world.now).unwrap(), 1);
    assert_eq!(world.run(&mut Script::default()).asked, 1);
}

#[test]
fn a_fault_elsewhere_is_not_held_against_the_session() {
    let mut world = World::new();
    world.session("a", DAY, 3, &["tool-error"]);
    for _ in 0..20 {
        let learned = world.run(&mut Script { answers: vec![failed("overloaded", true)], ..Script::default() });
        assert_eq!(learned.failed.len(), 1);
        let (state, attempts, next_try) = world.state("a");
        assert_eq!((state, attempts), (ReviewState::Failed, 0));
        world.now = next_try.unwrap();
    }
    assert_eq!(world.due(), ["a"]);
}

#[test]
fn what_is_refused_stays_due_and_failures_in_a_row_end_the_run() {
    let mut world = World::new();
    for n in 0..8 {
        world.session(&format!("s{n}"), DAY, 3, &["tool-error"]);
    }
    let refused = Err(NoAnswer::Refused("the day's budget is used up".into()));
    let learned = world.run(&mut Script { answers: vec![Ok(one("x")), refused], ..Script::default() });
    assert_eq!((learned.asked, learned.left), (1, 7));
    assert_eq!(learned.stopped.as_deref(), Some("the day's budget is used up"));
    assert_eq!(world.due().len(), 7);

    let mut script = Script { answers: (0..8).map(|_| failed("timeout", false)).collect(), ..Script::default() };
    let learned = world.run(&mut script);
    assert_eq!((script.asked.len(), learned.failed.len()), (3, 3));
    assert_eq!(world.due().len(), 4);

    let unfit = Err(NoAnswer::Unfit("too long".into()));
    let learned = world.run(&mut Script { answers: vec![unfit], ..Script::default() });
    assert_eq!((learned.asked, learned.skipped["too long"]), (3, 1));
}

#[test]
fn a_hundred_failures_lose_no_session() {
    let mut world = World::new();
    for n in 0..100 {
        world.session(&format!("s{n}"), DAY, 2, &["tool-error"]);
    }
    let kinds = ["timeout", "garbage", "rate-limited", "signal"];
    let mut script = Script::default();
    for n in 0..100 {
        let kind = kinds[n % 4];
        script.answers.push(failed(kind, kind == "rate-limited"));
    }
    for _ in 0..40 {
        world.run(&mut script);
        assert_eq!(world.store.findings().unwrap().len() as i64, script.calls.saturating_sub(100).max(0));
        if script.answers.is_empty() {
            break;
        }
    }
    world.now += 2 * DAY;
    let learned = world.run(&mut Script::default());
    let before = world.store.findings().unwrap().len() as u64 - learned.findings;
    assert_eq!(before + learned.asked, 100, "every session is answered in the end");
}

#[test]
fn growth_that_shows_nothing_new_is_not_asked_about_again() {
    let mut world = World::new();
    world.session("a", DAY, 3, &["tool-error"]);
    let session = world.plan().due[0].session;
    world.run(&mut Script::default());
    let mut review = world.store.reviewable().unwrap()[0].review.clone().unwrap();
    review.covers = "less".into();
    world.store.put_review(session, &review).unwrap();
    let mut script = Script::default();
    let learned = world.run(&mut script);
    assert_eq!((script.calls, learned.unchanged), (0, 1));
    assert_eq!(world.due(), [] as [&str; 0]);
}

#[test]
fn another_prompt_or_model_makes_a_session_due_only_on_demand() {
    let mut world = World::new();
    world.session("a", DAY, 3, &["tool-error"]);
    world.run(&mut Script::default());
    world.config.model.name = "opus".into();
    assert_eq!(world.due(), [] as [&str; 0]);
    let again = world.reviewer().plan(&world.store, true).unwrap();
    assert_eq!(again.due[0].reason, Reason::Again);
}

#[test]
fn a_question_fits_the_input_whatever_is_known() {
    let mut world = World::new();
    for n in 0..60 {
        world.session(&format!("s{n}"), DAY, 40, &["user-correction"]);
    }
    let mut script =
        Script { answers: (0..60).map(|n| Ok(one(&format!("subject number {n}")))).collect(), ..Script::default() };
    world.run(&mut script);
    for most in [4_000, 6_000, 20_000] {
        world.config.model.input_tokens = most;
        let reviewer = world.reviewer();
        let catalogue = reviewer.catalogue(&world.store).unwrap();
        assert!(!catalogue.is_empty());
        let session = world.store.reviewable().unwrap()[0].session;
        let question = reviewer.question(&world.store, &catalogue, session).unwrap().unwrap();
        assert!(question.tokens() <= most && !question.excerpt.is_empty(), "{most}: {}", question.tokens());
        let document: Value = serde_json::from_str(&question.input).unwrap();
        assert_eq!(document["known_patterns"].as_array().unwrap().len(), catalogue.len());
    }
}

#[test]
fn an_estimate_of_many_is_made_of_some() {
    let mut world = World::new();
    for n in 0..100 {
        world.session(&format!("s{n}"), DAY, 3, &["tool-error"]);
    }
    let estimate = world.reviewer().estimate(&world.store, &world.plan().due).unwrap();
    assert_eq!((estimate.calls, estimate.built), (100, 34));
    assert!(estimate.input_tokens > 100_000 && estimate.usd > 0.3, "{estimate:?}");
    assert_eq!(estimate.days, estimate.usd.ceil() as u64);
}
