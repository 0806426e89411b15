//! `propose` and `proposals`: rules drafted from patterns, and what became of them.

use std::fmt::Write as _;

use super::{
    Context, Outcome,
    drafter::Drafter,
    review,
    rules::{Desk, PlaceArguments},
    ui,
};
use crate::{
    clean::clean,
    pattern::{self, Pattern},
    proposal::{self, Draft, Earlier, Limits, Next, Proposal, RulesLock, Skip, Status, candidates, escalate, redraft},
    store::StoreError,
};

/// Draft rules from patterns that keep coming back
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall propose                        draft for the strongest patterns
  totalrecall propose --review               and go through the drafts, one at a time
  totalrecall propose --pattern ID           draft for this one, even if it was rejected

Nothing is in force before you apply it. The drafts are in proposals.md, too.")]
pub(super) struct Propose {
    /// At most so many drafts [default: rules.top]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Only patterns of so many sessions or more [default: rules.min-occurrences]
    #[arg(long, value_name = "N")]
    min_occurrences: Option<u32>,
    /// For this pattern, whatever was decided before
    #[arg(long, value_name = "ID")]
    pattern: Option<String>,
    /// Go through the drafts afterwards: apply, edit, skip or reject each
    #[arg(long)]
    review: bool,
    /// With --review: take the answers from standard input, though it is no terminal
    #[arg(long, requires = "review")]
    stdin: bool,
    /// Draft from the signals alone, though a model was agreed to
    #[arg(long)]
    no_model: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "review")]
    json: bool,
}

/// List proposed rules and what became of them
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall proposals              drafts and rules in force
  totalrecall proposals --review     go through the drafts, one at a time
  totalrecall proposals --all --json")]
pub(super) struct Proposals {
    /// Those that were rejected or taken back, too
    #[arg(long)]
    all: bool,
    /// Go through the drafts: apply, edit, skip or reject each
    #[arg(long, conflicts_with = "all")]
    review: bool,
    /// With --review: take the answers from standard input, though it is no terminal
    #[arg(long, requires = "review")]
    stdin: bool,
    #[command(flatten)]
    place: PlaceArguments,
    /// Print JSON
    #[arg(long, conflicts_with = "review")]
    json: bool,
}

#[derive(Debug, Default, serde::Serialize)]
struct Proposed {
    drafted: Vec<Proposal>,
    skipped: Vec<Skipped>,
}

#[derive(Debug, serde::Serialize)]
struct Skipped {
    pattern: String,
    why: String,
}

impl Propose {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        if self.review {
            review::check_terminal(self.stdin)?;
        }
        let Some(mut desk) = Desk::open(context)? else { return Ok(Outcome::NothingFound) };
        let proposed = self.draft(&mut desk)?;
        desk.renew_pages()?;
        if self.review {
            return review::run(&mut desk, &PlaceArguments::default());
        }
        if self.json {
            ui::print_json(&proposed)?;
        } else {
            ui::print(&list(&desk, &proposed.drafted))?;
            tell(context, &proposed, self.pattern.is_some());
        }
        Ok(if proposed.drafted.is_empty() { Outcome::NothingFound } else { Outcome::Done })
    }

    fn draft(&self, desk: &mut Desk<'_>) -> anyhow::Result<Proposed> {
        let limits = Limits::new(self.top, self.min_occurrences, &desk.context.config.rules);
        let existing = desk.store.proposals()?;
        let (wanted, left) = match &self.pattern {
            Some(id) => (vec![named(desk, id, &existing)?], Vec::new()),
            None => candidates(&desk.patterns, &existing, limits.min_occurrences),
        };
        let wanted: Vec<Pattern> = wanted.into_iter().cloned().collect();
        let mut proposed = Proposed::default();
        for (pattern, skip) in left {
            // That most patterns came up only once is no news.
            if skip != Skip::TooFew {
                proposed.skipped.push(Skipped { pattern: pattern.id.clone(), why: skip.why().to_owned() });
            }
        }
        let mut drafter = Drafter::new(desk.context, &desk.store, self.no_model)?;
        if self.pattern.is_none() {
            proposed.drafted = replacements(desk, &mut drafter, &existing)?;
        }
        for pattern in wanted {
            if proposed.drafted.len() == limits.top.max(1) {
                break;
            }
            let (case, store) = desk.case_and_store(&pattern);
            match drafter.draft(store, &case, None) {
                Ok(draft) => proposed.drafted.extend(keep(desk, draft, &pattern)?),
                Err((skip, words)) => {
                    let why = words.map_or_else(|| skip.why().to_owned(), |words| format!("{}: {words}", skip.why()));
                    proposed.skipped.push(Skipped { pattern: pattern.id.clone(), why });
                }
            }
        }
        Ok(proposed)
    }
}

/// Drafts in place of rules in force that do not work.
fn replacements(
    desk: &mut Desk<'_>,
    drafter: &mut Drafter<'_>,
    existing: &[Proposal],
) -> anyhow::Result<Vec<Proposal>> {
    let mut drafted = Vec::new();
    for verdict in desk.verdicts()? {
        let Some(rule) = existing.iter().find(|it| it.id == verdict.proposal) else { continue };
        let Some(pattern) = desk.pattern(rule).cloned() else { continue };
        let (case, store) = desk.case_and_store(&pattern);
        let draft = match escalate(rule, &verdict, &case, existing) {
            None => continue,
            Some(Next::Stronger(draft)) => *draft,
            Some(Next::Redraft) => {
                let counts = proposal::counts(&verdict);
                let earlier = Earlier { rule: &rule.text, counts: &counts };
                // That the rule which does not work says it already is no reason to leave it.
                let draft = drafter.draft(store, &case, Some(&earlier)).or_else(|_| proposal::propose(&case));
                let Ok(draft) = draft else { continue };
                redraft(draft, rule, &verdict, &case)
            }
        };
        drafted.extend(keep(desk, draft, &pattern)?);
    }
    Ok(drafted)
}

/// Keeps a draft, unless another process has drafted for the same pattern meanwhile.
fn keep(desk: &mut Desk<'_>, draft: Draft, pattern: &Pattern) -> anyhow::Result<Option<Proposal>> {
    let now = desk.context.now;
    let _lock = RulesLock::take(&desk.context.home)?;
    let existing = desk.store.proposals()?;
    if existing.iter().any(|it| it.is_for(pattern) && it.status == Status::Drafted) {
        return Ok(None);
    }
    let proposal = draft.into_proposal(pattern, &existing, now);
    desk.store.put_anchor(&pattern.anchor, now)?;
    desk.store.put_proposal(&proposal)?;
    Ok(Some(proposal))
}

/// The pattern of this id, if nothing waits or is in force for it.
fn named<'d>(desk: &'d Desk<'_>, id: &str, existing: &[Proposal]) -> anyhow::Result<&'d Pattern> {
    let pattern = pattern::find(&desk.patterns, id)?;
    let is_open = |it: &&Proposal| it.is_for(pattern) && matches!(it.status, Status::Drafted | Status::Applied);
    if let Some(there) = existing.iter().find(is_open) {
        anyhow::bail!("`{}` is {} for that pattern", there.id, there.status.name());
    }
    Ok(pattern)
}

fn tell(context: &Context, proposed: &Proposed, one: bool) {
    for skipped in proposed.skipped.iter().filter(|it| one || it.why.starts_with(Skip::Covered.why())) {
        ui::say(&format!("Nothing was drafted for {}: {}.", clean(&skipped.pattern), clean(&skipped.why)));
    }
    if proposed.drafted.is_empty() {
        if !one {
            ui::say(
                "No pattern needs a rule: none keeps coming back, or all have one. `totalrecall proposals` lists those; \
                 `--min-occurrences 2` asks for less.",
            );
        }
        return;
    }
    ui::say(&format!(
        "{} drafted, see {}. Next: totalrecall proposals --review, or totalrecall apply ID",
        ui::counted(proposed.drafted.len() as u64, "rule", "rules"),
        context.home.proposals().display()
    ));
}

impl Proposals {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        if self.review {
            review::check_terminal(self.stdin)?;
        }
        let Some(mut desk) = Desk::open(context)? else { return Ok(Outcome::NothingFound) };
        if self.review {
            return review::run(&mut desk, &self.place);
        }
        let shown = shown(&desk, self.all)?;
        if self.json {
            ui::print_json(&shown)?;
        } else {
            ui::print(&list(&desk, &shown))?;
            if shown.is_empty() {
                ui::say("Nothing is drafted or in force. Run: totalrecall propose");
            }
        }
        Ok(if shown.is_empty() { Outcome::NothingFound } else { Outcome::Done })
    }
}

/// Drafts first, then rules in force, then the others; the strongest patterns first.
fn shown(desk: &Desk<'_>, all: bool) -> Result<Vec<Proposal>, StoreError> {
    let order = |status: Status| Status::ALL.iter().position(|it| *it == status);
    let rank = |proposal: &Proposal| desk.patterns.iter().position(|it| proposal.is_for(it)).unwrap_or(usize::MAX);
    let mut shown = desk.store.proposals()?;
    shown.retain(|proposal| all || matches!(proposal.status, Status::Drafted | Status::Applied));
    shown.sort_by_key(|proposal| (order(proposal.status), rank(proposal)));
    Ok(shown)
}

/// Proposals for a person.
fn list(desk: &Desk<'_>, proposals: &[Proposal]) -> String {
    let mut text = String::new();
    for proposal in proposals {
        let sessions = desk.pattern(proposal).map_or(proposal.occurrences, |pattern| pattern.occurrences);
        let step =
            if proposal.step == proposal::Step::Rule { String::new() } else { format!(", {}", proposal.step.name()) };
        let _ = writeln!(
            text,
            "{bold}{}{bold:#}  {dim}{}{step}, {}, {}{dim:#}\n  {}",
            clean(&proposal.id),
            proposal.status.name(),
            ui::counted(u64::from(sessions), "session", "sessions"),
            ui::counted(u64::from(proposal.tokens), "token", "tokens"),
            clean(&proposal.text),
            bold = ui::BOLD,
            dim = ui::DIM
        );
        for place in &proposal.places {
            let _ = writeln!(text, "  {dim}in {}{dim:#}", clean(&place.file), dim = ui::DIM);
        }
    }
    text
}
