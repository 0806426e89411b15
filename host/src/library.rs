//! The library: everything that was learned, from the store's signals to the page.
//!
//! Findings are kept in the store, because making them needs a session's signals; patterns are made of all findings
//! whenever they are asked for, because they depend on today's date.

use std::collections::{BTreeSet, HashMap};

use crate::{
    config,
    finding::{self, Finding, Sighting},
    insights::{Failed, Insights, Unknown, Unread},
    pattern::{self, Anchor, Decision, FindError, Incident, Known, Pattern, Session, View},
    proposal,
    sandbox::analyze::{Signal, SignalKind},
    store::{Imported, SessionId, Store, StoreError, StoredSignal},
    verdict::{self, Verdict},
};

/// Sessions with what was found in them.
#[derive(Debug, Default)]
pub struct Library {
    sessions: Vec<Session>,
    /// By session, as an index.
    findings: Vec<(usize, Finding)>,
    known: Known,
    unread: Unread,
    /// What became of the rules in force.
    rules: Vec<Verdict>,
    /// Proposals that wait for the person.
    drafted: usize,
}

/// Makes the findings of the sessions whose signals have changed.
///
/// # Errors
/// Those of the store.
pub fn renew(store: &mut Store, kinds: &[SignalKind]) -> Result<(), StoreError> {
    for session in store.stale_sessions()? {
        let signals: Vec<_> =
            store.signals(session)?.into_iter().map(|stored| (stored.transcript.0, signal(stored))).collect();
        let sightings: Vec<_> =
            signals.iter().map(|(transcript, signal)| Sighting { transcript: *transcript, signal }).collect();
        store.replace_findings(session, &finding::from_signals(&sightings, kinds))?;
    }
    store.commit()
}

fn signal(stored: StoredSignal) -> Signal {
    Signal {
        kind: stored.kind,
        subject: stored.subject,
        line: stored.line,
        at: stored.at,
        thread: stored.thread,
        #[expect(clippy::cast_possible_truncation, reason = "it was an f32 when it was stored")]
        confidence: stored.confidence as f32,
        detail: stored.detail,
        evidence: stored.evidence,
    }
}

/// Adds what was taken over from another program's library. A session that was never read here is made of what that one
/// knew, so that it counts; once its transcript is read they are one. Sessions stay ordered from the oldest on.
fn join(imported: Vec<Imported>, sessions: &mut Vec<Session>, findings: &mut Vec<(usize, Finding)>) {
    let read = sessions.len();
    let mut index: HashMap<(String, String), usize> = HashMap::new();
    for (number, session) in sessions.iter().enumerate() {
        index.entry((session.tool.clone(), session.id.clone())).or_insert(number);
    }
    for Imported { tool, session, at, finding, .. } in imported {
        let number = *index.entry((tool, session)).or_insert_with_key(|(tool, id)| {
            sessions.push(Session {
                tool: tool.clone(),
                id: id.clone(),
                project: String::new(),
                started_at: at,
                ended_at: at,
            });
            sessions.len() - 1
        });
        if number >= read {
            let session = &mut sessions[number];
            (session.started_at, session.ended_at) = (session.started_at.min(at), session.ended_at.max(at));
        }
        findings.push((number, finding));
    }
    if sessions.len() > read {
        let mut order: Vec<usize> = (0..sessions.len()).collect();
        order.sort_by_key(|&number| sessions[number].started_at);
        let mut place = vec![0; order.len()];
        for (to, &from) in order.iter().enumerate() {
            place[from] = to;
        }
        *sessions = order.iter().map(|&number| sessions[number].clone()).collect();
        for (number, _) in findings.iter_mut() {
            *number = place[*number];
        }
    }
}

impl Library {
    /// Reads it.
    ///
    /// # Errors
    /// Those of the store.
    pub fn load(store: &Store) -> Result<Self, StoreError> {
        let rows = store.sessions()?;
        let index: HashMap<SessionId, usize> = rows.iter().enumerate().map(|(index, row)| (row.id, index)).collect();
        let mut sessions: Vec<Session> = rows
            .into_iter()
            .map(|row| Session {
                tool: row.tool,
                id: row.native_id,
                project: row.project.unwrap_or_default(),
                started_at: row.started_at.unwrap_or_default(),
                ended_at: row.ended_at.unwrap_or_default(),
            })
            .collect();
        let mut findings: Vec<(usize, Finding)> = store
            .findings()?
            .into_iter()
            .filter_map(|(session, finding)| Some((*index.get(&session)?, finding)))
            .collect();
        join(store.imported()?, &mut sessions, &mut findings);
        let failed =
            store.failures()?.into_iter().map(|failed| Failed { path: failed.path, why: failed.why }).collect();
        let unread = store.unread_records()?;
        let unknown =
            unread.unknown.into_iter().map(|((tool, record), count)| Unknown { tool, record, count }).collect();
        let known = Known { anchors: store.anchors()?, decisions: store.decisions()? };
        let drafted = store.proposals()?.iter().filter(|it| it.status == proposal::Status::Drafted).count();
        let unread = Unread { failed, unknown, broken: unread.broken };
        Ok(Self { sessions, findings, known, unread, rules: Vec::new(), drafted })
    }

    /// What is known of patterns besides findings.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// The library as it would be with one decision more.
    #[must_use]
    pub fn suppose(mut self, anchors: &[Anchor], decision: Decision) -> Self {
        self.known.anchors.extend_from_slice(anchors);
        self.known.decisions.push(decision);
        self
    }

    /// With the verdicts on the rules in force, as of a day.
    ///
    /// # Errors
    /// Those of the store.
    pub fn judged(mut self, store: &Store, config: &config::Config, now: i64) -> Result<Self, StoreError> {
        self.rules = verdict::of(store, &self, &config.patterns, &config.rules, now)?;
        Ok(self)
    }

    #[cfg(test)]
    pub(crate) fn of(sessions: Vec<Session>) -> Self {
        Self { sessions, ..Self::default() }
    }

    /// All sessions, oldest first.
    pub fn sessions(&self) -> &[Session] {
        &self.sessions
    }

    /// All patterns on a day, strongest first.
    pub fn patterns(&self, settings: &config::Patterns, now: i64) -> Vec<Pattern> {
        let incidents: Vec<_> =
            self.findings.iter().map(|(session, finding)| Incident { session: *session, finding }).collect();
        let settings = pattern::Settings { half_life_days: settings.half_life_days, fading_days: settings.fading_days };
        pattern::patterns(&self.sessions, &incidents, &self.known, now, &settings)
    }

    /// The pattern that has or had this id, or whose id alone begins with it.
    ///
    /// # Errors
    /// None has it, or several have.
    pub fn pattern(&self, id: &str, settings: &config::Patterns, now: i64) -> Result<Pattern, FindError> {
        pattern::find(&self.patterns(settings, now), id).cloned()
    }

    /// The findings that a pattern names as evidence, the newest first.
    pub fn findings_of(&self, pattern: &Pattern) -> Vec<&Finding> {
        let sessions: std::collections::BTreeSet<usize> = pattern.seen_in.iter().copied().collect();
        let place = |finding: &Finding| finding.evidence.first().map(|first| (first.transcript, first.line));
        let mut found: Vec<(usize, &Finding)> = self
            .findings
            .iter()
            .filter(|(session, _)| sessions.contains(session))
            .filter_map(|(_, finding)| {
                let place = place(finding)?;
                let rank = pattern.evidence.iter().position(|it| (it.transcript, it.line) == place)?;
                // Two kinds may be seen in one line. What a model found and what was merged is of any.
                let is_of_any = pattern.spoken || finding.judged.is_some() || !pattern.aliases.is_empty();
                (is_of_any || finding.kind == pattern.kind).then_some((rank, finding))
            })
            .collect();
        found.sort_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, finding)| finding).collect()
    }

    /// The tools that a pattern was seen in, by name.
    pub fn tools_of(&self, pattern: &Pattern) -> Vec<String> {
        let tools: std::collections::BTreeSet<&str> = pattern
            .seen_in
            .iter()
            .filter_map(|&session| self.sessions.get(session))
            .map(|it| it.tool.as_str())
            .collect();
        tools.into_iter().map(str::to_owned).collect()
    }

    /// What it says on a day.
    pub fn insights(&self, kinds: &[SignalKind], settings: &config::Patterns, now: i64) -> Insights {
        self.insights_in(&View::default(), kinds, settings, now)
    }

    /// What a part of it says.
    pub fn insights_in(&self, view: &View, kinds: &[SignalKind], settings: &config::Patterns, now: i64) -> Insights {
        let incidents: Vec<_> =
            self.findings.iter().map(|(session, finding)| Incident { session: *session, finding }).collect();
        let settings = pattern::Settings { half_life_days: settings.half_life_days, fading_days: settings.fading_days };
        let insights = Insights::new(view, &self.sessions, &incidents, &self.known, kinds, now, &settings);
        let mut seen = BTreeSet::new();
        if view.project.is_some() && !self.rules.is_empty() {
            let ever = View { since: None, ..view.clone() };
            let patterns = pattern::patterns_in(&ever, &self.sessions, &incidents, &self.known, now, &settings);
            seen.extend(patterns.into_iter().map(|pattern| pattern.id));
        }
        insights.with_unread(self.unread.clone()).with_rules(self.rules.clone(), self.drafted, &seen)
    }

    /// The folders that its sessions are filed under.
    pub fn projects(&self) -> BTreeSet<String> {
        self.sessions.iter().map(|session| &session.project).filter(|project| !project.is_empty()).cloned().collect()
    }
}
