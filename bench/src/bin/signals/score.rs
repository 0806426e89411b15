//! Counting what was found against what should have been.

use std::collections::BTreeMap;
use std::fmt;

use totalrecall_bench::dialogue::Truth;
use totalrecall_sdk::Signal;

/// Found, missed and wrongly found.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    found: u64,
    missed: u64,
    wrong: u64,
}

/// The figures of one set.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    list: bool,
    kinds: BTreeMap<String, Count>,
    grades: BTreeMap<String, Count>,
    languages: BTreeMap<String, Count>,
}

impl Scores {
    /// With `list`, errors are printed as they are counted.
    pub(crate) fn new(list: bool) -> Self {
        Self { list, ..Self::default() }
    }

    /// Counts one transcript. `of` names it in error lists; `text` gives the text of a record for them.
    pub(crate) fn count(
        &mut self,
        of: &str,
        language: &str,
        signals: &[Signal],
        truths: &[Truth],
        text: impl Fn(u64) -> String,
    ) {
        let mut used = vec![false; truths.len()];
        for signal in signals {
            let matches = |(place, truth): &(usize, &Truth)| {
                !used[*place] && truth.kind == signal.kind && truth.lines.contains(&signal.line)
            };
            let count = self.kinds.entry(signal.kind.clone()).or_default();
            match truths.iter().enumerate().find(matches) {
                Some((place, truth)) => {
                    used[place] = true;
                    if truth.debatable {
                        continue;
                    }
                    count.found += 1;
                    if signal.kind == "user-correction" {
                        self.languages.entry(language.into()).or_default().found += 1;
                    }
                    if let Some(grade) = &truth.grade {
                        self.grades.entry(grade.clone()).or_default().found += 1;
                    }
                }
                None => {
                    // A debatable record is debatable for corrections of any kind.
                    count.wrong += 1;
                    if signal.kind == "user-correction" {
                        self.languages.entry(language.into()).or_default().wrong += 1;
                    }
                    self.list(
                        "wrong",
                        of,
                        signal.line,
                        &signal.kind,
                        &format!("{:.2} {}", signal.confidence, signal.detail),
                        &text,
                    );
                }
            }
        }
        for (truth, used) in truths.iter().zip(used) {
            if used || truth.debatable || truth.kind == "none" {
                continue;
            }
            self.kinds.entry(truth.kind.clone()).or_default().missed += 1;
            if truth.kind == "user-correction" {
                self.languages.entry(language.into()).or_default().missed += 1;
            }
            if let Some(grade) = &truth.grade {
                self.grades.entry(grade.clone()).or_default().missed += 1;
            }
            let grade = truth.grade.as_deref().unwrap_or_default();
            self.list("missed", of, truth.lines[0], &truth.kind, grade, &text);
        }
    }

    #[expect(clippy::print_stdout, reason = "a measuring tool prints its figures")]
    fn list(&self, what: &str, of: &str, line: u64, kind: &str, note: &str, text: impl Fn(u64) -> String) {
        if self.list {
            println!("{what}\t{of}:{line}\t{kind}\t{note}\t{}", text(line));
        }
    }
}

impl Count {
    fn row(self, name: &str) -> String {
        let share = |part: u64, whole: u64| {
            if whole == 0 { "–".into() } else { format!("{:.3}", part as f64 / whole as f64) }
        };
        let precision = share(self.found, self.found + self.wrong);
        let recall = share(self.found, self.found + self.missed);
        let f1 = share(2 * self.found, 2 * self.found + self.wrong + self.missed);
        format!("| {name} | {} | {} | {} | {precision} | {recall} | {f1} |\n", self.found, self.missed, self.wrong)
    }
}

impl fmt::Display for Scores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("| signal | found | missed | wrong | precision | recall | F1 |\n|---|---|---|---|---|---|---|\n")?;
        for (kind, count) in &self.kinds {
            f.write_str(&count.row(kind))?;
        }
        // A grade belongs to what should have been found, so it has no precision of its own.
        if !self.grades.is_empty() {
            f.write_str("\n| what should be found | found | missed | recall |\n|---|---|---|---|\n")?;
        }
        for (grade, count) in &self.grades {
            let recall = count.found as f64 / (count.found + count.missed).max(1) as f64;
            writeln!(f, "| {grade} | {} | {} | {recall:.3} |", count.found, count.missed)?;
        }
        if self.languages.len() > 1 {
            f.write_str("\n| corrections by language | found | missed | wrong | precision | recall | F1 |\n|---|---|---|---|---|---|---|\n")?;
            for (language, count) in &self.languages {
                f.write_str(&count.row(language))?;
            }
        }
        Ok(())
    }
}
