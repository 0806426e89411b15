//! How well signals are found: labelled transcripts and dialogues with planted labels, through adapter and analyzer.
//!
//! ```text
//! cargo run -p totalrecall-bench --bin signals -- --dialogues bench/signals/dialogues
//! cargo run -p totalrecall-bench --bin signals -- --labels bench/signals/labels.jsonl --samples DIR
//! cargo run -p totalrecall-bench --bin signals -- --corpus DIR
//! ```
//!
//! `--tool codex` or `--tool opencode` tells the dialogues as that tool would. A corpus is one that `generate` has written.
//!
//! `--errors` lists what was missed and what was found wrongly, but not in the dialogues that no one has looked at: looking
//! would make them worthless.
#![expect(clippy::print_stdout, reason = "a measuring tool prints its figures")]

mod corpus;
mod dialogue;
mod labels;
mod score;
mod transcript;

use std::path::PathBuf;

use anyhow::{Context as _, bail};

use totalrecall_bench::writer::Tool;

use crate::score::Scores;

/// Dialogues whose texts no one who worked on the analyzer has looked at.
const UNSEEN: &str = "test2";

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (mut label_file, mut samples, mut dialogues, mut errors) = (None, None, None, false);
    let (mut corpus, mut tool) = (None, Tool::ClaudeCode);
    while let Some(argument) = arguments.next() {
        let mut path = || arguments.next().map(PathBuf::from).with_context(|| format!("`{argument}` needs a path"));
        match argument.as_str() {
            "--labels" => label_file = Some(path()?),
            "--samples" => samples = Some(path()?),
            "--dialogues" => dialogues = Some(path()?),
            "--corpus" => corpus = Some(path()?),
            "--tool" => {
                let name = arguments.next().context("`--tool` needs a name")?;
                tool = name.parse().map_err(anyhow::Error::msg)?;
            }
            "--errors" => errors = true,
            _ => bail!(
                "unknown argument `{argument}`; there are --labels FILE --samples DIR, --dialogues DIR, --corpus DIR, --tool NAME \
                 and --errors"
            ),
        }
    }
    if let Some(folder) = &dialogues {
        for set in ["dev", "test", "dev2", "test2"] {
            let mut scores = Scores::new(errors && set != UNSEEN);
            dialogue::measure(&folder.join(set), tool, &mut scores)?;
            println!("## {}: dialogues, {set}\n\n{scores}", tool.name());
        }
    }
    if let Some(folder) = &corpus {
        let mut scores = Scores::new(errors);
        let tool = corpus::measure(folder, &mut scores)?;
        println!("## {}: planted\n\n{scores}", tool.name());
    }
    match (&label_file, &samples) {
        (Some(file), Some(samples)) => {
            for half in labels::halves(file)? {
                let mut scores = Scores::new(errors);
                labels::measure(file, samples, &half, &mut scores)?;
                println!("## transcripts, {half}\n\n{scores}");
            }
        }
        (None, None) if dialogues.is_some() || corpus.is_some() => {}
        _ => bail!("give --dialogues DIR, --corpus DIR, or --labels FILE together with --samples DIR"),
    }
    Ok(())
}
