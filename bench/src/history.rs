//! A year of sessions that nobody had, with planted friction, and how well patterns bring it together.
//!
//! Findings are made as the program makes them: errors from what tools print, through the analyzer's own template, and people's
//! words as they say them. A model's findings are worded as on different days, mostly with the subject that its prompt asks
//! to be the same. None of the wordings was looked at while thresholds were chosen.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use totalrecall::finding::{Category, Evidence, Finding, Judged};
use totalrecall::pattern::{self, Incident, Known, Pattern, Session};
use totalrecall_analyzer::template::template;

/// 2026-12-01 00:00 UTC: the day it is looked at.
pub const NOW: i64 = 1_796_083_200_000;
const DAY: i64 = 86_400_000;
const DAYS: i64 = 365;
const PROJECTS: [&str; 6] = ["ledger", "shop", "météo", "図書館", "agent", "tools"];

/// Outputs of failed calls: `{f}` a file, `{n}` a number, `{w}` a word.
const ERRORS: [(&str, &str); 12] = [
    ("Bash", "cat: /home/dev/{w}/src/{f}: No such file or directory"),
    ("Edit", "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"),
    ("Edit", "<tool_use_error>String to replace not found in file.\nString: let {w} = {n};</tool_use_error>"),
    ("Bash", "Exit code 128\nfatal: not a git repository (or any of the parent directories): .git"),
    ("Bash", "Exit code 127\n/bin/bash: line {n}: pnpm: command not found"),
    ("Bash", "error: could not find `Cargo.toml` in `/home/dev/{w}` or any parent directory"),
    ("Bash", "Command timed out after {n}m 0.0s"),
    ("Bash", "Error: listen EADDRINUSE: address already in use :::{n}"),
    (
        "Bash",
        "Traceback (most recent call last):\n  File \"/home/dev/{w}/{f}\", line {n}\nModuleNotFoundError: No module named 'yaml'",
    ),
    ("Bash", "error[E0382]: borrow of moved value: `config`\n  --> src/{f}:{n}:{n}"),
    ("Read", "File content ({n} tokens) exceeds maximum allowed tokens (25000)."),
    ("WebFetch", "Request failed with status code 403"),
];

/// Files that are edited over and over, in one project each. Two projects have a file of the same name.
const CHURN: [(usize, &str); 8] = [
    (0, "src/main.rs"),
    (1, "src/main.rs"),
    (0, "src/report/total.rs"),
    (1, "web/cart.tsx"),
    (2, "carte/légende.ts"),
    (3, "蔵書/検索.py"),
    (4, "agent.py"),
    (5, "Makefile"),
];

/// What people say, each friction in several wordings.
const SAID: [&[&str]; 12] = [
    &["use uv, not pip", "I told you to use uv instead of pip", "no, uv not pip!", "please use uv instead of pip"],
    &["use pip, not uv"],
    &["keep the answer short", "shorter answers please", "keep your answers short!"],
    &["don't push without asking me", "never push without asking me", "please don't push without asking"],
    &["write the tests first", "please write tests first", "tests first, write them before the code"],
    &["don't rename public functions", "stop renaming public functions", "please do not rename any public function"],
    &["不要修改数据库结构", "别修改数据库结构", "请不要修改数据库结构"],
    &["先写文档再写代码", "请先写文档，再写代码"],
    &["回答请用中文", "请用中文回答", "用中文回答我"],
    &["コミットメッセージは英語で書いて", "コミットメッセージを英語で書いてください"],
    &["ne touche pas aux migrations", "ne touche jamais aux migrations", "arrête de toucher aux migrations"],
    &["réponds en français", "réponds en français s'il te plaît", "en français, réponds en français"],
];

/// Calls that are refused.
const REFUSED: [&str; 4] = ["Bash: git push --force", "Bash: rm -rf", "Write: .env", "Bash: kubectl delete"];

/// Frictions as a model words them: subjects, then descriptions.
const JUDGED: [(Category, &[&str], &[&str]); 8] = [
    (
        Category::RuleViolation,
        &["commit without asking", "commit without asking", "commits without asking"],
        &["The agent committed although the person wanted to be asked before.", "It committed without asking first."],
    ),
    (
        Category::ClarificationGap,
        &["ambiguous date format", "ambiguous date format"],
        &["It took 03/04 for March 4 and did not ask.", "A date could be read two ways; nothing was asked."],
    ),
    (
        Category::MisunderstoodIntent,
        &["archive taken for delete", "archive taken for delete", "archive understood as delete"],
        &["Archiving was implemented as deletion.", "The agent deleted what should have been archived."],
    ),
    (
        Category::RepeatedCorrection,
        &["log level", "log level"],
        &["The person said again that debug logs do not belong into production code.", "Debug logging was left in."],
    ),
    (
        Category::Frustration,
        &["tests reported as passing but not run", "tests reported as passing but not run"],
        &["It claimed that all tests pass; none had been run.", "The person lost patience with false reports."],
    ),
    (
        Category::RuleViolation,
        &["edits generated files", "editing generated files", "edits generated files"],
        &["It changed files that are generated.", "Generated code was edited by hand; the next build undid it."],
    ),
    (
        Category::MisunderstoodIntent,
        &["scope of the rename", "scope of the rename"],
        &["Only the type was to be renamed; it renamed the module too.", "It renamed more than was asked for."],
    ),
    (
        Category::RuleViolation,
        &["数据库迁移", "数据库迁移"],
        &["代理直接修改了数据库，没有写迁移。", "没有迁移脚本就改了表结构。"],
    ),
];

/// Sessions and what was found in them.
#[derive(Debug)]
pub struct History {
    /// The sessions, oldest first.
    pub sessions: Vec<Session>,
    /// Findings with the sessions they are of.
    pub findings: Vec<(usize, Finding)>,
    /// Of each finding what was planted; none: it is nobody else's.
    pub truth: Vec<Option<String>>,
}

/// How well the planted came together.
#[derive(Debug, Default)]
pub struct Score {
    /// Planted frictions.
    pub planted: usize,
    /// Those that are all of one pattern, with nothing else in it.
    pub once: usize,
    /// Those that are in several patterns, with their number.
    pub scattered: Vec<(String, usize)>,
    /// Patterns that hold several of them, or one and something else.
    pub mixed: Vec<BTreeSet<String>>,
    /// Of two findings in one pattern, how often they are the same friction.
    pub precision: f64,
    /// Of two findings of the same friction, how often they are in one pattern.
    pub recall: f64,
}

impl Score {
    /// Of precision and recall.
    pub fn f1(&self) -> f64 {
        2.0 * self.precision * self.recall / (self.precision + self.recall)
    }
}

/// A history of so many sessions. Equal seeds give equal ones.
pub fn write(sessions: usize, seed: u64) -> History {
    let mut rng = Rng::with_seed(seed);
    let mut history = History { sessions: Vec::new(), findings: Vec::new(), truth: Vec::new() };
    for n in 0..sessions {
        let at = NOW - DAYS * DAY + n as i64 * DAYS * DAY / sessions as i64;
        let project = rng.usize(..PROJECTS.len());
        history.sessions.push(Session {
            tool: ["claude-code", "codex", "opencode"][rng.usize(..3)].to_owned(),
            id: format!("{:016x}", rng.u64(..)),
            project: format!("/home/dev/{}", PROJECTS[project]),
            started_at: at,
            ended_at: at + 1_800_000,
        });
        for _ in 0..rng.usize(..6) {
            let (planted, finding) = one(&mut rng, project, n);
            history.findings.push((n, finding));
            history.truth.push(planted);
        }
    }
    history
}

/// One finding of a session in a project, and what it is a case of.
fn one(rng: &mut Rng, project: usize, session: usize) -> (Option<String>, Finding) {
    let line = rng.u64(1..5_000);
    let from = |kind: &str, subject: String, words: Option<String>, detail: String| Finding {
        category: Category::of(kind, false),
        kind: kind.to_owned(),
        subject,
        words,
        severity: 3,
        confidence: 1.0,
        detail,
        count: 1,
        in_subagents: 0,
        first_at: None,
        last_at: None,
        evidence: vec![Evidence { transcript: session as i64, line, at: None, thread: None }],
        judged: None,
    };
    match rng.usize(..20) {
        0..6 => {
            let number = rng.usize(..ERRORS.len());
            let (tool, output) = ERRORS[number];
            let output = output
                .replace("{f}", &format!("{}.rs", word(rng)))
                .replace("{w}", &word(rng))
                .replace("{n}", &rng.u32(2..60_000).to_string());
            let subject = format!("{tool}: {}", template(&output));
            (Some(format!("error {number}")), from("tool-error", subject, None, output))
        }
        6..9 => {
            let own: Vec<usize> = (0..CHURN.len()).filter(|&number| CHURN[number].0 == project).collect();
            let number = own[rng.usize(..own.len())];
            let path = format!("/home/dev/{}/{}", PROJECTS[project], CHURN[number].1);
            (Some(format!("churn {number}")), from("churn", path, None, "edited 5 times".to_owned()))
        }
        9..13 => {
            let number = rng.usize(..SAID.len());
            let words = SAID[number][rng.usize(..SAID[number].len())].to_owned();
            (Some(format!("said {number}")), from("user-correction", words.clone(), Some(words), String::new()))
        }
        13 => {
            let number = rng.usize(..REFUSED.len());
            (
                Some(format!("refused {number}")),
                from("permission-denied", REFUSED[number].to_owned(), None, String::new()),
            )
        }
        14..18 => {
            let number = rng.usize(..JUDGED.len());
            let (category, subjects, details) = JUDGED[number];
            let subject = subjects[rng.usize(..subjects.len())].to_owned();
            let detail = details[rng.usize(..details.len())].to_owned();
            let judged = Judged {
                form: None,
                hint: None,
                pattern: None,
                call: 1,
                prompt: String::new(),
                model: "m".to_owned(),
                cost_usd: 0.0,
                snippets: Vec::new(),
            };
            let finding = Finding { category, judged: Some(judged), ..from(category.name(), subject, None, detail) };
            (Some(format!("judged {number}")), finding)
        }
        18 => {
            let said = format!("{} the {} of {}", word(rng), word(rng), word(rng));
            (None, from("user-correction", said.clone(), Some(said), String::new()))
        }
        _ => {
            let output = format!("error: {} {} {}", word(rng), word(rng), word(rng));
            (None, from("tool-error", format!("Bash: {}", template(&output)), None, output))
        }
    }
}

/// A word that nobody says twice.
fn word(rng: &mut Rng) -> String {
    (0..9).map(|_| rng.lowercase()).collect()
}

impl History {
    /// The findings with their sessions.
    pub fn incidents(&self) -> Vec<Incident<'_>> {
        self.findings.iter().map(|(session, finding)| Incident { session: *session, finding }).collect()
    }

    /// The patterns on the last day.
    pub fn patterns(&self) -> Vec<Pattern> {
        pattern::patterns(&self.sessions, &self.incidents(), &Known::default(), NOW, &pattern::Settings::default())
    }

    /// How well the planted came together.
    pub fn score(&self) -> Score {
        let ids = pattern::assigned(&self.sessions, &self.incidents(), &Known::default());
        // What is nobody else's is a friction of its own.
        let truth: Vec<String> = self
            .truth
            .iter()
            .enumerate()
            .map(|(n, planted)| planted.clone().unwrap_or_else(|| format!("alone {n}")))
            .collect();
        let mut by_pattern: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        let mut by_truth: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        for (id, planted) in ids.iter().zip(&truth) {
            *by_pattern.entry(id).or_default().entry(planted).or_default() += 1;
            *by_truth.entry(planted).or_default().entry(id).or_default() += 1;
        }
        let pairs = |count: u64| (count * count.saturating_sub(1) / 2) as f64;
        let together = |groups: &BTreeMap<&str, BTreeMap<&str, u64>>| -> f64 {
            groups.values().map(|inner| pairs(inner.values().sum())).sum()
        };
        let right: f64 = by_pattern.values().flat_map(BTreeMap::values).map(|&count| pairs(count)).sum();
        let planted = || by_truth.iter().filter(|(name, _)| !name.starts_with("alone "));
        let mixed = |inner: &BTreeMap<&str, u64>| inner.len() > 1;
        Score {
            planted: planted().count(),
            once: planted()
                .filter(|(_, ids)| {
                    ids.len() == 1 && ids.keys().all(|id| by_pattern.get(id).is_some_and(|of| !mixed(of)))
                })
                .count(),
            scattered: planted()
                .filter(|(_, ids)| ids.len() > 1)
                .map(|(name, ids)| ((*name).to_owned(), ids.len()))
                .collect(),
            mixed: by_pattern
                .values()
                .filter(|inner| mixed(inner))
                .map(|inner| inner.keys().map(|name| (*name).to_owned()).collect())
                .collect(),
            precision: right / together(&by_pattern),
            recall: right / together(&by_truth),
        }
    }
}
