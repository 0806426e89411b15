//! What every way of writing a report down needs of it.

use std::{collections::BTreeMap, path::Path};

use super::SessionReport;
use crate::{gate::Verdict, sandbox::analyze::SignalKind};

/// A report with what is known about it.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// What was read.
    pub sessions: &'a [SessionReport],
    /// What could not be read, as sentences.
    pub problems: &'a [String],
    /// What the analyzer says of its kinds of signals.
    pub kinds: &'a [SignalKind],
    /// What the gate says, if there is one.
    pub gate: Option<&'a Verdict>,
    /// The folder that paths are told relative to, resolved.
    pub here: &'a Path,
}

/// How often a kind was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// In main conversations.
    pub(super) main: u64,
    /// In sub-agents.
    pub(super) subagents: u64,
    /// Sessions with at least one.
    pub(super) sessions: u64,
}

impl Seen {
    pub(super) fn total(self) -> u64 {
        self.main + self.subagents
    }
}

impl<'a> View<'a> {
    /// How often each kind was seen, those of the analyzer that were not included.
    pub(super) fn seen(&self) -> BTreeMap<&'a str, Seen> {
        let mut all: BTreeMap<&str, Seen> =
            self.kinds.iter().map(|kind| (kind.name.as_str(), Seen::default())).collect();
        for session in self.sessions {
            for (kind, count) in &session.counts {
                all.entry(kind).or_default().main += count;
            }
            for (kind, count) in &session.counts_subagents {
                all.entry(kind).or_default().subagents += count;
            }
            let also = session.counts_subagents.keys().filter(|kind| !session.counts.contains_key(*kind));
            for kind in session.counts.keys().chain(also) {
                all.entry(kind).or_default().sessions += 1;
            }
        }
        all
    }

    /// All signals.
    pub(super) fn signals(&self) -> usize {
        self.sessions.iter().map(|session| session.signals.len()).sum()
    }

    /// 1 (a nuisance) to 5 (work is lost). What nobody describes is in the middle.
    pub(super) fn severity(&self, kind: &str) -> u8 {
        self.kinds.iter().find(|known| known.name == kind).map_or(3, |known| known.severity)
    }

    /// A path below the folder, with `/` between its parts; none for one that lies elsewhere.
    pub(super) fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        let relative = Path::new(path).strip_prefix(self.here).ok().filter(|it| it.is_relative())?.to_str()?;
        (!relative.is_empty()).then_some(relative)
    }
}

impl SessionReport {
    /// Its transcript, when it has records of which none was understood: then that it has no signals says nothing.
    pub fn not_understood(&self) -> Option<String> {
        let records = self.tally.broken + self.tally.unknown.values().sum::<u64>();
        (self.tally.understood == 0 && records > 0)
            .then(|| format!("{}: none of its records could be understood ({records} were tried)", self.path))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::{SignalReport, Stats, Tally};

    /// Text of the sort that hurts.
    pub(crate) fn hostile() -> impl Strategy<Value = String> {
        "(\\PC|[\u{0}-\u{a0}\u{2028}\u{202e}\u{feff}\u{fffe}\u{ffff}]|[<>&\"'`|\\[\\]{}()#*_]|\\]\\]>|</|::error::|://){0,40}"
    }

    pub(crate) fn kind(name: &str, severity: u8) -> SignalKind {
        SignalKind {
            name: name.to_owned(),
            summary: format!("What {name} is."),
            severity,
            advice: format!("What to do about {name}."),
        }
    }

    pub(crate) fn signal(kind: &str, line: u64, detail: &str) -> SignalReport {
        SignalReport {
            kind: kind.to_owned(),
            subject: detail.to_owned(),
            at: None,
            line,
            thread: None,
            confidence: 0.75,
            detail: detail.to_owned(),
            evidence: vec![line],
            path: None,
        }
    }

    pub(crate) fn session(id: &str, path: &str, signals: Vec<SignalReport>) -> SessionReport {
        let (mut counts, mut counts_subagents) = (BTreeMap::new(), BTreeMap::new());
        for signal in &signals {
            let counts = if signal.thread.is_some() { &mut counts_subagents } else { &mut counts };
            *counts.entry(signal.kind.clone()).or_default() += 1;
        }
        SessionReport {
            tool: "claude-code".to_owned(),
            session_id: id.to_owned(),
            path: path.to_owned(),
            project: Some("/home/dev/app".to_owned()),
            started_at: Some("2026-11-29T08:00:00Z".to_owned()),
            ended_at: Some("2026-11-29T09:00:00Z".to_owned()),
            stats: Stats::default(),
            counts,
            counts_subagents,
            signals,
            tally: Tally { understood: 10, ..Tally::default() },
            subagent: false,
        }
    }

    /// Sessions whose every text hurts.
    pub(crate) fn hostile_sessions() -> impl Strategy<Value = Vec<SessionReport>> {
        let signal =
            (hostile(), hostile(), any::<u64>(), any::<bool>()).prop_map(|(kind, detail, line, aside)| SignalReport {
                thread: aside.then(|| detail.clone()),
                path: Some(kind.clone()),
                ..signal(&kind, line, &detail)
            });
        let session = (hostile(), hostile(), prop::collection::vec(signal, 0..4)).prop_map(|(id, path, signals)| {
            SessionReport { tool: path.clone(), project: Some(id.clone()), ..session(&id, &path, signals) }
        });
        prop::collection::vec(session, 0..4)
    }

    #[test]
    fn kinds_are_counted_apart_and_together() {
        let mut aside = signal("retry-loop", 3, "b");
        aside.thread = Some("agent".into());
        let sessions =
            [session("1", "/a", vec![signal("tool-error", 1, "a"), aside.clone()]), session("2", "/b", vec![aside])];
        let view =
            View { sessions: &sessions, problems: &[], kinds: &[kind("churn", 2)], gate: None, here: Path::new("/") };
        let seen: Vec<_> =
            view.seen().into_iter().map(|(k, seen)| (k, seen.main, seen.subagents, seen.sessions)).collect();
        assert_eq!(seen, [("churn", 0, 0, 0), ("retry-loop", 0, 2, 2), ("tool-error", 1, 0, 1)]);
        assert_eq!(view.signals(), 3);
    }

    #[test]
    fn a_transcript_of_which_nothing_was_understood_is_not_one_without_friction() {
        let mut report = session("1", "/a", vec![]);
        assert_eq!(report.not_understood(), None);
        report.tally = Tally { broken: 2, ..Tally::default() };
        assert_eq!(report.not_understood().unwrap(), "/a: none of its records could be understood (2 were tried)");
    }
}
