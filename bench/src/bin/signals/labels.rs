//! Real transcripts with labels made by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use totalrecall_bench::dialogue::Truth;
use totalrecall_bench::writer::{Tool, database};

use crate::score::Scores;
use crate::transcript;

/// One label. What a file says beside these fields is for people.
#[derive(Debug, Deserialize)]
struct Label {
    file: String,
    half: Option<String>,
    line: u64,
    kind: String,
    grade: Option<String>,
    words: Option<bool>,
    /// Of the words of a refusal: `none`, `clear` or `soft`.
    comment: Option<String>,
    #[serde(default)]
    hard: bool,
    /// Cancelled because the person refused another call made along with it: part of that refusal.
    #[serde(default)]
    sibling: bool,
    /// `rule`: no person was asked.
    by: Option<String>,
    /// Reverts: whether the call worked.
    ok: Option<bool>,
    /// API errors: the record's type; `system` ones were retried.
    record: Option<String>,
    /// Of the file that was labelled.
    sha256: Option<String>,
    /// Of a database, given as SQL: the session. Its rows are the lines.
    session: Option<String>,
    /// Reverts: `false` when the old text came back only in spirit.
    exact: Option<bool>,
}

/// The halves, as they come: sets that are counted apart.
pub(crate) fn halves(file: &Path) -> anyhow::Result<Vec<String>> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut halves: Vec<String> = Vec::new();
    for label in text.lines() {
        let label: Label = serde_json::from_str(label)?;
        halves.extend(label.half.filter(|half| !halves.contains(half)));
    }
    halves.sort();
    Ok(halves)
}

/// Whose transcript it is: the folders are called like the tools.
fn tool(name: &str) -> Tool {
    let folder = |tool: &Tool| name.split('/').any(|part| part == tool.name());
    Tool::ALL.into_iter().find(folder).unwrap_or_default()
}

/// Measures the transcripts of one half.
pub(crate) fn measure(file: &Path, samples: &Path, half: &str, scores: &mut Scores) -> anyhow::Result<()> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut files: BTreeMap<(String, Option<String>), Vec<Label>> = BTreeMap::new();
    for (line, label) in text.lines().enumerate() {
        let label: Label = serde_json::from_str(label).with_context(|| format!("{}:{}", file.display(), line + 1))?;
        if label.half.as_deref() == Some(half) {
            files.entry((label.file.clone(), label.session.clone())).or_default().push(label);
        }
    }
    for ((name, session), labels) in files {
        let mut bytes =
            fs::read(samples.join(&name)).with_context(|| format!("cannot read {name} under {}", samples.display()))?;
        if let Some(digest) = labels.iter().find_map(|label| label.sha256.as_deref()) {
            let found = transcript::sha256(&bytes);
            ensure!(found == digest, "{name} is another file than the one that was labelled: its SHA-256 is {found}");
        }
        if let Some(session) = &session {
            bytes = database::rows(&String::from_utf8(bytes)?, session).with_context(|| name.clone())?.into_bytes();
        }
        let signals = transcript::signals(tool(&name), &name, &bytes)?;
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let text = |line: u64| {
            let record = lines.get(line as usize - 1).copied().unwrap_or_default();
            transcript::words(record)
        };
        // A sub-agent's signals have no labels.
        let signals: Vec<_> = signals.into_iter().filter(|signal| signal.thread.is_none()).collect();
        scores.count(&name, "", &signals, &truths(&labels), text);
    }
    Ok(())
}

fn truths(labels: &[Label]) -> Vec<Truth> {
    let mut truths = Vec::new();
    let mut outage: Option<u64> = None;
    let mut settled = BTreeSet::new();
    for label in labels {
        let truth = |kind: &str| Truth {
            kind: kind.into(),
            lines: vec![label.line],
            grade: None,
            debatable: label.hard || label.exact == Some(false),
        };
        match label.kind.as_str() {
            // Refused by a rule: an error of the tool, as no one was asked.
            "permission-denied" if label.by.as_deref() == Some("rule") => {
                truths.push(Truth { debatable: false, ..truth("tool-error") });
            }
            "permission-denied" if label.sibling => {}
            "permission-denied" => {
                truths.push(Truth { grade: Some("refusal".into()), ..truth("permission-denied") });
                if label.comment.as_deref().is_some_and(|comment| comment != "none") {
                    truths.push(Truth { grade: Some("words of a refusal".into()), ..truth("user-correction") });
                }
            }
            // A refused revert undid nothing.
            "revert" if label.ok == Some(false) => {}
            "api-error" if label.record.as_deref() == Some("system") => outage = outage.or(Some(label.line)),
            "api-error" => {
                outage = None;
                truths.push(truth("api-error"));
            }
            "user-correction" => {
                let grade = match (label.grade.as_deref(), label.words) {
                    (Some("clear"), _) => "clear",
                    (_, Some(false)) => "soft, context",
                    _ => "soft, words",
                };
                truths.push(Truth { grade: Some(grade.into()), ..truth("user-correction") });
            }
            // Only "no correction, but one could think so" matters here.
            "none" if label.hard => truths.push(truth("user-correction")),
            "none" => {}
            kind => truths.push(truth(kind)),
        }
        settled.insert(label.line);
    }
    truths.extend(outage.map(|line| Truth {
        kind: "api-error".into(),
        lines: vec![line],
        grade: None,
        debatable: false,
    }));
    truths
}
