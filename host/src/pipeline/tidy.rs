//! What keeps the store in order: putting away what is old, and deleting what the person does not want known.

use std::{fs, io};

use super::{Pipeline, PipelineError, Worked};
use crate::{
    retention::Retention,
    store::{Deleted, SessionId, Store, StoreError},
};

impl Pipeline<'_> {
    /// Puts away what is old, once a day.
    pub(super) fn keep_in_order(&self, store: &mut Store, worked: &mut Worked) -> Result<(), PipelineError> {
        let Some(done) = Retention::new(&self.config.retention, self.now).by_itself(store, self.stop)? else {
            return Ok(());
        };
        (worked.archived, worked.purged) = (done.archived, done.purged);
        if done.over > 0 && !done.unfinished {
            worked.problems.push(format!(
                "the store is {} bytes over `retention.store-bytes`: what is left is kept on purpose, or of today",
                done.over
            ));
        }
        Ok(())
    }

    /// Deletes sessions with everything that was learned of them, from the file too, and renews what is written of them. Gives
    /// what went, and whether all of it has left the disk: not while another process is at the store, or the disk is full.
    ///
    /// # Errors
    /// Those of the store and of the page. What was deleted before stays deleted.
    pub fn delete(&self, store: &mut Store, sessions: &[SessionId]) -> Result<(Deleted, bool), PipelineError> {
        let mut gone = Deleted::default();
        for session in sessions {
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
        Ok((gone, is_clear))
    }
}
