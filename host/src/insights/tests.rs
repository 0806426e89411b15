//! The page of a small library, in every language, and what must hold of any page.

use super::*;
use crate::finding::{Finding, Sighting, from_signals};
use crate::locale::choose;
use crate::pattern::Settings;
use crate::sandbox::analyze::Signal;

const DAY: i64 = 24 * 60 * 60 * 1000;
/// 2026-08-20 12:00 UTC.
const NOW: i64 = 1_787_227_200_000;

fn kinds() -> Vec<SignalKind> {
    [("tool-error", 2), ("permission-denied", 3), ("user-correction", 4), ("repeated-instruction", 3), ("churn", 2)]
        .into_iter()
        .chain([("compaction", 1), ("revert", 3), ("retry-loop", 3), ("slow-reply", 1)])
        .map(|(name, severity)| SignalKind {
            name: name.into(),
            summary: format!("Summary of {name}."),
            severity,
            advice: "Ask for *shorter* replies.".into(),
        })
        .collect()
}

#[derive(Default)]
struct Library {
    sessions: Vec<Session>,
    findings: Vec<(usize, Finding)>,
}

impl Library {
    /// A session that ended so many days ago, with its signals: kind, subject, detail, line, sub-agent.
    fn session(&mut self, days_ago: i64, project: &str, signals: &[(&str, &str, &str, u64, Option<&str>)]) {
        let index = self.sessions.len();
        let ended_at = NOW - days_ago * DAY;
        self.sessions.push(Session {
            tool: if index % 5 == 4 { "codex" } else { "claude-code" }.into(),
            id: format!("{:08x}-5b1e-4c7a-9d3f-2a6b8c0d4e1f", 0x1f3a_9c27_u32.wrapping_mul(index as u32 + 1)),
            project: format!("/home/ana/work/{project}"),
            started_at: ended_at - 3_600_000,
            ended_at,
        });
        let signals: Vec<Signal> = signals
            .iter()
            .map(|(kind, subject, detail, line, thread)| Signal {
                kind: (*kind).into(),
                subject: (*subject).into(),
                line: *line,
                at: Some(ended_at - 3_600_000 + i64::try_from(*line).unwrap() * 1000),
                thread: thread.map(str::to_owned),
                confidence: 1.0,
                detail: (*detail).into(),
                evidence: vec![*line],
            })
            .collect();
        let sightings: Vec<Sighting<'_>> =
            signals.iter().map(|signal| Sighting { transcript: index as i64, signal }).collect();
        self.findings.extend(from_signals(&sightings, &kinds()).into_iter().map(|finding| (index, finding)));
    }

    fn insights(&self, unread: Unread) -> Insights {
        let incidents: Vec<Incident<'_>> =
            self.findings.iter().map(|(session, finding)| Incident { session: *session, finding }).collect();
        Insights::new(&self.sessions, &incidents, &Known::default(), &kinds(), unread, NOW, &Settings::default())
    }
}

const UNREAD_FILE: (&str, &str, &str) = (
    "tool-error",
    "Edit: File has not been read yet. Read it first before writing to it.",
    "Edit `src/billing/invoice.rs` failed: File has not been read yet. Read it first before writing to it.",
);

/// Eight weeks of two people's work on three projects.
fn small() -> Library {
    let mut library = Library::default();
    let error = |line, thread| (UNREAD_FILE.0, UNREAD_FILE.1, UNREAD_FILE.2, line, thread);
    let said = |words, line| ("user-correction", words, "objects to what was just done", line, None);
    library.session(52, "billing", &[("compaction", "auto", "compacted at 167210 tokens (auto)", 812, None)]);
    library.session(47, "billing", &[("revert", "git checkout", "undid work with `git checkout -- src`", 90, None)]);
    library.session(40, "website", &[]);
    library.session(38, "website", &[("compaction", "auto", "compacted at 171004 tokens (auto)", 633, None)]);
    library.session(31, "billing", &[]);
    library.session(27, "billing", &[error(118, None), error(131, None), error(44, Some("agent-3f9a"))]);
    library.session(22, "website", &[error(57, None), said("no, use pnpm, not npm", 61)]);
    library.session(20, "website", &[("churn", "app/page.tsx", "app/page.tsx was edited 5 times", 240, None)]);
    library.session(
        15,
        "website",
        &[
            said("pnpm instead of npm please!", 12),
            ("churn", "/home/ana/work/website/app/page.tsx", "app/page.tsx was edited 3 times", 88, None),
        ],
    );
    library.session(
        9,
        "billing",
        &[
            error(203, None),
            ("permission-denied", "Bash: git push", "refused Bash `git push origin main` without a word", 310, None),
        ],
    );
    library.session(
        6,
        "billing",
        &[
            error(77, None),
            said("注释请用中文写", 80),
            (
                "permission-denied",
                "Bash: git push",
                "refused Bash `git push -f`, saying: not yet, show me the diff",
                121,
                None,
            ),
            ("slow-reply", "reply", "took 93 s", 12, None),
        ],
    );
    library.session(
        3,
        "docs|site",
        &[
            error(15, None),
            said("请用中文写注释", 33),
            ("permission-denied", "Bash: npm install", "refused Bash `npm i`, saying: use pnpm not npm", 35, None),
            ("slow-reply", "reply", "took 61 s", 40, None),
        ],
    );
    library.session(
        1,
        "billing",
        &[
            error(12, None),
            said("<script>alert(1)</script> **stop** `rm -rf`\u{202e}\u{1b}[31m | [x](http://evil.example)", 20),
            ("user-correction", "That's wrong.", "objects", 44, None),
        ],
    );
    library
}

fn unread() -> Unread {
    Unread {
        failed: vec![Failed {
            path: "/home/ana/.claude/projects/-home-ana-work-billing/0d4e1f2a.jsonl".into(),
            why: "The adapter used more than 64 MiB of memory (asked for 70 MiB).".into(),
        }],
        unknown: vec![
            Unknown { tool: "claude-code".into(), record: "mood".into(), count: 2 },
            Unknown { tool: "claude-code".into(), record: "api-request".into(), count: 40 },
        ],
        broken: 3,
    }
}

/// Compares the page with the file of this name in `golden/`.
fn golden(name: &str, page: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("golden");
    settings.bind(|| insta::assert_snapshot!(name, page));
}

#[test]
fn the_page_in_english() {
    golden("insights.en", &small().insights(unread()).page(&choose(Some("en"), None)));
}

#[test]
fn the_page_in_chinese() {
    golden("insights.zh", &small().insights(unread()).page(&choose(Some("zh"), None)));
}

#[test]
fn the_page_of_nothing() {
    let page = Library::default().insights(Unread::default()).page(&choose(None, None));
    golden("insights.empty", &page);
}

#[test]
fn the_page_of_the_first_session() {
    let mut library = Library::default();
    library.session(0, "billing", &[(UNREAD_FILE.0, UNREAD_FILE.1, UNREAD_FILE.2, 9, None)]);
    golden("insights.first", &library.insights(Unread::default()).page(&choose(None, None)));
}

#[test]
fn machines_get_the_same() {
    let json = serde_json::to_value(small().insights(unread())).unwrap();
    assert_eq!(json["sessions"], 13);
    assert_eq!(json["patterns"][0]["kind"], "tool-error");
    assert_eq!(json["patterns"][0]["occurrences"], 6);
    assert_eq!(json["patterns"][0]["evidence"][0]["line"], 12);
    assert_eq!(json["unread"]["broken"], 3);
}

#[test]
fn no_line_of_a_page_lacks_its_language() {
    let library = small();
    for language in crate::locale::languages() {
        let page = library.insights(unread()).page(&choose(Some(language), None));
        for id in ["title-", "kind-", "advice-", "improve-", "category-", "{ $", "summary-"] {
            assert!(!page.contains(id), "{language}: {id}");
        }
    }
}
