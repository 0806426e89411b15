//! A corpus that was written with its truth.

use std::fs::File;
use std::path::Path;

use anyhow::Context as _;
use totalrecall_bench::corpus;
use totalrecall_bench::dialogue::Truth;
use totalrecall_bench::native::Known;
use totalrecall_bench::writer::Tool;

use crate::score::Scores;
use crate::transcript;

/// Measures every transcript of a corpus, those of sub-agents too; gives whose it is.
pub(crate) fn measure(folder: &Path, scores: &mut Scores) -> anyhow::Result<Tool> {
    let path = folder.join("truth.json");
    let file = File::open(&path).with_context(|| format!("cannot read {}; `generate` writes it", path.display()))?;
    let truth: corpus::Truth = serde_json::from_reader(std::io::BufReader::new(file))?;
    let mut known = Known::default();
    for session in &truth.sessions {
        for path in std::iter::once(&session.path).chain(&session.subagent_files) {
            // The prompts mean nothing: whether one corrects is no question. The dialogues measure that.
            let counts = |kind: &str| kind != "user-correction";
            let mut signals = known.signals(truth.tool, &folder.join(path))?;
            signals.retain(|signal| counts(&signal.kind));
            let planted = session.planted.iter().filter(|planted| planted.path == *path && counts(&planted.kind));
            let truths: Vec<Truth> = planted
                .map(|planted| Truth {
                    kind: planted.kind.clone(),
                    lines: vec![planted.line],
                    grade: None,
                    debatable: false,
                })
                .collect();
            let text = |line: u64| {
                let text = std::fs::read_to_string(folder.join(path)).unwrap_or_default();
                let record = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
                transcript::words(record.as_bytes())
            };
            scores.count(&path.display().to_string(), "", &signals, &truths, text);
        }
    }
    Ok(truth.tool)
}
