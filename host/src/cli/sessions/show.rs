//! `sessions show`: what is known of one.

use std::fmt::Write as _;

use crate::{
    clean::clean,
    cli::{Context, Outcome, library, ui, work},
    export,
    store::{Origin, SessionRow, Store},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "Looking at a session counts: what was looked at lately is not put away (docs/retention.md).")]
pub(super) struct Show {
    /// The session
    #[arg(value_name = "REF")]
    session: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let Some(store) = library::store(context)? else { return Ok(Outcome::NothingFound) };
        let row = super::find(&store, &self.session)?;
        let digest = export::digest(&store, &row, true)?;
        let transcripts = store.transcripts(row.id)?;
        let findings = store.findings()?.iter().filter(|(session, _)| *session == row.id).count();
        let signals = store.signals(row.id)?.len();
        let (memories, chunks) = store.saved_in(&row.native_id)?;
        let usage = store.usage(row.id)?;
        if self.json {
            let tokens = |it: &crate::store::UsageRow| {
                serde_json::json!({ "model": it.model, "input": it.input, "output": it.output,
                    "cache_read": it.cache_read, "cache_write": it.cache_write })
            };
            let files: Vec<_> = transcripts
                .iter()
                .map(|it| serde_json::json!({ "path": it.path, "key": it.key, "state": it.state }))
                .collect();
            context.print_json(&serde_json::json!({
                "session": digest,
                "cwd": row.cwd,
                "version": row.version,
                "parent": row.parent,
                "archived_at": row.archived_at,
                "purged_at": row.purged_at,
                "agent_events": row.agent_events,
                "signals": signals,
                "findings": findings,
                "memories": memories,
                "chunks": chunks,
                "usage": usage.iter().map(tokens).collect::<Vec<_>>(),
                "transcripts": files,
            }))?;
        } else {
            let mut text = String::new();
            let _ = writeln!(text, "{bold}{}{bold:#}", super::name(&row), bold = ui::BOLD);
            let mut put = |what: &str, value: String| {
                let _ = writeln!(text, "{what:<12} {value}");
            };
            put("tool", format!("{} {}", clean(&row.tool), clean(row.version.as_deref().unwrap_or_default())));
            put("id", ui::line(&row.native_id));
            for (what, value) in [("project", &row.project), ("branch", &row.branch), ("goes on from", &row.parent)] {
                if let Some(value) = value {
                    put(what, ui::line(value));
                }
            }
            let time = |at: Option<i64>| at.map_or_else(|| "?".to_owned(), ui::local_time);
            put("time", format!("{} to {}", time(row.started_at), time(row.ended_at)));
            if !digest.tags.is_empty() {
                put("tags", ui::line(&digest.tags.join(", ")));
            }
            put("state", state(&row));
            if let Some(asked) = &digest.asked {
                put("asked", ui::line(asked));
            }
            put(
                "events",
                format!(
                    "{} messages, {} calls, {} edits; {} events of sub-agents",
                    row.messages, row.tool_calls, row.edits, row.agent_events
                ),
            );
            put("learned", format!("{signals} signals, {findings} findings"));
            if memories + chunks > 0 {
                put("saved", format!("{memories} memories, {chunks} chunks"));
            }
            for usage in &usage {
                let tokens = usage.input + usage.cache_read + usage.cache_write;
                put("tokens", format!("{tokens} read, {} written by {}", usage.output, ui::line(&usage.model)));
            }
            for file in &digest.files {
                put("changed", ui::line(file));
            }
            for transcript in &transcripts {
                put("transcript", format!("{} ({})", ui::line(&transcript.path), transcript.state));
            }
            context.print_of(&digest, &text)?;
        }
        drop(store);
        note(context, &row);
        Ok(Outcome::Done)
    }
}

fn state(row: &SessionRow) -> String {
    match (row.purged_at, row.archived_at) {
        (Some(at), _) => format!("purged on {}: nothing of what was said is left", ui::local_time(at)),
        (None, Some(at)) => format!("archived on {} (`totalrecall restore s{}`)", ui::local_time(at), row.id.0),
        (None, None) => "active".to_owned(),
    }
}

/// Notes that it was looked at. Where nothing can be written, nothing is.
pub(super) fn note(context: &Context, row: &SessionRow) {
    let noted = work::open(context)
        .and_then(|mut store: Store| Ok(store.note_access(Origin::Session, row.id.0, context.now)?));
    drop(noted);
}
