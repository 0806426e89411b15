//! `sessions rename` and `tag`: what the person calls a session, and marks it with.

use crate::{
    cli::{Context, Outcome, Usage, ui, work},
    insights::clean,
    memory::tags,
    redact::Counts,
};

/// Characters of a title.
const TITLE: usize = 200;

#[derive(Debug, clap::Args)]
#[command(after_help = "The title stays when the session is read again. Secrets in it are taken out.")]
pub(super) struct Rename {
    /// The session
    #[arg(value_name = "REF")]
    session: String,
    /// What to call it
    title: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  totalrecall sessions tag s12 +keep -draft

A word without a sign is added. Sessions tagged `keep`, `important`, `critical` or `decision` are never put away.
Write --json before REF.")]
pub(super) struct Tag {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The session
    #[arg(value_name = "REF")]
    session: String,
    /// Words to add, and words to take away
    #[arg(value_name = "+TAG|-TAG", required = true, allow_hyphen_values = true)]
    tags: Vec<String>,
}

impl Rename {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let mut store = work::open(context)?;
        let row = super::find(&store, &self.session)?;
        let redactor = context.config.redactor();
        let mut redacted = Counts::default();
        let title = clean(&redactor.kept(self.title.trim(), &mut redacted), TITLE);
        store.rename_session(row.id, Some(title.as_str()).filter(|title| !title.is_empty()))?;
        let row = super::find(&store, &format!("s{}", row.id.0))?;
        let id = format!("s{}", row.id.0);
        let value = serde_json::json!({ "id": id, "title": row.title, "redacted": redacted.total() });
        if self.json {
            context.print_json(&value)?;
        } else {
            let what = if title.is_empty() { "is called as its tool calls it again" } else { "is called so now" };
            ui::say(&context.shown_of(&value, &format!("{} {what}", super::name(&row)))?);
        }
        Ok(Outcome::Done)
    }
}

impl Tag {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let mut store = work::open(context)?;
        let row = super::find(&store, &self.session)?;
        let (mut add, mut remove) = (Vec::new(), Vec::new());
        for word in &self.tags {
            let (list, tag) = match word.strip_prefix('-') {
                Some(tag) => (&mut remove, tag),
                None => (&mut add, word.strip_prefix('+').unwrap_or(word)),
            };
            if tag.starts_with('-') || tag.trim().is_empty() {
                return Err(Usage(format!("{} is no tag; options stand before the session", ui::line(word))).into());
            }
            list.extend(tags(tag).map_err(|error| Usage(error.to_string()))?);
        }
        let redactor = context.config.redactor();
        if add.iter().any(|tag| redactor.redact(tag) != tag.as_str()) {
            return Err(Usage("a tag looks like a secret; nothing was stored".to_owned()).into());
        }
        let now = store.tag_session(row.id, &add, &remove)?;
        let value = serde_json::json!({ "id": format!("s{}", row.id.0), "tags": now });
        let name = super::name(&row);
        if self.json {
            context.print_json(&value)?;
        } else if now.is_empty() {
            ui::say(&context.shown_of(&value, &format!("{name} has no tags"))?);
        } else {
            ui::say(&context.shown_of(&value, &format!("{name} has the tags {}", ui::line(&now.join(", "))))?);
        }
        Ok(Outcome::Done)
    }
}
