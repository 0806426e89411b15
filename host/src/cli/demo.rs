//! `totalrecall demo`: the main job on the user's transcripts, or on bundled ones, keeping nothing.

use std::path::PathBuf;

use anyhow::Context as _;

use super::{Context, Outcome, progress, ui};
use crate::{
    clean::clean, config::Config, files, guests::Guests, paths::Home, pipeline::Pipeline, store::Store, transcript,
};

macro_rules! fixture {
    ($case:literal, $session:literal) => {
        (
            concat!($session, ".jsonl"),
            include_str!(concat!("../../../fixtures/claude-code/", $case, "/transcripts/", $session, ".jsonl")),
        )
    };
}

/// Transcripts to show something with where there are none: written by the real client, with scripted answers.
const BUNDLED: &[(&str, &str)] = &[
    fixture!("2.1.120-tui", "3cf2385f-440a-4ac0-8d12-6dc76fa532be"),
    fixture!("2.1.332-parallel-calls", "ad93bee8-324a-4d96-ae1e-d4d900c3cd80"),
    fixture!("2.1.332-steering-and-refusal", "075b217f-fbfd-4163-9d79-534c70e85013"),
];

/// Show what it finds in your transcripts (or in bundled ones), keeping nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  totalrecall demo --output insights.md     keep the page after all")]
pub(super) struct Demo {
    /// Use the bundled transcripts even where there are others
    #[arg(long)]
    bundled: bool,
    /// Write the page to this file, too
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Demo {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let folder = tempfile::Builder::new().prefix("totalrecall-demo-").tempdir()?;
        let home = Home::choose(Some(folder.path().join("home"))).ok_or_else(|| anyhow::anyhow!("no home"))?;
        // A demonstration reads what is there now, sessions that are going on included.
        let mut config = Config::default();
        config.transcripts.settle_seconds = 0;
        let context = Context::of(home, config);
        context.stop_on_ctrl_c();

        let guests = Guests::load(&context.config, None)?;
        files::make_private_folder(context.home.path())?;
        let mut store = Store::open(context.home.path())?;
        let pipeline = Pipeline::new(&context.home, &context.config, &guests, context.now, &context.stop)?;
        let mut bytes = 0;
        if !self.bundled {
            bytes = pipeline.reconcile(&mut store)?.bytes;
        }
        if bytes == 0 {
            ui::say("No transcripts of yours were found, so these are bundled ones.");
            for (name, text) in BUNDLED {
                let path = folder.path().join(name);
                std::fs::write(&path, text)?;
                let (_, found) = transcript::named(&path)?;
                bytes += found.stamp.size;
                let row = crate::store::Found { named: true, ..found.row("claude-code", "claude-code") };
                pipeline.enqueue(&mut store, &[row])?;
            }
        } else {
            ui::say(&format!("Reading {} of your transcripts; nothing of it is kept.", ui::bytes(bytes)));
        }
        let bar = progress::bytes_bar(bytes);
        let worked = pipeline.work(&mut store, &mut |bytes, _| bar.inc(bytes))?;
        bar.finish_and_clear();
        for problem in worked.failed.iter().chain(&worked.problems) {
            ui::warn(&clean(problem));
        }
        anyhow::ensure!(!worked.stopped, "interrupted");
        let page = std::fs::read_to_string(context.home.insights())?;
        ui::print(&page)?;
        if let Some(file) = &self.output {
            files::write_atomically(&std::path::absolute(file)?, page.as_bytes())
                .with_context(|| format!("could not write {}", file.display()))?;
            ui::say(&format!("The page is in {}", file.display()));
        }
        ui::say("To keep what is found: totalrecall init");
        Ok(Outcome::Done)
    }
}
