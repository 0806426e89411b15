//! What is to be kept of the other program's home, given what is known here.
//!
//! The plan depends on nothing but these two, so that the same import twice finds everything known, and a later one adds
//! what came since. What a person did here since (applied a rule, rejected it) is never undone by it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::{
    Import, ImportError, TOTALRECALL,
    id::{self, Fault},
    old::{self, Old},
    report::{Counted, Difference, Matter, Repair, Report, RulesFile, Waiting},
};
use crate::{
    finding::{Category, Evidence, Finding, Judged},
    pattern::{self, Anchor},
    proposal::{self, Author, Place, Proposal, Status, Step},
    redact::Redactor,
    store::{Imported, Original, Sort, Store, StoreError},
};

/// How sure it is that a session belongs to a pattern that other frictions may have been counted for, too.
const COLLAPSED_CONFIDENCE: f32 = 0.3;

/// How sure a model's finding is that nobody has looked at.
const CONFIDENCE: f32 = 0.7;

/// What is known here.
#[derive(Default)]
pub(super) struct Known {
    anchors: HashMap<String, Anchor>,
    findings: HashMap<(String, String, String), (i64, Finding)>,
    proposals: HashMap<String, Proposal>,
    originals: HashMap<(bool, String, String), String>,
}

impl Known {
    pub(super) fn of(store: &Store) -> Result<Self, ImportError> {
        let ours = |it: &Imported| it.origin == TOTALRECALL;
        Ok(Self {
            anchors: store.anchors()?.into_iter().map(|it| (it.id.clone(), it)).collect(),
            findings: store
                .imported()?
                .into_iter()
                .filter(ours)
                .map(|it| ((it.tool, it.session, it.pattern), (it.at, it.finding)))
                .collect(),
            proposals: store.proposals()?.into_iter().map(|it| (it.id.clone(), it)).collect(),
            originals: store
                .originals()?
                .into_iter()
                .filter(|it| it.origin == TOTALRECALL)
                .map(|it| ((it.sort == Sort::Pattern, it.name, it.ours), it.body))
                .collect(),
        })
    }
}

/// What is to be written, and what is to be told of it.
#[derive(Default)]
pub(super) struct Plan {
    anchors: Vec<Anchor>,
    findings: Vec<Imported>,
    proposals: Vec<Proposal>,
    originals: Vec<Original>,
    pub(super) report: Report,
}

impl Plan {
    pub(super) fn new(old: &Old, known: &Known, import: &Import<'_>) -> Self {
        let mut maker =
            Maker { old, known, import, plan: Self::default(), named: HashMap::new(), taken: HashMap::new() };
        maker.patterns();
        maker.proposals();
        maker.rest();
        maker.plan
    }

    pub(super) fn carry_out(&self, store: &mut Store, now: i64) -> Result<(), StoreError> {
        self.anchors.iter().try_for_each(|anchor| store.put_anchor(anchor, now))?;
        self.findings.iter().try_for_each(|finding| store.put_imported(finding))?;
        self.proposals.iter().try_for_each(|proposal| store.put_proposal(proposal))?;
        self.originals.iter().try_for_each(|original| store.put_original(original, now))
    }
}

struct Maker<'a> {
    old: &'a Old,
    known: &'a Known,
    import: &'a Import<'a>,
    plan: Plan,
    /// The old ids, and what became of them.
    named: HashMap<&'a str, Anchor>,
    /// Anchors of this plan, by id.
    taken: HashMap<String, Anchor>,
}

impl<'a> Maker<'a> {
    fn redact(&self, text: &str) -> String {
        self.import.redactor.redact(text).into_owned()
    }

    fn note(&mut self, what: &str, why: String) {
        self.plan.report.notes.push(Matter { what: what.to_owned(), why });
    }

    fn patterns(&mut self) {
        let mut sessions: BTreeSet<(&str, &str)> = BTreeSet::new();
        let mut findings: BTreeMap<(&str, &str, String), Imported> = BTreeMap::new();
        for pattern in &self.old.patterns {
            let (anchor, fault) = self.anchor_of(pattern);
            let grouped = of_sessions(&pattern.evidence);
            for (number, ((tool, session), seen)) in grouped.iter().enumerate() {
                sessions.insert((tool, session));
                // The pattern was made for its first session's finding.
                let is_sure = fault != Some(Fault::Collapsed) || number == 0;
                let made = self.finding(pattern, &anchor, seen, is_sure);
                let at = made.last_at.unwrap_or_default();
                findings.entry((tool, session, anchor.id.clone())).or_insert_with(|| Imported {
                    origin: TOTALRECALL.to_owned(),
                    tool: (*tool).to_owned(),
                    session: (*session).to_owned(),
                    pattern: anchor.id.clone(),
                    at,
                    finding: made,
                });
            }
            self.tell(pattern, &anchor, fault, grouped.len());
            self.keep(Sort::Pattern, &pattern.id, &anchor.id, &pattern.raw);
        }
        self.plan.report.sessions = sessions.len();
        let counted = &mut self.plan.report.findings;
        counted.found = findings.len();
        for finding in findings.into_values() {
            let key = (finding.tool.clone(), finding.session.clone(), finding.pattern.clone());
            match self.known.findings.get(&key) {
                Some((at, known)) if *at == finding.at && *known == finding.finding => continue,
                Some(_) => counted.changed += 1,
                None => counted.new += 1,
            }
            self.plan.findings.push(finding);
        }
    }

    /// What a pattern is called here, and why it could not keep its id.
    fn anchor_of(&mut self, old: &'a old::Pattern) -> (Anchor, Option<Fault>) {
        let description = self.redact(&old.description);
        let category = Category::ALL.into_iter().find(|it| it.name() == old.category).unwrap_or_default();
        let fault = id::fault(&old.id, &old.description);
        let before = (self.taken.len(), self.plan.anchors.len());
        let (anchor, fault) = self.anchor(&old.id, category, &description, fault);
        let counted = &mut self.plan.report.patterns;
        counted.found += self.taken.len() - before.0;
        counted.new += self.plan.anchors.len() - before.1;
        if category == Category::Other && old.category != Category::Other.name() && !old.category.is_empty() {
            let told = self.redact(&old.category);
            self.note(&anchor.id, format!("its category {told:?} is none of those here: it is one of `other`"));
        }
        self.named.entry(&old.id).or_insert_with(|| anchor.clone());
        (anchor, fault)
    }

    fn anchor(
        &mut self,
        old: &str,
        category: Category,
        subject: &str,
        fault: Option<Fault>,
    ) -> (Anchor, Option<Fault>) {
        let (kind, key) = (category.name(), pattern::normal(subject));
        let is_other = |it: &Anchor| (it.kind.as_str(), it.key.as_str()) != (kind, key.as_str());
        let taken = self.known.anchors.get(old).or_else(|| self.taken.get(old)).is_some_and(is_other);
        let fault = fault.or(taken.then_some(Fault::Taken));
        let id = if fault.is_some() { pattern::id_of(kind, None, &key, subject) } else { old.to_owned() };
        if let Some(fault) = fault {
            let repair = Repair { old: old.to_owned(), new: id.clone(), why: fault.why().to_owned() };
            if !self.plan.report.repaired.contains(&repair) {
                self.plan.report.repaired.push(repair);
            }
        }
        let anchor =
            Anchor { id: id.clone(), kind: kind.to_owned(), project: None, key, subject: subject.to_owned(), category };
        if self.taken.insert(id.clone(), anchor.clone()).is_none() && !self.known.anchors.contains_key(&id) {
            self.plan.anchors.push(anchor.clone());
        }
        (anchor, fault)
    }

    fn finding(&self, old: &old::Pattern, anchor: &Anchor, seen: &[&old::Evidence], is_sure: bool) -> Finding {
        let times = || seen.iter().filter_map(|it| it.at);
        let last_at = times().max().or(old.last_seen);
        let turns: BTreeSet<i64> = seen.iter().flat_map(|it| &it.turns).copied().collect();
        let turns = match turns.iter().map(i64::to_string).collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => String::new(),
            turns => format!(" (turns {turns}, as the Python TotalRecall counted them)"),
        };
        Finding {
            kind: anchor.kind.clone(),
            category: anchor.category,
            subject: anchor.subject.clone(),
            words: None,
            severity: old.severity,
            confidence: if is_sure { CONFIDENCE } else { COLLAPSED_CONFIDENCE },
            detail: format!("{}{turns}", anchor.subject),
            count: u32::try_from(seen.len()).unwrap_or(u32::MAX),
            in_subagents: 0,
            first_at: times().min().or(last_at),
            last_at,
            evidence: vec![Evidence { transcript: 0, line: 0, at: last_at, thread: None }],
            judged: Some(Judged {
                form: None,
                hint: old.hint.as_deref().map(|hint| self.redact(hint)),
                pattern: Some(anchor.id.clone()),
                call: 0,
                prompt: String::new(),
                model: "imported".to_owned(),
                cost_usd: 0.0,
                snippets: Vec::new(),
            }),
        }
    }

    /// What a person should know of a pattern's numbers.
    fn tell(&mut self, old: &old::Pattern, anchor: &Anchor, fault: Option<Fault>, sessions: usize) {
        let now = u32::try_from(sessions).unwrap_or(u32::MAX);
        let pieces = old.evidence.len();
        if now != old.occurrences {
            let mut why = Vec::new();
            if pieces > sessions {
                why.push(format!("{} are of sessions that it had counted before", pieces - sessions));
            }
            if pieces != old.occurrences as usize {
                why.push(format!("{} holds {pieces} pieces of evidence", old.file));
            }
            let why = why.join("; ");
            self.plan.report.differences.push(Difference {
                pattern: anchor.id.clone(),
                then: old.occurrences,
                now,
                why,
            });
        }
        let blank = old.evidence.iter().filter(|it| it.is_blank).count();
        if blank > 0 {
            self.note(
                &anchor.id,
                format!(
                    "evidence that names no turns ({blank} of {pieces}): further sessions of that sort were not counted by the old program"
                ),
            );
        }
        if fault == Some(Fault::Collapsed) && pieces > 1 {
            self.note(
                &anchor.id,
                format!(
                    "only the first description was kept, of the first session; the other {} may be of other frictions, \
                     which only reading these sessions again can tell",
                    sessions.saturating_sub(1)
                ),
            );
        }
    }

    fn keep(&mut self, sort: Sort, name: &str, ours: &str, raw: &Value) {
        let body = redacted(self.import.redactor, raw).to_string();
        let (name, ours) = (self.redact(name), ours.to_owned());
        if self.known.originals.get(&(sort == Sort::Pattern, name.clone(), ours.clone())) == Some(&body) {
            return;
        }
        if sort == Sort::Pattern && self.known.anchors.contains_key(&ours) {
            self.plan.report.patterns.changed += 1;
        }
        self.plan.originals.push(Original { origin: TOTALRECALL.to_owned(), sort, name, ours, body });
    }

    fn proposals(&mut self) {
        let mut of: HashMap<&str, Vec<Proposal>> = HashMap::new();
        for old in &self.old.proposals {
            let anchor = self.anchor_for(&old.pattern, &old.text);
            let (status, note) = self.status_of(old);
            let proposal = self.proposal(&anchor, status, &old.text, &old.rationale, [old.created_at, old.applied_at]);
            if let Some(note) = note {
                self.note(&old.id, note);
            }
            of.entry(&old.pattern).or_default().push(proposal);
        }
        let drafted: BTreeSet<&str> = self.old.proposals.iter().map(|it| it.pattern.as_str()).collect();
        // Rules whose proposal is lost: the file, or the pattern, still tells of them.
        for block in self.old.rules.blocks.iter().filter(|block| !drafted.contains(block.pattern.as_str())) {
            let anchor = self.anchor_for(&block.pattern, &block.text);
            let old = self.old.patterns.iter().find(|it| it.id == block.pattern);
            let applied = old.and_then(|it| it.applied_at).or(self.old.rules.written_at);
            let created = old.and_then(|it| it.last_seen);
            let proposal = self.proposal(&anchor, Status::Applied, &block.text, "", [created, applied]);
            self.note(&proposal.id, "its rule is in the rules file and its proposal is lost".to_owned());
            of.entry(&block.pattern).or_default().push(proposal);
        }
        for pattern in &self.old.patterns {
            let (Some(at), Some(rule)) = (pattern.applied_at, &pattern.applied_rule) else { continue };
            if !of.contains_key(pattern.id.as_str()) {
                let anchor = self.anchor_for(&pattern.id, rule);
                let proposal = self.proposal(&anchor, Status::Reverted, rule, "", [pattern.last_seen, Some(at)]);
                self.note(&proposal.id, "its rule was applied, and is in no rules file any more".to_owned());
                of.entry(&pattern.id).or_default().push(proposal);
            }
        }
        let mut all: Vec<(&str, Proposal)> =
            of.into_iter().flat_map(|(old, some)| some.into_iter().map(move |one| (old, one))).collect();
        all.sort_by(|(_, a), (_, b)| (&a.pattern, a.created_at).cmp(&(&b.pattern, b.created_at)));
        let mut used = BTreeSet::new();
        for (old, proposal) in all {
            self.take(old, proposal, &mut used);
        }
    }

    /// The pattern of a proposal; one that has none gets one that is told by its rule.
    fn anchor_for(&mut self, old: &str, rule: &str) -> Anchor {
        if let Some(anchor) = self.named.get(old) {
            return anchor.clone();
        }
        let rule = self.redact(rule);
        let fault = id::fault(old, &rule);
        self.anchor(old, Category::Other, &rule, fault).0
    }

    /// What a proposal is here, and what should be said of it.
    fn status_of(&self, old: &old::Proposal) -> (Status, Option<String>) {
        let rules = &self.old.rules;
        match old.status.as_str() {
            "applied" if rules.is_there && rules.block(&old.pattern).is_none() => {
                (Status::Reverted, Some("it was applied, and its rule is in the rules file no more".to_owned()))
            }
            "applied" if !rules.is_there => {
                (Status::Applied, Some("it was applied, and its rules file is not here".to_owned()))
            }
            "applied" => (Status::Applied, None),
            "drafted" => (Status::Drafted, None),
            "rejected" => (Status::Rejected, None),
            "stale" => (Status::Stale, None),
            other => (Status::Stale, Some(format!("its status {other:?} is none that the old program has"))),
        }
    }

    fn proposal(
        &mut self,
        anchor: &Anchor,
        status: Status,
        text: &str,
        rationale: &str,
        [created_at, applied_at]: [Option<i64>; 2],
    ) -> Proposal {
        let old = self.old.patterns.iter().find(|it| self.named.get(it.id.as_str()) == Some(anchor));
        let was_applied = matches!(status, Status::Applied | Status::Reverted);
        let in_force = was_applied.then(|| {
            let of = |it: &&super::rules::Block| {
                self.named.get(it.pattern.as_str()) == Some(anchor) || it.pattern == anchor.id
            };
            self.old.rules.blocks.iter().find(of).map(|it| it.text.clone())
        });
        let in_force = in_force.flatten().filter(|it| it != text);
        let text = self.redact(in_force.as_deref().unwrap_or(text));
        let created_at = created_at.or(applied_at).or(old.and_then(|it| it.last_seen)).unwrap_or_default();
        let applied_at = applied_at.or(old.and_then(|it| it.applied_at)).filter(|_| was_applied);
        let proposal = Proposal {
            id: format!("p-{}", anchor.id),
            pattern: anchor.id.clone(),
            status,
            step: Step::Rule,
            tokens: proposal::cost(&text),
            text,
            rationale: self.redact(rationale),
            paths: Vec::new(),
            check: None,
            author: Author::Imported,
            replaces: None,
            occurrences: old.map_or(0, |it| it.occurrences),
            created_at,
            last_seen: old.and_then(|it| it.last_seen).unwrap_or_default(),
            // A rule that is in force was applied at some time.
            applied_at: applied_at.or(was_applied.then_some(created_at)),
            // When that was is not told.
            ended_at: match status {
                Status::Reverted => Some(self.old.rules.written_at.unwrap_or(self.import.now)),
                Status::Rejected | Status::Stale => Some(created_at),
                Status::Drafted | Status::Applied => None,
            },
            places: match (&self.old.rules.path, status) {
                (Some(file), Status::Applied) => {
                    vec![Place { tool: "claude-code".to_owned(), file: file.display().to_string(), project: None }]
                }
                _ => Vec::new(),
            },
        };
        if in_force.is_some() {
            self.note(
                &proposal.id,
                "its rule was changed in the rules file: that is the text that was taken over".to_owned(),
            );
        }
        proposal
    }

    /// Gives a proposal the first id that is free, or its own. What became of it here since stays.
    fn take(&mut self, old: &str, mut proposal: Proposal, used: &mut BTreeSet<String>) {
        let base = proposal.id.clone();
        let is_same = |known: &Proposal| known.created_at == proposal.created_at && known.pattern == proposal.pattern;
        let mut number = 1;
        while used.contains(&proposal.id) || self.known.proposals.get(&proposal.id).is_some_and(|it| !is_same(it)) {
            number += 1;
            proposal.id = format!("{base}-{number}");
        }
        used.insert(proposal.id.clone());
        let counts = &mut self.plan.report.proposals;
        counts.counted.found += 1;
        *match proposal.status {
            Status::Drafted => &mut counts.drafted,
            Status::Applied => &mut counts.applied,
            Status::Rejected => &mut counts.rejected,
            Status::Reverted => &mut counts.reverted,
            Status::Stale => &mut counts.stale,
        } += 1;
        if let Some(raw) = self.old.proposals.iter().find(|it| it.pattern == old) {
            self.keep(Sort::Proposal, &raw.id, &proposal.id, &raw.raw);
        }
        match self.known.proposals.get(&proposal.id) {
            None => self.plan.report.proposals.counted.new += 1,
            // The person went on with it there, and did nothing with it here.
            Some(known) if known.status == Status::Drafted && proposal.status != Status::Drafted => {
                self.plan.report.proposals.counted.changed += 1;
            }
            Some(_) => return,
        }
        self.plan.proposals.push(proposal);
    }

    fn rest(&mut self) {
        let (old, report) = (self.old, &mut self.plan.report);
        report.folder = old.folder.display().to_string();
        report.rules_file = old.rules.path.as_ref().map(|path| RulesFile {
            path: path.display().to_string(),
            is_there: old.rules.is_there,
            rules: old.rules.blocks.len(),
            is_imported: old.rules.is_imported,
        });
        report.skipped.clone_from(&old.skipped);
        report.ledger.done = waiting(&old.done);
        report.ledger.pending = waiting(&old.pending);
        report.ledger.queued = waiting(&old.queued);
        report.settings = old.settings.report(self.import.config);
    }
}

/// A pattern's evidence by session, in the order of the first of each.
fn of_sessions(evidence: &[old::Evidence]) -> Vec<((&str, &str), Vec<&old::Evidence>)> {
    let mut numbers: HashMap<(&str, &str), usize> = HashMap::new();
    let mut sessions: Vec<((&str, &str), Vec<&old::Evidence>)> = Vec::new();
    for one in evidence {
        let session = (one.tool.as_str(), one.session.as_str());
        let number = *numbers.entry(session).or_insert_with(|| {
            sessions.push((session, Vec::new()));
            sessions.len() - 1
        });
        sessions[number].1.push(one);
    }
    sessions
}

fn waiting(paths: &[String]) -> Waiting {
    let mut waiting = Waiting { all: paths.len(), ..Waiting::default() };
    for path in paths {
        // It copied sessions of OpenCode into files of its own.
        if path.replace('\\', "/").contains("/opencode-cache/") {
            waiting.copies += 1;
        } else if std::path::Path::new(path).is_file() {
            waiting.there += 1;
        } else {
            waiting.gone.push(path.clone());
        }
    }
    waiting
}

fn redacted(redactor: &Redactor, value: &Value) -> Value {
    match value {
        Value::String(text) => redactor.redact(text).into_owned().into(),
        Value::Array(values) => values.iter().map(|value| redacted(redactor, value)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), redacted(redactor, value))).collect(),
        other => other.clone(),
    }
}

impl std::fmt::Display for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} new", self.found, self.new)?;
        if self.changed > 0 {
            write!(f, ", {} changed", self.changed)?;
        }
        f.write_str(")")
    }
}
