//! Entries of ours in a client's file of hooks: worked out, recognised, and what keeps them from being called.

use std::path::{Path, PathBuf};

use super::{
    Caller, Plan, What, Wired, WiringError,
    hooks::{self, At, Entry, Made},
    jsonc::Document,
};
use crate::{
    config::Inject,
    proposal::{Edits, shell_word},
};

/// An event at which the agent may be told something aside, where the settings want that.
pub(super) struct Aside {
    /// As the client calls it.
    pub event: &'static str,
    /// The tools at whose use it is; none: it is no matter of tools.
    pub matcher: Option<&'static str>,
    /// Seconds that it may take.
    pub timeout: u32,
    /// Do the settings want it?
    pub is_wanted: fn(&Inject) -> bool,
}

/// A client that reads such a file.
pub(super) struct Client {
    /// As its adapter names it.
    pub tool: &'static str,
    /// Its file.
    pub path: PathBuf,
    /// When it calls us, and how many seconds that may take.
    pub events: &'static [(&'static str, u32)],
    /// When it may call us, too.
    pub asides: &'static [Aside],
    /// It takes a line for a shell, not a program with its arguments.
    pub shell: bool,
    /// What the person should know when entries are added: a sentence.
    pub asks: Option<&'static str>,
    /// What they should know about the file as it is without our entries: sentences.
    pub notes: fn(&Document, &Path) -> Vec<String>,
    /// Changes other files along with taking entries out of this one, which are at these places.
    pub forget: fn(&mut Edits, &Path, &[At]) -> Result<(), WiringError>,
}

impl Client {
    /// Works out what adds our hooks, and takes out those of asides that are not wanted any more.
    pub(super) fn add(&self, caller: &Caller, inject: &Inject, known: Option<Wired>) -> Result<Plan, WiringError> {
        let refused = |why| WiringError::Form { file: self.path.clone(), why };
        let mut plan = self.plan();
        let edit = plan.edits.file(&self.path)?;
        let before = edit.content().to_vec();
        let document = Document::parse(&before).map_err(refused)?;
        let (old, old_made) = self.ours(caller, &document, known.as_ref());

        let base = hooks::take(&before, &old, &old_made).map_err(refused)?;
        let without = Document::parse(base.as_bytes()).map_err(refused)?;
        let is_theirs =
            |entry: &Entry| hooks::calls(&without, &entry.event).iter().any(|it| calls_us(it, &entry.event));
        let (theirs, wanted): (Vec<_>, Vec<_>) = self.entries(caller, inject).into_iter().partition(is_theirs);
        plan.notes = (self.notes)(&without, &self.path);
        plan.notes.extend(
            theirs
                .iter()
                .map(|entry| format!("an entry of yours calls us at {} already; it stays as it is", entry.event)),
        );

        let there = hooks::present(&document, &old);
        let is_done = hooks::present(&document, &wanted).len() == wanted.len()
            && there.iter().all(|entry| wanted.contains(entry));
        let is_new = edit.before.is_none();
        let made = if is_done {
            old_made
        } else {
            let (after, made) = hooks::put(base.as_bytes(), &wanted).map_err(refused)?;
            if hooks::take(after.as_bytes(), &wanted, &made).map_err(refused)? != base {
                return Err(WiringError::OneWay(self.path.clone()));
            }
            edit.after = Some(after.into_bytes());
            plan.notes.extend(self.asks.map(str::to_owned));
            made
        };
        let is_empty = wanted.is_empty();
        let what = What::Hooks { entries: wanted, made };
        plan.after = (!is_empty).then(|| Wired::new(self.tool, &self.path, is_new, known, what));
        Ok(plan)
    }

    /// Works out what takes our hooks out.
    pub(super) fn remove(&self, caller: &Caller, known: Option<&Wired>) -> Result<Plan, WiringError> {
        let refused = |why| WiringError::Form { file: self.path.clone(), why };
        let mut plan = self.plan();
        let edit = plan.edits.file(&self.path)?;
        let Some(before) = edit.before.clone() else { return Ok(plan) };
        let document = Document::parse(&before).map_err(refused)?;
        let (old, made) = self.ours(caller, &document, known);
        let places = hooks::places(&document, &old);
        if !places.is_empty() {
            let left = hooks::take(&before, &old, &made).map_err(refused)?;
            let is_gone = known.is_some_and(|known| known.created) && left.trim().is_empty();
            edit.after = (!is_gone).then(|| left.into_bytes());
            (self.forget)(&mut plan.edits, &self.path, &places)?;
        }
        Ok(plan)
    }

    /// The file as it would be without our entries, or as it is where that cannot be told. None where there is none.
    pub(super) fn without_ours(&self, caller: &Caller, known: Option<&Wired>) -> Option<Vec<u8>> {
        let text = std::fs::read(&self.path).ok()?;
        let left = Document::parse(&text).ok().and_then(|document| {
            let (old, made) = self.ours(caller, &document, known);
            hooks::take(&text, &old, &made).ok()
        });
        Some(left.map_or(text, String::into_bytes))
    }

    fn plan(&self) -> Plan {
        let (tool, path) = (self.tool.to_owned(), self.path.clone());
        Plan { tool, path, edits: Edits::default(), notes: Vec::new(), after: None }
    }

    fn entries(&self, caller: &Caller, inject: &Inject) -> Vec<Entry> {
        let entry = |(event, matcher, timeout): (&str, Option<&str>, u32)| {
            let program = caller.program.to_string_lossy().into_owned();
            let (command, args) = if self.shell {
                (format!("{}{}", shell_word(&program), line(&caller.arguments(event))), Vec::new())
            } else {
                (program, caller.arguments(event))
            };
            Entry { event: event.to_owned(), matcher: matcher.map(str::to_owned), command, args, timeout }
        };
        self.all_events(|aside| (aside.is_wanted)(inject)).map(entry).collect()
    }

    /// Events with the tools that they are about and the seconds that they may take, with those of some asides.
    fn all_events(
        &self,
        takes: impl Fn(&Aside) -> bool,
    ) -> impl Iterator<Item = (&'static str, Option<&'static str>, u32)> {
        let asides = self.asides.iter().filter(move |aside| takes(aside));
        let asides = asides.map(|aside| (aside.event, aside.matcher, aside.timeout));
        self.events.iter().map(|(event, timeout)| (*event, None, *timeout)).chain(asides)
    }

    /// Entries of ours that are noted, and those that look like it: of a home that was lost, or of a program that was elsewhere.
    fn ours(&self, caller: &Caller, document: &Document, known: Option<&Wired>) -> (Vec<Entry>, Made) {
        let (mut entries, made) = match known {
            Some(Wired { what: What::Hooks { entries, made }, .. }) => (entries.clone(), made.clone()),
            // What is empty without them was made for them.
            _ => {
                let events = self.all_events(|_| true).map(|(event, ..)| event.to_owned()).collect();
                (Vec::new(), Made { hooks: true, events, ..Made::default() })
            }
        };
        for (event, matcher, timeout) in self.all_events(|_| true) {
            let arguments = caller.arguments(event);
            let (args, rest) = if self.shell { (Vec::new(), line(&arguments)) } else { (arguments, String::new()) };
            for command in hooks::commands(document, event, &args) {
                let is_ours = command.strip_suffix(&rest).is_some_and(is_our_program);
                let (event, matcher) = (event.to_owned(), matcher.map(str::to_owned));
                let entry = Entry { event, matcher, command, args: args.clone(), timeout };
                let is_new =
                    !entries.iter().any(|it| it.event == entry.event && it.command == entry.command && it.args == args);
                if is_ours && is_new {
                    entries.push(entry);
                }
            }
        }
        (entries, made)
    }
}

/// Arguments behind the program in a line for a shell.
fn line(arguments: &[String]) -> String {
    arguments.iter().map(|word| format!(" {}", shell_word(word))).collect()
}

/// Whether a program is written as we write ours: with its whole path, which people rarely do.
fn is_our_program(word: &str) -> bool {
    let path = Path::new(word.trim_matches('\''));
    path.is_absolute() && path.file_stem().is_some_and(|name| name == "totalrecall")
}

/// Whether this is a call of ours that the person wrote, in whatever form.
fn calls_us(call: &str, event: &str) -> bool {
    call.contains("totalrecall") && call.contains(&format!("hook {event}"))
}
