//! What the generator says it planted is what the guests find, where it says. This tests both: the generator must plant nothing
//! by accident, the guests must miss nothing.

use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use totalrecall_bench::corpus::{self, Plan};
use totalrecall_bench::native::Known;
use totalrecall_bench::writer::Tool;
use totalrecall_opencode::OpenCode;
use totalrecall_sdk::Analyzer;
use totalrecall_sdk::adapter::{Adapter, Source};

#[test]
fn guests_find_what_was_planted() -> Result<()> {
    for tool in Tool::ALL {
        let mut planted = BTreeSet::new();
        for seed in 1..=4 {
            planted.extend(holds(tool, seed)?);
        }
        assert_eq!(planted, kinds(), "{tool:?}: of some kind nothing was planted");
    }
    Ok(())
}

/// Kinds of signals that are compared. How corrections are worded decides whether they are found; that is measured elsewhere.
fn kinds() -> BTreeSet<String> {
    let kinds = totalrecall_analyzer::Friction::describe().signals.into_iter().map(|kind| kind.name);
    kinds.filter(|kind| kind != "user-correction").collect()
}

fn plan(tool: Tool, out: &Path, seed: u64) -> Result<Plan> {
    let until = "2026-11-01T00:00:00Z".parse()?;
    Ok(Plan { tool, out: out.to_owned(), bytes: 8_000_000, sessions: 40, seed, until })
}

/// Compares a corpus with its truth; gives the kinds of signals that were planted.
fn holds(tool: Tool, seed: u64) -> Result<BTreeSet<String>> {
    let folder = tempfile::tempdir()?;
    let plan = plan(tool, folder.path(), seed)?;
    let truth = corpus::write(&plan)?;
    let kinds = kinds();
    let mut known = Known::default();
    let mut wrong = Vec::new();
    let mut planted = BTreeSet::new();
    for session in &truth.sessions {
        // Signals by what, in which file, in which line: how many were planted and not found, or found too many.
        let mut left: BTreeMap<(String, String, u64), i64> = BTreeMap::new();
        for signal in session.planted.iter().filter(|signal| kinds.contains(&signal.kind)) {
            *left.entry((signal.kind.clone(), signal.path.display().to_string(), signal.line)).or_default() += 1;
            planted.insert(signal.kind.clone());
        }
        for path in std::iter::once(&session.path).chain(&session.subagent_files) {
            for signal in known.signals(tool, &plan.out.join(path))? {
                if kinds.contains(&signal.kind) {
                    *left.entry((signal.kind, path.display().to_string(), signal.line)).or_default() -= 1;
                }
            }
        }
        let forked = session.forked_from.is_some();
        wrong.extend(left.into_iter().filter(|(_, more)| *more != 0).map(|(place, more)| (place, more, forked)));
    }
    assert!(wrong.is_empty(), "{tool:?} {seed}: place, planted less found, forked: {wrong:#?}");
    Ok(planted)
}

/// What the adapter asks OpenCode's database for are the rows that the truth counts lines of.
#[test]
fn the_database_holds_the_rows() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let plan = Plan { bytes: 1_000_000, sessions: 30, ..plan(Tool::OpenCode, folder.path(), 1)? };
    let truth = corpus::write(&plan)?;
    let Some(Source::Database(source)) = OpenCode::describe().sources.into_iter().next() else {
        panic!("the database comes first")
    };
    #[expect(clippy::disallowed_methods, reason = "another tool's database, not the store")]
    let database = rusqlite::Connection::open(plan.out.join("opencode/opencode.db"))?;
    let mut query = database.prepare(&source.queries[0].rows)?;
    for session in &truth.sessions {
        for path in std::iter::once(&session.path).chain(&session.subagent_files) {
            let key = path.file_stem().unwrap_or_default().to_string_lossy();
            let rows: Vec<String> = query.query_map(&[(":key", &*key)], |row| row.get(0))?.collect::<Result<_, _>>()?;
            let lines = std::fs::read_to_string(plan.out.join(path))?;
            assert_eq!(rows, lines.lines().collect::<Vec<_>>(), "{key}");
        }
    }
    assert!(truth.sessions.iter().any(|session| session.forked_from.is_some()));
    Ok(())
}
