//! The gate of `analyze --fail-on`: conditions under which what was counted is too much.
//!
//! ```text
//! gate      = condition *( "," condition )
//! condition = subject ( ">" | ">=" | "=" ) number
//! subject   = kind of signal | "any" | "unreadable"
//! ```

use std::{collections::BTreeMap, fmt, str::FromStr};

use crate::report::SessionReport;

/// All signals together.
const ANY: &str = "any";
/// Transcripts that could not be read.
const UNREADABLE: &str = "unreadable";
/// How alike two names are (Jaro's measure, 0 to 1) when one may be meant by the other.
const ALIKE: f64 = 0.75;

/// Conditions, each of which closes the gate when it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    conditions: Vec<Condition>,
}

/// One condition: it holds when the count of its subject compares so with the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// What is counted.
    pub subject: Subject,
    /// How.
    pub comparison: Comparison,
    /// With what.
    pub limit: u64,
}

/// What a condition counts, over all sessions, main conversations and sub-agents together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Signals of one kind.
    Kind(String),
    /// All signals.
    Any,
    /// Transcripts that could not be read.
    Unreadable,
}

/// How a count is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `=`
    Equal,
}

/// Why an expression is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// An empty variable must not become a gate that is always open.
    #[error("there is a condition missing; write for example 'tool-error>10,retry-loop>0'")]
    Empty,
    /// Not of the form.
    #[error("{0:?} is no condition; write KIND>N, KIND>=N or KIND=N, for example tool-error>10")]
    Malformed(String),
    /// It says nothing about what was read.
    #[error("{0:?} always holds, so that nothing would pass")]
    AlwaysHolds(String),
    /// Nothing is called so.
    #[error("there is no signal {name:?}{} Known are: {known}", meant.as_ref().map_or(".".to_owned(), |it| format!("; did you mean {it}?")))]
    UnknownKind {
        /// As it was written.
        name: String,
        /// What may have been meant.
        meant: Option<String>,
        /// What there is.
        known: String,
    },
}

impl FromStr for Gate {
    type Err = GateError;

    fn from_str(expression: &str) -> Result<Self, GateError> {
        let conditions = expression.split(',').map(str::parse).collect::<Result<_, _>>()?;
        Ok(Self { conditions })
    }
}

impl FromStr for Condition {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(GateError::Empty);
        }
        let malformed = || GateError::Malformed(text.to_owned());
        let at = text.find(['>', '=']).ok_or_else(malformed)?;
        let (name, rest) = (text[..at].trim(), &text[at..]);
        let (comparison, limit) = [(">=", Comparison::AtLeast), (">", Comparison::Above), ("=", Comparison::Equal)]
            .into_iter()
            .find_map(|(sign, comparison)| Some((comparison, rest.strip_prefix(sign)?.trim())))
            .ok_or_else(malformed)?;
        // `parse` would take a sign.
        let digits = !limit.is_empty() && limit.bytes().all(|byte| byte.is_ascii_digit());
        let limit = limit.parse().ok().filter(|_| digits).ok_or_else(malformed)?;
        let subject = match name {
            "" => return Err(malformed()),
            ANY => Subject::Any,
            UNREADABLE => Subject::Unreadable,
            kind => Subject::Kind(kind.to_owned()),
        };
        if (comparison, limit) == (Comparison::AtLeast, 0) {
            return Err(GateError::AlwaysHolds(text.to_owned()));
        }
        Ok(Self { subject, comparison, limit })
    }
}

impl Gate {
    /// Are there signals of all the kinds that it names?
    ///
    /// # Errors
    /// The first kind that is not among the `known` ones: a gate that waits for what never comes would be open for ever.
    pub fn check<'a>(&self, known: impl Iterator<Item = &'a str>) -> Result<(), GateError> {
        let known: Vec<&str> = known.chain([ANY, UNREADABLE]).collect();
        for condition in &self.conditions {
            let Subject::Kind(name) = &condition.subject else { continue };
            if known.contains(&name.as_str()) {
                continue;
            }
            let likeness = |known: &str| strsim::jaro(&name.to_lowercase(), known);
            let nearest = known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
            let meant = nearest.filter(|nearest| likeness(nearest) >= ALIKE).map(str::to_owned);
            return Err(GateError::UnknownKind { name: name.clone(), meant, known: known.join(", ") });
        }
        Ok(())
    }

    /// Closes it for transcripts that could not be read, unless it says itself how many are allowed.
    #[must_use]
    pub fn and_readable(mut self) -> Self {
        if self.conditions.iter().all(|condition| condition.subject != Subject::Unreadable) {
            let (subject, comparison) = (Subject::Unreadable, Comparison::Above);
            self.conditions.push(Condition { subject, comparison, limit: 0 });
        }
        self
    }

    /// Holds its conditions against what was counted.
    pub fn judge(self, totals: &Totals) -> Verdict {
        let judged = |condition: Condition| Judged { count: totals.of(&condition.subject), condition };
        Verdict(self.conditions.into_iter().map(judged).collect())
    }
}

/// What was counted in all sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Signals by kind, those of sub-agents included.
    pub kinds: BTreeMap<String, u64>,
    /// Transcripts that could not be read.
    pub unreadable: u64,
}

impl Totals {
    /// Counts.
    pub fn new(sessions: &[SessionReport], unreadable: usize) -> Self {
        let mut totals = Self { kinds: BTreeMap::new(), unreadable: unreadable as u64 };
        for (kind, count) in sessions.iter().flat_map(|it| it.counts.iter().chain(&it.counts_subagents)) {
            *totals.kinds.entry(kind.clone()).or_default() += count;
        }
        totals
    }

    fn of(&self, subject: &Subject) -> u64 {
        match subject {
            Subject::Kind(kind) => self.kinds.get(kind).copied().unwrap_or(0),
            Subject::Any => self.kinds.values().sum(),
            Subject::Unreadable => self.unreadable,
        }
    }
}

/// What a gate says: its conditions with what was counted, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict(pub Vec<Judged>);

/// A condition and the count that it is held against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The condition.
    pub condition: Condition,
    /// The count of its subject.
    pub count: u64,
}

impl Verdict {
    /// The conditions that hold. The gate is closed when there is one.
    pub fn violated(&self) -> impl Iterator<Item = &Judged> {
        self.0.iter().filter(|judged| judged.is_violated())
    }

    /// Is this kind of signal too frequent by a condition of its own?
    pub fn violates(&self, kind: &str) -> Option<&Judged> {
        self.violated().find(|judged| matches!(&judged.condition.subject, Subject::Kind(it) if it == kind))
    }

    /// Are the transcripts that could not be read too many?
    pub fn violates_readable(&self) -> bool {
        self.violated().any(|judged| judged.condition.subject == Subject::Unreadable)
    }
}

impl Judged {
    /// Does the condition hold?
    pub fn is_violated(&self) -> bool {
        let limit = self.condition.limit;
        match self.condition.comparison {
            Comparison::Above => self.count > limit,
            Comparison::AtLeast => self.count >= limit,
            Comparison::Equal => self.count == limit,
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kind(kind) => kind,
            Self::Any => ANY,
            Self::Unreadable => UNREADABLE,
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.comparison {
            Comparison::Above => ">",
            Comparison::AtLeast => ">=",
            Comparison::Equal => "=",
        };
        write!(f, "{}{sign}{}", self.subject, self.limit)
    }
}

/// `tool-error: 12, allowed 10`
impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Condition { subject, comparison, limit } = &self.condition;
        write!(f, "{subject}: {}, allowed ", self.count)?;
        match comparison {
            Comparison::Above => limit.fmt(f),
            Comparison::AtLeast => (limit - 1).fmt(f),
            Comparison::Equal => write!(f, "any number but {limit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KINDS: [&str; 3] = ["tool-error", "retry-loop", "other/tool-error"];

    fn judge(expression: &str) -> Vec<String> {
        let kinds = [("tool-error", 12), ("retry-loop", 1), ("other/tool-error", 2)];
        let totals = Totals { kinds: kinds.map(|(kind, count)| (kind.to_owned(), count)).into(), unreadable: 3 };
        let gate: Gate = expression.parse().unwrap();
        gate.check(KINDS.into_iter()).unwrap();
        gate.judge(&totals).violated().map(ToString::to_string).collect()
    }

    #[test]
    fn conditions_hold_or_do_not() {
        for (expression, expected) in [
            ("tool-error>12", &[][..]),
            ("tool-error>11", &["tool-error: 12, allowed 11"]),
            ("tool-error>=12", &["tool-error: 12, allowed 11"]),
            ("tool-error>=13", &[]),
            ("tool-error=12", &["tool-error: 12, allowed any number but 12"]),
            ("tool-error=0", &[]),
            ("any>15", &[]),
            ("any>14", &["any: 15, allowed 14"]),
            ("other/tool-error>1", &["other/tool-error: 2, allowed 1"]),
            ("unreadable>0", &["unreadable: 3, allowed 0"]),
            (" tool-error > 10 ,\n retry-loop >= 1 ", &["tool-error: 12, allowed 10", "retry-loop: 1, allowed 0"]),
        ] {
            assert_eq!(judge(expression), expected, "{expression}");
        }
    }

    #[test]
    fn what_is_no_condition_is_told() {
        for (expression, expected) in [
            ("", GateError::Empty),
            ("tool-error>1,", GateError::Empty),
            ("tool-error", GateError::Malformed("tool-error".into())),
            ("tool-error<1", GateError::Malformed("tool-error<1".into())),
            ("tool-error==1", GateError::Malformed("tool-error==1".into())),
            ("tool-error>-1", GateError::Malformed("tool-error>-1".into())),
            ("tool-error>+1", GateError::Malformed("tool-error>+1".into())),
            ("tool-error>1.5", GateError::Malformed("tool-error>1.5".into())),
            ("tool-error>99999999999999999999", GateError::Malformed("tool-error>99999999999999999999".into())),
            (">1", GateError::Malformed(">1".into())),
            ("any>=0", GateError::AlwaysHolds("any>=0".into())),
        ] {
            assert_eq!(expression.parse::<Gate>(), Err(expected), "{expression}");
        }
    }

    #[test]
    fn an_unknown_kind_is_named_with_what_was_meant() {
        let told = |expression: &str| {
            let gate: Gate = expression.parse().unwrap();
            gate.check(KINDS.into_iter()).unwrap_err().to_string()
        };
        let known = "Known are: tool-error, retry-loop, other/tool-error, any, unreadable";
        assert_eq!(told("tool-eror>1"), format!("there is no signal \"tool-eror\"; did you mean tool-error? {known}"));
        assert_eq!(told("Any>1"), format!("there is no signal \"Any\"; did you mean any? {known}"));
        assert_eq!(told("zzz>1"), format!("there is no signal \"zzz\". {known}"));
    }

    #[test]
    fn transcripts_that_cannot_be_read_close_it_unless_it_says_otherwise() {
        let conditions = |expression: &str| {
            let gate = expression.parse::<Gate>().unwrap().and_readable();
            gate.conditions.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(conditions("any>1"), ["any>1", "unreadable>0"]);
        assert_eq!(conditions("unreadable>5"), ["unreadable>5"]);
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_again(
            name in "[a-z]{1,9}(/[a-z-]{1,9})?", sign in "(>|>=|=)", limit in 1u64..
        ) {
            let expression = format!("{name}{sign}{limit}");
            prop_assert_eq!(expression.parse::<Condition>().unwrap().to_string(), expression);
        }

        #[test]
        fn no_text_makes_it_fail_in_another_way(text in "\\PC{0,40}|[a-z>=, 0-9]{0,20}") {
            if let Ok(gate) = text.parse::<Gate>() {
                let _ = gate.check(KINDS.into_iter());
                let verdict = gate.and_readable().judge(&Totals::default());
                prop_assert!(verdict.0.iter().all(|judged| !judged.to_string().is_empty()));
            }
        }
    }
}
