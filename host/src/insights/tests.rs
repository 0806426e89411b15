//! The page of a small library, in every language, and what must hold of any page.

mod html;
mod views;

use super::*;
use crate::finding::{Category, Evidence, Finding, Form, Judged, Sighting, from_signals};
use crate::locale::choose;
use crate::pattern::Settings;
use crate::sandbox::analyze::Signal;
use crate::verdict::{Advice, Exposure, Interval, Outcome, Simple, Unit};

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

    /// What a model says of a session.
    fn judge(&mut self, session: usize, category: Category, form: Form, subject: &str, hint: &str) {
        let at = self.sessions[session].ended_at - 60_000;
        let finding = Finding {
            kind: category.name().into(),
            category,
            subject: subject.into(),
            words: None,
            severity: 3,
            confidence: 0.9,
            detail: subject.into(),
            count: 1,
            in_subagents: 0,
            first_at: Some(at),
            last_at: Some(at),
            evidence: vec![Evidence { transcript: session as i64, line: 7, at: Some(at), thread: None }],
            judged: Some(Judged {
                form: Some(form),
                hint: Some(hint.into()),
                pattern: None,
                call: 1,
                prompt: "p".into(),
                model: "m".into(),
                cost_usd: 0.01,
                snippets: Vec::new(),
            }),
        };
        self.findings.push((session, finding));
    }

    fn insights(&self, unread: Unread) -> Insights {
        self.insights_in(&View::default(), unread)
    }

    fn insights_in(&self, view: &View, unread: Unread) -> Insights {
        let incidents: Vec<Incident<'_>> =
            self.findings.iter().map(|(session, finding)| Incident { session: *session, finding }).collect();
        Insights::new(view, &self.sessions, &incidents, &Known::default(), &kinds(), NOW, &Settings::default())
            .with_unread(unread)
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

/// The small library with what a model said, rules of every outcome, and drafts.
fn ruled() -> Insights {
    let mut library = small();
    let hint = "Say in CLAUDE.md that **only** `app/` is part of a change.";
    library.judge(6, Category::MisunderstoodIntent, Form::Scope, "edits <files> outside of app/", "Older advice.");
    library.judge(8, Category::MisunderstoodIntent, Form::Scope, "edits <files> outside of app/", hint);
    library.judge(8, Category::RuleViolation, Form::RuleFollowing, "commits without running the tests", "Use a hook.");
    let insights = library.insights(unread());
    let id = |kind: &str| insights.patterns.iter().find(|pattern| pattern.kind == kind).unwrap().id.clone();
    let rules = vec![
        verdict(&id("tool-error"), Outcome::Working, [(9, 41), (0, 37)], Some([0.02, 0.12, 0.71]), Simple::Resolved),
        verdict(&id("churn"), Outcome::TooEarly, [(3, 20), (0, 2)], None, Simple::Pending),
        verdict("p-gone-0123456789", Outcome::NotEnoughData, [(1, 3), (0, 4)], None, Simple::Resolved),
        verdict(
            &id("user-correction"),
            Outcome::NotWorking,
            [(30, 310), (28, 290)],
            Some([0.7, 0.99, 1.4]),
            Simple::Ineffective,
        ),
        verdict(&id("slow-reply"), Outcome::Worse, [(1, 40), (9, 31)], Some([2.4, 11.6, 61.0]), Simple::Ineffective),
    ];
    insights.with_rules(rules, 2, &BTreeSet::new())
}

fn verdict(
    pattern: &str,
    outcome: Outcome,
    counts: [(u32, u32); 2],
    ratio: Option<[f64; 3]>,
    simple: Simple,
) -> Verdict {
    let applied_at = NOW - 20 * DAY;
    let (before, after) = ((NOW - 50 * DAY, applied_at), (applied_at, NOW));
    let exposure = |(occurrences, opportunities), (from, to)| Exposure { occurrences, opportunities, from, to };
    Verdict {
        proposal: format!("p-{pattern}"),
        pattern: pattern.into(),
        text: "Use `pnpm`, *never* npm; <b>not even</b> once.".into(),
        subject: "npm | install".into(),
        applied_at,
        outcome,
        advice: Advice::Keep,
        unit: if outcome == Outcome::NotWorking { Unit::Calls } else { Unit::Sessions },
        before: exposure(counts[0], before),
        after: exposure(counts[1], after),
        since: exposure(counts[1], after),
        expected: 0.0,
        ratio: ratio.map(|[low, middle, high]| Interval { low, middle, high }),
        next_look: 60,
        enough_at: Some(30),
        drift: None,
        simple,
        tokens: if outcome == Outcome::Working { 1 } else { 14 },
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
fn the_page_with_rules_in_english() {
    golden("insights.rules.en", &ruled().page(&choose(Some("en"), None)));
}

#[test]
fn the_page_with_rules_in_chinese() {
    golden("insights.rules.zh", &ruled().page(&choose(Some("zh"), None)));
}

#[test]
fn what_has_a_rule_says_so_and_is_not_suggested_again() {
    let page = ruled().page(&choose(None, None));
    let (_, pressing) = page.split_once("## Most pressing").unwrap();
    let (_, candidates) = page.split_once("## Candidate improvements").unwrap();
    assert!(pressing.contains("strength 2.28 · has a rule since 2026-07-31 (working)"));
    assert!(!candidates.contains("File has not been read yet"), "{candidates}");
    assert!(candidates.contains("Say in CLAUDE.md that \\*\\*only\\*\\* `app/` is part of a change."), "{candidates}");
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
        let locale = choose(Some(language), None);
        let page = library.insights(unread()).page(&locale) + &ruled().page(&locale);
        let ids =
            ["title-", "kind-", "advice-", "improve-", "category-", "{ $", "summary-", "rule-", "ruled-", "outcome-"];
        for id in ids.into_iter().chain(["form-", "forms-", "has-rule"]) {
            assert!(!page.contains(id), "{language}: {id}");
        }
    }
}

/// What must take half a second at most (in a debug build 10 ms for the page, 20 ms for the HTML) is allowed ten times that,
/// because tests share their machine.
#[test]
fn a_page_of_a_thousand_sessions_takes_no_time() {
    const TOOLS: [&str; 6] = ["Bash", "Edit", "Read", "Grep", "Write", "WebFetch"];
    let subjects: Vec<String> =
        (0..300).map(|n| format!("{}: step {n} failed: no such target", TOOLS[n % 6])).collect();
    let mut library = Library::default();
    for index in 0..1000 {
        let signals: Vec<_> = (0..3)
            .map(|n| ("tool-error", subjects[(index * 7 + n * 101) % 300].as_str(), "it failed", n as u64 + 1, None))
            .collect();
        library.session(56 - (index as i64 * 56) / 1000, ["billing", "website", "docs"][index % 3], &signals);
    }
    let started = std::time::Instant::now();
    let insights = library.insights(unread());
    assert_eq!((insights.sessions, insights.patterns.len()), (1000, 300));
    let made = started.elapsed();
    let page = insights.page(&choose(None, None));
    let written = started.elapsed();
    let html = insights.html(&choose(None, None));
    let all = started.elapsed();
    eprintln!("patterns {made:?}, page {:?}, HTML {:?}", written - made, all - written);
    assert!(page.len() > 10_000 && html.len() > 20_000);
    assert!(all.as_secs() < 5, "{all:?}");
}
