//! `totalrecall uninstall`: takes back everything of ours that lies outside of the home; with `--purge` the home, too.

use std::{fs, io, path::Path};

use anyhow::Context as _;

use super::{
    Context, Outcome,
    init::wiring,
    rules::{Desk, diff},
    ui,
};
use crate::{
    guard, inject, news, paths, pause, present,
    proposal::{Proposal, RulesError, RulesLock, Status},
    saved,
    store::{TURN, WorkerLock},
    wiring::{Record, TOOLS, Wiring},
};

/// Take back every rule, hooks and the cache; what you wrote stays
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall uninstall --dry-run
  totalrecall uninstall --purge      and delete the home, after asking

Rules that were changed by hand stay where they are, unless with --force. Hooks that `totalrecall init --hooks` added are taken
out; those that you added to your settings are yours: they are named, and you take them out.")]
pub(super) struct Uninstall {
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Delete the home, too: everything that was learned, and the copies of your files
    #[arg(long)]
    purge: bool,
    /// Do not ask before that
    #[arg(long, requires = "purge")]
    yes: bool,
    /// Take back rules that were changed by hand, too
    #[arg(long)]
    force: bool,
}

/// What a home holds. Nothing else in the folder is deleted.
const FILES: [&str; 17] = [
    "totalrecall.db",
    "totalrecall.db-wal",
    "totalrecall.db-shm",
    "config.toml",
    "insights.md",
    "insights.html",
    "proposals.md",
    pause::FILE,
    pause::LOCK,
    WorkerLock::FILE,
    TURN,
    RulesLock::FILE,
    Record::FILE,
    "model.lock",
    news::FILES[0],
    news::FILES[1],
    news::FILES[2],
];

/// Folders of a home that are ours altogether.
const FOLDERS: [&str; 13] = [
    "inbox",
    "index",
    "models",
    "backups",
    "hooks",
    "components",
    "adapters",
    "analysis",
    "told",
    inject::FOLDER,
    saved::FOLDER,
    guard::FOLDER,
    present::FOLDER,
];

impl Uninstall {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let (_, unchanged) = wiring::take_back(context, &TOOLS, self.dry_run, false)?;
        let kept = self.rules(context)?;
        self.cache()?;
        tell_of_hooks(context)?;
        if self.purge {
            anyhow::ensure!(
                kept + unchanged == 0,
                "the home was not deleted: it knows of {} that could not be taken back",
                ui::counted(kept + unchanged, "thing", "things")
            );
            self.purge(context)?;
        } else if !self.dry_run {
            ui::say(&format!(
                "What was learned is still in {}; `totalrecall uninstall --purge` deletes it.",
                context.home.path().display()
            ));
        }
        anyhow::ensure!(kept == 0, "{} could not be taken back, see above", ui::counted(kept, "rule", "rules"));
        anyhow::ensure!(
            unchanged == 0,
            "our entries in {} could not be taken back, see above",
            ui::counted(unchanged, "file", "files")
        );
        Ok(Outcome::Done)
    }

    /// Takes all rules back; gives how many could not be.
    fn rules(&self, context: &Context) -> anyhow::Result<u64> {
        let Some(mut desk) = Desk::open(context)? else { return Ok(0) };
        let _lock = RulesLock::take(&context.home)?;
        let mut kept = 0;
        let all = desk.store.proposals()?;
        let in_files = |proposal: &&Proposal| proposal.status == Status::Applied || !proposal.places.is_empty();
        for proposal in all.iter().filter(in_files) {
            let mut rules = desk.rules();
            let plan = rules.plan_revert(std::slice::from_ref(proposal), self.force);
            let done = plan.and_then(|plan| {
                if self.dry_run {
                    return Ok(Some(diff(&plan.edits)));
                }
                rules.carry_out(plan).map(|_| None)
            });
            kept += told(done, &proposal.id)?;
        }
        let mut rules = desk.rules();
        for (file, id) in rules.strays()? {
            if self.dry_run {
                ui::print(&format!("{}: the rule {id} of another home\n", file.display()))?;
                continue;
            }
            kept += told(rules.take_stray(&file, &id, self.force).map(|_| None), &id)?;
        }
        if !self.dry_run {
            desk.renew_pages()?;
        }
        Ok(kept)
    }

    /// Compiled components can be made again at any time.
    fn cache(&self) -> anyhow::Result<()> {
        let Some(folder) = paths::component_cache().filter(|folder| folder.is_dir()) else { return Ok(()) };
        ui::print(&format!("{} {}\n", if self.dry_run { "would delete" } else { "deleted" }, folder.display()))?;
        if !self.dry_run {
            fs::remove_dir_all(&folder).with_context(|| format!("could not delete {}", folder.display()))?;
            // Only if nothing else is in it.
            let _ = folder.parent().map(fs::remove_dir);
        }
        Ok(())
    }

    fn purge(&self, context: &Context) -> anyhow::Result<()> {
        let home = context.home.path();
        if self.dry_run {
            ui::print(&format!("would delete what is ours in {}\n", home.display()))?;
            return Ok(());
        }
        let question = format!(
            "Delete everything that was learned in {}? Transcripts that your tools have deleted since cannot be read again. \
             [y/N] ",
            home.display()
        );
        if !self.yes && !ui::ask(&question)? {
            ui::say("The home is as it was.");
            return Ok(());
        }
        // Deleting a database that is written to would leave a part of it.
        let lock = WorkerLock::take(home)?;
        for file in FILES {
            gone(fs::remove_file(home.join(file)), &home.join(file))?;
        }
        for folder in FOLDERS {
            gone(fs::remove_dir_all(home.join(folder)), &home.join(folder))?;
        }
        drop(lock);
        if fs::remove_dir(home).is_ok() {
            ui::print(&format!("deleted {}\n", home.display()))?;
        } else {
            ui::say(&format!("Other files are in {}, so the folder stays.", home.display()));
        }
        Ok(())
    }
}

/// Says what became of one; 1 if it is still there.
fn told(done: Result<Option<String>, RulesError>, id: &str) -> anyhow::Result<u64> {
    match done {
        Ok(Some(shown)) => ui::print(&shown)?,
        Ok(None) => ui::print(&format!("took back {id}\n"))?,
        // That file is the other program's, and was never written to.
        Err(error @ RulesError::Foreign { .. }) => ui::warn(&format!("{error}; it stays")),
        Err(error) => {
            ui::error(&error.into());
            return Ok(1);
        }
    }
    Ok(0)
}

fn gone(result: io::Result<()>, path: &Path) -> anyhow::Result<()> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("could not delete {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// What the person added to their tools' settings for us is theirs: it is named, not taken out.
fn tell_of_hooks(context: &Context) -> anyhow::Result<()> {
    for file in Wiring::new(&context.home, context.now)?.entries_of_others() {
        ui::say(&format!("{} still runs `totalrecall`; take that entry out.", file.display()));
    }
    Ok(())
}
