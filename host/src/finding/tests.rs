//! Signals to findings: what is one incident, and what is kept of it.

use super::*;

fn signal(kind: &str, subject: &str, line: u64) -> Signal {
    Signal {
        kind: kind.into(),
        subject: subject.into(),
        line,
        at: Some(1_000 * i64::try_from(line).unwrap()),
        thread: None,
        confidence: 1.0,
        detail: format!("detail {line}"),
        evidence: vec![line],
    }
}

fn kinds() -> Vec<SignalKind> {
    let kind = |name: &str, severity| SignalKind {
        name: name.into(),
        summary: String::new(),
        severity,
        advice: String::new(),
    };
    vec![kind("tool-error", 2), kind("user-correction", 4)]
}

fn findings(signals: &[Signal]) -> Vec<Finding> {
    let sightings: Vec<Sighting<'_>> = signals.iter().map(|signal| Sighting { transcript: 7, signal }).collect();
    from_signals(&sightings, &kinds())
}

#[test]
fn equal_subjects_are_one_incident_with_all_its_places() {
    let agent = Signal { thread: Some("agent-1".into()), ..signal("tool-error", "Edit: not read", 3) };
    let signals = [
        signal("tool-error", "edit:  not READ", 20),
        agent,
        signal("tool-error", "Edit: not read", 9),
        signal("tool-error", "Bash: no such file", 30),
    ];
    let findings = findings(&signals);
    assert_eq!(findings.len(), 2);
    let edit = &findings[0];
    assert_eq!((edit.count, edit.in_subagents, edit.severity), (3, 1, 2));
    assert_eq!((edit.first_at, edit.last_at), (Some(3_000), Some(20_000)));
    assert_eq!(edit.evidence.iter().map(|place| place.line).collect::<Vec<_>>(), [9, 20, 3], "main thread first");
    assert_eq!(edit.subject, "Edit: not read");
}

#[test]
fn words_that_say_the_same_are_one_repeated_correction() {
    let findings = findings(&[
        signal("user-correction", "no, use pnpm, not npm", 5),
        signal("user-correction", "pnpm instead of npm!", 9),
        signal("user-correction", "keep the diff small", 12),
    ]);
    let said: Vec<(u32, Category)> = findings.iter().map(|finding| (finding.count, finding.category)).collect();
    assert_eq!(said, [(2, Category::RepeatedCorrection), (1, Category::MisunderstoodIntent)]);
    assert_eq!(findings[0].words.as_deref(), Some("no, use pnpm, not npm"));
}

#[test]
fn a_refusal_has_the_words_that_it_quotes() {
    let refused = |detail: &str| Signal { detail: detail.into(), ..signal("permission-denied", "Bash: git push", 4) };
    let said = findings(&[refused("refused Bash `git push`, saying: not before I saw it")]);
    assert_eq!(said[0].words.as_deref(), Some("not before I saw it"));
    assert_eq!(findings(&[refused("refused Bash `git push` without a word")])[0].words, None);
}

#[test]
fn the_order_of_signals_does_not_matter() {
    let mut signals = vec![
        signal("user-correction", "use pnpm not npm", 5),
        signal("user-correction", "pnpm, not npm", 9),
        signal("tool-error", "Bash: x", 2),
        signal("tool-error", "Bash: X", 1),
        signal("strange", "", 8),
    ];
    let expected = findings(&signals);
    for _ in 0..signals.len() {
        signals.rotate_left(1);
        assert_eq!(findings(&signals), expected);
    }
    assert_eq!(
        expected.iter().find(|f| f.kind == "strange").map(|f| (f.severity, f.category)),
        Some((2, Category::Other))
    );
}

#[test]
fn long_series_are_counted_in_full_and_proven_by_their_beginning() {
    let signals: Vec<Signal> = (1..=500).map(|line| signal("tool-error", "Bash: x", line)).collect();
    let findings = findings(&signals);
    assert_eq!((findings[0].count, findings[0].evidence.len()), (500, EVIDENCE));
}
