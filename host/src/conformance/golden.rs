//! `golden`: the events that were agreed on, one a line, as `guest-adapters/trail` writes them too.

use std::{fs, io};

use serde_json::json;

use super::{
    FixtureError, compare,
    report::{Failure, Findings},
    subject::{Subject, Transcript},
};
use crate::files;

/// Compares the events of every case with its golden file, or writes that.
pub(super) fn check(subject: &Subject<'_>, bless: bool) -> Result<Findings, FixtureError> {
    if subject.cases.is_empty() {
        return Ok(Findings::not_applicable("no case could be read: see `describe`"));
    }
    let mut findings = Findings::default();
    let (mut events, mut written) = (0, 0);
    for case in &subject.cases {
        let mut text = String::new();
        let mut complete = true;
        for transcript in subject.transcripts.iter().filter(|transcript| transcript.case == case.name) {
            match told(transcript) {
                Ok(told) => {
                    events += told.lines().count();
                    text += &told;
                }
                Err(why) => {
                    complete = false;
                    let todo = "the adapter must read its own fixtures to the end";
                    findings.fail(transcript.at(), "its events", why, todo);
                }
            }
        }
        if complete {
            written += usize::from(compared(&case.name, &case.golden(), &text, bless, &mut findings)?);
        }
    }
    findings.count("events", events);
    if bless {
        findings.count("golden files written", written);
    }
    Ok(findings)
}

/// A transcript's lines of the golden file.
fn told(transcript: &Transcript) -> Result<String, &String> {
    let mut text = String::new();
    for event in transcript.whole.as_ref()?.events() {
        text += &json!({ "transcript": transcript.place, "event": event }).to_string();
        text.push('\n');
    }
    Ok(text)
}

/// Compares with a golden file, or writes it; was it written?
pub(super) fn compared(
    case: &str,
    golden: &std::path::Path,
    text: &str,
    bless: bool,
    findings: &mut Findings,
) -> Result<bool, FixtureError> {
    let name = golden.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let io_error = |source: io::Error| FixtureError::Io { path: golden.to_owned(), source };
    let before = match fs::read_to_string(golden) {
        Ok(before) => Some(before),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(io_error(error)),
    };
    if before.as_deref() == Some(text) {
        return Ok(false);
    }
    if bless {
        files::write_atomically(golden, text.as_bytes()).map_err(io_error)?;
        return Ok(true);
    }
    let Some(before) = before else {
        let came = format!("{} lines, and no file to compare them with", text.lines().count());
        findings.fail(
            (case, &name),
            format!("a file {name}"),
            came,
            "run it once with --bless, and read what it wrote",
        );
        return Ok(false);
    };
    findings.push(Failure {
        case: case.to_owned(),
        place: name.clone(),
        expected: format!("{} lines as in {name}", before.lines().count()),
        came: format!("{} lines, and others", text.lines().count()),
        todo: "if what came is right, run it with --bless and read the difference before you commit it",
        diff: compare::unified(&name, &before, text),
    });
    Ok(false)
}
