//! What keeps the store in order: putting away what is old, and deleting what the person does not want known.

use std::{fs, io};

use super::{Pipeline, PipelineError, Worked};
use crate::{
    inject, leftovers, present,
    retention::Retention,
    store::{Deleted, SessionId, Store, StoreError},
};

/// Where something deleted may still stand, though nothing tells it any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// In unused parts of the database: another process is at it, or the disk is full.
    pub in_file: bool,
    /// In the files of the indexes: there is much in them, so the next worker makes them anew.
    pub in_indexes: bool,
}

impl Pipeline<'_> {
    /// Puts away what is old, once a day.
    pub(super) fn keep_in_order(&self, store: &mut Store, worked: &mut Worked) -> Result<(), PipelineError> {
        let Some(done) = Retention::new(&self.config.retention, self.now).by_itself(store, self.stop)? else {
            return Ok(());
        };
        worked.archived += done.archived;
        worked.purged += done.purged;
        if done.over > 0 && !done.unfinished {
            worked.problems.push(format!(
                "the store is {} bytes over `retention.store-bytes`: what is left is kept on purpose, or of today",
                done.over
            ));
        }
        Ok(())
    }

    /// Deletes sessions with everything that was learned of them, from the files too, and renews what is written of them. Gives
    /// what went, and where some of it may still stand.
    ///
    /// # Errors
    /// Those of the store and of the page. What was deleted before stays deleted.
    pub fn delete(&self, store: &mut Store, sessions: &[SessionId]) -> Result<(Deleted, Left), PipelineError> {
        let mut gone = Deleted::default();
        for session in sessions {
            // What it was told quotes it, too.
            if let Some(row) = store.session(*session)? {
                inject::drop_session(self.home.path(), &row.native_id);
                present::forget(self.home.path(), &row.native_id);
            }
            if let Some(more) = store.delete_session(*session, self.now)? {
                gone.add(more);
            }
        }
        self.renew(store)?;
        // A part of the page as it was last opened in a browser, which is made anew by the next look.
        match fs::remove_file(self.home.insights_html()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(PipelineError::Page { path: self.home.insights_html(), why: error.to_string() });
            }
            _ => {}
        }
        let is_clear = match store.vacuum(None) {
            Err(StoreError::Busy | StoreError::Full) => false,
            other => other? && store.empty_log()?,
        };
        let in_indexes = !leftovers::take_out(self.home, store, self.stop)?;
        Ok((gone, Left { in_file: !is_clear, in_indexes }))
    }
}
