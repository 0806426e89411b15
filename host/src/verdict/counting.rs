//! What is counted for a rule: the sessions in which its friction could have come up, or the calls that its check is about.

use std::collections::{BTreeSet, HashMap};

use totalrecall_evidence::Visit;

use super::Unit;
use crate::{
    check::{Call, Check, Found},
    library::Library,
    pattern::{Anchor, Pattern, Session},
    proposal::Proposal,
    store::{Store, StoreError, Told, ToldCall},
};

/// A session as calls name it: tool, id, and time of its beginning, because two may share an id.
type Key = (String, String, i64);

/// Calls in which rules could have been broken, and those in which they were, by rule and session.
pub(super) struct Calls(HashMap<String, HashMap<Key, (u32, u32)>>);

impl Calls {
    /// Looks at all calls once for all rules.
    pub(super) fn read(store: &Store, rules: &[&Proposal]) -> Result<Self, StoreError> {
        let mut calls = HashMap::new();
        for told in [Told::Shell, Told::Files] {
            let checks: Vec<(&str, &Check)> = rules
                .iter()
                .filter_map(|rule| Some((rule.id.as_str(), rule.check.as_ref()?)))
                .filter(|(_, check)| matches!(check, Check::Command { .. }) == (told == Told::Shell))
                .collect();
            if checks.is_empty() {
                continue;
            }
            calls.extend(checks.iter().map(|(id, _)| ((*id).to_owned(), HashMap::new())));
            store.told_calls(told, |call| {
                for (id, check) in &checks {
                    let found = look(check, call);
                    if found != Found::Nothing
                        && let Some(sessions) = calls.get_mut(*id)
                    {
                        let key = (call.tool.clone(), call.session.clone(), call.started_at.unwrap_or_default());
                        let count: &mut (u32, u32) = sessions.entry(key).or_default();
                        count.0 += 1;
                        count.1 += u32::from(found == Found::Broken);
                    }
                }
            })?;
        }
        Ok(Self(calls))
    }
}

fn look(check: &Check, call: &ToldCall) -> Found {
    let project = call.project.as_deref().unwrap_or_default();
    match &call.command {
        Some(line) => check.look(&Call::Shell(line)),
        None => check.look(&Call::Files { paths: &call.paths, project }),
    }
}

/// Sessions by time, and what was counted in them.
pub(super) struct Opportunities {
    pub(super) visits: Vec<Visit>,
    pub(super) unit: Unit,
    /// By session of the library: which visit it is.
    place: Vec<Option<usize>>,
}

impl Opportunities {
    /// Calls are counted if the rule has a check and was broken before it was applied, as far as calls tell; otherwise sessions.
    pub(super) fn of(
        library: &Library,
        proposal: &Proposal,
        pattern: Option<&Pattern>,
        anchor: Option<&Anchor>,
        calls: &Calls,
    ) -> Self {
        let sessions = library.sessions();
        let seen_in: BTreeSet<usize> = pattern.iter().flat_map(|pattern| pattern.seen_in.iter().copied()).collect();
        let scope = Scope::new(sessions, &seen_in, proposal, pattern, anchor);
        let mut chosen: Vec<usize> = (0..sessions.len()).filter(|&index| scope.holds(&sessions[index])).collect();
        chosen.sort_by_key(|&index| sessions[index].started_at);
        let mut place = vec![None; sessions.len()];
        for (visit, &index) in chosen.iter().enumerate() {
            place[index] = Some(visit);
        }
        let visits = |count: &dyn Fn(usize) -> (u32, u32)| -> Vec<Visit> {
            let visit = |&index: &usize| {
                let (opportunities, occurrences) = count(index);
                Visit { at: sessions[index].started_at, opportunities, occurrences }
            };
            chosen.iter().map(visit).collect()
        };
        if let Some(calls) = calls.0.get(&proposal.id) {
            let by_calls = visits(&|index| {
                let session = &sessions[index];
                let key = (session.tool.clone(), session.id.clone(), session.started_at);
                calls.get(&key).copied().unwrap_or_default()
            });
            let applied_at = proposal.applied_at.unwrap_or(i64::MAX);
            if by_calls.iter().any(|visit| visit.at < applied_at && visit.occurrences > 0) {
                return Self { visits: by_calls, unit: Unit::Calls, place };
            }
        }
        Self { visits: visits(&|index| (1, u32::from(seen_in.contains(&index)))), unit: Unit::Sessions, place }
    }

    /// Where sessions of the library are among the visits, ascending.
    pub(super) fn among(&self, sessions: &[usize]) -> Vec<usize> {
        let mut visits: Vec<usize> =
            sessions.iter().filter_map(|&index| self.place.get(index).copied().flatten()).collect();
        visits.sort_unstable();
        visits
    }
}

/// Which sessions count.
struct Scope<'a> {
    tools: BTreeSet<&'a str>,
    /// Empty: all.
    projects: BTreeSet<&'a str>,
    applied_at: Option<i64>,
}

impl<'a> Scope<'a> {
    fn new(
        sessions: &'a [Session],
        seen_in: &BTreeSet<usize>,
        proposal: &'a Proposal,
        pattern: Option<&'a Pattern>,
        anchor: Option<&'a Anchor>,
    ) -> Self {
        let seen: BTreeSet<&str> = seen_in.iter().map(|&index| sessions[index].tool.as_str()).collect();
        let reached: BTreeSet<&str> = proposal.places.iter().map(|place| place.tool.as_str()).collect();
        // Sessions of a tool that never reads the rule say nothing of it, and a tool in which the friction never came up adds nothing
        // but opportunities.
        let both: BTreeSet<&str> = seen.intersection(&reached).copied().collect();
        let tools = if !both.is_empty() {
            both
        } else if reached.is_empty() {
            seen
        } else {
            reached
        };
        let bound =
            pattern.map_or_else(|| anchor.and_then(|anchor| anchor.project.as_deref()), |p| p.project.as_deref());
        let mut projects: BTreeSet<&str> = bound.into_iter().collect();
        if projects.is_empty() && proposal.places.iter().all(|place| place.project.is_some()) {
            projects = proposal.places.iter().filter_map(|place| place.project.as_deref()).collect();
        }
        Self { tools, projects, applied_at: proposal.applied_at }
    }

    /// A session that was going on when the rule was applied is neither before nor since; one without times is nowhere.
    fn holds(&self, session: &Session) -> bool {
        let straddles = self.applied_at.is_some_and(|at| session.started_at < at && session.ended_at >= at);
        session.started_at > 0
            && !straddles
            && self.tools.contains(session.tool.as_str())
            && (self.projects.is_empty() || self.projects.contains(session.project.as_str()))
    }
}
