//! What differs between two runs that should not.

use serde::Serialize;

use super::subject::Reading;

/// Characters shown around the place where two lines differ.
const AROUND: usize = 120;

/// Of two runs the first thing that differs: what the first one gave, and the second.
pub(super) fn readings(expected: &Reading, came: &Reading) -> Option<(String, String)> {
    lists("settled event", &expected.settled, &came.settled)
        .or_else(|| lists("provisional event", &expected.provisional, &came.provisional))
        .or_else(|| lists("tally entry", &expected.tally, &came.tally))
        .or_else(|| {
            let offset = |reading: &Reading| format!("a checkpoint at offset {}", reading.checkpoint.offset);
            (expected.checkpoint.offset != came.checkpoint.offset).then(|| (offset(expected), offset(came)))
        })
}

/// Of two lists the first item that differs.
pub(super) fn lists<T: PartialEq + Serialize>(what: &str, expected: &[T], came: &[T]) -> Option<(String, String)> {
    let at = (0..expected.len().max(came.len())).find(|at| expected.get(*at) != came.get(*at))?;
    let (left, right) = (json(expected.get(at)), json(came.get(at)));
    let (left, right) = around(&left, &right);
    let tell = |item: String, all: &[T]| format!("{what} {} of {}: {item}", at + 1, all.len());
    Some((tell(left, expected), tell(right, came)))
}

fn json<T: Serialize>(item: Option<&T>) -> String {
    match item {
        Some(item) => serde_json::to_string(item).unwrap_or_else(|error| error.to_string()),
        None => "none".to_owned(),
    }
}

/// The first difference of two texts of lines, as `diff -u` has it, with long lines cut to where they differ.
pub(super) fn unified(name: &str, expected: &str, came: &str) -> Option<String> {
    if expected == came {
        return None;
    }
    let (left, right): (Vec<_>, Vec<_>) = (expected.lines().collect(), came.lines().collect());
    let at = (0..left.len().max(right.len())).find(|at| left.get(*at) != right.get(*at)).unwrap_or(left.len());
    let mut diff = format!("--- {name}\n+++ what came\n@@ line {} of {} and {} @@\n", at + 1, left.len(), right.len());
    if let Some(before) = at.checked_sub(1).and_then(|before| left.get(before)) {
        diff += &format!(" {}\n", around(before, before).0);
    }
    let (minus, plus) = around(left.get(at).copied().unwrap_or_default(), right.get(at).copied().unwrap_or_default());
    if at < left.len() {
        diff += &format!("-{minus}\n");
    }
    if at < right.len() {
        diff += &format!("+{plus}\n");
    }
    Some(diff)
}

/// Both lines, cut to the part in which they first differ.
fn around(left: &str, right: &str) -> (String, String) {
    let same = left.chars().zip(right.chars()).take_while(|(left, right)| left == right).count();
    let equal = left == right;
    let from = if equal { 0 } else { same.saturating_sub(AROUND / 2) };
    let cut = |text: &str| {
        let mut part: String = text.chars().skip(from).take(AROUND * 2).collect();
        if from > 0 {
            part.insert(0, '…');
        }
        if text.chars().nth(from + AROUND * 2).is_some() {
            part.push('…');
        }
        part
    };
    (cut(left), cut(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_shown() {
        assert_eq!(unified("a", "x\ny\n", "x\ny\n"), None);
        assert_eq!(
            unified("a", "x\ny\nz\n", "x\nw\n").unwrap(),
            "--- a\n+++ what came\n@@ line 2 of 3 and 2 @@\n x\n-y\n+w\n"
        );
        assert_eq!(unified("a", "", "x\n").unwrap(), "--- a\n+++ what came\n@@ line 1 of 0 and 1 @@\n+x\n");
        let long = |end: &str| format!("{}{end}", "é".repeat(1000));
        let diff = unified("a", &long("1"), &long("2")).unwrap();
        assert!(diff.contains("é1\n") && diff.contains("é2\n") && diff.chars().count() < 300, "{diff}");
    }
}
