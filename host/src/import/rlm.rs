//! What RLM (mcp-rlm-server, to 0.11) keeps in its folder `context`: insights in `session_memory.json`, chunks as files with
//! `index.json` beside them, archived ones compressed. What the index says holds; the head of a chunk's file may be broken,
//! because RLM wrote summaries into it as they were.

use std::{collections::BTreeMap, io::Read as _, path::Path};

use serde_json::Value;

use super::{
    ImportError,
    folder::{self, Folder},
    kept::Entries,
    time,
};
use crate::{
    chunk::{NewChunk, Sort},
    memory::{Category, Importance, NewMemory, Trust},
};

/// What the folder should be.
pub(super) const WHAT: &str = "context folder of RLM";

/// Most bytes of an archived chunk, decompressed: RLM's own bound.
const ARCHIVED: u64 = 10 << 20;

pub(super) fn read(path: &Path) -> Result<Entries, ImportError> {
    if !path.is_dir() {
        return Err(ImportError::Missing(path.to_path_buf()));
    }
    let folder = Folder::open(path)
        .map_err(|error| ImportError::Unreadable { folder: path.to_path_buf(), why: error.to_string() })?;
    let mut rlm = Rlm { entries: Entries::named_by_folder(path.to_string_lossy().into_owned()), folder };
    let memory = rlm.json("session_memory.json");
    let index = rlm.json("index.json");
    if memory.is_none() && index.is_none() && !rlm.folder.has_folder("chunks") {
        let why = "it has neither session_memory.json nor index.json that can be read, and no folder chunks".to_owned();
        return Err(ImportError::NotA { path: path.to_path_buf(), what: WHAT, why });
    }
    rlm.insights(memory.as_ref());
    let index = rlm.index("index.json", index.as_ref());
    rlm.chunks(&index, "chunks", ".md");
    let archive = rlm.json("archive_index.json");
    let archive = rlm.index("archive_index.json", archive.as_ref());
    rlm.chunks(&archive, "archive", ".md.gz");
    for (name, what) in [("sessions.json", "sessions"), ("domains.json", "domains")] {
        if rlm.json(name).is_some() {
            rlm.entries
                .note(name, format!("nothing is taken over of it: chunks say themselves which {what} they are of"));
        }
    }
    Ok(rlm.entries)
}

struct Rlm {
    entries: Entries,
    folder: Folder,
}

impl Rlm {
    /// A file's document. None: it is not there, or it is broken, which is told.
    fn json(&mut self, name: &str) -> Option<Value> {
        let text = match self.folder.text(name) {
            Ok(text) => text?,
            Err(why) => {
                self.entries.skip(name, why);
                return None;
            }
        };
        match serde_json::from_str(&text) {
            Ok(value) => Some(value),
            Err(error) => {
                self.entries.skip(name, format!("it is no JSON: {error}"));
                None
            }
        }
    }

    fn insights(&mut self, memory: Option<&Value>) {
        let insights = memory.and_then(|memory| memory.get("insights")).and_then(Value::as_array);
        for (number, insight) in (1..).zip(insights.into_iter().flatten()) {
            let id = text(insight, "id").unwrap_or_default();
            let place = format!("session_memory.json, insight {number} {id}");
            let Some(content) = text(insight, "content") else {
                self.entries.skip(place.trim(), "it has no content");
                continue;
            };
            let category = text(insight, "category").unwrap_or_default().to_lowercase();
            let importance = text(insight, "importance").unwrap_or_default().to_lowercase();
            // RLM took whatever it was given.
            for (given, is_known) in [
                (&category, Category::named(&category).is_some()),
                (&importance, Importance::named(&importance).is_some()),
            ] {
                if !given.is_empty() && !is_known {
                    self.entries.note(&*place, format!("there is no {given:?} here: it has the usual value"));
                }
            }
            let new = NewMemory {
                content: content.to_owned(),
                category: Category::named(&category).unwrap_or_default(),
                importance: Importance::named(&importance).unwrap_or_default(),
                trust: Trust::Agent,
                tags: words(insight.get("tags")),
                created_at: text(insight, "created_at").and_then(time::parse),
                ..NewMemory::default()
            };
            self.entries.memory(place, format!("rlm insight {id}"), id, new);
        }
    }

    /// The entries of an index, by the ids of their chunks.
    fn index(&mut self, name: &str, index: Option<&Value>) -> BTreeMap<String, Value> {
        let mut all = BTreeMap::new();
        // `chunks` in one, `archived` or the like in the other; a list, or by ids.
        let lists = index.and_then(Value::as_object).into_iter().flat_map(serde_json::Map::values);
        for list in lists {
            let (listed, named): (Vec<_>, Vec<_>) = match list {
                Value::Array(list) => (list.iter().collect(), Vec::new()),
                Value::Object(map) => (Vec::new(), map.iter().collect()),
                _ => continue,
            };
            let named = named.into_iter().filter(|(_, entry)| entry.is_object());
            let entries = listed.into_iter().map(|entry| (text(entry, "id"), entry));
            for (id, entry) in entries.chain(named.map(|(id, entry)| (text(entry, "id").or(Some(id)), entry))) {
                match id {
                    Some(id) if is_id(id) => {
                        all.insert(id.to_owned(), entry.clone());
                    }
                    Some(id) => {
                        self.entries.skip(format!("{name}, {id}"), "this is no id of a chunk: it may lead elsewhere")
                    }
                    None => self.entries.skip(name, "an entry has no id"),
                }
            }
        }
        all
    }

    /// Every chunk that the index or the folder names.
    fn chunks(&mut self, index: &BTreeMap<String, Value>, folder: &str, ending: &str) {
        let files = match self.folder.names(folder, ending) {
            Ok(files) => files,
            Err(why) => return self.entries.skip(folder, why),
        };
        let mut ids: Vec<String> = index.keys().cloned().collect();
        for file in files {
            let id = file.strip_suffix(ending).unwrap_or(&file);
            if !is_id(id) {
                self.entries.skip(format!("{folder}/{file}"), "this is no id of a chunk");
            } else if !index.contains_key(id) {
                self.entries.note(format!("{folder}/{file}"), "no index names it; what its head says holds");
                ids.push(id.to_owned());
            }
        }
        for id in ids {
            let place = format!("{folder}/{id}{ending}");
            let read = match self.folder.file(&place) {
                Ok(None) => Err("it is in the index, and there is no file".to_owned()),
                Ok(Some(file)) if ending.ends_with(".gz") => decompressed(file),
                Ok(Some(file)) => folder::text(file),
                Err(why) => Err(why),
            };
            match read {
                Ok(text) => self.chunk(place, &id, index.get(&id), &text),
                Err(why) => self.entries.skip(place, why),
            }
        }
    }

    fn chunk(&mut self, place: String, id: &str, entry: Option<&Value>, file: &str) {
        let (head, body) = split(file);
        let field = |key: &str| {
            let of_index = entry.and_then(|entry| text(entry, key)).map(str::to_owned);
            of_index.or_else(|| head.get(key).cloned()).filter(|value| !value.is_empty())
        };
        let tags = match entry.and_then(|entry| entry.get("tags")) {
            Some(tags) => words(Some(tags)),
            None => head.get("tags").map(|tags| list(tags)).unwrap_or_default(),
        };
        let new = NewChunk {
            content: body.to_owned(),
            summary: field("summary").unwrap_or_default(),
            sort: field("chunk_type").and_then(|sort| Sort::named(&sort)).unwrap_or_default(),
            tags,
            project: field("project"),
            session: field("session_id"),
            domain: field("domain"),
            ticket: field("ticket"),
            created_at: field("created_at").as_deref().and_then(time::parse).or_else(|| day_of(id)),
            origin: None,
        };
        let looks = entry.and_then(|entry| entry.get("access_count")).and_then(Value::as_u64).unwrap_or(0);
        let looked_at = entry.and_then(|entry| text(entry, "last_accessed")).and_then(time::parse);
        if let Some(entry) = self.entries.chunk(place, format!("rlm chunk {id}"), id, new) {
            entry.looks = (looks, looked_at);
        }
    }
}

/// RLM's own rule for what it reads: it did not hold to it when it wrote.
fn is_id(id: &str) -> bool {
    let is_fit = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '#' | '&');
    !id.is_empty() && id.len() <= 200 && id.chars().all(is_fit) && !id.starts_with('.') && !id.contains("..")
}

/// The text of an archived chunk.
fn decompressed(file: std::fs::File) -> Result<String, String> {
    let mut bytes = Vec::new();
    let gz = flate2::read::MultiGzDecoder::new(file);
    gz.take(ARCHIVED + 1).read_to_end(&mut bytes).map_err(|error| format!("it cannot be decompressed: {error}"))?;
    if bytes.len() as u64 > ARCHIVED {
        return Err(format!("it is larger than {} MiB once it is decompressed", ARCHIVED >> 20));
    }
    folder::text(&*bytes)
}

/// The head of a chunk's file, by keys, and its body.
fn split(file: &str) -> (BTreeMap<String, String>, &str) {
    let file = file.trim_start_matches('\u{feff}');
    let Some(inner) = file.strip_prefix("---\n").or_else(|| file.strip_prefix("---\r\n")) else {
        return (BTreeMap::new(), file);
    };
    // A summary may hold a line `---` itself: the head ends with the first one behind the key that RLM writes last.
    let lines = || {
        inner.split_inclusive('\n').scan(0, |at, line| {
            *at += line.len();
            Some((*at - line.len(), *at, line.trim_end()))
        })
    };
    let last_key = lines().find(|(_, _, line)| line.starts_with("format_version:")).map_or(0, |(at, ..)| at);
    let Some((end, body, _)) = lines().find(|(at, _, line)| *at >= last_key && *line == "---") else {
        return (BTreeMap::new(), file);
    };
    let mut head = BTreeMap::new();
    let mut listed: Option<&str> = None;
    for (at, _, line) in lines() {
        if at >= end {
            break;
        }
        if let (Some(key), Some(item)) = (listed, line.trim_start().strip_prefix("- ")) {
            let values: &mut String = head.entry(key.to_owned()).or_default();
            values.push_str(if values.is_empty() { "" } else { "," });
            values.push_str(&unquoted(item));
        } else if let Some((key, value)) = line.split_once(':')
            && key.chars().all(|c| c.is_ascii_lowercase() || c == '_')
        {
            listed = value.trim().is_empty().then_some(key);
            head.entry(key.to_owned()).or_insert_with(|| unquoted(value));
        }
    }
    (head, inner[body..].trim_start_matches(['\n', '\r']))
}

fn unquoted(value: &str) -> String {
    let value = value.trim();
    let inner = value.strip_prefix(['"', '\'']).and_then(|inner| inner.strip_suffix(['"', '\'']));
    match inner.unwrap_or(value) {
        "null" | "None" | "~" => String::new(),
        text => text.to_owned(),
    }
}

/// A list as a head has it: `[a, b]` or `a, b`.
fn list(text: &str) -> Vec<String> {
    text.trim_matches(['[', ']']).split(',').map(unquoted).filter(|word| !word.is_empty()).collect()
}

/// The day that a chunk's id begins with.
fn day_of(id: &str) -> Option<i64> {
    time::parse(&format!("{}T12:00:00Z", id.get(..10)?))
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

/// A list of words, or words separated by commas.
fn words(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(words)) => list(words),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_where_rlm_ended_it() {
        let file = "---\nid: a_1\nsummary: one\n---\ntwo\ntags: [x, 'y z']\nticket: null\nentities:\n  files:\n    - a.rs\n\
                    format_version: \"2.0\"\n---\n\n# Body\n---\nend";
        let (head, body) = split(file);
        assert_eq!(body, "# Body\n---\nend");
        assert_eq!((head["summary"].as_str(), head["ticket"].as_str()), ("one", ""));
        assert_eq!(list(&head["tags"]), ["x", "y z"]);
        assert_eq!(split("# No head\n---\n").1, "# No head\n---\n");
        assert_eq!(split("---\nnever: ended").1, "---\nnever: ended");
        assert_eq!(split("---\nid: x\n---\nbody").1, "body", "older ones have no version");
    }

    #[test]
    fn ids_lead_nowhere() {
        for id in ["2025-01-02_003", "2026-01-01_a.b_001_BILL-1", "x&y#1", "价格_001"] {
            assert!(is_id(id), "{id}");
        }
        for id in ["", "../x", "a/../b", "/etc/passwd", "a\\b", "..", ".hidden", "a..b", "a b", "a\n"] {
            assert!(!is_id(id), "{id}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_file_has_a_body_that_is_its_end(file in "(---|id: |format_version: |\\PC{0,5}|\n){0,20}") {
            let (_, body) = split(&file);
            proptest::prop_assert!(file.ends_with(body));
        }
    }
}
