//! Looks through everything that is stored for what would be taken out of it today: secrets of kinds that were not known when
//! it was stored, and what the person has named since (`[privacy]`).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    event::Event,
    redact::{Counts, Redactor},
    search::Reference,
    store::{Store, StoreError, TextSort, TranscriptId},
};

/// Places of one kind that are named; the rest is counted.
const PLACES: usize = 100;
/// Events that are read at once.
const PAGE: usize = 1_000;

/// What was found, never the thing itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Scan {
    /// Rows with texts that were looked at.
    pub texts: u64,
    /// By kind, as the marker names it.
    pub found: BTreeMap<String, Found>,
    /// Whether all of it was taken out.
    pub fixed: bool,
}

/// Things of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// How many.
    pub count: u64,
    /// How many texts they are in.
    pub texts: u64,
    /// Where: `e12.345` (an event), `s12` (a session), or the name of a memory or chunk. The first hundred, each once.
    pub places: Vec<String>,
}

impl Scan {
    /// Things of all kinds.
    pub fn total(&self) -> u64 {
        self.found.values().map(|found| found.count).sum()
    }

    fn note(&mut self, place: &str, counts: &Counts) {
        for (kind, count) in counts.iter() {
            let found = self.found.entry(kind.to_owned()).or_default();
            found.count += count;
            found.texts += 1;
            if found.places.len() < PLACES && !found.places.iter().any(|known| known == place) {
                found.places.push(place.to_owned());
            }
        }
    }
}

/// Key of the settings that everything in the store was redacted with.
const REDACTED_WITH: &str = "redacted-with";

/// Looks, and changes nothing.
///
/// # Errors
/// As for any read.
pub fn scan(store: &Store, redactor: &Redactor) -> Result<Scan, StoreError> {
    let mut scan = Scan::default();
    for transcript in store.with_events()? {
        events(store, redactor, transcript, &mut scan, &mut Vec::new())?;
    }
    for sort in TextSort::ALL {
        texts(store, redactor, sort, &mut scan, &mut Vec::new())?;
    }
    Ok(scan)
}

/// Takes out everything that [`scan`] finds, as a whole or not at all. What was there is overwritten in the file.
///
/// # Errors
/// As for any write; nothing was changed then.
pub fn fix(store: &mut Store, redactor: &Redactor) -> Result<Scan, StoreError> {
    store.overwrite_deleted()?;
    store.all_or_nothing(|store| {
        let mut scan = Scan { fixed: true, ..Scan::default() };
        for transcript in store.with_events()? {
            let mut changed = Vec::new();
            events(store, redactor, transcript, &mut scan, &mut changed)?;
            if !changed.is_empty() {
                store.rewrite_events(transcript, &changed)?;
            }
        }
        for sort in TextSort::ALL {
            let mut changed = Vec::new();
            texts(store, redactor, sort, &mut scan, &mut changed)?;
            for text in &changed {
                store.rewrite_text(sort, text)?;
            }
        }
        store.indexes_may_hold_deleted()?;
        store.set_meta(REDACTED_WITH, &redactor.fingerprint())?;
        Ok(scan)
    })
}

fn events(
    store: &Store,
    redactor: &Redactor,
    transcript: TranscriptId,
    scan: &mut Scan,
    changed: &mut Vec<(i64, Event)>,
) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let page = store.event_rows(transcript, after, PAGE)?;
        let Some((last, _)) = page.last() else { return Ok(()) };
        after = Some(*last);
        for (row, mut event) in page {
            scan.texts += 1;
            let mut counts = Counts::default();
            redactor.review(&mut event, &mut counts);
            if counts.total() > 0 {
                scan.note(&Reference::Event(row).to_string(), &counts);
                changed.push((row, event));
            }
        }
    }
}

fn texts(
    store: &Store,
    redactor: &Redactor,
    sort: TextSort,
    scan: &mut Scan,
    changed: &mut Vec<crate::store::Text>,
) -> Result<(), StoreError> {
    store.each_text(sort, |mut text| {
        scan.texts += 1;
        let mut counts = Counts::default();
        for one in text.texts.iter_mut().flatten() {
            *one = if sort.is_json() { json(redactor, one, &mut counts) } else { redactor.kept(one, &mut counts) };
        }
        if counts.total() > 0 {
            scan.note(&text.place, &counts);
            changed.push(text);
        }
        Ok::<_, StoreError>(())
    })
}

/// The texts within a JSON document; what is none stays as it is.
fn json(redactor: &Redactor, document: &str, counts: &mut Counts) -> String {
    fn walk(redactor: &Redactor, value: &mut serde_json::Value, counts: &mut Counts) {
        match value {
            serde_json::Value::String(text) => *text = redactor.kept(text, counts),
            serde_json::Value::Array(values) => values.iter_mut().for_each(|value| walk(redactor, value, counts)),
            serde_json::Value::Object(values) => values.values_mut().for_each(|value| walk(redactor, value, counts)),
            _ => {}
        }
    }
    match serde_json::from_str(document) {
        Ok(mut value) => {
            walk(redactor, &mut value, counts);
            value.to_string()
        }
        Err(_) => document.to_owned(),
    }
}

/// Notes with which settings a store begins that holds no text yet.
///
/// # Errors
/// As for any write.
pub fn begin(store: &mut Store, fingerprint: &str) -> Result<(), StoreError> {
    if is_other(store, fingerprint)? && !store.has_texts()? {
        store.set_meta(REDACTED_WITH, fingerprint)?;
    }
    Ok(())
}

/// Notes that a scan has found nothing: all that is stored is as today's settings want it.
///
/// # Errors
/// As for any write.
pub fn note_clean(store: &mut Store, redactor: &Redactor) -> Result<(), StoreError> {
    store.set_meta(REDACTED_WITH, &redactor.fingerprint())
}

/// Was something stored before `[privacy]` said what it says today?
///
/// # Errors
/// As for any read.
pub fn is_stale(store: &Store, fingerprint: &str) -> Result<bool, StoreError> {
    Ok(is_other(store, fingerprint)? && store.has_texts()?)
}

/// A store that says nothing is as old as settings that asked for nothing.
fn is_other(store: &Store, fingerprint: &str) -> Result<bool, StoreError> {
    Ok(store.meta(REDACTED_WITH)?.unwrap_or_default() != fingerprint)
}
