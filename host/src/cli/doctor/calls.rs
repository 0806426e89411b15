//! Whether tools call us, how, and whether what they would start is there.

use std::{collections::BTreeSet, path::Path};

use super::{Checks, Health};
use crate::{
    cli::ui,
    hooked::{Hooked, Plugin},
    inbox::{self, SESSION_IS_OVER},
    model,
    paths::{self, Home},
    proposal,
    store::Store,
    wiring::{Record, Wiring, WiringError, title},
};

/// Ours, which the plugin should have, too.
const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Checks {
    /// Do hooks call us?
    pub(super) fn calls(&mut self, home: &Path) {
        // Whoever has no Claude Code has no hooks of it.
        let Some(folder) = proposal::claude_folder().filter(|folder| folder.is_dir()) else { return };
        let here = std::env::current_dir().ok();
        let hooked = Hooked::look(&folder, here.as_deref());
        for (file, why) in &hooked.unreadable {
            let text = format!("{} cannot be understood: {}", file.display(), ui::line(why));
            // A project's are its own matter.
            let health = if file.starts_with(&folder) { Health::Bad } else { Health::Notice };
            self.add("hooks", health, text, Some("Claude Code puts such a file aside, hooks and all: repair it"));
        }
        let enabled: Vec<_> = hooked.plugins.iter().filter(|plugin| plugin.is_enabled).collect();
        for plugin in &hooked.plugins {
            self.plugin(plugin);
        }
        let programs: BTreeSet<(&Path, &str)> =
            hooked.entries.iter().map(|entry| (entry.file.as_path(), entry.program.as_str())).collect();
        for (file, program) in programs {
            let of = |entry: &&crate::hooked::Entry| entry.file == file && entry.program == program;
            let events: Vec<_> = hooked.entries.iter().filter(of).map(|entry| entry.event.as_str()).collect();
            self.entries(file, program, &events.join(", "));
        }
        if !enabled.is_empty() && !hooked.entries.is_empty() {
            let advice = "either is enough: `totalrecall init --no-hooks` takes the entries out, `claude plugin disable` switches the plugin off";
            self.add(
                "hooks",
                Health::Notice,
                "the plugin and the settings both call TotalRecall: everything is done twice",
                Some(advice),
            );
        }
        if enabled.len() > 1 {
            let ids: Vec<_> = enabled.iter().map(|plugin| plugin.id.as_str()).collect();
            let text = format!("the plugin is switched on more than once: {}", ui::line(&ids.join(", ")));
            self.add("hooks", Health::Notice, text, Some("`claude plugin disable` switches one of them off"));
        }
        if !hooked.is_called() {
            let advice = "the plugin does, or `totalrecall init --hooks`; without, `totalrecall worker --reconcile` reads what is new";
            return self.add("hooks", Health::Notice, "nothing calls TotalRecall when a session ends", Some(advice));
        }
        for file in &hooked.switched_off {
            let text = format!("`disableAllHooks` is set in {}: nothing is called", file.display());
            self.add("hooks", Health::Bad, text, Some("take it out, or run `totalrecall worker --reconcile` by hand"));
        }
        self.last_word(home);
    }

    /// Do other tools that `init --hooks` was run for still call us? Claude Code is looked at more closely.
    pub(super) fn wired(&mut self, home: &Home, now: i64) {
        if let Err(error) = self.each_wired(home, now) {
            self.add("hooks", Health::Bad, &error, error.hint());
        }
    }

    fn each_wired(&mut self, home: &Home, now: i64) -> Result<(), WiringError> {
        let record = Record::load(home)?;
        for wired in record.files.iter().filter(|wired| wired.tool != "claude-code") {
            let (tool, file) = (title(&wired.tool), wired.path.display());
            match Wiring::new(home, now)?.plan_add(&wired.tool) {
                Ok(plan) if plan.changes() || plan.path != wired.path => {
                    let advice = format!("`totalrecall init --hooks --tool {}` sets them up again", wired.tool);
                    let text = format!("{tool} does not call this program at every event any more: {file}");
                    self.add("hooks", Health::Notice, text, Some(&advice));
                }
                Ok(plan) => {
                    self.add("hooks", Health::Good, format!("{file} has {tool} call this program"), None);
                    for note in plan.notes {
                        self.add("hooks", Health::Notice, note, None);
                    }
                }
                Err(error) => self.add("hooks", Health::Bad, &error, error.hint()),
            }
        }
        Ok(())
    }

    /// When did a hook do its work for the last time?
    fn last_word(&mut self, home: &Path) {
        let waiting = inbox::look(home, SESSION_IS_OVER).ok().and_then(|waiting| waiting.newest);
        let taken = Store::open_read_only(home).and_then(|store| store.meta(inbox::LAST_WORD)).ok().flatten();
        match waiting.max(taken.and_then(|at| at.parse().ok())) {
            Some(at) => {
                let text = format!("one has left word for the last time at {}", ui::local_time(at));
                self.add("hooks", Health::Good, text, None);
            }
            None => {
                let advice = "start a session: one that was running before they were there has to be started anew";
                self.add("hooks", Health::Notice, "none has ever left word", Some(advice));
            }
        }
    }

    fn plugin(&mut self, plugin: &Plugin) {
        let (id, folder) = (ui::line(&plugin.id), plugin.folder.display());
        if !plugin.is_enabled {
            let advice = format!("`claude plugin enable {id}` switches it on");
            return self.add("plugin", Health::Notice, format!("{id} is installed and switched off"), Some(&advice));
        }
        let Some(version) = plugin.version.as_deref().map(ui::line) else {
            let advice = format!("`claude plugin uninstall {id}`, then install it again");
            return self.add(
                "plugin",
                Health::Bad,
                format!("there is no plugin in {folder}, where {id} is installed"),
                Some(&advice),
            );
        };
        self.add("plugin", Health::Good, format!("{id} {version} in {folder}"), None);
        match plugin.program() {
            Ok(program) => self.program(&program, Some(&version)),
            Err(why) => {
                let advice =
                    "install the program, or name it in the plugin's options; `/recall-setup` in Claude Code helps";
                self.add("program", Health::Bad, format!("the plugin's hooks find no program: {why}"), Some(advice));
            }
        }
    }

    fn entries(&mut self, file: &Path, program: &str, events: &str) {
        let text = format!("{} calls {} at {}", file.display(), ui::line(program), ui::line(events));
        self.add("hooks", Health::Good, text, None);
        match paths::program(program) {
            Some(program) => self.program(&program, None),
            None => {
                let text = format!("there is no program {}, which {} calls", ui::line(program), file.display());
                let advice = "install it there, or run `totalrecall init --hooks` again with the one that there is";
                self.add("program", Health::Bad, text, Some(advice));
            }
        }
    }

    /// Does the program run that hooks start, and is it of the plugin's version?
    fn program(&mut self, program: &Path, plugin: Option<&str>) {
        let is_this = |this: &Path| same_file(this, program);
        let version = if std::env::current_exe().is_ok_and(|this| is_this(&this)) {
            Ok(format!("totalrecall {VERSION}"))
        } else {
            model::version_of(program)
        };
        let at = program.display();
        let version = match version {
            Ok(version) => ui::line(&version),
            Err(why) => {
                let advice = "install it again: a hook that cannot start it does nothing";
                return self.add(
                    "program",
                    Health::Bad,
                    format!("{at} does not run: {}", ui::line(&why)),
                    Some(advice),
                );
            }
        };
        match plugin {
            Some(plugin) if version != format!("totalrecall {plugin}") => {
                let text = format!("{at} is {version}, the plugin is {plugin}");
                self.add(
                    "program",
                    Health::Notice,
                    text,
                    Some("update the older one; `/recall-setup` in Claude Code helps"),
                );
            }
            _ => self.add("program", Health::Good, format!("{at} ({version})"), None),
        }
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}
