//! `mutations`: transcripts that are damaged bring nobody down, and take nothing away from what stands before the damage.

use super::{
    compare,
    damage::{self, Damaged},
    random::Random,
    report::Findings,
    subject::{FEED, Sample, Shape, Subject, read},
};
use crate::sandbox::{Adapter, SandboxError};

const TODO_FAULT: &str = "step over a record that cannot be read and count it as broken; only a document that cannot be read as a whole is a fault, `malformed` or `unsupported-format`";

/// No trap, no limit, and a fault only where a document makes no sense any more.
pub(super) fn check(subject: &Subject<'_>) -> Findings {
    let samples = match subject.samples() {
        Ok(samples) => samples,
        Err(why) => return Findings::not_applicable(why),
    };
    let mut findings = Findings::default();
    let mut count = 0;
    let mut try_out = |sample: &Sample<'_>, damaged: &Damaged, findings: &mut Findings| {
        count += 1;
        if let Err((expected, came, todo)) = survives(subject.adapter, sample, damaged) {
            findings.fail(sample.of.at(), expected, format!("after {}: {came}", damaged.what), todo);
        }
    };
    for sample in &samples {
        let mut random = Random::of(&sample.of.place);
        for damaged in damage::damages(sample.bytes, &mut random) {
            try_out(sample, &damaged, &mut findings);
        }
    }
    // Of these one of each shape is enough: they are large.
    for shape in [Shape::JsonLines, Shape::Lines, Shape::Document] {
        let Some(sample) = samples.iter().rfind(|sample| sample.of.shape == shape) else { continue };
        let mut random = Random::of(&sample.of.place);
        for damaged in damage::long_lines(sample.bytes, &mut random) {
            try_out(sample, &damaged, &mut findings);
        }
        let nothing = Damaged { what: "everything was lost", bytes: Vec::new(), sound: 0 };
        try_out(sample, &nothing, &mut findings);
    }
    findings.count("damaged transcripts", count);
    findings
}

type Wrong = (String, String, &'static str);

fn survives(adapter: &Adapter, sample: &Sample<'_>, damaged: &Damaged) -> Result<(), Wrong> {
    let came = read(adapter, &sample.of.origin, None, damaged.bytes.chunks(FEED));
    let is_document = sample.of.shape == Shape::Document;
    let reading = match came {
        Ok(reading) => reading,
        Err(error) if is_document && matches!(error.kind(), "malformed" | "unsupported-format") => return Ok(()),
        // The first line may say which format it is.
        Err(error) if damaged.sound == 0 && error.kind() == "unsupported-format" => return Ok(()),
        Err(error @ SandboxError::Fault { .. }) => {
            let expected = if is_document { "events, or a fault that names the damage" } else { "no fault" };
            return Err((expected.to_owned(), format!("{error} ({})", error.kind()), TODO_FAULT));
        }
        Err(error) => {
            let todo = "whatever a transcript holds, the adapter goes on: no trap, no limit";
            return Err(("an end without a crash".to_owned(), error.to_string(), todo));
        }
    };
    if damaged.bytes.is_empty() && reading.events().next().is_some() {
        let came = "events".to_owned();
        return Err(("nothing of nothing".to_owned(), came, "an empty transcript holds no events"));
    }
    // The records before the damage are settled by themselves, so what follows does not matter to them.
    if is_document || damaged.sound == 0 {
        return Ok(());
    }
    let Ok(before) = read(adapter, &sample.of.origin, None, damaged.bytes[..damaged.sound].chunks(FEED)) else {
        return Ok(());
    };
    let settled = &reading.settled[..before.settled.len().min(reading.settled.len())];
    match compare::lists("event", &before.settled, settled) {
        Some((expected, came)) => {
            Err((format!("before the damage, {expected}"), came, "damage to one record must not take others along"))
        }
        None => Ok(()),
    }
}
