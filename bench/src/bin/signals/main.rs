//! How well signals are found: labelled transcripts and dialogues with planted labels, through adapter and analyzer.
//!
//! ```text
//! cargo run -p totalrecall-bench --bin signals -- --dialogues bench/signals/dialogues
//! cargo run -p totalrecall-bench --bin signals -- --labels bench/signals/labels.jsonl --samples DIR
//! ```
//!
//! `--errors` lists what was missed and what was found wrongly, but not in the dialogues that no one has looked at: looking
//! would make them worthless.
#![expect(clippy::print_stdout, reason = "a measuring tool prints its figures")]

mod dialogue;
mod labels;
mod score;
mod transcript;

use std::path::PathBuf;

use anyhow::{Context as _, bail};

use crate::score::Scores;

/// Dialogues whose texts no one who worked on the analyzer has looked at.
const UNSEEN: &str = "test2";

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (mut label_file, mut samples, mut dialogues, mut errors) = (None, None, None, false);
    while let Some(argument) = arguments.next() {
        let mut path = || arguments.next().map(PathBuf::from).with_context(|| format!("`{argument}` needs a path"));
        match argument.as_str() {
            "--labels" => label_file = Some(path()?),
            "--samples" => samples = Some(path()?),
            "--dialogues" => dialogues = Some(path()?),
            "--errors" => errors = true,
            _ => bail!(
                "unknown argument `{argument}`; there are --labels FILE --samples DIR, --dialogues DIR and --errors"
            ),
        }
    }
    if let Some(folder) = &dialogues {
        for set in ["dev", "test", "dev2", "test2"] {
            let mut scores = Scores::new(errors && set != UNSEEN);
            dialogue::measure(&folder.join(set), &mut scores)?;
            println!("## dialogues, {set}\n\n{scores}");
        }
    }
    match (&label_file, &samples) {
        (Some(file), Some(samples)) => {
            for half in ["dev", "test"] {
                let mut scores = Scores::new(errors);
                labels::measure(file, samples, half, &mut scores)?;
                println!("## transcripts, {half}\n\n{scores}");
            }
        }
        (None, None) if dialogues.is_some() => {}
        _ => bail!("give --dialogues DIR, or --labels FILE together with --samples DIR"),
    }
    Ok(())
}
