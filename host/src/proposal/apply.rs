//! Bringing rules into force and taking them back.
//!
//! What is about to be written is noted in the store first; then the rules file, then the line that brings it in, then the
//! store again, which says that the rule is in force. Whenever that ends in between, the rule is still a draft that says where
//! it may be, and applying or taking it back once more completes either. Taking back goes the other way round.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    Author, Edits, Place, Proposal, RulesError, Status, Step, Written, import,
    place::{self, Target},
    rules_file::{self, BlockError},
    whole,
};
use crate::{config, files, model::tokens, paths::Home, store::Store};

/// What our own rules file begins with. Only the heading reaches the model.
pub(super) const HEADER: &str = "# Rules learned from past sessions\n<!-- Kept by TotalRecall: `totalrecall proposals --all` \
                                 lists them, `totalrecall revert ID` takes one back. -->\n\n";

/// What the store remembers of the files that we wrote to, by path.
const TRACES: &str = "rules.files";

/// What we did to a file, so that it can be undone to the byte.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Trace {
    /// Bytes of line breaks between what was there and ours.
    gap: usize,
    /// There was no file.
    created: bool,
    /// Folders that were made for it, the innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    folders: Vec<PathBuf>,
    /// The line that we added, and the file of rules that it brings in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    import: Option<(String, String)>,
}

type Traces = BTreeMap<String, Trace>;

/// Where a rule shall go.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The tools that shall read it.
    pub tools: Vec<String>,
    /// The project it is for; none: all of the person's.
    pub project: Option<PathBuf>,
    /// Take back what was changed by hand, too.
    pub force: bool,
}

/// The rules of the person: the store's proposals and the files that hold those in force.
pub struct Rules<'a> {
    /// Our folder.
    pub home: &'a Home,
    /// What is proposed, and what is in force.
    pub store: &'a mut Store,
    /// The settings.
    pub settings: &'a config::Rules,
    /// Milliseconds since the Unix epoch.
    pub now: i64,
}

/// Changes that are worked out and not made yet.
#[derive(Debug)]
pub struct Plan {
    /// The files.
    pub edits: Edits,
    traces: Traces,
    /// Proposals as they will be.
    proposals: Vec<Proposal>,
    /// Whether a rule comes into force: then the store is told where before it is written.
    applies: bool,
}

/// Keeps other processes of ours from changing rules until it is dropped.
#[derive(Debug)]
pub struct RulesLock {
    _file: fs::File,
}

impl RulesLock {
    /// The lock's file in the home.
    pub const FILE: &str = "rules.lock";

    /// Waits for it: rules are changed within moments.
    ///
    /// # Errors
    /// When its file cannot be used.
    pub fn take(home: &Home) -> Result<Self, RulesError> {
        let file = home.path().join(Self::FILE);
        let refused = |error: std::io::Error| RulesError::Lock { file: file.clone(), why: error.to_string() };
        let lock = fs::OpenOptions::new().write(true).create(true).truncate(false).open(&file).map_err(refused)?;
        lock.lock().map_err(refused)?;
        Ok(Self { _file: lock })
    }
}

impl Rules<'_> {
    /// The proposal whose id is, or alone begins with, what was given; with or without the `p-` in front.
    ///
    /// # Errors
    /// `Unknown`, `Ambiguous`, those of the store.
    pub fn find(&self, given: &str) -> Result<Proposal, RulesError> {
        let all = self.store.proposals()?;
        let is = |proposal: &&Proposal| proposal.id == given;
        if let Some(found) = all.iter().find(is) {
            return Ok(found.clone());
        }
        let begins = |proposal: &&Proposal| {
            !given.is_empty() && (proposal.id.starts_with(given) || proposal.id[2..].starts_with(given))
        };
        let mut found: Vec<&Proposal> = all.iter().filter(begins).collect();
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => Ok(only.clone()),
            (None, _) => Err(RulesError::Unknown(given.to_owned())),
            (Some(last), false) => {
                let ids = found.into_iter().chain([last]).map(|proposal| proposal.id.clone()).collect();
                Err(RulesError::Ambiguous { given: given.to_owned(), ids })
            }
        }
    }

    /// Works out what applying does. One that is in force already, or was taken back, can be applied again.
    ///
    /// # Errors
    /// See [`RulesError`]; nothing is changed in any case.
    pub fn plan_apply(&self, proposal: &Proposal, wanted: &Wanted) -> Result<Plan, RulesError> {
        if matches!(proposal.status, Status::Rejected | Status::Stale) {
            let (id, status) = (proposal.id.clone(), proposal.status);
            return Err(RulesError::Status { id, status, wanted: "applied" });
        }
        let mut plan = self.plan(true)?;
        if let Some(replaced) = proposal.replaces.as_deref().map(|id| self.store.proposal(id)).transpose()?.flatten()
            && !replaced.places.is_empty()
        {
            self.take(&mut plan, &replaced, wanted.force)?;
        }
        let targets = self.targets(proposal, wanted)?;
        let mut applied = proposal.clone();
        for target in targets {
            match proposal.step {
                Step::Rule => self.put(&mut plan, proposal, &target)?,
                Step::PathRule | Step::Hook => {
                    let edit = plan.edits.file(Path::new(&target.place.file))?;
                    note(&mut plan.traces, &target.place.file, edit.before.is_none());
                    edit.after = Some(whole::content(proposal).into_bytes());
                }
            }
            if !applied.places.contains(&target.place) {
                applied.places.push(target.place);
            }
        }
        if proposal.status != Status::Applied {
            applied.applied_at = Some(self.now);
        }
        (applied.status, applied.ended_at) = (Status::Applied, None);
        plan.proposals.push(applied);
        Ok(plan)
    }

    /// Works out what taking back does. A draft whose applying was cut off can be taken back, too: it then is a draft again.
    ///
    /// # Errors
    /// See [`RulesError`]; nothing is changed in any case.
    pub fn plan_revert(&self, proposals: &[Proposal], force: bool) -> Result<Plan, RulesError> {
        let mut plan = self.plan(false)?;
        for proposal in proposals {
            if proposal.status != Status::Applied && proposal.places.is_empty() {
                let (id, status) = (proposal.id.clone(), proposal.status);
                return Err(RulesError::Status { id, status, wanted: "taken back" });
            }
            self.take(&mut plan, proposal, force)?;
        }
        Ok(plan)
    }

    /// Makes the changes.
    ///
    /// # Errors
    /// See [`RulesError`]. When a file cannot be written, nothing is changed, or what was begun is completed by doing it again.
    pub fn carry_out(&mut self, plan: Plan) -> Result<Written, RulesError> {
        let staged = plan.edits.stage()?;
        if plan.applies {
            self.note_intent(&plan.proposals, &plan.traces)?;
        }
        let backups = staged.back_up(&self.home.backups(), self.now)?;
        let mut written = staged.commit()?;
        written.backups = backups;
        for proposal in &plan.proposals {
            self.store.put_proposal(proposal)?;
        }
        let mut traces = plan.traces;
        for gone in &written.deleted {
            if let Some(trace) = traces.remove(gone.to_string_lossy().as_ref()) {
                for folder in trace.folders {
                    // One that is not empty is somebody's.
                    let _ = fs::remove_dir(folder);
                }
            }
        }
        self.set_traces(&traces)?;
        Ok(written)
    }

    /// Rejects a draft; its pattern is not drafted for again.
    ///
    /// # Errors
    /// `Status` unless it is a draft; those of the store and, where applying it was cut off, of its files.
    pub fn reject(&mut self, proposal: &Proposal) -> Result<(), RulesError> {
        if proposal.status != Status::Drafted {
            let (id, status) = (proposal.id.clone(), proposal.status);
            return Err(RulesError::Status { id, status, wanted: "rejected" });
        }
        let mut rejected = proposal.clone();
        if !proposal.places.is_empty() {
            let plan = self.plan_revert(std::slice::from_ref(proposal), false)?;
            self.carry_out(plan)?;
            rejected.places.clear();
        }
        (rejected.status, rejected.ended_at) = (Status::Rejected, Some(self.now));
        Ok(self.store.put_proposal(&rejected)?)
    }

    /// Ids of rules of ours in files of the person's that no proposal of the store names: of a home that was lost.
    ///
    /// # Errors
    /// Those of files that cannot be read.
    pub fn strays(&self) -> Result<Vec<(PathBuf, String)>, RulesError> {
        let known = self.store.proposals()?;
        let mut strays = Vec::new();
        for target in place::TOOLS.iter().filter_map(|tool| place::target(tool, None)) {
            let file = PathBuf::from(&target.place.file);
            let Ok(content) = fs::read(&file) else { continue };
            let blocks = rules_file::blocks(&content).map_err(|why| RulesError::Block { file: file.clone(), why })?;
            for block in blocks {
                let is_known = known.iter().any(|proposal| {
                    proposal.id == block.id && proposal.places.iter().any(|place| place.file == target.place.file)
                });
                if !is_known {
                    strays.push((file.clone(), block.id));
                }
            }
        }
        Ok(strays)
    }

    /// Takes a stray rule back.
    ///
    /// # Errors
    /// See [`RulesError`].
    pub fn take_stray(&mut self, file: &Path, id: &str, force: bool) -> Result<Written, RulesError> {
        let mut plan = self.plan(false)?;
        self.take_block(&mut plan, &file.to_string_lossy(), id, force)?;
        self.carry_out(plan)
    }

    fn plan(&self, applies: bool) -> Result<Plan, RulesError> {
        Ok(Plan { edits: Edits::default(), traces: self.traces()?, proposals: Vec::new(), applies })
    }

    fn targets(&self, proposal: &Proposal, wanted: &Wanted) -> Result<Vec<Target>, RulesError> {
        let id = || proposal.id.clone();
        match proposal.step {
            Step::Rule => {
                let project = wanted.project.as_deref();
                let mut targets: Vec<Target> =
                    wanted.tools.iter().filter_map(|tool| place::target(tool, project)).collect();
                if targets.is_empty() {
                    return Err(RulesError::NoTool { id: id(), tools: wanted.tools.clone() });
                }
                // What two tools read is written once.
                let mut seen = Vec::new();
                targets.retain(|target| {
                    let is_new = !seen.contains(&target.place.file);
                    seen.push(target.place.file.clone());
                    is_new
                });
                Ok(targets)
            }
            Step::PathRule => {
                let project = wanted.project.as_deref().ok_or_else(|| RulesError::NoProject(id()))?;
                Ok(vec![Target { place: place::path_rule(project, &proposal.id), import: None }])
            }
            Step::Hook if proposal.check.is_none() => Err(RulesError::NoCheck(id())),
            Step::Hook => {
                let file = self.home.hooks().join(format!("{}.json", proposal.id)).to_string_lossy().into_owned();
                let project = wanted.project.as_ref().map(|project| project.to_string_lossy().into_owned());
                let tool = place::TOOLS[0].to_owned();
                Ok(vec![Target { place: Place { tool, file, project }, import: None }])
            }
        }
    }

    /// Puts a rule into its file, and the line that brings the file in into another.
    fn put(&self, plan: &mut Plan, proposal: &Proposal, target: &Target) -> Result<(), RulesError> {
        let file = PathBuf::from(&target.place.file);
        let refused = |why: BlockError| RulesError::Block { file: file.clone(), why };
        let edit = plan.edits.file(&file)?;
        let is_new = edit.before.is_none();
        let before = match (&edit.after, &target.import) {
            (None, Some(_)) => HEADER.as_bytes().to_vec(),
            (content, _) => content.clone().unwrap_or_default(),
        };
        let inner = rules_file::inner(&proposal.text, proposal.occurrences, &day(proposal.last_seen));
        let put = rules_file::put(&before, &proposal.id, &inner).map_err(refused)?;
        let had_none = rules_file::blocks(&before).map_err(refused)?.is_empty();
        let (old, new) = (costs(edit.before.as_deref().unwrap_or_default()), costs(&put.file));
        let (old, new) = (old.map_err(refused)?, new.map_err(refused)?);
        let sum = |rules: &[(String, u32)]| rules.iter().map(|(_, tokens)| tokens).sum::<u32>();
        if sum(&new) > self.settings.tokens && sum(&new) > sum(&old) {
            let rules = new.into_iter().filter(|(id, _)| *id != proposal.id).collect::<Vec<_>>();
            let tokens = sum(&rules) + proposal.tokens;
            return Err(RulesError::Budget { file, tokens, limit: self.settings.tokens, rules });
        }
        edit.after = Some(put.file);
        let trace = note(&mut plan.traces, &target.place.file, is_new);
        if had_none {
            trace.gap = put.gap;
        }
        let Some((entry, line)) = &target.import else { return Ok(()) };
        let edit = plan.edits.file(entry)?;
        let added = import::add(edit.content(), line).map_err(|why| RulesError::Block { file: entry.clone(), why })?;
        if let Some(added) = added {
            let is_new = edit.before.is_none();
            edit.after = Some(added.file);
            let trace = note(&mut plan.traces, &entry.to_string_lossy(), is_new);
            trace.gap = added.gap;
            trace.import = Some(((*line).to_owned(), target.place.file.clone()));
        }
        Ok(())
    }

    /// Takes a rule out of all of its files.
    fn take(&self, plan: &mut Plan, proposal: &Proposal, force: bool) -> Result<(), RulesError> {
        for place in &proposal.places {
            let file = PathBuf::from(&place.file);
            match proposal.step {
                Step::Rule if proposal.author == Author::Imported && !force && is_foreign(&file, &proposal.id) => {
                    return Err(RulesError::Foreign { id: proposal.id.clone(), file });
                }
                Step::Rule => self.take_block(plan, &place.file, &proposal.id, force)?,
                Step::PathRule | Step::Hook => {
                    let edit = plan.edits.file(&file)?;
                    let is_ours = edit.after.as_deref().is_none_or(|it| it == whole::content(proposal).as_bytes());
                    if !is_ours && !force {
                        let why = BlockError::Edited(proposal.id.clone());
                        return Err(RulesError::Block { file, why });
                    }
                    edit.after = None;
                }
            }
        }
        let mut taken = proposal.clone();
        if proposal.status == Status::Applied {
            (taken.status, taken.ended_at) = (Status::Reverted, Some(self.now));
        }
        taken.places.clear();
        plan.proposals.push(taken);
        Ok(())
    }

    fn take_block(&self, plan: &mut Plan, path: &str, id: &str, force: bool) -> Result<(), RulesError> {
        let file = PathBuf::from(path);
        let refused = |why: BlockError| RulesError::Block { file: file.clone(), why };
        let trace = plan.traces.get(path).cloned().unwrap_or_default();
        let edit = plan.edits.file(&file)?;
        if let Some(content) = &edit.after {
            let left = match rules_file::take(content, id, trace.gap, force).map_err(refused)? {
                Some(left) => left,
                None => content.clone(),
            };
            let is_empty = if trace.created { left.is_empty() } else { false };
            edit.after = Some(left.clone()).filter(|_| !is_empty && left != HEADER.as_bytes());
        }
        if edit.after.is_some() {
            return Ok(());
        }
        // The line that brought it in goes where we put it there.
        let entries: Vec<(String, Trace)> = plan
            .traces
            .iter()
            .filter(|(_, trace)| trace.import.as_ref().is_some_and(|(_, rules)| rules == path))
            .map(|(entry, trace)| (entry.clone(), trace.clone()))
            .collect();
        for (entry, trace) in entries {
            let edit = plan.edits.file(Path::new(&entry))?;
            let line = trace.import.as_ref().map_or("", |(line, _)| line);
            let removed = import::remove(edit.content(), line, trace.gap)
                .map_err(|why| RulesError::Block { file: PathBuf::from(&entry), why })?;
            if let Some(left) = removed {
                edit.after = Some(left).filter(|left| !(trace.created && left.is_empty()));
            }
            if edit.after.is_some() {
                plan.traces.remove(&entry);
            }
        }
        Ok(())
    }

    /// Says where a rule may be from now on.
    fn note_intent(&mut self, proposals: &[Proposal], traces: &Traces) -> Result<(), RulesError> {
        let mut all = self.traces()?;
        all.extend(traces.iter().map(|(file, trace)| (file.clone(), trace.clone())));
        self.set_traces(&all)?;
        for proposal in proposals.iter().filter(|proposal| proposal.status == Status::Applied) {
            let Some(mut now) = self.store.proposal(&proposal.id)? else { continue };
            now.places.clone_from(&proposal.places);
            self.store.put_proposal(&now)?;
        }
        Ok(())
    }

    fn traces(&self) -> Result<Traces, RulesError> {
        // One that cannot be read costs no more than an empty line that stays.
        Ok(self.store.meta(TRACES)?.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    fn set_traces(&mut self, traces: &Traces) -> Result<(), RulesError> {
        let text = serde_json::to_string(traces).unwrap_or_default();
        Ok(self.store.set_meta(TRACES, &text)?)
    }
}

/// The trace of a file, which is remembered from before if it was written to before.
fn note<'t>(traces: &'t mut Traces, file: &str, is_new: bool) -> &'t mut Trace {
    let trace = traces.entry(file.to_owned()).or_default();
    if is_new {
        trace.created = true;
        let folders = Path::new(file).ancestors().skip(1).take_while(|folder| !folder.exists());
        for folder in folders {
            if !trace.folders.iter().any(|known| known == folder) {
                trace.folders.push(folder.to_path_buf());
            }
        }
    }
    trace
}

/// Whether a file holds rules of another program, and not this one as we would have written it.
fn is_foreign(file: &Path, id: &str) -> bool {
    let content = fs::read(file).unwrap_or_default();
    let is_ours = rules_file::blocks(&content).is_ok_and(|blocks| blocks.iter().any(|block| block.id == id));
    !is_ours && memchr::memmem::find(&content, b"<!-- pattern:").is_some()
}

/// What each rule of a file costs.
fn costs(file: &[u8]) -> Result<Vec<(String, u32)>, BlockError> {
    let cost = |inner: &str| inner.lines().filter(|line| !line.starts_with("<!--")).map(tokens).sum();
    Ok(rules_file::blocks(file)?.into_iter().map(|block| (block.id, cost(&block.inner))).collect())
}

/// The day of a time, UTC.
pub(super) fn day(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at).map_or_else(|_| "?".to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}

/// Writes the page of proposals into the home.
///
/// # Errors
/// Those of the file system.
pub fn write_page(home: &Home, page: &str) -> std::io::Result<()> {
    files::write_atomically(&home.proposals(), page.as_bytes())
}
