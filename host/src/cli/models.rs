//! `models`: what says what texts mean.

use std::path::PathBuf;

use super::{Context, Outcome, Usage, ui};
use crate::embedding::{self, EmbeddingError, Known};

/// The models by which search finds texts of a like meaning
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall models list
  totalrecall models import ~/Downloads/potion-base-32M --use
  totalrecall models use built-in

A model is a folder as model2vec writes it: model.safetensors and tokenizer.json (WordPiece or Unigram). It is compiled to one
file in the home. Nothing is downloaded. After a change the next run of the worker makes all vectors anew; until then search goes
by words alone.")]
pub(super) struct Models {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the models that there are
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Compile a model of a folder
    Import {
        /// The folder
        folder: PathBuf,
        /// What it is to be called here; its folder's name unless given
        #[arg(long)]
        name: Option<String>,
        /// Use it from now on
        #[arg(long = "use")]
        chosen: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Use another model
    Use {
        /// As `list` names it
        name: String,
    },
}

impl Models {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        match &self.command {
            Command::List { json } => {
                let all = embedding::all(&context.home);
                if *json {
                    ui::print_json(&all)?;
                } else {
                    ui::print(&all.iter().map(line).collect::<String>())?;
                }
            }
            Command::Import { folder, name, chosen, json } => {
                let name = match (name, folder.canonicalize().ok().as_deref().and_then(|path| path.file_name())) {
                    (Some(name), _) => name.clone(),
                    (None, Some(name)) => name.to_string_lossy().into_owned(),
                    (None, None) => return Err(Usage(format!("there is no folder {}", folder.display())).into()),
                };
                let mut known = embedding::import(&context.home, folder, &name).map_err(usage)?;
                if *chosen {
                    embedding::choose(&context.home, &name).map_err(usage)?;
                    known.in_use = true;
                }
                if *json {
                    ui::print_json(&known)?;
                } else {
                    ui::print(&line(&known))?;
                    tell(*chosen);
                }
            }
            Command::Use { name } => {
                embedding::choose(&context.home, name).map_err(usage)?;
                tell(true);
            }
        }
        Ok(Outcome::Done)
    }
}

fn tell(has_changed: bool) {
    ui::say(if has_changed {
        "The next run of the worker makes the vectors anew (`totalrecall reindex` does it now); until then search goes by words."
    } else {
        "It is used once you say `totalrecall models use` and its name."
    });
}

fn line(known: &Known) -> String {
    let (mark, bold) = if known.in_use { ('*', ui::BOLD) } else { (' ', anstyle::Style::new()) };
    let about = match &known.id {
        Some(id) => format!("{} numbers  {}  {}", known.dims, ui::line(id), ui::line(&known.licence)),
        None => "cannot be used: import it again".to_owned(),
    };
    format!("{mark} {bold}{:<24}{bold:#} {:>9}  {about}\n", ui::line(&known.name), ui::bytes(known.bytes))
}

fn usage(error: EmbeddingError) -> anyhow::Error {
    match error {
        error @ (EmbeddingError::Name(_) | EmbeddingError::Unknown(_)) => Usage(error.to_string()).into(),
        error => error.into(),
    }
}
