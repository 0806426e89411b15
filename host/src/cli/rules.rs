//! `apply`, `reject` and `revert`: what the person decides about proposals. What commands about rules have in common.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::{Context, Outcome, Usage, library, patterns, ui, work};
use crate::{
    clean::clean,
    guests::Guests,
    library::Library,
    pattern::Pattern,
    proposal::{
        self, Case, Edits, Proposal, Rules, RulesError, RulesLock, Status, Step, TOOLS, Wanted, Written, hook_settings,
    },
    sandbox::analyze::SignalKind,
    store::{Store, StoreError},
    verdict::{self, Verdict},
};

/// Bring proposed rules into force
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall apply p-tool-error-edit --dry-run     show what would change
  totalrecall apply p-tool-error-edit               for all of your projects
  totalrecall apply p-correction-use-pnpm --project for the project it was seen in
  totalrecall apply --all --tool all                in every tool's file of instructions

A rule goes into a file of its own beside CLAUDE.md, which gets one line that brings it in; into AGENTS.md as a marked
block. What was there stays as it is, and a copy of it is kept in the home's `backups`.")]
pub(super) struct Apply {
    /// Proposals, by their ids or beginnings of them
    #[arg(value_name = "ID", required_unless_present = "all")]
    ids: Vec<String>,
    /// All that are drafted
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    #[command(flatten)]
    place: PlaceArguments,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Replace a rule in its file even if it was changed by hand
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Where rules go.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct PlaceArguments {
    /// For one project instead of all: DIR, else the one it was seen in, else the current one
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    project: Option<Option<PathBuf>>,
    /// Tools that shall read it: claude-code, codex, opencode or all [default: those it was seen in]
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    tool: Vec<String>,
}

/// Do away with drafts for good
#[derive(Debug, clap::Args)]
#[command(after_help = "Their patterns are not drafted for again, unless by `totalrecall propose --pattern ID`.")]
pub(super) struct Reject {
    /// Proposals, by their ids or beginnings of them
    #[arg(value_name = "ID", required_unless_present = "all")]
    ids: Vec<String>,
    /// All that are drafted
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Take rules back that are in force
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall revert p-tool-error-edit
  totalrecall revert --all --dry-run

With the last rule the rules file and the line that brings it in are gone, too, and what was there before is as it was.")]
pub(super) struct Revert {
    /// Rules, by their ids or beginnings of them
    #[arg(value_name = "ID", required_unless_present = "all")]
    ids: Vec<String>,
    /// All that are in force
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Take a rule back even if it was changed by hand in its file
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What commands about rules work with.
pub(super) struct Desk<'c> {
    pub(super) context: &'c Context,
    pub(super) store: Store,
    pub(super) library: Library,
    pub(super) patterns: Vec<Pattern>,
    kinds: Vec<SignalKind>,
}

/// What became of a proposal that was given.
#[derive(Debug, serde::Serialize)]
struct Decided {
    id: String,
    status: Status,
    #[serde(flatten)]
    written: Written,
}

impl<'c> Desk<'c> {
    /// None where nothing was read yet, which is said.
    pub(super) fn open(context: &'c Context) -> anyhow::Result<Option<Self>> {
        // Opening for writing would make a store where there is none.
        if library::store(context)?.is_none() {
            return Ok(None);
        }
        let store = work::open(context)?;
        let library = Library::load(&store)?;
        let patterns = library.patterns(&context.config.patterns, context.now);
        let kinds = Guests::load(&context.config, Some(&context.home))?.kinds().to_vec();
        Ok(Some(Self { context, store, library, patterns, kinds }))
    }

    pub(super) fn rules(&mut self) -> Rules<'_> {
        let Context { home, config, now, .. } = self.context;
        Rules { home, store: &mut self.store, settings: &config.rules, now: *now }
    }

    pub(super) fn pattern(&self, proposal: &Proposal) -> Option<&Pattern> {
        self.patterns.iter().find(|pattern| proposal.is_for(pattern))
    }

    /// What is known of a pattern, and the store to draft with.
    pub(super) fn case_and_store<'a>(&'a mut self, pattern: &'a Pattern) -> (Case<'a>, &'a mut Store) {
        let advice = self.kinds.iter().find(|kind| kind.name == pattern.kind).map_or("", |kind| kind.advice.as_str());
        (Case { pattern, findings: self.library.findings_of(pattern), advice }, &mut self.store)
    }

    /// What the sessions since say of the rules in force.
    pub(super) fn verdicts(&self) -> Result<Vec<Verdict>, StoreError> {
        let Context { config, now, .. } = self.context;
        verdict::of(&self.store, &self.library, &config.patterns, &config.rules, *now)
    }

    /// Writes proposals.md and insights.md as things are now.
    pub(super) fn renew_pages(&mut self) -> anyhow::Result<()> {
        let page = proposal::page(&self.store.proposals()?, &self.patterns, self.context.now);
        let path = self.context.home.proposals();
        proposal::write_page(&self.context.home, &page)
            .with_context(|| format!("could not write {}", path.display()))?;
        patterns::renew(self.context, &mut self.store)
    }

    /// Those that were named, or all of a status.
    fn named(&mut self, ids: &[String], all: Option<Status>) -> anyhow::Result<Vec<Proposal>> {
        if let Some(status) = all {
            return Ok(self.store.proposals()?.into_iter().filter(|proposal| proposal.status == status).collect());
        }
        let mut named: Vec<Proposal> = Vec::new();
        for id in ids {
            let found = self.rules().find(id)?;
            if named.iter().all(|known| known.id != found.id) {
                named.push(found);
            }
        }
        Ok(named)
    }

    /// Where a proposal shall go by what was said on the command line.
    pub(super) fn wanted(&self, proposal: &Proposal, place: &PlaceArguments, force: bool) -> anyhow::Result<Wanted> {
        let pattern = self.pattern(proposal);
        let tools = if place.tool.iter().any(|tool| tool == "all") {
            TOOLS.map(str::to_owned).to_vec()
        } else if place.tool.is_empty() {
            pattern.map(|pattern| self.library.tools_of(pattern)).unwrap_or_default()
        } else {
            if let Some(unknown) = place.tool.iter().find(|tool| !TOOLS.contains(&tool.as_str())) {
                return Err(
                    Usage(format!("no rules are read from a file by `{unknown}`: name {}", TOOLS.join(", "))).into()
                );
            }
            place.tool.clone()
        };
        let seen_in = || {
            let pattern = pattern?;
            let mut projects = pattern.evidence.iter().map(|place| place.project.as_str()).filter(|it| !it.is_empty());
            let first = projects.next()?;
            let only = (pattern.projects == 1 && projects.all(|project| project == first)).then_some(first);
            pattern.project.as_deref().or(only).map(PathBuf::from).filter(|project| project.is_dir())
        };
        let project = match &place.project {
            Some(Some(given)) if !given.is_dir() => {
                return Err(
                    Usage(format!("{} is no folder: `--project` takes a project's folder", given.display())).into()
                );
            }
            Some(Some(given)) => Some(std::path::absolute(given)?),
            Some(None) => Some(match seen_in() {
                Some(project) => project,
                None => proposal::project_of(&std::env::current_dir()?),
            }),
            None if proposal.step == Step::PathRule => seen_in(),
            None => None,
        };
        Ok(Wanted { tools, project, force })
    }

    /// Applies one, or only shows what that would change.
    pub(super) fn apply(&mut self, proposal: &Proposal, wanted: &Wanted) -> Result<Written, RulesError> {
        let _lock = RulesLock::take(&self.context.home)?;
        // It may have been decided about by another process meanwhile.
        let proposal = self.store.proposal(&proposal.id)?.unwrap_or_else(|| proposal.clone());
        if self.pattern(&proposal).is_none() && proposal.status == Status::Drafted {
            let mut stale = proposal.clone();
            (stale.status, stale.ended_at) = (Status::Stale, Some(self.context.now));
            self.store.put_proposal(&stale)?;
            return Err(RulesError::Status { id: stale.id, status: Status::Stale, wanted: "applied" });
        }
        let mut rules = self.rules();
        let plan = rules.plan_apply(&proposal, wanted)?;
        rules.carry_out(plan)
    }
}

impl Apply {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(mut desk) = Desk::open(context)? else { return Ok(Outcome::NothingFound) };
        let named = desk.named(&self.ids, self.all.then_some(Status::Drafted))?;
        if named.is_empty() {
            ui::say("Nothing is drafted. Run: totalrecall propose");
            return Ok(Outcome::NothingFound);
        }
        let (mut done, mut failed) = (Vec::new(), 0);
        for proposal in &named {
            let wanted = desk.wanted(proposal, &self.place, self.force)?;
            if self.dry_run {
                let plan = desk.rules().plan_apply(proposal, &wanted);
                match plan {
                    Ok(plan) => ui::print(&diff(&plan.edits))?,
                    Err(error) => failed += told(&desk, error),
                }
                continue;
            }
            match desk.apply(proposal, &wanted) {
                Ok(written) => {
                    if !self.json {
                        ui::print(&report("Applied", &proposal.id, &written))?;
                        if proposal.step == Step::Hook {
                            show_hook(context, proposal)?;
                        }
                    }
                    done.push(Decided { id: proposal.id.clone(), status: Status::Applied, written });
                }
                Err(error) => failed += told(&desk, error),
            }
        }
        finish(&mut desk, self.dry_run, self.json, &done, failed, "applied")
    }
}

impl Reject {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(mut desk) = Desk::open(context)? else { return Ok(Outcome::NothingFound) };
        let named = desk.named(&self.ids, self.all.then_some(Status::Drafted))?;
        let (mut done, mut failed) = (Vec::new(), 0);
        for proposal in &named {
            let _lock = RulesLock::take(&context.home)?;
            match desk.rules().reject(proposal) {
                Ok(()) => {
                    let written = Written::default();
                    if !self.json {
                        ui::print(&report("Rejected", &proposal.id, &written))?;
                    }
                    done.push(Decided { id: proposal.id.clone(), status: Status::Rejected, written });
                }
                Err(error) => failed += told(&desk, error),
            }
        }
        finish(&mut desk, false, self.json, &done, failed, "rejected")
    }
}

impl Revert {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(mut desk) = Desk::open(context)? else { return Ok(Outcome::NothingFound) };
        let _lock = RulesLock::take(&context.home)?;
        let named = desk.named(&self.ids, self.all.then_some(Status::Applied))?;
        let (mut done, mut failed) = (Vec::new(), 0);
        for proposal in &named {
            let mut rules = desk.rules();
            let plan = match rules.plan_revert(std::slice::from_ref(proposal), self.force) {
                Ok(plan) => plan,
                Err(error) => {
                    failed += told(&desk, error);
                    continue;
                }
            };
            if self.dry_run {
                ui::print(&diff(&plan.edits))?;
                continue;
            }
            match rules.carry_out(plan) {
                Ok(written) => {
                    if !self.json {
                        ui::print(&report("Took back", &proposal.id, &written))?;
                    }
                    done.push(Decided { id: proposal.id.clone(), status: Status::Reverted, written });
                }
                Err(error) => failed += told(&desk, error),
            }
        }
        finish(&mut desk, self.dry_run, self.json, &done, failed, "taken back")
    }
}

fn finish(
    desk: &mut Desk<'_>,
    dry_run: bool,
    json: bool,
    done: &[Decided],
    failed: usize,
    what: &str,
) -> anyhow::Result<Outcome> {
    if !dry_run {
        desk.renew_pages()?;
        if json {
            ui::print_json(&done)?;
        }
    }
    anyhow::ensure!(failed == 0, "{} not {what}", ui::counted(failed as u64, "proposal was", "proposals were"));
    Ok(if done.is_empty() && !dry_run { Outcome::NothingFound } else { Outcome::Done })
}

/// Says why one failed, and which rules would make room for it.
fn told(desk: &Desk<'_>, error: RulesError) -> usize {
    let mut text = String::new();
    if let RulesError::Budget { rules, .. } = &error {
        for (id, tokens) in weakest(desk, rules) {
            text += &format!("\n  totalrecall revert {}   ({tokens} tokens)", clean(&id));
        }
    }
    let error = anyhow::Error::from(error);
    ui::error(&error);
    if !text.is_empty() {
        ui::say(&format!("The weakest first:{text}"));
    }
    1
}

/// Rules in the order in which one would do without them: those that do not work, then those whose pattern matters least.
fn weakest(desk: &Desk<'_>, rules: &[(String, u32)]) -> Vec<(String, u32)> {
    let verdicts = desk.verdicts().unwrap_or_default();
    let in_vain = |id: &str| {
        let verdict = verdicts.iter().find(|verdict| verdict.proposal == id);
        verdict.is_some_and(|verdict| matches!(verdict.outcome, verdict::Outcome::NotWorking | verdict::Outcome::Worse))
    };
    let strength = |id: &str| {
        let proposal = desk.store.proposal(id).ok().flatten();
        proposal.and_then(|proposal| desk.pattern(&proposal)).map_or(0.0, |pattern| pattern.strength)
    };
    let mut rules = rules.to_vec();
    rules.sort_by(|a, b| in_vain(&b.0).cmp(&in_vain(&a.0)).then(strength(&a.0).total_cmp(&strength(&b.0))));
    rules
}

/// What was written, for a person.
pub(super) fn report(what: &str, id: &str, written: &Written) -> String {
    format!("{what} {}\n{}", clean(id), files(written))
}

/// The files of it, a line each.
pub(super) fn files(written: &Written) -> String {
    let mut text = String::new();
    for (what, files) in
        [("wrote", &written.written), ("deleted", &written.deleted), ("kept a copy in", &written.backups)]
    {
        for file in files {
            text += &format!("  {what} {}\n", clean(&file.display().to_string()));
        }
    }
    text
}

/// What the person does with the scaffold of a hook.
pub(super) fn show_hook(context: &Context, proposal: &Proposal) -> anyhow::Result<()> {
    let file = context.home.hooks().join(format!("{}.json", proposal.id));
    ui::say("Nothing refuses a call yet. Look at the check, then add this to the `settings.json` of Claude Code:");
    Ok(ui::print(&hook_settings(proposal, &file.to_string_lossy(), "totalrecall"))?)
}

/// Files that would change, as a person reads changes.
pub(super) fn diff(edits: &Edits) -> String {
    let mut text = String::new();
    for edit in edits.changes() {
        text += &change(&edit.path, edit.before.as_deref(), edit.after.as_deref());
    }
    if text.is_empty() { "no file would change\n".to_owned() } else { text }
}

/// Lines around a change.
const AROUND: usize = 2;

/// One file's change: everything from the first to the last line that differs.
fn change(path: &Path, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let lines = |content: Option<&[u8]>| -> Vec<String> {
        String::from_utf8_lossy(content.unwrap_or_default()).lines().map(|line| clean(line).into_owned()).collect()
    };
    let (old, new) = (lines(before), lines(after));
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let most = old.len().min(new.len()) - same;
    let same_end = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(old, new)| old == new).count();
    let what = match (before, after) {
        (None, _) => " (new)",
        (_, None) => " (deleted)",
        _ => "",
    };
    let mut text = format!("{bold}{}{what}{bold:#}\n", clean(&path.display().to_string()), bold = ui::BOLD);
    let mut add = |style: anstyle::Style, mark: char, lines: &[String]| {
        for line in lines {
            text += &format!("{style}{mark} {line}{style:#}\n");
        }
    };
    add(ui::DIM, ' ', &old[same.saturating_sub(AROUND)..same]);
    add(ui::BAD, '-', &old[same..old.len() - same_end]);
    add(ui::GOOD, '+', &new[same..new.len() - same_end]);
    let end = old.len() - same_end;
    add(ui::DIM, ' ', &old[end..(end + AROUND).min(old.len())]);
    text
}
