//! `models`: what says what texts mean.

use std::path::{Path, PathBuf};

use super::{Context, Outcome, Usage, progress, ui};
use crate::{
    embedding::{self, EmbeddingError, Known, Published},
    fetch, paths,
};

/// The models by which search finds texts of a like meaning
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall models list
  totalrecall models pull potion-base-32M --use
  totalrecall models import ~/Downloads/potion-base-32M --use
  totalrecall models use built-in

A model is a folder as model2vec writes it: model.safetensors and tokenizer.json (WordPiece or Unigram). It is compiled to one
file in the home. Nothing is downloaded but by `pull`. After a change the next run of the worker makes all vectors anew; until then search goes
by words alone.")]
pub(super) struct Models {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the models that there are, and those that can be fetched
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Fetch a model from Hugging Face or a mirror, and compile it
    #[command(after_help = "Examples:
  totalrecall models pull potion-multilingual-128M
  totalrecall models pull acme/our-model@0123456789abcdef0123456789abcdef01234567 --use
  TOTALRECALL_MODEL_MIRROR=https://models.acme.internal totalrecall models pull potion-base-8M

Models that `list` names are pinned: revision, sizes and hashes are known, and anything else is refused. Of any other, which must be
named with its revision, the hashes are printed and kept with the model. Interrupted, it goes on where it ended.
TOTALRECALL_MODEL_MIRROR, else HF_ENDPOINT, names a server to take the place of https://huggingface.co, with the same paths; HTTPS_PROXY,
ALL_PROXY (socks5h:// and the like, too) and NO_PROXY hold. Nothing is sent but the request for these files.")]
    Pull {
        /// As `list` names it, or OWNER/REPOSITORY@REVISION
        #[arg(value_name = "NAME")]
        model: String,
        #[command(flatten)]
        made: Made,
    },
    /// Compile a model of a folder
    Import {
        /// The folder
        folder: PathBuf,
        #[command(flatten)]
        made: Made,
    },
    /// Use another model
    Use {
        /// As `list` names it
        name: String,
    },
}

/// What becomes of a model that is not here yet.
#[derive(Debug, clap::Args)]
struct Made {
    /// What it is to be called here; its own name, or its folder's, unless given
    #[arg(long)]
    name: Option<String>,
    /// Use it from now on
    #[arg(long = "use")]
    chosen: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Made {
    fn choose(&self, context: &Context, known: &mut Known) -> anyhow::Result<()> {
        if self.chosen {
            embedding::choose(&context.home, &known.name).map_err(usage)?;
            known.in_use = true;
        }
        Ok(())
    }
}

impl Models {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        match &self.command {
            Command::List { json } => {
                let all = embedding::all(&context.home);
                let (published, parts) = (embedding::published(), embedding::parts(&context.home));
                if *json {
                    let published: Vec<_> = published.iter().map(to_fetch).collect();
                    ui::print_json(&serde_json::json!({ "models": all, "published": published, "parts": parts }))?;
                } else {
                    let others = published.iter().filter(|it| all.iter().all(|known| known.name != it.name));
                    let lines = all.iter().map(line).chain(others.map(other)).chain(parts.iter().map(part));
                    ui::print(&lines.collect::<String>())?;
                }
            }
            Command::Pull { model, made } => pull(context, model, made)?,
            Command::Import { folder, made } => import(context, folder, made)?,
            Command::Use { name } => {
                embedding::choose(&context.home, name).map_err(usage)?;
                tell(true);
            }
        }
        Ok(Outcome::Done)
    }
}

fn import(context: &Context, folder: &Path, made: &Made) -> anyhow::Result<()> {
    let name = match (&made.name, folder.canonicalize().ok().as_deref().and_then(Path::file_name)) {
        (Some(name), _) => name.clone(),
        (None, Some(name)) => name.to_string_lossy().into_owned(),
        (None, None) => return Err(Usage(format!("there is no folder {}", folder.display())).into()),
    };
    let mut known = embedding::import(&context.home, folder, &name).map_err(usage)?;
    made.choose(context, &mut known)?;
    if made.json {
        return ui::print_json(&known);
    }
    ui::print(&line(&known))?;
    tell(made.chosen);
    Ok(())
}

fn pull(context: &Context, asked: &str, made: &Made) -> anyhow::Result<()> {
    let Some(published) = Published::named(asked) else {
        return Err(Usage(format!(
            "there is no model `{}` to fetch: `totalrecall models list` names some, others are \
             OWNER/REPOSITORY@REVISION with all 40 digits of the revision",
            ui::line(asked)
        ))
        .into());
    };
    context.stop_on_ctrl_c();
    let (name, server) = (made.name.as_ref().unwrap_or(&published.name), paths::model_server());
    let size = published.bytes().map_or_else(|| "of a size that is not known".to_owned(), ui::bytes);
    ui::say(&format!(
        "Fetching {} at {}, {size}, from {}",
        published.repository,
        &published.revision[..12],
        ui::line(&fetch::shown(&server))
    ));
    let bar = progress::bytes_bar(published.bytes().unwrap_or(0));
    let pulled = embedding::pull(&context.home, &published, name, &server, &context.stop, &mut |file, bytes| {
        bar.set_position(bytes);
        bar.set_message(file.to_owned());
    });
    bar.finish_and_clear();
    let mut pulled = pulled.map_err(usage)?;
    made.choose(context, &mut pulled.model)?;
    if made.json {
        return ui::print_json(&pulled);
    }
    ui::print(&line(&pulled.model))?;
    for file in pulled.files.iter().filter(|file| !file.pinned) {
        ui::say(&format!("{} has the SHA-256 {}; nothing is known to compare it with", file.name, file.sha256));
    }
    tell(made.chosen);
    Ok(())
}

/// A model that can be fetched, for machines.
fn to_fetch(published: &Published) -> serde_json::Value {
    let file = |file: &embedding::PublishedFile| {
        let (bytes, sha256) = file.pinned.unzip();
        serde_json::json!({ "name": file.name, "bytes": bytes, "sha256": sha256 })
    };
    serde_json::json!({
        "name": published.name,
        "repository": published.repository,
        "revision": published.revision,
        "licence": published.licence,
        "about": published.about,
        "bytes": published.bytes(),
        "files": published.files.iter().map(file).collect::<Vec<_>>(),
    })
}

/// The same as a line.
fn other(published: &Published) -> String {
    let size = published.bytes().map(ui::bytes).unwrap_or_default();
    let (name, about, licence) = (&published.name, published.about, published.licence);
    format!("{dim}  {name:<24} {size:>9}  {about}; {licence}; not here: `models pull {name}`{dim:#}\n", dim = ui::DIM)
}

/// What was fetched in part, as a line.
fn part(part: &embedding::Part) -> String {
    format!(
        "  {}  {}  fetched in part: `models pull` goes on, or delete {}\n",
        ui::line(&part.model),
        ui::bytes(part.bytes),
        ui::line(&part.folder.to_string_lossy())
    )
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
