//! `retention_preview`, `retention_run` and `restore`: what is put away and thrown away, and back.

use std::{fmt::Write as _, sync::atomic::AtomicBool};

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    desk::Desk,
    tool::{Answer, Effect, Refusal, Tool},
    words::{cut, line, when, yes},
};
use crate::{
    retention::{self, Candidate, Reason, RestoreError, Retention, What},
    store::{LockError, WorkerLock},
};

/// Candidates of each sort that are told; all are counted.
const TOLD: usize = 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct RetentionPreview {}

/// What a run would do.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Preview {
    /// To be put away: compressed, out of the search by words, still found by title, tags and summary
    archive: Vec<Due>,
    archive_total: usize,
    /// To be thrown away for good: for its age, where `purge` is asked for; for the size of the store in any case
    purge: Vec<Due>,
    purge_total: usize,
    /// Old enough, and kept because they are marked as important
    immune: u64,
    /// Old enough, and kept because they were looked at lately
    looked_at: u64,
    /// Bytes of the store, and the most it may have
    used: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cap: Option<u64>,
}

/// Something that is old.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Due {
    id: String,
    title: String,
    at: String,
    bytes: u64,
    /// age: it is old; size: the store is larger than it may be
    reason: String,
}

impl Due {
    fn of(candidates: &[Candidate]) -> Vec<Self> {
        let told = candidates.iter().take(TOLD).map(|it| Self {
            id: line(&it.id),
            title: line(&it.title),
            at: when(it.at),
            bytes: it.bytes,
            reason: match it.reason {
                Reason::Age => "age",
                Reason::Size => "size",
            }
            .to_owned(),
        });
        told.collect()
    }
}

impl Tool for RetentionPreview {
    const NAME: &'static str = "retention_preview";
    const TITLE: &'static str = "Say what retention would do";
    const DESCRIPTION: &'static str = "What a run of retention would put away or throw away, and what it keeps because it is important or was looked at. Changes \
        nothing. Costs some 200 tokens.";
    const EFFECT: Effect = Effect::Reads;
    type Answer = Preview;

    fn run(self, desk: &Desk) -> Result<Preview, Refusal> {
        let (store, config) = (desk.store()?, desk.config()?);
        let plan = Retention::new(&config.retention, desk.now).plan(&store, What { archive: true, purge: true })?;
        Ok(Preview {
            archive: Due::of(&plan.archive),
            archive_total: plan.archive.len(),
            purge: Due::of(&plan.purge),
            purge_total: plan.purge.len(),
            immune: plan.immune,
            looked_at: plan.looked_at,
            used: plan.used,
            cap: plan.cap,
        })
    }
}

impl Answer for Preview {
    fn text(&self) -> String {
        let mut text = format!("The store has {} bytes", self.used);
        let _ = match self.cap {
            Some(cap) => writeln!(text, ", at most {cap}."),
            None => writeln!(text, ", without a limit."),
        };
        for (what, due, total) in [
            ("put away", &self.archive, self.archive_total),
            (
                "thrown away for good (for their age, where `purge` is asked for; for the size in any case)",
                &self.purge,
                self.purge_total,
            ),
        ] {
            let _ = writeln!(text, "{total} would be {what}:");
            for Due { id, title, at, bytes, reason } in due {
                let _ = writeln!(text, "  {id}  {at}  {bytes} bytes, for its {reason}  {title}");
            }
        }
        let _ = writeln!(text, "Kept: {} marked as important, {} looked at lately.", self.immune, self.looked_at);
        text
    }

    fn notices(&self) -> Vec<String> {
        let lists = [(&self.archive, self.archive_total), (&self.purge, self.purge_total)];
        let how = "`totalrecall retention preview --json` lists all";
        lists.iter().filter_map(|(due, total)| cut(due.len(), *total as u64, "candidates", how)).collect()
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct RetentionRun {
    /// Put away what is old
    #[serde(default = "yes")]
    archive: bool,
    /// Throw away for good what was put away long ago: only if the person asks for it. What the store is too large for is thrown away without it
    #[serde(default)]
    purge: bool,
}

/// What was done.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Ran {
    archived: u64,
    purged: u64,
    /// Bytes of the store before and after
    before: u64,
    after: u64,
    /// Bytes over the limit that could not be made room in: what is left is kept on purpose, or of today
    over: u64,
    /// There was no time for all of it
    unfinished: bool,
    /// The file could not be made smaller now; the next run does it
    loose: bool,
}

impl Tool for RetentionRun {
    const NAME: &'static str = "retention_run";
    const TITLE: &'static str = "Put away what is old";
    const DESCRIPTION: &'static str = "Compresses sessions and chunks that are old and were not looked at, so that they leave the search by words; `restore` brings them \
        back. With `purge`, throws away for good what was put away long ago: look at retention_preview first, and ask the person. Where the \
        store is larger than the person allows, the oldest is put away, and if that does not do, thrown away, whether `purge` is said or \
        not. It happens by itself once a day, for age and size as the settings have it.";
    const EFFECT: Effect = Effect::Removes;
    type Answer = Ran;

    fn run(self, desk: &Desk) -> Result<Ran, Refusal> {
        desk.store()?;
        let config = desk.config()?;
        let _lock = WorkerLock::take(desk.home.path()).map_err(|error| match error {
            LockError::Busy { .. } => Refusal::new("a worker is writing just now", "Try again in a minute."),
            error => Refusal::Failed(error.to_string(), None),
        })?;
        let mut store = desk.store_to_write()?;
        let what = What { archive: self.archive, purge: self.purge };
        let keeper = Retention::new(&config.retention, desk.now);
        let done = keeper.run(&mut store, what, Some(retention::BY_ITSELF), &AtomicBool::new(false))?;
        store.finish()?;
        let retention::Done { archived, purged, before, after, over, unfinished, loose } = done;
        Ok(Ran { archived, purged, before, after, over, unfinished, loose })
    }
}

impl Answer for Ran {
    const QUOTES: bool = false;

    fn text(&self) -> String {
        format!(
            "{} put away, {} thrown away; the store has {} bytes, it had {}.",
            self.archived, self.purged, self.after, self.before
        )
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if self.unfinished {
            notices.push("There was no time for all of it: run it again to go on.".to_owned());
        }
        if self.over > 0 {
            notices.push(format!(
                "The store is still {} bytes over its limit (`retention.store-bytes`): what is left is kept on purpose, or of today.",
                self.over
            ));
        }
        if self.loose {
            notices.push(
                "The file could not be made smaller now, as another process was writing: the next run does it."
                    .to_owned(),
            );
        }
        notices
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Restore {
    /// A chunk's id, or a session: s12, or the tool's id of it
    chunk_id: String,
}

/// What became of it.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Restored {
    id: String,
    /// It had been put away, and is back
    restored: bool,
}

impl Tool for Restore {
    const NAME: &'static str = "restore";
    const TITLE: &'static str = "Bring back what was put away";
    const DESCRIPTION: &'static str = "Brings a chunk or a session back that was archived, so that its text is found and shown again. Use it when a search names something \
        as archived and its text is needed.";
    const EFFECT: Effect = Effect::Adds;
    const OTHER_NAMES: &'static [(&'static str, &'static str)] = &[("id", "chunk_id"), ("session", "chunk_id")];
    type Answer = Restored;

    fn run(self, desk: &Desk) -> Result<Restored, Refusal> {
        desk.store()?;
        let mut store = desk.store_to_write()?;
        let (id, restored) =
            retention::restore(&mut store, self.chunk_id.trim(), desk.now).map_err(|error| match error {
                RestoreError::Store(error) => error.into(),
                error => Refusal::new(error.to_string(), "`search` and `list_chunks` name what is archived."),
            })?;
        Ok(Restored { id, restored })
    }
}

impl Answer for Restored {
    const QUOTES: bool = false;

    fn text(&self) -> String {
        let what = if self.restored { "is back" } else { "was not put away" };
        format!("{} {what}.", line(&self.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_told() {
        let due = || Due { id: "s1".to_owned(), ..Due::default() };
        let preview = Preview { archive: (0..TOLD).map(|_| due()).collect(), archive_total: 34, ..Preview::default() };
        assert!(preview.notices()[0].contains("10 of 34"), "{:?}", preview.notices());
        assert!(preview.text().contains("34 would be put away"));
    }
}
