//! A report as Markdown: what a CI shows as the summary of a step.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use super::{SessionReport, SignalReport, View};
use crate::insights::markdown::{code, prose, text};

/// Bytes that GitHub takes as the summary of a step; it shows nothing of a larger one.
pub const STEP_SUMMARY: usize = 1 << 20;
/// Lines of a section: what a person reads before opening the full report.
const MOST_LINES: usize = 30;
/// Characters of what a transcript says.
const DETAIL: usize = 200;
/// Characters of names and paths.
const NAME: usize = 160;
/// Bytes kept free for the lines that say what was left out.
const RESERVE: usize = 1 << 10;

/// The page, in at most `limit` bytes. What is left out is counted.
pub fn write(view: &View<'_>, limit: usize) -> String {
    let mut page = Page { text: String::new(), limit };
    page.section(&head(view), Vec::new(), "");
    page.section("", gate(view), "conditions");
    page.section(KINDS, kinds(view), "kinds of signals");
    page.section("\n### Not read\n\n", problems(view), "that could not be read");
    page.section("\n### Findings\n\n", findings(view), "findings");
    page.section("\n### Sessions\n\n", sessions(view), "sessions");
    page.text
}

const KINDS: &str = "\n| signal | count | in sub-agents | sessions |\n| --- | ---: | ---: | ---: |\n";

/// Text that stays below its limit.
struct Page {
    text: String,
    limit: usize,
}

impl Page {
    /// Adds a heading and its lines, as many as there is room for, and how many of `what` are left out.
    fn section(&mut self, heading: &str, lines: Vec<String>, what: &str) {
        if !what.is_empty() && lines.is_empty() {
            return;
        }
        let all = lines.len();
        let mut left = all;
        if self.add(heading, RESERVE) {
            for line in lines.iter().take(MOST_LINES) {
                if !self.add(line, RESERVE) {
                    break;
                }
                left -= 1;
            }
        }
        if left > 0 {
            self.add(&format!("\n{left} of {all} {what} are not shown here.\n"), 0);
        }
    }

    fn add(&mut self, text: &str, reserve: usize) -> bool {
        let fits = self.text.len() + text.len() + reserve <= self.limit;
        if fits {
            self.text.push_str(text);
        }
        fits
    }
}

fn head(view: &View<'_>) -> String {
    if view.sessions.is_empty() {
        return "## No transcript was read\n".to_owned();
    }
    let sessions = counted(view.sessions.len(), "session");
    let signals = view.signals();
    if signals == 0 {
        return format!("## No friction seen in {sessions}\n");
    }
    format!("## {} of friction in {sessions}\n", counted(signals, "signal"))
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn gate(view: &View<'_>) -> Vec<String> {
    let Some(verdict) = view.gate else { return Vec::new() };
    let violated: Vec<_> =
        verdict.violated().map(|judged| format!("* {}\n", text(&judged.to_string(), NAME))).collect();
    let conditions: Vec<_> = verdict.0.iter().map(|judged| code(&judged.condition.to_string(), NAME)).collect();
    let conditions = conditions.join(", ");
    if violated.is_empty() {
        return vec![format!("\n**Gate passed**: {conditions}\n")];
    }
    [vec![format!("\n**Gate failed**: {conditions}\n\n")], violated].concat()
}

fn kinds(view: &View<'_>) -> Vec<String> {
    let mut seen: Vec<_> = view.seen().into_iter().filter(|(_, seen)| seen.total() > 0).collect();
    seen.sort_by_key(|(kind, seen)| std::cmp::Reverse((view.severity(kind), seen.total())));
    seen.into_iter()
        .map(|(kind, seen)| {
            format!("| {} | {} | {} | {} |\n", text(kind, NAME), seen.total(), seen.subagents, seen.sessions)
        })
        .collect()
}

fn problems(view: &View<'_>) -> Vec<String> {
    view.problems.iter().map(|problem| format!("* {}\n", text(problem, DETAIL + NAME))).collect()
}

/// Signals that are about the same, most severe and most frequent first.
fn findings(view: &View<'_>) -> Vec<String> {
    let mut groups = BTreeMap::<(&str, &str), Vec<(&SessionReport, &SignalReport)>>::new();
    for session in view.sessions {
        for signal in &session.signals {
            groups.entry((&signal.kind, &signal.subject)).or_default().push((session, signal));
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|((kind, _), signals)| std::cmp::Reverse(u64::from(view.severity(kind)) * signals.len() as u64));
    groups
        .into_iter()
        .map(|((kind, _), signals)| {
            // The last one is the freshest.
            let (session, signal) = signals[signals.len() - 1];
            let sessions: BTreeSet<_> =
                signals.iter().map(|(session, _)| (&session.path, &session.session_id)).collect();
            let path = signal.path.as_ref().unwrap_or(&session.path);
            let mut line = format!("* **{} × {}**", signals.len(), text(kind, NAME));
            if sessions.len() > 1 {
                let _ = write!(line, " in {} sessions", sessions.len());
            }
            let place = format!("{}:{}", view.below(path).unwrap_or(path), signal.line);
            let _ = writeln!(line, ": {} ({})", prose(&signal.detail, DETAIL), code(&ending(&place), NAME));
            line
        })
        .collect()
}

fn sessions(view: &View<'_>) -> Vec<String> {
    let mut sessions: Vec<_> = view.sessions.iter().collect();
    sessions.sort_by_key(|session| std::cmp::Reverse(session.signals.len()));
    sessions
        .into_iter()
        .map(|session| {
            let mut counts = session.counts.clone();
            for (kind, count) in &session.counts_subagents {
                *counts.entry(kind.clone()).or_default() += count;
            }
            let counts: Vec<_> = counts.iter().map(|(kind, count)| format!("{} {count}", text(kind, NAME))).collect();
            let day = session.started_at.as_deref().and_then(|at| at.get(..10)).unwrap_or("no date");
            format!(
                "* {} ({day}, {}): {}\n",
                code(&session.session_id, NAME),
                text(&session.tool, NAME),
                if counts.is_empty() { "no friction seen".to_owned() } else { counts.join(", ") },
            )
        })
        .collect()
}

/// The end of what is too long, where a path says most.
fn ending(path: &str) -> String {
    match path.chars().count().checked_sub(NAME) {
        None | Some(0) => path.to_owned(),
        Some(more) => format!("…{}", path.chars().skip(more + 1).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::{
        gate::{Gate, Totals},
        report::view::tests::{hostile, hostile_sessions, kind, session, signal},
    };

    fn view<'a>(sessions: &'a [SessionReport]) -> View<'a> {
        View { sessions, problems: &[], kinds: &[], gate: None, here: Path::new("/ci/work") }
    }

    #[test]
    fn a_page() {
        let mut aside = signal("tool-error", 9, "Bash `a | b` failed");
        aside.thread = Some("a1".into());
        let sessions = [
            session("s1", "/ci/work/1.jsonl", vec![signal("tool-error", 7, "Bash `a | b` failed"), aside.clone()]),
            session("s2", "/else/2.jsonl", vec![aside, signal("churn", 2, "x<img>")]),
            session("s3", "/else/3.jsonl", vec![]),
        ];
        let problems = ["/x: [no](y)".to_owned()];
        let kinds = [kind("tool-error", 2), kind("churn", 5), kind("revert", 5)];
        let gate: Gate = "tool-error>2,any>9".parse().unwrap();
        let verdict = gate.and_readable().judge(&Totals::new(&sessions, 1));
        let page =
            write(&View { problems: &problems, kinds: &kinds, gate: Some(&verdict), ..view(&sessions) }, STEP_SUMMARY);
        insta::assert_snapshot!(page, @r"
        ## 4 signals of friction in 3 sessions

        **Gate failed**: `tool-error>2`, `any>9`, `unreadable>0`

        * tool-error: 3, allowed 2
        * unreadable: 1, allowed 0

        | signal | count | in sub-agents | sessions |
        | --- | ---: | ---: | ---: |
        | churn | 1 | 0 | 1 |
        | tool-error | 3 | 2 | 2 |

        ### Not read

        * /x: \[no\](y)

        ### Findings

        * **3 × tool-error** in 2 sessions: Bash `a | b` failed (`/else/2.jsonl:9`)
        * **1 × churn**: x\<img\> (`/else/2.jsonl:2`)

        ### Sessions

        * `s1` (2026-11-29, claude-code): tool-error 2
        * `s2` (2026-11-29, claude-code): churn 1, tool-error 1
        * `s3` (2026-11-29, claude-code): no friction seen
        ");
    }

    #[test]
    fn no_friction_is_said() {
        assert_eq!(
            write(&view(&[session("s1", "/1.jsonl", vec![])]), STEP_SUMMARY),
            "## No friction seen in 1 session\n\n### Sessions\n\n* `s1` (2026-11-29, claude-code): no friction seen\n"
        );
    }

    #[test]
    fn nothing_read_is_not_no_friction() {
        let problems = ["/x: no".to_owned()];
        let page = write(&View { problems: &problems, ..view(&[]) }, STEP_SUMMARY);
        assert_eq!(page, "## No transcript was read\n\n### Not read\n\n* /x: no\n");
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let many: Vec<_> = (0..40)
            .map(|i| session(&i.to_string(), &format!("/{i}"), vec![signal("churn", 1, &i.to_string())]))
            .collect();
        let page = write(&view(&many), STEP_SUMMARY);
        assert!(page.contains("\n10 of 40 findings are not shown here.\n"), "{page}");
        assert!(page.ends_with("\n10 of 40 sessions are not shown here.\n"), "{page}");
        let page = write(&view(&many), 2_000);
        assert!(page.starts_with("## 40 signals of friction in 40 sessions\n"), "{page}");
        assert!(page.ends_with("\n40 of 40 sessions are not shown here.\n"), "{page}");
    }

    proptest! {
        #[test]
        fn it_stays_below_its_limit(sessions in hostile_sessions(), limit in 0usize..4_000) {
            prop_assert!(write(&view(&sessions), limit).len() <= limit);
        }

        #[test]
        fn text_stays_on_its_line_and_is_no_markup(
            sessions in hostile_sessions(), problems in prop::collection::vec(hostile(), 0..3)
        ) {
            let page = write(&View { problems: &problems, ..view(&sessions) }, STEP_SUMMARY);
            for line in page.lines() {
                prop_assert!(line.is_empty() || ["* ", "#", "| "].iter().any(|start| line.starts_with(start)), "{line:?}");
                prop_assert!(!line.chars().any(char::is_control), "{line:?}");
            }
        }
    }
}
