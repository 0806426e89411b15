//! `totalrecall adapters list`

use std::fmt::Write as _;

use super::super::{Context, Outcome, ui};
use crate::{
    analyses::Configured,
    clean::clean,
    grant::Granted,
    guests::{Guests, Installed, Refused},
    transcript::database,
};

/// List them, with the folders and databases that each may have read
#[derive(Debug, clap::Args)]
pub(super) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A component as it is listed.
#[derive(Debug, serde::Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) version: String,
    kind: &'static str,
    origin: &'static str,
    /// The tool whose transcripts an adapter reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    pub(super) sha256: String,
    interface: &'static str,
    pub(super) imports: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reads: Vec<Place>,
    /// The kinds of signals that an analyzer sees.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) signals: Vec<String>,
    health: String,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct Place {
    pub(super) place: String,
    pub(super) what: String,
    pub(super) exists: bool,
}

impl List {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let guests = Guests::load(&context.config, Some(&context.home))?;
        let rows: Vec<_> = guests
            .adapters
            .iter()
            .map(|installed| adapter(&guests, installed))
            .chain(guests.analyzers().iter().map(analyzer))
            .collect();
        if self.json {
            let refused: Vec<_> = guests
                .refused
                .iter()
                .map(|refused| serde_json::json!({ "name": refused.name, "why": refused.why, "hint": refused.hint }))
                .collect();
            ui::print_json(&serde_json::json!({ "components": rows, "refused": refused }))?;
            return Ok(Outcome::Done);
        }
        let mut text = String::new();
        for row in &rows {
            row.write(&mut text);
        }
        for Refused { name, why, hint } in &guests.refused {
            let _ = writeln!(text, "{bad}{}{bad:#}  not used: {}", clean(name), clean(why), bad = ui::BAD);
            if let Some(hint) = hint {
                let _ = writeln!(text, "  →        {hint}");
            }
        }
        ui::print(&text)?;
        Ok(Outcome::Done)
    }
}

impl Row {
    pub(super) fn write(&self, text: &mut String) {
        let what = match &self.tool {
            Some(tool) => format!("reads transcripts of {}", clean(tool)),
            None => "looks for signals in what adapters read".to_owned(),
        };
        let _ = writeln!(
            text,
            "{bold}{}{bold:#} {}  {} {}, {what}",
            clean(&self.name),
            clean(&self.version),
            self.origin,
            self.kind,
            bold = ui::BOLD
        );
        let _ = writeln!(text, "  sha256   {}", self.sha256);
        let _ = writeln!(text, "  speaks   {}", self.interface);
        let _ = writeln!(text, "  imports  {}", self.imports);
        for place in &self.reads {
            let missing = if place.exists { "" } else { "  (not there)" };
            let _ = writeln!(text, "  reads    {}: {}{missing}", clean(&place.place), clean(&place.what));
        }
        if self.tool.is_some() && self.reads.is_empty() {
            let _ = writeln!(text, "  reads    only what you name; `[roots]` in the configuration gives it folders");
        }
        if !self.signals.is_empty() {
            let _ = writeln!(text, "  signals  {}", clean(&self.signals.join(", ")));
        }
        let _ = writeln!(text, "  health   {}", clean(&self.health));
    }
}

/// A place in plain words.
pub(super) fn place(granted: &Granted) -> Place {
    let path = granted.path();
    let what = match granted {
        Granted::Files { globs, .. } => format!("files {}", globs.join(", ")),
        Granted::Tree { levels, .. } => format!("files {}", levels.join(", ")),
        Granted::Database { .. } => "an SQLite database, read-only".to_owned(),
    };
    let exists = match granted {
        Granted::Database { path, .. } => database::candidates(path).is_ok_and(|files| !files.is_empty()),
        Granted::Files { .. } | Granted::Tree { .. } => path.exists(),
    };
    Place { place: path.display().to_string(), what, exists }
}

/// What a component may import, in plain words.
pub(super) fn imports(wasi: bool) -> &'static str {
    if wasi { "WASI, with nothing behind it: no files, network, clock or environment" } else { "nothing" }
}

fn adapter(guests: &Guests, installed: &Installed) -> Row {
    let descriptor = installed.adapter.descriptor();
    let (sources, unreadable) = installed.sources(guests.limits());
    let health = match unreadable.first() {
        None if sources.is_empty() => "works; the tool is not here".to_owned(),
        None => "works".to_owned(),
        Some(problem) => problem.to_string(),
    };
    Row {
        name: descriptor.name.clone(),
        version: descriptor.version.clone(),
        kind: "adapter",
        origin: if installed.added { "added" } else { "built-in" },
        tool: Some(descriptor.tool.clone()),
        sha256: installed.adapter.hash().to_string(),
        interface: crate::sandbox::Adapter::INTERFACE,
        imports: imports(installed.adapter.imports_wasi()),
        reads: installed.grant.0.iter().map(place).collect(),
        signals: Vec::new(),
        health,
    }
}

fn analyzer(configured: &Configured) -> Row {
    let analyzer = configured.analyzer();
    let descriptor = analyzer.descriptor();
    Row {
        name: descriptor.name.clone(),
        version: descriptor.version.clone(),
        kind: "analyzer",
        origin: if configured.is_builtin() { "built-in" } else { "added" },
        tool: None,
        sha256: analyzer.hash().to_string(),
        interface: crate::sandbox::Analyzer::INTERFACE,
        imports: imports(analyzer.imports_wasi()),
        reads: Vec::new(),
        signals: configured.kinds().map(|kind| kind.name).collect(),
        health: "works".to_owned(),
    }
}
