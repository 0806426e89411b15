//! A report as JUnit XML, which every CI shows: a suite a session, a case a kind of signal.
//!
//! With a gate a case fails when a condition on its kind is violated and the session took part in it, and the gate's
//! conditions are a suite of their own. Without one every kind that was seen fails.

use std::fmt::Write as _;

use super::{SessionReport, SignalReport, View};
use crate::{gate::Judged, insights::clean};

/// Signals that a failure lists.
const MOST_LISTED: usize = 50;
/// Characters of a line of it.
const LINE: usize = 300;

/// The whole file.
pub fn write(view: &View<'_>) -> String {
    let kinds: Vec<&str> = view.seen().into_keys().collect();
    let mut suites: Vec<Suite> = view.sessions.iter().map(|session| of_session(view, session, &kinds)).collect();
    if let Some(verdict) = view.gate {
        suites.push(Suite::new("gate", verdict.0.iter().map(of_condition).collect()));
    }
    if !view.problems.is_empty() {
        suites.push(Suite::new("unreadable", view.problems.iter().map(|problem| of_problem(view, problem)).collect()));
    }
    let count = |what: fn(&Suite) -> usize| suites.iter().map(what).sum::<usize>();
    let mut xml = Xml("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned());
    xml.open(
        "testsuites",
        &[
            ("name", "totalrecall"),
            ("tests", &count(|suite| suite.cases.len()).to_string()),
            ("failures", &count(Suite::failures).to_string()),
            ("errors", &count(Suite::errors).to_string()),
        ],
    );
    suites.iter().for_each(|suite| suite.write(&mut xml));
    xml.close("testsuites");
    xml.0
}

struct Suite {
    name: String,
    timestamp: Option<String>,
    properties: Vec<(&'static str, String)>,
    cases: Vec<Case>,
}

struct Case {
    class: String,
    name: String,
    file: Option<String>,
    outcome: Outcome,
}

/// How a case ended; what did not pass has a message and, for failures, more below.
enum Outcome {
    Passed,
    Skipped(String),
    Failed(String, String),
    Error(String),
}

fn of_session(view: &View<'_>, session: &SessionReport, kinds: &[&str]) -> Suite {
    let id = clean(&session.session_id, LINE);
    let place = view.below(&session.path).unwrap_or(&session.path);
    let case = |kind: &str| {
        let signals: Vec<_> = session.signals.iter().filter(|signal| signal.kind == kind).collect();
        Case {
            class: format!("{}.{id}", clean(&session.tool, LINE)),
            name: clean(kind, LINE),
            file: Some(clean(place, LINE)),
            outcome: of_signals(view, kind, &signals),
        }
    };
    let mut properties = vec![("tool", session.tool.clone()), ("transcript", place.to_owned())];
    properties.extend(session.project.clone().map(|project| ("project", project)));
    Suite {
        timestamp: session.started_at.clone(),
        properties,
        cases: kinds.iter().map(|kind| case(kind)).collect(),
        ..Suite::new(&id, Vec::new())
    }
}

fn of_signals(view: &View<'_>, kind: &str, signals: &[&SignalReport]) -> Outcome {
    let here = signals.len();
    let message = match view.gate {
        _ if here == 0 => return Outcome::Passed,
        None => format!("{kind}: {here}"),
        Some(verdict) => match verdict.violates(kind) {
            None => return Outcome::Passed,
            Some(judged) => format!("{here} in this session; in all of them {judged}"),
        },
    };
    let mut listed = String::new();
    for signal in signals.iter().take(MOST_LISTED) {
        let aside = if signal.thread.is_some() { " (in a sub-agent)" } else { "" };
        let _ = writeln!(listed, "line {}: {}{aside}", signal.line, clean(&signal.detail, LINE));
    }
    if here > MOST_LISTED {
        let _ = writeln!(listed, "… and {} more", here - MOST_LISTED);
    }
    if let Some(known) = view.kinds.iter().find(|known| known.name == kind) {
        let _ = writeln!(listed, "\n{}", clean(&known.advice, LINE));
    }
    Outcome::Failed(message, listed)
}

fn of_condition(judged: &Judged) -> Case {
    let outcome =
        if judged.is_violated() { Outcome::Failed(judged.to_string(), judged.to_string()) } else { Outcome::Passed };
    Case { class: "totalrecall.gate".to_owned(), name: judged.condition.to_string(), file: None, outcome }
}

fn of_problem(view: &View<'_>, problem: &str) -> Case {
    let problem = clean(problem, LINE);
    // A gate that lets it pass has been told to.
    let allowed = view.gate.is_some_and(|verdict| !verdict.violates_readable());
    let outcome = if allowed { Outcome::Skipped(problem.clone()) } else { Outcome::Error(problem.clone()) };
    Case { class: "totalrecall.unreadable".to_owned(), name: problem, file: None, outcome }
}

impl Suite {
    fn new(name: &str, cases: Vec<Case>) -> Self {
        Self { name: name.to_owned(), timestamp: None, properties: Vec::new(), cases }
    }

    fn failures(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Failed(..))).count()
    }

    fn errors(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Error(_))).count()
    }

    fn write(&self, xml: &mut Xml) {
        let skipped = self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Skipped(_))).count();
        let counts = [self.cases.len(), self.failures(), self.errors(), skipped].map(|count| count.to_string());
        let mut attributes = vec![("name", self.name.as_str())];
        attributes
            .extend(["tests", "failures", "errors", "skipped"].into_iter().zip(counts.iter().map(String::as_str)));
        attributes.push(("time", "0"));
        attributes.extend(self.timestamp.as_deref().map(|at| ("timestamp", at)));
        xml.open("testsuite", &attributes);
        if !self.properties.is_empty() {
            xml.open("properties", &[]);
            for (name, value) in &self.properties {
                xml.empty("property", &[("name", name), ("value", &clean(value, LINE))]);
            }
            xml.close("properties");
        }
        self.cases.iter().for_each(|case| case.write(xml));
        xml.close("testsuite");
    }
}

impl Case {
    fn write(&self, xml: &mut Xml) {
        let mut attributes = vec![("classname", self.class.as_str()), ("name", &self.name), ("time", "0")];
        attributes.extend(self.file.as_deref().map(|file| ("file", file)));
        match &self.outcome {
            Outcome::Passed => return xml.empty("testcase", &attributes),
            Outcome::Skipped(message) => {
                xml.open("testcase", &attributes);
                xml.empty("skipped", &[("message", message)]);
            }
            Outcome::Error(message) => {
                xml.open("testcase", &attributes);
                xml.empty("error", &[("message", message), ("type", "unreadable")]);
            }
            Outcome::Failed(message, listed) => {
                xml.open("testcase", &attributes);
                xml.around("failure", &[("message", message), ("type", &self.name)], listed);
            }
        }
        xml.close("testcase");
    }
}

/// XML that is written down from top to bottom.
struct Xml(String);

impl Xml {
    fn tag(&mut self, name: &str, attributes: &[(&str, &str)]) {
        let _ = write!(self.0, "<{name}");
        for (name, value) in attributes {
            let _ = write!(self.0, " {name}=\"{}\"", escaped(value));
        }
    }

    fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes);
        self.0.push_str(">\n");
    }

    fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes);
        self.0.push_str("/>\n");
    }

    fn around(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.tag(name, attributes);
        let _ = writeln!(self.0, ">{}</{name}>", escaped(text));
    }

    fn close(&mut self, name: &str) {
        let _ = writeln!(self.0, "</{name}>");
    }
}

/// Text for an element or an attribute. What XML 1.0 has no way to say is a replacement character: there is not even
/// an escape for it.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            // Also the end of `]]>`.
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;
    use roxmltree::{Document, Node};

    use super::*;
    use crate::{
        gate::{Gate, Totals, Verdict},
        report::view::tests::{hostile, hostile_sessions, kind, session, signal},
        sandbox::analyze::SignalKind,
    };

    fn sessions() -> [SessionReport; 2] {
        let errors = vec![signal("tool-error", 7, "a < b & \"c\""), signal("tool-error", 8, "]]>")];
        [session("s1", "/ci/work/1.jsonl", errors), session("s2", "/2.jsonl", vec![signal("churn", 1, "x")])]
    }

    fn kinds() -> Vec<SignalKind> {
        vec![kind("churn", 2), kind("retry-loop", 3), kind("tool-error", 2)]
    }

    fn judge(expression: &str, sessions: &[SessionReport], unreadable: usize) -> Verdict {
        expression.parse::<Gate>().unwrap().judge(&Totals::new(sessions, unreadable))
    }

    /// Suite, case and what became of it, of all that did not pass.
    fn not_passed(xml: &str) -> Vec<String> {
        let document = Document::parse(xml).unwrap();
        let told = |case: Node<'_, '_>| {
            let suite = case.parent_element()?.attribute("name")?;
            let outcome = case.first_element_child()?;
            Some(format!(
                "{suite} {}: {} {}",
                case.attribute("name")?,
                outcome.tag_name().name(),
                outcome.attribute("message")?
            ))
        };
        document.descendants().filter(|it| it.has_tag_name("testcase")).filter_map(told).collect()
    }

    fn written(gate: Option<&Verdict>, problems: &[String]) -> String {
        write(&View { sessions: &sessions(), problems, kinds: &kinds(), gate, here: Path::new("/ci/work") })
    }

    #[test]
    fn without_a_gate_every_kind_that_was_seen_fails() {
        let xml = written(None, &[]);
        assert_eq!(not_passed(&xml), ["s1 tool-error: failure tool-error: 2", "s2 churn: failure churn: 1"]);
        let document = Document::parse(&xml).unwrap();
        let root = document.root_element();
        let counts = ["tests", "failures", "errors"].map(|name| root.attribute(name).unwrap());
        assert_eq!(counts, ["6", "2", "0"], "three kinds in two sessions");
        let failure = document.descendants().find(|it| it.has_tag_name("failure")).unwrap();
        assert_eq!(failure.text().unwrap(), "line 7: a < b & \"c\"\nline 8: ]]>\n\nWhat to do about tool-error.\n");
        let case = failure.parent_element().unwrap();
        assert_eq!((case.attribute("classname"), case.attribute("file")), (Some("claude-code.s1"), Some("1.jsonl")));
    }

    #[test]
    fn with_a_gate_only_what_it_names_fails() {
        let verdict = judge("tool-error>1,churn>1,any>9", &sessions(), 0);
        assert_eq!(
            not_passed(&written(Some(&verdict), &[])),
            [
                "s1 tool-error: failure 2 in this session; in all of them tool-error: 2, allowed 1",
                "gate tool-error>1: failure tool-error: 2, allowed 1",
            ]
        );
    }

    #[test]
    fn what_could_not_be_read_is_an_error_unless_it_is_allowed() {
        let problems = ["/3.jsonl: no".to_owned()];
        assert_eq!(not_passed(&written(None, &problems))[2], "unreadable /3.jsonl: no: error /3.jsonl: no");
        let verdict = judge("unreadable>1", &sessions(), 1);
        assert_eq!(not_passed(&written(Some(&verdict), &problems)), ["unreadable /3.jsonl: no: skipped /3.jsonl: no"]);
        let verdict = judge("unreadable>0", &sessions(), 1);
        assert_eq!(
            not_passed(&written(Some(&verdict), &problems)),
            ["gate unreadable>0: failure unreadable: 1, allowed 0", "unreadable /3.jsonl: no: error /3.jsonl: no",]
        );
    }

    #[test]
    fn a_long_list_is_cut_and_told() {
        let many = [session("s", "/1", (1..=51).map(|line| signal("churn", line, "x")).collect())];
        let xml = write(&View { sessions: &many, problems: &[], kinds: &[], gate: None, here: Path::new("/") });
        assert!(xml.contains("churn: 51") && xml.contains("line 50: x\n… and 1 more\n"), "{xml}");
    }

    proptest! {
        #[test]
        fn it_is_well_formed_for_any_text(
            sessions in hostile_sessions(), problems in prop::collection::vec(hostile(), 0..3), gate: bool
        ) {
            let verdict = judge("tool-error>0", &sessions, problems.len());
            let gate = gate.then_some(&verdict);
            let xml = write(&View { sessions: &sessions, problems: &problems, kinds: &kinds(), gate, here: Path::new("/") });
            let document = Document::parse(&xml).unwrap();
            let cases = document.descendants().filter(|it| it.has_tag_name("testcase")).count();
            prop_assert_eq!(document.root_element().attribute("tests").unwrap(), cases.to_string());
        }

        #[test]
        fn text_comes_back_as_it_was(text in "(\\PC|[\u{0}-\u{1f}\u{fffe}\u{ffff}]|\\]\\]>|[&<>\"']){0,40}") {
            let mut xml = Xml(String::new());
            xml.around("a", &[], &text);
            let forbidden = |c: char| matches!(c, '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}') && !matches!(c, '\n' | '\t');
            let expected = text.replace(forbidden, "\u{fffd}");
            let document = Document::parse(&xml.0).unwrap();
            prop_assert_eq!(document.root_element().text().unwrap_or_default(), expected);
        }
    }
}
