//! A report as SARIF 2.1.0, the form in which GitHub's code scanning and editors take findings.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Write as _,
};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{SessionReport, SignalReport, View};
use crate::insights::{clean, markdown};

/// GitHub refuses files with more results in a run (and shows the 5,000 most severe).
const MOST_RESULTS: usize = 25_000;
/// Characters of a message.
const MESSAGE: usize = 1_000;

/// The whole file, with a line break at its end.
pub fn write(view: &View<'_>) -> String {
    let mut text = document(view).to_string();
    text.push('\n');
    text
}

fn document(view: &View<'_>) -> Value {
    let seen = view.seen();
    let rules: Vec<&str> = seen.keys().copied().collect();
    let mut results = results(view, &rules);
    let all = results.len();
    let mut notes: Vec<Value> = view.problems.iter().map(|problem| note("error", problem)).collect();
    if all > MOST_RESULTS {
        // Stable: within a severity they stay in the order of the report.
        results.sort_by_key(|(severity, _)| std::cmp::Reverse(*severity));
        results.truncate(MOST_RESULTS);
        notes.push(note("warning", &format!("{all} signals were seen; these are the {MOST_RESULTS} most severe")));
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "TotalRecall",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|kind| rule(view, kind)).collect::<Vec<_>>(),
            }},
            "automationDetails": {"id": "totalrecall/"},
            "invocations": [{
                "executionSuccessful": view.problems.is_empty(),
                "toolExecutionNotifications": notes,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results.into_iter().map(|(_, result)| result).collect::<Vec<_>>(),
            "properties": {"sessions": view.sessions.len(), "signals": all, "unreadable": view.problems.len()},
        }],
    })
}

fn note(level: &str, text: &str) -> Value {
    json!({"level": level, "message": {"text": message(text)}})
}

/// As SARIF has it: an error is what stops work, a note what is a nuisance.
fn level(severity: u8) -> &'static str {
    match severity {
        0..=1 => "note",
        2..=3 => "warning",
        _ => "error",
    }
}

fn rule(view: &View<'_>, kind: &str) -> Value {
    let level = level(view.severity(kind));
    let mut rule = json!({
        "id": clean(kind, MESSAGE),
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": ["agent-friction"],
            "problem.severity": if level == "note" { "recommendation" } else { level },
        },
    });
    if let Some(known) = view.kinds.iter().find(|known| known.name == kind) {
        rule["shortDescription"] = json!({"text": message(&known.summary)});
        rule["fullDescription"] = json!({"text": message(&known.summary)});
        rule["help"] = json!({"text": message(&known.advice), "markdown": markdown::prose(&known.advice, MESSAGE)});
    }
    rule
}

/// All results with their severity, in the order of the report.
fn results(view: &View<'_>, rules: &[&str]) -> Vec<(u8, Value)> {
    let index: HashMap<&str, usize> = rules.iter().enumerate().map(|(index, kind)| (*kind, index)).collect();
    let severity: BTreeMap<&str, u8> = rules.iter().map(|kind| (*kind, view.severity(kind))).collect();
    // A session that is there twice (two folders, one name) must not have each fingerprint twice.
    let mut fingerprints = HashMap::<[u8; 8], u64>::new();
    let mut results = Vec::new();
    for session in view.sessions {
        for signal in &session.signals {
            let kind = signal.kind.as_str();
            let hash = fingerprint(session, signal);
            let nth = fingerprints.entry(hash).or_default();
            *nth += 1;
            let hash = hash.iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            });
            let fingerprint = format!("{hash}:{nth}");
            let severity = severity.get(kind).copied().unwrap_or_default();
            results.push((severity, result(view, session, signal, index.get(kind).copied(), severity, &fingerprint)));
        }
    }
    results
}

fn result(
    view: &View<'_>,
    session: &SessionReport,
    signal: &SignalReport,
    rule: Option<usize>,
    severity: u8,
    fingerprint: &str,
) -> Value {
    let path = signal.path.as_ref().unwrap_or(&session.path);
    let location = |line: u64| {
        json!({"physicalLocation": {
            "artifactLocation": {"uri": uri(view, path)},
            "region": {"startLine": startable(line)},
        }})
    };
    let aside = if signal.thread.is_some() { " (in a sub-agent)" } else { "" };
    let others: BTreeSet<u64> = signal.evidence.iter().copied().filter(|line| *line != signal.line).collect();
    let related: Vec<Value> = others.into_iter().take(MOST_RELATED).map(location).collect();
    let mut result = json!({
        "ruleId": clean(&signal.kind, MESSAGE),
        "level": level(severity),
        "message": {"text": message(&signal.detail) + aside},
        "locations": [location(signal.line)],
        // GitHub goes by the first, which is named for what it is elsewhere; the second says what it is.
        "partialFingerprints": {"primaryLocationLineHash": fingerprint, "totalrecallSignal/v1": fingerprint},
        "rank": (f64::from(signal.confidence.clamp(0.0, 1.0)) * 1_000.0).round() / 10.0,
        "properties": {
            "tool": clean(&session.tool, MESSAGE),
            "session": clean(&session.session_id, MESSAGE),
            "subject": clean(&signal.subject, MESSAGE),
        },
    });
    if let Some(rule) = rule {
        result["ruleIndex"] = json!(rule);
    }
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    if let Some(at) = &signal.at {
        result["properties"]["at"] = json!(at);
    }
    result
}

/// Lines of evidence that are named; GitHub shows no more than 100 locations.
const MOST_RELATED: usize = 20;

/// SARIF counts lines from 1, in 32 bits; what has no line is at the first.
fn startable(line: u64) -> u64 {
    line.clamp(1, i32::MAX as u64)
}

/// The same for the same friction at the same place in a session, wherever the transcript lies and however it grew.
fn fingerprint(session: &SessionReport, signal: &SignalReport) -> [u8; 8] {
    let mut hash = Sha256::new();
    let thread = signal.thread.as_deref().unwrap_or_default();
    let line = signal.line.to_string();
    for part in [&session.tool, &session.session_id, thread, &signal.kind, &signal.subject, &line] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let hash = hash.finalize();
    std::array::from_fn(|at| hash[at])
}

/// Text that cannot be taken for a link: `[words](target)` is one in SARIF's plain text, too.
fn message(text: &str) -> String {
    let clean = clean(text, MESSAGE);
    // The schema wants some text.
    if clean.is_empty() { "–".to_owned() } else { clean.replace("](", "] (") }
}

/// Relative to the folder where the transcript lies below it, and absolute otherwise.
fn uri(view: &View<'_>, path: &str) -> String {
    match view.below(path) {
        Some(relative) => encoded(relative),
        None => match encoded(path) {
            absolute if absolute.starts_with('/') => format!("file://{absolute}"),
            // `C:\…`
            drive if cfg!(windows) => format!("file:///{drive}"),
            relative => relative,
        },
    }
}

/// Percent-encoded but for what may stand in every part of a path.
fn encoded(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.trim_start_matches(r"\\?\").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::report::view::tests::{hostile_sessions, kind, session, signal};

    fn view<'a>(sessions: &'a [SessionReport], kinds: &'a [crate::sandbox::analyze::SignalKind]) -> View<'a> {
        View { sessions, problems: &[], kinds, gate: None, here: Path::new("/ci/work") }
    }

    #[test]
    fn a_signal_is_a_result_at_its_line() {
        let mut aside = signal("loop", 9, "again");
        (aside.thread, aside.path) = (Some("a1".into()), Some("/else where/ü.jsonl".into()));
        aside.evidence = vec![3, 9];
        let sessions =
            [session("s1", "/ci/work/t/a b#1.jsonl", vec![signal("tool-error", 7, "see [x](http://evil)"), aside])];
        let kinds = [kind("loop", 4), kind("tool-error", 2), kind("churn", 1)];
        let document = document(&view(&sessions, &kinds));
        let run = &document["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"].as_array().unwrap().len(), 3, "kinds without signals are rules, too");
        let rule = &run["tool"]["driver"]["rules"][1];
        assert_eq!(
            (rule["id"].as_str(), rule["defaultConfiguration"]["level"].as_str()),
            (Some("loop"), Some("error"))
        );
        assert_eq!(rule["help"]["text"], "What to do about loop.");
        let results = &run["results"];
        assert_eq!(results[0]["ruleIndex"], 2);
        assert_eq!(results[0]["level"], "warning");
        assert_eq!(results[0]["message"]["text"], "see [x] (http://evil)");
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "t/a%20b%231.jsonl");
        assert_eq!(place["region"]["startLine"], 7);
        assert_eq!(results[1]["message"]["text"], "again (in a sub-agent)");
        let place = &results[1]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "file:///else%20where/%C3%BC.jsonl");
        assert_eq!(results[1]["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 3);
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    }

    #[test]
    fn fingerprints_are_the_same_wherever_the_transcript_lies_and_each_is_there_once() {
        let fingerprints = |sessions: &[SessionReport]| {
            let document = document(&view(sessions, &[]));
            let results = document["runs"][0]["results"].as_array().unwrap().clone();
            results
                .iter()
                .map(|it| it["partialFingerprints"]["primaryLocationLineHash"].to_string())
                .collect::<Vec<_>>()
        };
        let signals = || vec![signal("tool-error", 7, "a"), signal("tool-error", 8, "a"), signal("loop", 8, "a")];
        let here = fingerprints(&[session("s1", "/ci/work/1.jsonl", signals())]);
        let there = fingerprints(&[session("s1", "/tmp/2.jsonl", [signals(), vec![signal("loop", 99, "b")]].concat())]);
        assert_eq!(here, there[..3]);
        let twice = fingerprints(&[session("s1", "/1", signals()), session("s1", "/2", signals())]);
        assert_eq!(BTreeSet::from_iter(twice).len(), 6);
    }

    #[test]
    fn what_github_would_refuse_is_cut_by_severity_and_told() {
        let mut signals: Vec<_> = (1..=25_000).map(|line| signal("nuisance", line, "a")).collect();
        signals.push(signal("disaster", 99, "b"));
        let sessions = [session("s1", "/1", signals)];
        let kinds = [kind("nuisance", 1), kind("disaster", 5)];
        let document = document(&view(&sessions, &kinds));
        let run = &document["runs"][0];
        let results = run["results"].as_array().unwrap();
        assert_eq!((results.len(), &results[0]["ruleId"]), (25_000, &json!("disaster")));
        assert_eq!(run["properties"]["signals"], 25_001);
        let note = &run["invocations"][0]["toolExecutionNotifications"][0];
        assert_eq!(note["message"]["text"], "25001 signals were seen; these are the 25000 most severe");
    }

    #[test]
    fn what_could_not_be_read_is_told() {
        let problems = ["/x: \u{1b}[31mno".to_owned()];
        let document = document(&View { problems: &problems, ..view(&[], &[]) });
        let invocation = &document["runs"][0]["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], false);
        assert_eq!(invocation["toolExecutionNotifications"][0]["message"]["text"], "/x: no");
    }

    proptest! {
        #[test]
        fn it_is_json_without_control_characters_for_any_text(sessions in hostile_sessions()) {
            let text = write(&view(&sessions, &[]));
            let document: Value = serde_json::from_str(&text).unwrap();
            let results = document["runs"][0]["results"].as_array().unwrap();
            prop_assert_eq!(results.len(), sessions.iter().map(|it| it.signals.len()).sum::<usize>());
            for result in results {
                let message = result["message"]["text"].as_str().unwrap();
                prop_assert!(!message.is_empty() && !message.contains("](") && !message.chars().any(char::is_control));
                let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
                let safe = uri.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~/%:".contains(&byte));
                prop_assert!(safe, "{uri:?}");
            }
        }
    }
}
