//! `totalrecall doctor`: everything that has to work, and what to do about what does not.

mod calls;
mod search;
mod state;

use std::{fmt::Write as _, path::PathBuf};

use super::{Context, Outcome, ui};
use crate::{
    clock,
    guests::{Guests, Installed},
    model::{self, Found},
    paths::{self, Home},
    store::{Store, StoreError},
};

/// Check everything that has to work, and say what to do about what does not
#[derive(Debug, clap::Args)]
pub(super) struct Doctor {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    Good,
    Notice,
    Bad,
}

#[derive(Debug, serde::Serialize)]
struct Check {
    what: &'static str,
    health: Health,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

#[derive(Debug, Default)]
struct Checks(Vec<Check>);

impl Checks {
    fn add(&mut self, what: &'static str, health: Health, text: impl ToString, advice: Option<&str>) {
        self.0.push(Check { what, health, text: text.to_string(), advice: advice.map(str::to_owned) });
    }
}

impl Doctor {
    pub(super) fn run(&self, home: Option<PathBuf>) -> anyhow::Result<Outcome> {
        let mut checks = Checks::default();
        let chosen = Home::choose(home.clone());
        match Context::new(home) {
            Ok(context) => checks.everything(&context),
            Err(error) => {
                let advice =
                    chosen.as_ref().map(|_| "until then hooks leave word and the worker they start ends at once");
                checks.add("settings", Health::Bad, format!("{error:#}"), advice);
            }
        }
        if let Some(home) = chosen {
            checks.hooks(&home, clock::now());
        }
        if self.json {
            ui::print_json(&checks.0)?;
        } else {
            ui::print(&text(&checks.0))?;
        }
        anyhow::ensure!(checks.0.iter().all(|check| check.health != Health::Bad), "something does not work, see above");
        Ok(Outcome::Done)
    }
}

impl Checks {
    /// What hooks need, which do not need the settings.
    fn hooks(&mut self, home: &Home, now: i64) {
        let folder = home.path();
        self.home(folder);
        self.inbox(folder, now);
        self.worker(folder, now);
        self.paused(folder);
        self.calls(folder);
        self.wired(home, now);
    }

    fn everything(&mut self, context: &Context) {
        self.add("settings", Health::Good, context.home.config().display(), None);
        self.components(context);
        self.store(context);
        self.search(context);
        self.model(context);
    }

    /// The program that a model is asked through. It is missed only by whoever agreed to asking it.
    fn model(&mut self, context: &Context) {
        let settings = &context.config.model;
        let agreed = Store::open_read_only(context.home.path()).and_then(|store| model::not_agreed(&store, settings));
        let (health, how) = match agreed {
            Ok(None) => (Health::Bad, "agreed to"),
            _ => (Health::Notice, "not agreed to: nothing is asked"),
        };
        match model::look(settings) {
            Found::At(program, version) => {
                let version = version.map(|version| format!(" {}", ui::line(&version))).unwrap_or_default();
                self.add("model", Health::Good, format!("{}{version} ({how})", program.display()), None);
            }
            Found::Missing(name) => self.add(
                "model",
                health,
                format!("there is no program `{name}` ({how})"),
                Some("only `totalrecall learn` needs it; docs/model.md says how another one is named"),
            ),
            Found::Broken(program, why) => {
                self.add(
                    "model",
                    health,
                    format!("{}: {why} ({how})", program.display()),
                    Some("run it by hand to see more"),
                );
            }
        }
    }

    fn components(&mut self, context: &Context) {
        match paths::component_cache() {
            Some(cache) => self.add("cache", Health::Good, cache.display(), None),
            None => self.add(
                "cache",
                Health::Notice,
                "there is no cache folder: components are compiled at every start",
                Some("set HOME or XDG_CACHE_HOME"),
            ),
        }
        let guests = match Guests::load(&context.config, Some(&context.home)) {
            Ok(guests) => guests,
            Err(error) => return self.add("components", Health::Bad, error, Some("reinstall totalrecall")),
        };
        for setting in guests.unknown_settings(&context.config) {
            let text = format!("`[signals]` has `{setting}`, which no analyzer knows");
            self.add("settings", Health::Notice, text, Some("docs/signals.md lists the settings"));
        }
        for refused in &guests.refused {
            self.add("component", Health::Bad, format!("{} is not used: {}", refused.name, refused.why), refused.hint);
        }
        for installed in &guests.adapters {
            let version = &installed.adapter.descriptor().version;
            let text = format!("{} {version} ({})", installed.name(), installed.adapter.hash());
            self.add("adapter", Health::Good, text, None);
            self.transcripts(&guests, installed);
        }
        for configured in guests.analyzers() {
            let descriptor = configured.analyzer().descriptor();
            let text = format!("{} {} ({})", descriptor.name, descriptor.version, configured.analyzer().hash());
            self.add("analyzer", Health::Good, text, None);
        }
        if !self.0.iter().any(|check| check.what == "transcripts") {
            let tools: Vec<_> = guests.adapters.iter().map(Installed::tool).collect();
            let text = format!("none found of {}", tools.join(", "));
            let advice = "if there should be some: `totalrecall adapters list` shows where they are looked for";
            self.add("transcripts", Health::Notice, text, Some(advice));
        }
    }

    fn transcripts(&mut self, guests: &Guests, installed: &Installed) {
        let (sources, mut unreadable) = installed.sources(guests.limits());
        let mut found = Vec::new();
        for source in &sources {
            let (more, problems) = source.discover();
            found.extend(more);
            unreadable.extend(problems);
        }
        for problem in &unreadable {
            self.add("transcripts", Health::Bad, problem, Some(problem.hint));
        }
        if !found.is_empty() {
            let size = found.iter().map(|found| found.stamp.size).sum();
            let size = if size > 0 { format!(", {}", ui::bytes(size)) } else { String::new() };
            self.add("transcripts", Health::Good, format!("{} of {}{size}", found.len(), installed.tool()), None);
        }
    }

    fn store(&mut self, context: &Context) {
        let store = match Store::open_read_only(context.home.path()) {
            Ok(store) => store,
            Err(StoreError::Missing { .. }) => {
                return self.add(
                    "store",
                    Health::Notice,
                    format!("nothing in {} yet", context.home.path().display()),
                    Some("totalrecall init"),
                );
            }
            Err(error) => return self.add("store", Health::Bad, &error, error.hint()),
        };
        match store.check() {
            Ok(()) => self.add("store", Health::Good, store.path().display(), None),
            Err(error) => return self.add("store", Health::Bad, &error, error.hint()),
        }
        match store.status() {
            Ok(status) if status.failed + status.given_up > 0 => self.add(
                "failures",
                Health::Notice,
                ui::counted(status.failed + status.given_up, "transcript failed", "transcripts failed"),
                Some("totalrecall status says why; totalrecall retry tries again"),
            ),
            Ok(_) => self.add("failures", Health::Good, "none", None),
            Err(error) => self.add("failures", Health::Bad, &error, error.hint()),
        }
    }
}

fn text(checks: &[Check]) -> String {
    let mut out = String::new();
    for check in checks {
        let (style, mark) = match check.health {
            Health::Good => (ui::GOOD, "ok"),
            Health::Notice => (ui::WARN, "note"),
            Health::Bad => (ui::BAD, "bad"),
        };
        let _ = writeln!(out, "{style}{mark:<4}{style:#}  {:<12} {}", check.what, check.text);
        if let Some(advice) = &check.advice {
            let _ = writeln!(out, "{:20}→ {advice}", "");
        }
    }
    out
}
