//! Thresholds, each with the default the documentation names.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use totalrecall_sdk::types::Fault;
use totalrecall_sdk::{Setting, Settings};

/// What the person may tune. Part of the checkpoint: another threshold gives other signals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thresholds {
    /// Successful edits of one file that make it churn.
    pub churn_edits: usize,
    /// Minutes in which they must fall; 0 counts the whole session.
    pub churn_window_minutes: u64,
    /// Failures of the same call that make a loop.
    pub retry_failures: usize,
    /// Confidence from which a human turn counts as a correction.
    pub correction_confidence: f32,
    /// Likeness (0 to 1) from which an instruction counts as repeated.
    pub repeat_similarity: f32,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            churn_edits: 3,
            churn_window_minutes: 0,
            retry_failures: 3,
            correction_confidence: 0.5,
            repeat_similarity: 0.6,
        }
    }
}

impl Thresholds {
    /// Every setting with its default, for the descriptor.
    pub fn settings() -> Vec<Setting> {
        let default = Self::default();
        let setting = |name: &str, default: String, summary: &str| Setting {
            name: name.into(),
            default,
            summary: summary.into(),
        };
        vec![
            setting("churn-edits", default.churn_edits.to_string(), "Successful edits of one file that make it churn."),
            setting(
                "churn-window-minutes",
                default.churn_window_minutes.to_string(),
                "Minutes in which these edits must fall; 0 counts the whole session.",
            ),
            setting(
                "retry-failures",
                default.retry_failures.to_string(),
                "Failures of the same call, with no success and no edit between, that make a loop.",
            ),
            setting(
                "correction-confidence",
                default.correction_confidence.to_string(),
                "Confidence (0 to 1) from which a human turn counts as a correction.",
            ),
            setting(
                "repeat-similarity",
                default.repeat_similarity.to_string(),
                "Likeness (0 to 1) from which an instruction counts as repeated.",
            ),
        ]
    }

    /// What was set, checked: the fault names the setting, what was written, and what would do.
    pub fn read(settings: &Settings) -> Result<Self, Fault> {
        Ok(Self {
            churn_edits: number(settings, "churn-edits", "2 to 1000", |edits| (2..=1000).contains(edits))?,
            churn_window_minutes: number(settings, "churn-window-minutes", "a whole number", |_| true)?,
            retry_failures: number(settings, "retry-failures", "2 to 1000", |failures| (2..=1000).contains(failures))?,
            correction_confidence: number(settings, "correction-confidence", "0 to 1", is_share)?,
            repeat_similarity: number(settings, "repeat-similarity", "0 to 1", is_share)?,
        })
    }
}

fn number<T: FromStr>(settings: &Settings, name: &str, range: &str, fits: impl Fn(&T) -> bool) -> Result<T, Fault> {
    let value = settings.get(name)?;
    if fits(&value) {
        Ok(value)
    } else {
        Err(Fault::Internal(format!("the setting `{name}` must be {range}, not `{}`", settings.text(name))))
    }
}

fn is_share(value: &f32) -> bool {
    (0.0..=1.0).contains(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use totalrecall_sdk::analyzer::Value;

    fn read(setting: &str, value: &str) -> Result<Thresholds, Fault> {
        let given = Value { setting: setting.into(), value: value.into() };
        Thresholds::read(&Settings::new(&Thresholds::settings(), &[given]))
    }

    #[test]
    fn defaults_are_those_described() {
        assert_eq!(read("unknown", "1"), Ok(Thresholds::default()));
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        assert_eq!(read("churn-edits", "5").map(|read| read.churn_edits), Ok(5));
        for (setting, value) in [("retry-failures", "1"), ("correction-confidence", "NaN"), ("repeat-similarity", "2")]
        {
            assert!(read(setting, value).is_err(), "{setting} {value}");
        }
    }
}
