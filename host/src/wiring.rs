//! Being called by the person's tools without a plugin: entries of ours in their files, and what takes them back.
//!
//! | module | knows |
//! | --- | --- |
//! | [`jsonc`] | how JSON that people keep is changed |
//! | [`hooks`] | files of hooks in Claude Code's form |
//! | [`entries`] | which entries are ours in such a file |
//! | [`claude`], [`codex`] | Claude Code's and Codex' file |
//! | [`opencode`] | a plugin for OpenCode, which has no hooks |
//! | [`record`] | what was done, which is in `wiring.json` in the home |
//!
//! What is about to be written is noted first; then the file is written; when entries are taken out they are forgotten last.
//! Whenever that ends in between, doing either once more completes it. What is not noted (a home that was lost) is recognised by
//! how it looks.

mod claude;
mod codex;
mod entries;
mod error;
mod hooks;
mod jsonc;
mod opencode;
mod record;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

pub use error::WiringError;
pub use hooks::Entry;
pub use jsonc::JsoncError;
pub use record::{Record, What, Wired};

use entries::Client;

use crate::{
    config::Inject,
    files::make_private_folder,
    paths::{self, Home},
    proposal::{Edits, RulesLock, Written},
};

/// Tools that can call us, as their adapters name them.
pub const TOOLS: [&str; 3] = ["claude-code", "codex", "opencode"];

/// What people call a tool.
pub fn title(tool: &str) -> &str {
    match tool {
        "claude-code" => "Claude Code",
        "codex" => "Codex",
        "opencode" => "OpenCode",
        other => other,
    }
}

/// How we are called.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Our program, as tools shall start it.
    pub program: PathBuf,
    /// The home, where it is not the one that we would choose by ourselves.
    pub home: Option<PathBuf>,
}

impl Caller {
    /// This program: as it is found on the `PATH` if that leads to it, because the place behind may change with its version.
    ///
    /// # Errors
    /// When the system does not say where we are.
    pub fn this(home: &Home) -> std::io::Result<Self> {
        let here = std::env::current_exe()?;
        let real = here.canonicalize().unwrap_or_else(|_| here.clone());
        let on_path = paths::program("totalrecall").filter(|it| it.canonicalize().is_ok_and(|it| it == real));
        let usual = paths::user_home().map(|home| home.join(".totalrecall"));
        let home = (usual.as_deref() != Some(home.path())).then(|| std::path::absolute(home.path())).transpose()?;
        Ok(Self { program: on_path.unwrap_or(here), home })
    }

    /// The arguments for an event.
    pub fn arguments(&self, event: &str) -> Vec<String> {
        ["hook".to_owned(), event.to_owned()].into_iter().chain(self.more()).collect()
    }

    /// Those behind the event.
    fn more(&self) -> Vec<String> {
        let home = self.home.as_ref().map(|home| home.to_string_lossy().into_owned());
        home.map(|home| vec!["--home".to_owned(), home]).unwrap_or_default()
    }
}

/// Changes that are worked out and not made yet.
#[derive(Debug)]
pub struct Plan {
    /// The tool.
    pub tool: String,
    /// The file that it reads.
    pub path: PathBuf,
    /// The changes.
    pub edits: Edits,
    /// What the person should know, as sentences.
    pub notes: Vec<String>,
    /// What is ours in the file afterwards.
    after: Option<Wired>,
}

impl Plan {
    /// Whether the tool calls us afterwards.
    pub fn adds(&self) -> bool {
        self.after.is_some()
    }

    /// Whether anything would change.
    pub fn changes(&self) -> bool {
        self.edits.changes().next().is_some()
    }
}

/// The person's tools and how they call us.
#[derive(Debug)]
pub struct Wiring<'a> {
    /// Our folder.
    pub home: &'a Home,
    /// How we are called.
    pub caller: Caller,
    /// Milliseconds since the Unix epoch.
    pub now: i64,
    /// What the settings have agents told: tools call us for asides only where these are wanted.
    pub inject: Inject,
}

impl<'a> Wiring<'a> {
    /// For this program, without asides.
    ///
    /// # Errors
    /// When the system does not say where it is.
    pub fn new(home: &'a Home, now: i64) -> Result<Self, WiringError> {
        let caller = Caller::this(home).map_err(|error| WiringError::Program(error.to_string()))?;
        Ok(Self { home, caller, now, inject: Inject::default() })
    }

    /// Tools that are on this machine.
    pub fn found() -> Vec<&'static str> {
        let is_found = |tool: &&str| match *tool {
            "opencode" => opencode::is_found(),
            tool => place(tool).is_some_and(|file| file.parent().is_some_and(Path::is_dir)),
        };
        TOOLS.into_iter().filter(is_found).collect()
    }

    /// Works out what makes a tool call us. Where it does already, nothing would change.
    ///
    /// # Errors
    /// See [`WiringError`]; nothing is changed in any case.
    pub fn plan_add(&self, tool: &str) -> Result<Plan, WiringError> {
        let path = place(tool).ok_or(WiringError::NoHome)?;
        let known = Record::load(self.home)?.of(&path).cloned();
        match client(tool) {
            Some(client) => client.add(&self.caller, &self.inject, known),
            None => opencode::add(&self.caller, &path, known),
        }
    }

    /// Works out what takes back whatever we added, for each file that is known of or where entries of ours usually are.
    ///
    /// # Errors
    /// When what was done cannot be read. Each plan has its own errors.
    pub fn plan_remove(&self, tools: &[&str]) -> Result<Vec<Result<Plan, WiringError>>, WiringError> {
        let record = Record::load(self.home)?;
        let mut all: Vec<(String, PathBuf)> =
            record.files.iter().map(|wired| (wired.tool.clone(), wired.path.clone())).collect();
        for (tool, path) in TOOLS.iter().filter_map(|tool| Some((*tool, place(tool)?))) {
            if !all.iter().any(|(_, known)| *known == path) {
                all.push((tool.to_owned(), path));
            }
        }
        all.retain(|(tool, _)| tools.contains(&tool.as_str()));
        let plan = |(tool, path): (String, PathBuf)| match client(&tool) {
            Some(client) => {
                let known = record.of(&path);
                Client { path, ..client }.remove(&self.caller, known)
            }
            None => opencode::remove(&path),
        };
        Ok(all.into_iter().map(plan).collect())
    }

    /// Files that call us by entries which the person wrote: they are theirs to take out.
    pub fn entries_of_others(&self) -> Vec<PathBuf> {
        let record = Record::load(self.home).unwrap_or_default();
        let clients = TOOLS.iter().filter_map(|tool| client(tool));
        let mut files: Vec<(PathBuf, Vec<u8>)> = clients
            .filter_map(|client| {
                Some((client.path.clone(), client.without_ours(&self.caller, record.of(&client.path))?))
            })
            .collect();
        let local = claude::client().map(|client| client.path.with_file_name("settings.local.json"));
        files.extend(local.and_then(|file| Some((file.clone(), fs::read(file).ok()?))));
        let calls_us = |text: &[u8]| {
            ["totalrecall check", "totalrecall hook"]
                .iter()
                .any(|it| memchr::memmem::find(text, it.as_bytes()).is_some())
        };
        files.into_iter().filter(|(_, text)| calls_us(text)).map(|(file, _)| file).collect()
    }

    /// Makes the changes.
    ///
    /// # Errors
    /// See [`WiringError`]. Nothing is changed then, or what was begun is completed by doing it again.
    pub fn carry_out(&self, plan: Plan) -> Result<Written, WiringError> {
        let record = Record::load(self.home)?;
        if !plan.changes() && record.of(&plan.path) == plan.after.as_ref() {
            return Ok(Written::default());
        }
        let unnoted = |error: io::Error| WiringError::Unnoted { file: self.home.path().into(), why: error.to_string() };
        make_private_folder(self.home.path()).map_err(unnoted)?;
        let _lock = RulesLock::take(self.home)?;
        let mut record = Record::load(self.home)?;
        let staged = plan.edits.stage()?;
        if let Some(after) = &plan.after {
            // Until the file is written it holds what it held.
            record.put(after.clone().with(record.of(&plan.path)));
            record.save(self.home)?;
        }
        let backups = staged.back_up(&self.home.backups(), self.now)?;
        let mut written = staged.commit()?;
        written.backups = backups;
        let before = record.remove(&plan.path);
        if let Some(after) = plan.after {
            record.put(after);
        } else {
            for folder in before.into_iter().flat_map(|wired| wired.folders) {
                // One that is not empty is somebody's.
                let _ = fs::remove_dir(folder);
            }
        }
        record.save(self.home)?;
        Ok(written)
    }
}

/// The file by which a tool learns whom to call.
fn place(tool: &str) -> Option<PathBuf> {
    if tool == "opencode" { opencode::place() } else { Some(client(tool)?.path) }
}

/// A tool that reads a file of hooks.
fn client(tool: &str) -> Option<Client> {
    match tool {
        "claude-code" => claude::client(),
        "codex" => codex::client(),
        _ => None,
    }
}
