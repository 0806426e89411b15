//! What the generator says it planted is what the guests find. This tests both: the generator must plant nothing by
//! accident, the guests must miss nothing.

use anyhow::Result;
use std::collections::{BTreeMap, HashSet};
use totalrecall_bench::corpus::{self, Plan};
use totalrecall_bench::native;
use totalrecall_sdk::Analyzer;

#[test]
fn guests_find_what_was_planted() -> Result<()> {
    (1..=4).try_for_each(holds)
}

fn holds(seed: u64) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let plan = Plan {
        out: folder.path().to_owned(),
        bytes: 8_000_000,
        sessions: 40,
        seed,
        until: "2026-11-01T00:00:00Z".parse()?,
    };
    let truth = corpus::write(&plan)?;
    let known: HashSet<String> =
        totalrecall_analyzer::Friction::describe().signals.into_iter().map(|kind| kind.name).collect();
    // As the host does: what another transcript has said already is a copy.
    let mut seen = HashSet::new();
    let mut wrong = BTreeMap::new();
    for session in &truth.sessions {
        let files =
            std::iter::once((&session.path, true)).chain(session.subagent_files.iter().map(|path| (path, false)));
        let mut found = [BTreeMap::<String, u64>::new(), BTreeMap::new()];
        for (path, main) in files {
            let mut new = HashSet::new();
            let signals = native::signals(&plan.out.join(path), |events| {
                for event in events {
                    if let Some(key) = &event.key {
                        event.copied |= seen.contains(key);
                        new.insert(key.clone());
                    }
                }
            })?;
            seen.extend(new);
            for signal in signals {
                *found[usize::from(!main)].entry(signal.kind).or_default() += 1;
            }
        }
        for (planted, found, thread) in
            [(&session.counts, &found[0], "main"), (&session.counts_subagents, &found[1], "sub-agent")]
        {
            for kind in &known {
                // How corrections are worded decides whether they are found; that is measured elsewhere.
                if matches!(kind.as_str(), "user-correction") {
                    continue;
                }
                let (planted, found) = (planted.get(kind).copied(), found.get(kind).copied());
                if planted.unwrap_or_default() != found.unwrap_or_default() {
                    let place = (session.path.display().to_string(), thread, kind.clone());
                    wrong.insert(place, (planted, found, session.forked_from.is_some()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "place: planted, found, forked: {wrong:#?}");
    Ok(())
}
