//! Hooks of ours in a file of hooks, as Claude Code and those who took its form have it:
//! `{"hooks": {EVENT: [{"hooks": [HANDLER, …]}, …]}}`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::jsonc::{Document, Json, JsoncError, Kind, Node};

/// What is called at an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The event, as the client calls it.
    pub event: String,
    /// The tools at whose use it is called; none: it is no matter of tools, or of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// The program; a line for a shell where there are no arguments.
    pub command: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Seconds that it may take.
    pub timeout: u32,
}

impl Entry {
    fn group(&self) -> Json {
        let text = |text: &str| Json::Text(text.to_owned());
        let mut handler = vec![("type", text("command")), ("command", text(&self.command))];
        if !self.args.is_empty() {
            handler.push(("args", Json::List(self.args.iter().map(|word| text(word)).collect())));
        }
        handler.push(("timeout", Json::Number(self.timeout)));
        let handler = Json::Object(handler.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
        let matcher = self.matcher.as_deref().map(|matcher| (MATCHER.to_owned(), text(matcher)));
        Json::Object(matcher.into_iter().chain([(HOOKS.to_owned(), Json::List(vec![handler]))]).collect())
    }
}

/// What was made for our hooks, and goes with them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// There was no text at all, but for this white space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blank: Option<String>,
    /// There was no `hooks`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hooks: bool,
    /// There were no lists of these events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// What was there and empty: the white space in it. The whole has the name ``, `hooks` its own, lists that of their event.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub empty: BTreeMap<String, String>,
}

const HOOKS: &str = "hooks";
const MATCHER: &str = "matcher";

/// Puts them behind what is there, one for each event. None of them may be there.
///
/// # Errors
/// When it cannot be read, or something is not of the form that a client reads.
pub(super) fn put(text: &[u8], entries: &[Entry]) -> Result<(String, Made), JsoncError> {
    let mut made = Made::default();
    let mut document = Document::parse(text)?;
    if document.is_blank() {
        made.blank = Some(String::from_utf8_lossy(text).into_owned());
        document = Document::parse(b"{}\n")?;
    }
    let root = object(&document, document.root(), "the file holds something else than an object")?;
    if root.get(HOOKS).is_none() {
        let hooks = entries.iter().map(|entry| (entry.event.clone(), Json::List(vec![entry.group()]))).collect();
        let (text, tail) = document.append(root, Some(HOOKS), &Json::Object(hooks));
        made.hooks = true;
        made.events = entries.iter().map(|entry| entry.event.clone()).collect();
        made.empty.extend(tail.filter(|_| made.blank.is_none()).map(|tail| (String::new(), tail)));
        return Ok((text, made));
    }
    let mut text = document.text().to_owned();
    for entry in entries {
        let document = Document::parse(text.as_bytes())?;
        let hooks = document.root().and_then(|root| root.get(HOOKS));
        let hooks = object(&document, hooks, "`hooks` is not an object")?;
        let (next, tail, name) = match hooks.get(&entry.event) {
            None => {
                made.events.push(entry.event.clone());
                let (next, tail) = document.append(hooks, Some(&entry.event), &Json::List(vec![entry.group()]));
                (next, tail, HOOKS.to_owned())
            }
            Some(list) if matches!(list.kind, Kind::Array(_)) => {
                let (next, tail) = document.append(list, None, &entry.group());
                (next, tail.filter(|_| !made.events.contains(&entry.event)), entry.event.clone())
            }
            Some(other) => return Err(document.misshapen(other, format!("`hooks.{}` is not a list", entry.event))),
        };
        made.empty.extend(tail.map(|tail| (name, tail)));
        text = next;
    }
    Ok((text, made))
}

/// Takes them out wherever they are, and what was made for them unless something else is in it now.
///
/// # Errors
/// When it cannot be read.
pub(super) fn take(text: &[u8], entries: &[Entry], made: &Made) -> Result<String, JsoncError> {
    let mut document = Document::parse(text)?;
    while let Some(found) = find(&document, entries) {
        let text = take_one(&document, &found, made);
        document = Document::parse(text.as_bytes())?;
        for name in [found.event.as_str(), HOOKS, ""] {
            let Some(tail) = made.empty.get(name) else { continue };
            let Some(root) = document.root() else { continue };
            let node = match name {
                "" => Some(root),
                HOOKS => root.get(HOOKS),
                event => root.get(HOOKS).and_then(|hooks| hooks.get(event)),
            };
            let text = node.map(|node| document.close_up(node, tail));
            document = text.map_or(Ok(document), |text| Document::parse(text.as_bytes()))?;
        }
    }
    if let (Some(blank), Some(root)) = (&made.blank, document.root())
        && root.is_empty()
        && document.comments_in(root) == 0
    {
        return Ok(blank.clone());
    }
    Ok(document.text().to_owned())
}

/// Which of them are there.
pub(super) fn present<'e>(document: &Document, entries: &'e [Entry]) -> Vec<&'e Entry> {
    entries.iter().filter(|entry| find(document, std::slice::from_ref(entry)).is_some()).collect()
}

/// Where an entry is: its event, and the numbers of its group and its handler in their lists.
pub(super) type At = (String, usize, usize);

/// Where those that are there are.
pub(super) fn places(document: &Document, entries: &[Entry]) -> Vec<At> {
    found(document, entries).map(|found| (found.event, found.group, found.handler)).collect()
}

/// Calls of programs at an event: the command with its arguments, in one line.
pub(super) fn calls(document: &Document, event: &str) -> Vec<String> {
    let line = |handler: &Node| {
        let command = handler.get("command").and_then(Node::as_str)?;
        Some([command].into_iter().map(str::to_owned).chain(words(handler)).collect::<Vec<_>>().join(" "))
    };
    handlers(document, event).filter_map(line).collect()
}

/// Programs that are called at an event with these arguments.
pub(super) fn commands(document: &Document, event: &str, args: &[String]) -> Vec<String> {
    let command = |handler: &Node| handler.get("command").and_then(Node::as_str).map(str::to_owned);
    handlers(document, event).filter(|handler| words(handler) == args).filter_map(command).collect()
}

fn handlers<'d>(document: &'d Document, event: &str) -> impl Iterator<Item = &'d Node> {
    let lists = document.root().into_iter().flat_map(Node::members).filter(|member| member.name == HOOKS);
    let groups = lists.flat_map(|member| member.value.members()).filter(move |member| member.name == event);
    groups
        .flat_map(|member| member.value.elements())
        .flat_map(|group| group.get(HOOKS).map(Node::elements).unwrap_or_default())
}

/// The arguments of a handler.
fn words(handler: &Node) -> Vec<String> {
    let all = handler.get("args").map(Node::elements).unwrap_or_default();
    all.iter().filter_map(Node::as_str).map(str::to_owned).collect()
}

/// Where a handler of ours is, by numbers.
struct Found {
    hooks: usize,
    list: usize,
    group: usize,
    /// The member of the group that holds handlers.
    handlers: usize,
    handler: usize,
    event: String,
    /// As we wrote it.
    matcher: Option<String>,
}

fn find(document: &Document, entries: &[Entry]) -> Option<Found> {
    found(document, entries).next()
}

fn found<'d>(document: &'d Document, entries: &'d [Entry]) -> impl Iterator<Item = Found> + 'd {
    let all = |node: &'d Node| node.members().iter().enumerate().filter(|(_, member)| member.name == HOOKS);
    let lists = document.root().into_iter().flat_map(all).flat_map(|(hooks, member)| {
        member.value.members().iter().enumerate().map(move |(list, member)| (hooks, list, member))
    });
    lists.flat_map(move |(hooks, list, member)| {
        member.value.elements().iter().enumerate().flat_map(all_of).filter_map(
            move |(group, handlers, handler, node)| {
                let ours = entries.iter().find(|entry| entry.event == member.name && is_same(node, entry))?;
                let (event, matcher) = (member.name.clone(), ours.matcher.clone());
                Some(Found { hooks, list, group, handlers, handler, event, matcher })
            },
        )
    })
}

/// The handlers of a group, with the group's number, that of the member they are in, and their own.
fn all_of((group, node): (usize, &Node)) -> impl Iterator<Item = (usize, usize, usize, &Node)> {
    let members = node.members().iter().enumerate().filter(|(_, member)| member.name == HOOKS);
    members.flat_map(move |(handlers, member)| {
        member.value.elements().iter().enumerate().map(move |(handler, node)| (group, handlers, handler, node))
    })
}

/// The same program with the same arguments. How long it may take, or what is said meanwhile, is the person's to change.
fn is_same(handler: &Node, ours: &Entry) -> bool {
    handler.get("command").and_then(Node::as_str) == Some(&ours.command) && words(handler) == ours.args
}

/// The text without the handler and what it alone was in, as far as we made that.
fn take_one(document: &Document, found: &Found, made: &Made) -> String {
    let Some(root) = document.root() else { return document.text().to_owned() };
    let hooks = &root.members()[found.hooks].value;
    let list = &hooks.members()[found.list].value;
    let group = &list.elements()[found.group];
    let handlers = &group.members()[found.handlers].value;
    // A group that says more than what is called is somebody's.
    let is_matcher_ours = group.get(MATCHER).and_then(Node::as_str) == found.matcher.as_deref();
    let is_group_ours = handlers.elements().len() == 1
        && group.members().len() == 1 + usize::from(found.matcher.is_some())
        && is_matcher_ours;
    if !is_group_ours {
        return document.remove(handlers, found.handler);
    }
    let is_list_ours = list.elements().len() == 1 && made.events.contains(&found.event);
    if !is_list_ours || has_comments_beside(document, list, group) {
        return document.remove(list, found.group);
    }
    let is_all_ours = hooks.members().len() == 1 && made.hooks;
    if !is_all_ours || has_comments_beside(document, hooks, list) {
        return document.remove(hooks, found.list);
    }
    document.remove(root, found.hooks)
}

/// Whether a container holds comments that are not within its only child.
fn has_comments_beside(document: &Document, container: &Node, child: &Node) -> bool {
    document.comments_in(container) > document.comments_in(child)
}

fn object<'d>(document: &Document, node: Option<&'d Node>, what: &str) -> Result<&'d Node, JsoncError> {
    match node {
        Some(node) if matches!(node.kind, Kind::Object(_)) => Ok(node),
        Some(other) => Err(document.misshapen(other, what.to_owned())),
        None => Err(JsoncError::Shape { line: 1, what: what.to_owned() }),
    }
}

#[cfg(test)]
mod tests;
