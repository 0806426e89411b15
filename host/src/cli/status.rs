//! `totalrecall status`: what was read, what waits, what failed.

use std::fmt::Write as _;

use super::{Context, Outcome, learn, pause, spend, ui};
use crate::{
    clean::clean,
    inbox,
    model::Spending,
    review::Reviewer,
    secrets,
    store::{ReviewState, Store, StoreError},
};

/// Failures shown; the rest is counted.
const SHOWN: usize = 20;

/// What has been read, what waits, what failed
#[derive(Debug, clap::Args)]
pub(super) struct Status {
    /// Print JSON, with every failure
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let store = match Store::open_read_only(context.home.path()) {
            Ok(store) => store,
            Err(StoreError::Missing { .. }) => {
                ui::say(&format!(
                    "There is nothing in {} yet. Run: totalrecall reconcile && totalrecall worker",
                    context.home.path().display()
                ));
                return Ok(Outcome::NothingFound);
            }
            Err(error) => return Err(error.into()),
        };
        let (status, failures, unread) = (store.status()?, store.failures()?, store.unread_records()?);
        let (troubles, spending) = (store.troubles()?, Spending::new(&store, &context.config.model, context.now, 1)?);
        let plan = Reviewer::new(&context.home, &context.config, &[], context.now)?.plan(&store, false)?;
        let reviews = store.review_counts()?;
        let is_stale = secrets::is_stale(&store, &context.config.privacy.fingerprint())?;
        let pauses = crate::pause::load(context.home.path());
        let notices = inbox::count(context.home.path());
        if self.json {
            ui::print_json(&serde_json::json!({
                "home": context.home.path(),
                "notices": notices,
                "paused": pauses.as_ref().map_or_else(|error| serde_json::json!({ "error": error.to_string() }), pause::json),
                "status": status,
                "failures": failures,
                "reviews": reviews,
                "reviews_due": plan.due.len(),
                "troubles": troubles,
                "model": spending,
                "unknown": unread.unknown.iter().map(|((tool, what), count)| serde_json::json!({ "tool": tool, "type": what, "count": count })).collect::<Vec<_>>(),
                "broken": unread.broken,
                "privacy_changed": is_stale,
            }))?;
            return Ok(Outcome::Done);
        }
        let mut text = String::new();
        let _ = writeln!(text, "{bold}{}{bold:#}", context.home.path().display(), bold = ui::BOLD);
        match &pauses {
            Ok(pauses) => {
                for line in pause::lines(pauses) {
                    let _ = writeln!(text, "{warn}paused{warn:#}       {line}", warn = ui::WARN);
                }
            }
            Err(error) => {
                let why = clean(&error.to_string()).into_owned();
                let _ = writeln!(text, "{bad}paused{bad:#}       {why}\n             {}", error.hint(), bad = ui::BAD);
            }
        }
        let _ = writeln!(
            text,
            "transcripts  {} read, {} queued, {} failed, {} given up, {} skipped, {} deleted by their tool",
            status.done, status.queued, status.failed, status.given_up, status.skipped, status.expired
        );
        let _ = writeln!(
            text,
            "known        {}, {} events, {} signals, {} findings ({})",
            ui::counted(status.sessions, "session", "sessions"),
            status.events,
            status.signals,
            status.findings,
            ui::bytes(status.bytes)
        );
        if status.dropped > 0 {
            let _ =
                writeln!(text, "left out     {}, said while paused", ui::counted(status.dropped, "event", "events"));
        }
        if status.deleted > 0 {
            let _ = writeln!(
                text,
                "left out     {} of sessions that you deleted (`totalrecall sessions undelete`)",
                ui::counted(status.deleted, "transcript", "transcripts")
            );
        }
        if status.archived + status.purged > 0 {
            let _ = writeln!(
                text,
                "put away     {}, {} thrown away (`totalrecall retention preview`)",
                ui::counted(status.archived, "session", "sessions"),
                status.purged
            );
        }
        if status.sessions > 0 {
            let _ = writeln!(text, "reviews      {}", learn::tally(&plan));
        }
        for failed in reviews.iter().filter(|it| it.state == ReviewState::Failed) {
            let next = if failed.given_up { "given up: `totalrecall retry`" } else { "tried again by itself" };
            let _ = writeln!(
                text,
                "{bad}unanswered{bad:#}   {}: {} ({next})",
                ui::counted(failed.count, "session", "sessions"),
                clean(failed.why.as_deref().unwrap_or_default()),
                bad = ui::BAD
            );
        }
        if is_stale {
            let _ = writeln!(
                text,
                "{warn}privacy{warn:#}      [privacy] has changed since texts were stored: `totalrecall secrets scan` looks at them",
                warn = ui::WARN
            );
        }
        let last = status.last_done.map_or_else(|| "never".to_owned(), ui::local_time);
        let _ = writeln!(text, "last read    {last}");
        if notices > 0 {
            let _ = writeln!(text, "inbox        {}", ui::counted(notices, "notice of a hook", "notices of hooks"));
        }
        let _ = writeln!(text, "model        {}", spend::line(&spending));
        for failed in failures.iter().take(SHOWN) {
            let place = failed.place.map(|line| format!(":{line}")).unwrap_or_default();
            let next = failed.next_try.map_or_else(
                || "given up: `totalrecall retry`".to_owned(),
                |at| format!("next try {}", ui::local_time(at)),
            );
            let _ = writeln!(
                text,
                "{bad}failed{bad:#}       {}{place}\n             {} ({}; {next})",
                clean(&failed.path),
                clean(&failed.why),
                failed.kind,
                bad = ui::BAD
            );
        }
        if failures.len() > SHOWN {
            let _ = writeln!(text, "             and {} more: --json lists them", failures.len() - SHOWN);
        }
        for trouble in &troubles {
            let _ = writeln!(
                text,
                "{bad}trouble{bad:#}      {}: {}\n             {} ({})",
                clean(&trouble.component),
                clean(&trouble.place),
                clean(&trouble.why),
                clean(&trouble.hint),
                bad = ui::BAD
            );
        }
        for ((tool, what), count) in &unread.unknown {
            let _ = writeln!(
                text,
                "{warn}unknown{warn:#}      {tool} record type {} ×{count}: the tool may be newer than its adapter",
                clean(what),
                warn = ui::WARN
            );
        }
        if unread.broken > 0 {
            let _ = writeln!(
                text,
                "{warn}broken{warn:#}       {} could not be read: `totalrecall analyze PATH` shows in which transcript",
                ui::counted(unread.broken, "record", "records"),
                warn = ui::WARN
            );
        }
        ui::print(&text)?;
        Ok(Outcome::Done)
    }
}
