//! Seals: an index is derived from one state of one store, and nothing in it tells which. So whoever writes one draws a number,
//! leaves it here and in the index. An index whose seal is not known here is of another store, of one that was there before, or
//! ahead of this one, which lost its last commits with the power: its numbers of passages mean nothing then.
//!
//! A seal is drawn after it was settled what the index is to cover. What is written here is lost in its order, the last first, so a
//! seal that is there tells that all of that is, too.

use super::{Store, StoreError};

impl Store {
    /// Draws a seal for what is about to be committed to an index. `last`: the one that it has, which stays known until then.
    ///
    /// # Errors
    /// As for any write.
    pub fn seal(&mut self, index: &str, last: u64) -> Result<u64, StoreError> {
        let new: i64 = self.db.query_row("SELECT abs(random() >> 1) + 1", [], |row| row.get(0))?;
        self.set_meta(&key(index), &format!("{last} {new}"))?;
        Ok(new.cast_unsigned())
    }

    /// Lets an index that was made beside another pass for that one, which stays known until then, too.
    ///
    /// # Errors
    /// As for any write.
    pub fn admit_seal(&mut self, index: &str, beside: &str) -> Result<(), StoreError> {
        let [known, more] = [self.meta(&key(index))?, self.meta(&key(beside))?].map(Option::unwrap_or_default);
        self.set_meta(&key(index), &format!("{known} {more}"))
    }

    /// Was an index with this seal made from this store?
    ///
    /// # Errors
    /// As for any read.
    pub fn has_sealed(&self, index: &str, seal: u64) -> Result<bool, StoreError> {
        let known = self.meta(&key(index))?.unwrap_or_default();
        Ok(seal != 0 && known.split(' ').any(|known| known.parse() == Ok(seal)))
    }
}

fn key(index: &str) -> String {
    format!("seal {index}")
}
