//! A home in a temporary folder, and transcripts to put into it.

use tempfile::TempDir;
use totalrecall::{
    event::{Author, Body, Channel, Event, Message},
    sandbox::{
        analyze::Signal,
        parse::{Checkpoint, Outcome, TallyEntry},
    },
    store::{Begin, Done, Edges, Finality, Found, Job, Role, SessionFacts, SessionId, Stamp, Store},
};

pub(crate) const ADAPTER: &str = "claude-code";
pub(crate) const PARSER: &str = "parser-1";
pub(crate) const ANALYZER: &str = "analyzer-1";

pub(crate) struct Home {
    pub(crate) dir: TempDir,
    pub(crate) store: Store,
}

pub(crate) fn home() -> Home {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path()).unwrap();
    Home { dir, store }
}

pub(crate) fn stamp(size: u64) -> Stamp {
    Stamp { size, mtime_ns: 1_700_000_000_000_000_000 + size as i64, inode: 7, device: 1, version: None }
}

pub(crate) fn found(path: &str, size: u64) -> Found {
    Found {
        adapter: ADAPTER.into(),
        tool: ADAPTER.into(),
        path: path.into(),
        key: String::new(),
        stamp: stamp(size),
        named: false,
    }
}

pub(crate) fn says(line: u64, key: &str, text: &str) -> Event {
    Event {
        line,
        at: Some(1_700_000_000_000 + line as i64 * 1000),
        thread: None,
        key: Some(key.into()),
        copied: false,
        body: Body::Message(Message { author: Author::Human, channel: Channel::Prompt, text: text.into(), omitted: 0 }),
    }
}

pub(crate) fn signal(line: u64, subject: &str) -> Signal {
    Signal {
        kind: "tool-error".into(),
        subject: subject.into(),
        line,
        at: Some(5),
        thread: None,
        confidence: 0.5,
        detail: "it failed".into(),
        evidence: vec![line - 1, line],
    }
}

pub(crate) fn facts(native_id: &str, role: Role) -> SessionFacts {
    SessionFacts {
        native_id: native_id.into(),
        role,
        project: Some("/p".into()),
        cwd: Some("/p".into()),
        branch: None,
        title: None,
        version: Some("2.1.0".into()),
        parent: None,
    }
}

pub(crate) fn done(size: u64) -> Done {
    Done {
        stamp: stamp(size),
        parsed_by: PARSER.into(),
        analyzed_by: ANALYZER.into(),
        checkpoint: Checkpoint { offset: size, state: vec![1, 2] },
        edges: Edges::default(),
        analysis: vec![3],
        tally: vec![TallyEntry { outcome: Outcome::Understood, what: "user".into(), count: 1, first: 1 }],
        sieve: "{}".into(),
        dropped: 0,
    }
}

impl Home {
    /// Queues a transcript and claims it.
    pub(crate) fn claim(&mut self, path: &str, size: u64) -> Job {
        self.store.enqueue([&found(path, size)], 0).unwrap();
        let job = self.store.claim_next(0).unwrap().unwrap();
        assert_eq!(job.path, path);
        job
    }

    /// Stores a transcript; gives its session.
    pub(crate) fn put(
        &mut self,
        path: &str,
        size: u64,
        begin: Begin,
        settled: &[Event],
        provisional: &[Event],
        facts: Option<SessionFacts>,
    ) -> Option<SessionId> {
        let job = self.claim(path, size);
        self.put_job(job, size, begin, settled, provisional, facts)
    }

    pub(crate) fn put_job(
        &mut self,
        job: Job,
        size: u64,
        begin: Begin,
        settled: &[Event],
        provisional: &[Event],
        facts: Option<SessionFacts>,
    ) -> Option<SessionId> {
        let mut ingest = self.store.ingest(job, begin).unwrap();
        for (events, finality) in [(settled, Finality::Settled), (provisional, Finality::Provisional)] {
            let mut events = events.to_vec();
            ingest.mark_copied(&mut events).unwrap();
            ingest.add_events(&events, finality).unwrap();
            let signals: Vec<_> =
                events.iter().filter(|event| !event.copied).map(|event| signal(event.line, "Bash")).collect();
            ingest.add_signals(&signals, finality).unwrap();
        }
        if let Some(facts) = facts {
            ingest.set_session(facts);
        }
        ingest.done(&done(size), 1).unwrap()
    }

    pub(crate) fn job_of(&self, path: &str) -> Job {
        let survey = self.store.survey(ADAPTER, &[], &[]).unwrap();
        let row = survey.absent.into_iter().find(|absent| absent.path == path).unwrap();
        self.store.job(row.id).unwrap().unwrap()
    }

    pub(crate) fn events_of(&self, path: &str) -> Vec<Event> {
        let id = self.job_of(path).transcript;
        let (events, next) = self.store.events(id, 0, 10_000).unwrap();
        assert_eq!(next, None);
        events
    }
}

/// Texts of messages, with a mark on copies.
pub(crate) fn texts(events: &[Event]) -> Vec<String> {
    let text = |event: &Event| match &event.body {
        Body::Message(message) => format!("{}{}", if event.copied { "copied " } else { "" }, message.text),
        other => format!("{other:?}"),
    };
    events.iter().map(text).collect()
}
