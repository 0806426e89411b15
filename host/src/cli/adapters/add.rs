//! `totalrecall adapters add` and `remove`

use std::{
    fmt::Write as _,
    io::{self, IsTerminal as _},
    path::PathBuf,
};

use anyhow::Context as _;

use super::{
    super::{Context, Outcome, Usage, ui, work},
    list,
};
use crate::{
    added::{self, AddedError, Agreement, Kind},
    clean::clean,
    config::Config,
    files,
    grant::{Grant, Granted},
    guests::{self, Guests},
    sandbox::{Adapter, Analyzer, Guest, SandboxError},
};

/// Add an adapter or an analyzer that someone else made
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Shows what the component is and what it asks to have read, then asks. What you agree to is stored with the
component's hash: another file under its name is refused until it is added again.

Example:
  totalrecall adapters test my-tool.wasm --fixtures fixtures    first see whether it is any good
  totalrecall adapters add my-tool.wasm"
)]
pub(super) struct Add {
    /// The component
    file: PathBuf,
    /// Agree to what is shown
    #[arg(long, short)]
    yes: bool,
    /// Print JSON; needs --yes
    #[arg(long, requires = "yes")]
    json: bool,
}

/// Forget an added component. What an adapter has read stays; an analyzer's signals go
#[derive(Debug, clap::Args)]
pub(super) struct Remove {
    /// Its name
    name: String,
}

/// A component that was looked at.
enum Candidate {
    Adapter(Adapter, Grant),
    Analyzer(Analyzer),
}

impl Add {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = std::fs::read(&self.file).with_context(|| format!("could not read {}", self.file.display()))?;
        let guest = Guest::new(name, bytes);
        let candidate = look(context, &guest)?;
        let agreement = candidate.agreement(&guest, context.now);
        let before = added::agreements(context.home.path())?
            .into_iter()
            .filter_map(Result::ok)
            .find(|other| other.name == agreement.name);
        // One that is replaced does not stand in the way of its successor.
        let mut config: Config = context.config.clone();
        config.adapters.insert(agreement.name.clone(), false);
        let guests = Guests::load(&config, Some(&context.home))?;
        guests.check_free(&agreement.name)?;
        if let Candidate::Adapter(adapter, grant) = &candidate {
            guests.check_tool(&adapter.descriptor().tool)?;
            grant.check().map_err(AddedError::from)?;
        }
        if !self.json {
            ui::print(&candidate.shown(&agreement, before.as_ref()))?;
        }
        if !self.yes && !ask(&agreement)? {
            ui::say("Nothing was added.");
            return Ok(Outcome::NothingFound);
        }
        files::make_private_folder(context.home.path())?;
        added::keep(context.home.path(), &guest, &agreement)?;
        // What an earlier one did wrong is not this one's doing.
        work::open(context)?.set_troubles(&agreement.name, &[])?;
        if self.json {
            ui::print_json(&agreement)?;
        } else {
            ui::say(&format!("Added {}. `totalrecall worker --reconcile` uses it.", agreement.name));
        }
        Ok(Outcome::Done)
    }
}

/// Loads a component as what it is.
fn look(context: &Context, guest: &Guest) -> anyhow::Result<Candidate> {
    let sandbox = guests::sandbox(&context.config);
    match sandbox.adapter(guest) {
        Ok(adapter) => {
            let grant = Grant::declared(&adapter.descriptor().sources).resolved();
            Ok(Candidate::Adapter(adapter, grant))
        }
        Err(SandboxError::WrongWorld { exports, .. }) if exports.iter().any(|name| name == Analyzer::INTERFACE) => {
            Ok(Candidate::Analyzer(sandbox.analyzer(guest)?))
        }
        Err(error) => Err(error.into()),
    }
}

impl Candidate {
    fn agreement(&self, guest: &Guest, now: i64) -> Agreement {
        let (kind, name, version, grant) = match self {
            Self::Adapter(adapter, grant) => {
                let descriptor = adapter.descriptor();
                (Kind::Adapter, &descriptor.name, &descriptor.version, grant.clone())
            }
            Self::Analyzer(analyzer) => {
                let descriptor = analyzer.descriptor();
                (Kind::Analyzer, &descriptor.name, &descriptor.version, Grant::default())
            }
        };
        let version = clean(version).chars().take(40).collect();
        Agreement { name: name.clone(), kind, version, sha256: guest.hash().to_string(), grant, agreed_at: now }
    }

    fn shown(&self, agreement: &Agreement, before: Option<&Agreement>) -> String {
        let mut text = String::new();
        let (tool, interface, imports) = match self {
            Self::Adapter(adapter, _) => (Some(&adapter.descriptor().tool), Adapter::INTERFACE, adapter.imports_wasi()),
            Self::Analyzer(analyzer) => (None, Analyzer::INTERFACE, analyzer.imports_wasi()),
        };
        let _ = writeln!(
            text,
            "{bold}{}{bold:#} {}, an {}{}",
            clean(&agreement.name),
            agreement.version,
            agreement.kind,
            tool.map_or_else(String::new, |tool| format!(" for the transcripts of {}", clean(tool))),
            bold = ui::BOLD
        );
        let _ = writeln!(text, "  sha256   {}", agreement.sha256);
        let _ = writeln!(text, "  speaks   {interface}");
        let _ = writeln!(text, "  imports  {}", list::imports(imports));
        match self {
            Self::Adapter(..) => {
                text += "It asks to have read for it, and nothing else:\n";
                for granted in &agreement.grant.0 {
                    shown_place(&mut text, granted);
                }
                if agreement.grant.0.is_empty() {
                    text += "  nothing but what you name on the command line or in `[roots]` of the configuration\n";
                }
            }
            Self::Analyzer(analyzer) => {
                text += "It gets the events of every session, with secrets replaced, and can do nothing with them but name signals:\n";
                for kind in &analyzer.descriptor().signals {
                    let _ = writeln!(text, "  {}/{}: {}", agreement.name, clean(&kind.name), clean(&kind.summary));
                }
            }
        }
        match before {
            Some(before) if before.sha256 == agreement.sha256 => text += "It is the one that was added already.\n",
            Some(before) => {
                let wider = if before.grant == agreement.grant { "asks for the same" } else { "asks for other places" };
                let _ = writeln!(text, "It replaces {} {} and {wider}.", before.name, before.version);
            }
            None => {}
        }
        text
    }
}

fn shown_place(text: &mut String, granted: &Granted) {
    let place = list::place(granted);
    let missing = if place.exists { "" } else { "  (not there)" };
    let _ = writeln!(text, "  {}: {}{missing}", clean(&place.place), clean(&place.what));
    if let Granted::Database { queries, .. } = granted {
        for queries in queries {
            let _ = writeln!(text, "    which sessions there are: {}", one_line(&queries.sessions));
            let _ = writeln!(text, "    what a session says:      {}", one_line(&queries.rows));
        }
    }
}

fn one_line(sql: &str) -> String {
    clean(sql).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn ask(agreement: &Agreement) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(
            Usage("nobody is there to ask: look at what is shown, and give --yes if you agree".to_owned()).into()
        );
    }
    Ok(ui::ask(&format!("Add {}? [y/N] ", agreement.name))?)
}

impl Remove {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let kept = added::agreements(context.home.path())?.into_iter().filter_map(Result::ok);
        let kind = kept.into_iter().find(|agreement| agreement.name == self.name).map(|agreement| agreement.kind);
        match added::remove(context.home.path(), &self.name) {
            Err(AddedError::Unknown(name)) => {
                ui::say(&format!("No component of the name {} was added.", clean(&name)));
                return Ok(Outcome::NothingFound);
            }
            other => other?,
        }
        work::open(context)?.set_troubles(&self.name, &[])?;
        let stays = match kind {
            Some(Kind::Analyzer) => "Its signals go with the next `totalrecall worker`.",
            Some(Kind::Adapter) | None => "What was read through it stays.",
        };
        ui::say(&format!("Removed {}. {stays}", self.name));
        Ok(Outcome::Done)
    }
}
