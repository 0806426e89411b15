//! Resources: the page of insights, and sessions in short.

use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::Value;

use super::{
    desk::Desk,
    sessions::{find, text_of},
    tool::Refusal,
    words::{DATA, line},
};
use crate::{clean::clean, digest::digest};

const INSIGHTS: &str = "totalrecall://insights";
const SESSION: &str = "totalrecall://session/";
/// Sessions in the list; all can be read.
const LISTED: usize = 20;

/// The page, and the newest sessions.
pub(super) fn all(desk: &Desk) -> Vec<Resource> {
    let mut resources = vec![
        Resource::new(INSIGHTS, "insights")
            .with_title("Insights")
            .with_description("What keeps going wrong in the sessions of coding agents here, with sources")
            .with_mime_type("text/markdown"),
    ];
    // Without a store there are none, and none that is broken is a reason not to list the page.
    let sessions = desk.store().and_then(|store| Ok((store.sessions()?, desk.redactor()?)));
    let Ok((sessions, redactor)) = sessions else { return resources };
    resources.extend(sessions.iter().rev().take(LISTED).map(|row| {
        let shown = |text: &str| redactor.redact(&line(text)).into_owned();
        let title = row.title.as_deref().map_or_else(|| format!("{} {}", row.tool, row.native_id), shown);
        let project = row.project.as_deref().map(|project| format!(" in {}", shown(project))).unwrap_or_default();
        Resource::new(format!("{SESSION}s{}", row.id.0), format!("s{}", row.id.0))
            .with_title(title)
            .with_description(format!("Session of {}{project}", row.tool))
            .with_mime_type("text/plain")
    }));
    resources
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{SESSION}{{id}}"), "session")
            .with_title("A session in short")
            .with_description("By its reference (s12) or the tool's id of it")
            .with_mime_type("text/plain"),
    ]
}

/// What is behind an address. None: nothing.
pub(super) fn read(desk: &Desk, uri: &str) -> Result<Option<ResourceContents>, Refusal> {
    if uri == INSIGHTS {
        let page = desk.home.insights();
        return match std::fs::read_to_string(&page) {
            Ok(text) => Ok(Some(contents(desk, &Value::Null, &text, uri, "text/markdown")?)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Refusal::Nothing),
            Err(error) => Err(Refusal::Failed(format!("could not read {}: {error}", page.display()), None)),
        };
    }
    let Some(asked) = uri.strip_prefix(SESSION) else { return Ok(None) };
    let store = desk.store()?;
    let Ok(session) = find(&store, asked) else { return Ok(None) };
    let Some(digest) = digest(&store, session)? else { return Ok(None) };
    let value = serde_json::json!({ "ids": [digest.id, digest.native_id] });
    Ok(Some(contents(desk, &value, &text_of(&digest), uri, "text/plain")?))
}

/// `value`: what the text tells of.
fn contents(desk: &Desk, value: &Value, text: &str, uri: &str, kind: &str) -> Result<ResourceContents, Refusal> {
    let text = desk.redactor()?.shown_text(&clean(text), value);
    Ok(ResourceContents::text(format!("{DATA}\n\n{text}"), uri).with_mime_type(kind))
}
