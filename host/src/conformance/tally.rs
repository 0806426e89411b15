//! `tally`: what became of every record, so that a format that moves on is noticed.

use serde_json::{Map, Value};

use super::{
    report::Findings,
    subject::{FEED, Reading, Shape, Subject, Transcript, is_object, read},
};
use crate::{
    event,
    sandbox::parse::{Outcome, TallyEntry},
};

/// A type that no tool writes.
const MADE_UP: &str = "made-up-by-the-conformance-kit";

/// The same for formats that number theirs.
const NUMBERED: u32 = 987_654_321;

/// Where formats keep the type of a record.
const TYPES: [&str; 4] = ["type", "kind", "event", "role"];

const TODO: &str = "count every record once: understood, skipped, unknown or broken";

/// Counts add up to the records, and a record of an unknown type is counted as that.
pub(super) fn check(subject: &Subject<'_>) -> Findings {
    if subject.read().next().is_none() {
        return Findings::not_applicable("no transcript of the fixtures could be read: see `describe` and `golden`");
    }
    let mut findings = Findings::default();
    let (mut counted, mut unknown, mut broken, mut made_up) = (0, 0, 0, 0);
    for (transcript, reading) in subject.read() {
        counted += reading.counted();
        unknown += of(&reading.tally, Outcome::Unknown);
        broken += of(&reading.tally, Outcome::Broken);
        adds_up(transcript, reading, &mut findings);
        is_named_well(transcript, reading, &mut findings);
    }
    for sample in subject.samples().unwrap_or_default() {
        if sample.of.shape == Shape::JsonLines
            && let Some(record) = made_up_record(sample.bytes)
        {
            made_up += 1;
            let with = [sample.bytes.strip_suffix(b"\n").unwrap_or(sample.bytes), b"\n", &record, b"\n"].concat();
            tells_unknown(subject, sample.of, &sample.whole, &with, &mut findings);
        }
    }
    for (name, value) in [("records", counted), ("unknown", unknown), ("broken", broken)] {
        findings.count(name, usize::try_from(value).unwrap_or(usize::MAX));
    }
    findings.count("made-up records", made_up);
    findings
}

fn of(tally: &[TallyEntry], outcome: Outcome) -> u64 {
    tally.iter().filter(|entry| entry.outcome == outcome).map(|entry| entry.count).sum()
}

fn adds_up(transcript: &Transcript, reading: &Reading, findings: &mut Findings) {
    let lines = || transcript.lines().filter(|line| !line.trim_ascii().is_empty());
    let counted = reading.counted();
    let all = lines().count() as u64;
    let (least, most) = match transcript.shape {
        // Its one record may be counted as what it holds.
        Shape::Document => (1, u64::MAX),
        // A record may be several lines, and is at least one.
        Shape::Lines => (all.min(1), all),
        // What can be saved of a damaged line may be several records, or none.
        Shape::JsonLines => lines().fold((0, 0), |(least, most), line| match is_object(line) {
            true => (least + 1, most + 1),
            false => (least, most + 1 + line.iter().filter(|byte| **byte == b'{').count() as u64),
        }),
    };
    let fits = (least..=most).contains(&counted);
    let expected = match most {
        u64::MAX => format!("at least {least} record"),
        _ if least == most => format!("{least} records, as many as lines"),
        _ => format!("from {least} to {most} records"),
    };
    if !fits {
        findings.fail(transcript.at(), expected, counted.to_string(), TODO);
    }
}

fn is_named_well(transcript: &Transcript, reading: &Reading, findings: &mut Findings) {
    let lines = transcript.lines().count() as u64;
    for entry in &reading.tally {
        let mut refused = event::Refused::new();
        event::admit_name(&mut entry.what.clone(), &mut refused);
        if let Some(what) = refused.keys().next() {
            let todo = "name a record's type as the tool does, cut to 64 bytes";
            findings.fail(transcript.at(), "names that the host takes", *what, todo);
        }
        if entry.count == 0 || entry.first == 0 || entry.first > lines {
            let expected = format!("a count, and the first line from 1 to {lines} that it was seen at");
            findings.fail(transcript.at(), expected, format!("{entry:?}"), TODO);
        }
    }
}

/// The last record that has a type, with another one.
fn made_up_record(bytes: &[u8]) -> Option<Vec<u8>> {
    let records = bytes.rsplit(|byte| *byte == b'\n');
    records.filter_map(|line| serde_json::from_slice::<Map<String, Value>>(line).ok()).find_map(|mut record| {
        let name = TYPES.into_iter().find(|name| record.get(*name).is_some_and(Value::is_string));
        let numbered = record.get("type").is_some_and(Value::is_u64);
        match name {
            Some(name) => record.insert(name.to_owned(), MADE_UP.into()),
            None if numbered => record.insert("type".to_owned(), NUMBERED.into()),
            None => return None,
        };
        serde_json::to_vec(&record).ok()
    })
}

fn tells_unknown(
    subject: &Subject<'_>,
    transcript: &Transcript,
    before: &Reading,
    with: &[u8],
    findings: &mut Findings,
) {
    let after = match read(subject.adapter, &transcript.origin, None, with.chunks(FEED)) {
        Ok(after) => after,
        Err(error) => return findings.fail(transcript.at(), "a record that is counted", error.to_string(), TODO),
    };
    let unknown = |reading: &Reading| of(&reading.tally, Outcome::Unknown);
    let (more, more_unknown) =
        (after.counted() as i128 - before.counted() as i128, unknown(&after) as i128 - unknown(before) as i128);
    if (more, more_unknown) != (1, 1) {
        findings.fail(
            transcript.at(),
            format!("of a record of the type {MADE_UP} (or {NUMBERED}), one more that is unknown"),
            format!("{more} more, {more_unknown} of them unknown"),
            "count a type that the adapter has never seen as unknown: it is how anyone learns that the format moved on",
        );
    }
}
