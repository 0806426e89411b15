//! `insights`: the page, or the part of it that someone asks for.

mod open;
mod topic;

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::{Context, Outcome, Usage, library::load, pause, ui, work};
use crate::{
    files,
    guests::Guests,
    insights,
    library::Library,
    locale,
    pattern::{self, View},
    period::{self, End},
    pipeline::Pipeline,
    project,
    store::Store,
};

/// Print insights.md, or a part of it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall insights | less
  totalrecall insights --path                          where the page lies
  totalrecall insights npm test                        only what these words are about, short
  totalrecall insights --project                       only the project of this folder
  totalrecall insights --project billing --since 30d   a project of this name, the last 30 days
  totalrecall insights --since 2026-11-01 --until 2026-11-30
  totalrecall insights --html --output insights.html   one file for a browser, with charts
  totalrecall insights --open                          that file in your browser

A part is printed, or written with --output, and never takes the place of insights.md.
docs/insights.md explains the figures and the JSON.")]
pub(super) struct Insights {
    /// Only patterns in which all of these words occur, short: what they are, what to do, where they were seen
    #[arg(value_name = "TOPIC", conflicts_with_all = ["html", "path"])]
    topic: Vec<String>,
    /// Print the path of the page instead
    #[arg(long, conflicts_with_all = ["json", "html", "output", "project", "since", "until"])]
    path: bool,
    /// Write the page anew from the store, without reading any transcript
    #[arg(long, conflicts_with = "path")]
    renew: bool,
    /// Only one project: a folder of it or what its folder is called; without a value, that of the current folder
    #[arg(long, value_name = "DIR|NAME", num_args = 0..=1)]
    project: Option<Option<String>>,
    /// Only sessions that ended since then: 30d, 2w, 6m (months), 1y ago, or a day such as 2026-11-01
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Only sessions that ended before then; of a day, by its end
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: Option<String>,
    /// Print one self-contained HTML file, with charts and without scripts
    #[arg(long, conflicts_with = "json")]
    html: bool,
    /// Show it: in a browser where there is a desktop, else in $PAGER; else print where its HTML file lies
    #[arg(long, conflicts_with_all = ["topic", "path", "html", "json", "output"])]
    open: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write to this file instead
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Insights {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        // The page may be older than a pause, so it does not tell of one.
        pause::remind(&context.home);
        if self.renew {
            let (guests, mut store) = (Guests::load(&context.config, Some(&context.home))?, work::open(context)?);
            Pipeline::new(&context.home, &context.config, &guests, context.now, &context.stop)?.renew(&mut store)?;
        }
        let is_whole = self.topic.is_empty() && self.project.is_none() && self.since.is_none() && self.until.is_none();
        if is_whole && !self.html && !self.json && !self.open {
            return self.page(context);
        }
        let Some(library) = load(context)? else { return Ok(Outcome::NothingFound) };
        let store = Store::open_read_only(context.home.path())?;
        let library = library.judged(&store, &context.config, context.now)?;
        let view = self.view(&library, context.now)?;
        let kinds = Guests::load(&context.config, Some(&context.home))?.kinds().to_vec();
        let insights =
            library.insights_in(&view, &kinds, &context.config.patterns, context.now).redacted(context.redactor());
        if !self.topic.is_empty() {
            return self.about(&insights, context);
        }
        if self.open {
            self.show(&insights, context)?;
        } else {
            self.give(&self.text(&insights, context)?, context)?;
        }
        Ok(if insights.sessions == 0 && !view.is_all() { Outcome::NothingFound } else { Outcome::Done })
    }

    fn show(&self, insights: &insights::Insights, context: &Context) -> anyhow::Result<()> {
        let locale = locale::choose(context.config.language().as_deref(), None);
        let file = context.home.insights_html();
        files::write_atomically(&file, insights.html(&locale).as_bytes())
            .with_context(|| format!("could not write {}", file.display()))?;
        open::show(&file, &insights.page(&locale))
    }

    /// What some words are about.
    fn about(&self, insights: &insights::Insights, context: &Context) -> anyhow::Result<Outcome> {
        let found = pattern::about(&insights.patterns, &self.topic);
        if self.json {
            self.give(&context.shown_json(&found)?, context)?;
        } else if !found.is_empty() {
            self.give(&context.shown(&topic::text(&found, insights)), context)?;
        }
        if found.is_empty() {
            ui::say(&format!(
                "No pattern is about {}. `totalrecall patterns` lists all.",
                ui::line(&self.topic.join(" "))
            ));
            return Ok(Outcome::NothingFound);
        }
        Ok(Outcome::Done)
    }

    /// The page as it lies there.
    fn page(&self, context: &Context) -> anyhow::Result<Outcome> {
        let page = context.home.insights();
        match std::fs::read_to_string(&page) {
            Ok(_) if self.path => ui::print(&format!("{}\n", page.display()))?,
            Ok(text) => self.give(&context.shown(&text), context)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                ui::say("There is no page yet. Run: totalrecall reconcile && totalrecall worker");
                return Ok(Outcome::NothingFound);
            }
            Err(error) => return Err(anyhow::anyhow!("could not read {}: {error}", page.display())),
        }
        Ok(Outcome::Done)
    }

    fn view(&self, library: &Library, now: i64) -> anyhow::Result<View> {
        let time = |text: &Option<String>, end| text.as_deref().map(|text| period::parse(text, end, now)).transpose();
        let usage = |error: period::PeriodError| Usage(error.to_string());
        let since = time(&self.since, End::Begin).map_err(usage)?;
        let until = time(&self.until, End::End).map_err(usage)?;
        if let (Some(since), Some(until)) = (since, until)
            && since >= until
        {
            return Err(Usage("the period ends before it begins: --since must be earlier than --until".into()).into());
        }
        let mut view = View { since, until, ..View::default() };
        if let Some(asked) = &self.project {
            let here = std::env::current_dir().context("the current folder is gone; go to another one")?;
            let project = project::find(asked.as_deref(), &here, &library.projects())?;
            view.project = Some(project.path);
            view.folders = project.folders;
        }
        Ok(view)
    }

    fn text(&self, insights: &insights::Insights, context: &Context) -> anyhow::Result<String> {
        if self.json {
            return context.shown_json(insights);
        }
        let locale = locale::choose(context.config.language().as_deref(), None);
        Ok(if self.html { insights.html(&locale) } else { insights.page(&locale) })
    }

    fn give(&self, text: &str, context: &Context) -> anyhow::Result<()> {
        let Some(file) = &self.output else { return Ok(ui::print(text)?) };
        let file = std::path::absolute(file)?;
        if is_same(&file, &context.home.insights()) {
            let why = format!("{} is the page that TotalRecall keeps; name another file", file.display());
            return Err(Usage(why).into());
        }
        files::write_report(&file, text.as_bytes()).with_context(|| format!("could not write {}", file.display()))?;
        ui::say(&format!("Written to {}", file.display()));
        Ok(())
    }
}

fn is_same(a: &Path, b: &Path) -> bool {
    a == b || a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}
