//! What a home of the Python TotalRecall (version 0.1) holds. Its files are overwritten in place, so that a killed process
//! leaves cut ones; its ids are whatever a model said, so that files may lie beside the folder they belong in.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{ImportError, folder::Folder, report::Matter, rules, settings, time};

/// What it says, as far as it can be understood.
pub(super) struct Old {
    pub(super) folder: PathBuf,
    /// In the order of their files.
    pub(super) patterns: Vec<Pattern>,
    pub(super) proposals: Vec<Proposal>,
    /// Paths of the transcripts that it took for done, and of those whose analysis had failed.
    pub(super) done: Vec<String>,
    pub(super) pending: Vec<String>,
    /// Paths of those that waited for its worker.
    pub(super) queued: Vec<String>,
    pub(super) settings: settings::Old,
    pub(super) rules: rules::File,
    /// What could not be had, and why.
    pub(super) skipped: Vec<Matter>,
}

/// `patterns/<id>.json`.
pub(super) struct Pattern {
    pub(super) id: String,
    /// Name of the file, for messages.
    pub(super) file: String,
    pub(super) description: String,
    pub(super) category: String,
    pub(super) severity: u8,
    /// As it counted them.
    pub(super) occurrences: u32,
    pub(super) last_seen: Option<i64>,
    pub(super) hint: Option<String>,
    pub(super) applied_at: Option<i64>,
    pub(super) applied_rule: Option<String>,
    pub(super) evidence: Vec<Evidence>,
    pub(super) raw: Value,
}

/// One of a pattern's `evidence`.
pub(super) struct Evidence {
    pub(super) tool: String,
    pub(super) session: String,
    /// Numbers of turns, as that program counted them.
    pub(super) turns: Vec<i64>,
    pub(super) at: Option<i64>,
    /// No turns were named, and so its hash is that of nothing.
    pub(super) is_blank: bool,
}

/// One of `proposals.json`.
pub(super) struct Proposal {
    pub(super) id: String,
    pub(super) pattern: String,
    pub(super) text: String,
    pub(super) rationale: String,
    pub(super) status: String,
    pub(super) created_at: Option<i64>,
    pub(super) applied_at: Option<i64>,
    pub(super) raw: Value,
}

/// SHA-1 of no bytes.
const BLANK: &str = "da39a3ee5e6b4b0d3255bfef95601890afd80709";

impl Old {
    pub(super) fn read(path: &Path) -> Result<Self, ImportError> {
        let unreadable = |why: std::io::Error| match why.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => ImportError::Missing(path.into()),
            _ => ImportError::Unreadable { folder: path.into(), why: why.to_string() },
        };
        let real = path.canonicalize().map_err(unreadable)?;
        let folder = Folder::open(&real).map_err(unreadable)?;
        let has = |name| !matches!(folder.text(name), Ok(None));
        if !(folder.has_folder("patterns") || has("ledger.json") || has("proposals.json")) {
            return Err(ImportError::NotOne(path.into()));
        }
        let mut skipped = Vec::new();
        let settings = settings::Old::read(&folder, &mut skipped);
        let rules = rules::File::read(&settings, &mut skipped);
        let mut old = Self {
            folder: real,
            patterns: Vec::new(),
            proposals: Vec::new(),
            done: Vec::new(),
            pending: Vec::new(),
            queued: Vec::new(),
            settings,
            rules,
            skipped,
        };
        old.read_patterns(&folder);
        old.read_proposals(&folder);
        old.read_ledger(&folder);
        old.read_queue(&folder);
        Ok(old)
    }

    fn read_patterns(&mut self, folder: &Folder) {
        let names = folder.names("patterns", ".json").unwrap_or_else(|why| {
            self.skip("patterns", why);
            Vec::new()
        });
        for name in names.iter().filter(|name| *name != "index.json") {
            let file = format!("patterns/{name}");
            if let Some(value) = self.json(folder, &file) {
                self.read_pattern(file, value);
            }
        }
        // An id of `../x` made it write beside its library, one of `../../x` beside its home.
        for name in folder.names(".", ".json").unwrap_or_default() {
            if let Some(value) = escaped(folder, "../", &name) {
                self.read_pattern(name, value);
            }
        }
        let above = self.folder.parent().and_then(|above| Folder::open(above).ok());
        for name in above.iter().flat_map(|above| above.names(".", ".json").unwrap_or_default()) {
            if let Some(value) = above.as_ref().and_then(|above| escaped(above, "../../", &name)) {
                self.read_pattern(format!("../{name}"), value);
            }
        }
        let index = names.iter().any(|name| name == "index.json").then(|| self.json(folder, "patterns/index.json"));
        for id in index.flatten().iter().filter_map(|index| index["ids"].as_array()).flatten().filter_map(Value::as_str)
        {
            let file = format!("patterns/{id}.json");
            let seen = self.patterns.iter().any(|it| it.id == id || it.file == file)
                || self.skipped.iter().any(|it| it.what == file);
            if !seen {
                self.skip(&file, "patterns/index.json names it, and there is no such file".to_owned());
            }
        }
    }

    fn read_pattern(&mut self, file: String, raw: Value) {
        let Some(fields) = raw.as_object() else {
            return self.skip(&file, "it holds no pattern".to_owned());
        };
        let stem = file.rsplit('/').next().unwrap_or(&file).trim_end_matches(".json");
        let id = text(fields, "id").unwrap_or_else(|| stem.to_owned());
        let (title, description) = (text(fields, "title"), text(fields, "description"));
        let about = description.or(title).unwrap_or_else(|| id.clone());
        let mut evidence = Vec::new();
        for (number, one) in fields.get("evidence").and_then(Value::as_array).into_iter().flatten().enumerate() {
            match read_evidence(one) {
                Ok(one) => evidence.push(one),
                Err(why) => {
                    self.skipped.push(Matter { what: format!("{file}, evidence {}", number + 1), why: why.to_owned() });
                }
            }
        }
        let severity = fields.get("severity").and_then(number).unwrap_or(1).clamp(1, 5);
        self.patterns.push(Pattern {
            description: about,
            category: text(fields, "category").unwrap_or_default(),
            severity: u8::try_from(severity).unwrap_or(1),
            occurrences: fields
                .get("occurrences")
                .and_then(number)
                .map_or(0, |n| n.clamp(0, i64::from(u32::MAX)) as u32),
            last_seen: date(fields, "last_seen").or_else(|| date(fields, "first_seen")),
            hint: text(fields, "phase2_hint"),
            applied_at: date(fields, "applied_at"),
            applied_rule: text(fields, "applied_rule"),
            evidence,
            id,
            file,
            raw,
        });
    }

    fn read_proposals(&mut self, folder: &Folder) {
        const FILE: &str = "proposals.json";
        let Some(all) = self.json(folder, FILE) else { return };
        let Some(all) = all.as_object() else {
            return self.skip(FILE, "it holds no proposals".to_owned());
        };
        for (key, raw) in all {
            let what = format!("{FILE}, {key}");
            let Some(fields) = raw.as_object() else {
                self.skip(&what, "it is no proposal".to_owned());
                continue;
            };
            let id = text(fields, "id").unwrap_or_else(|| key.clone());
            let pattern = text(fields, "pattern_id").or_else(|| id.strip_prefix("p-").map(str::to_owned));
            let (Some(pattern), Some(rule)) = (pattern, text(fields, "rule_text")) else {
                self.skip(&what, "it has no pattern, or no rule".to_owned());
                continue;
            };
            self.proposals.push(Proposal {
                id,
                pattern,
                text: rule.trim().to_owned(),
                rationale: text(fields, "rationale").unwrap_or_default(),
                status: text(fields, "status").unwrap_or_else(|| "drafted".to_owned()),
                created_at: date(fields, "created_at"),
                applied_at: date(fields, "applied_at"),
                raw: raw.clone(),
            });
        }
        self.proposals.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    }

    fn read_ledger(&mut self, folder: &Folder) {
        let Some(ledger) = self.json(folder, "ledger.json") else { return };
        for record in ledger["done"].as_object().into_iter().flatten() {
            match record.1["path"].as_str() {
                Some(path) => self.done.push(path.to_owned()),
                None => self.skip(&format!("ledger.json, {}", record.0), "it names no path".to_owned()),
            }
        }
        for (session, path) in ledger["pending"].as_object().into_iter().flatten() {
            match path.as_str() {
                Some(path) => self.pending.push(path.to_owned()),
                None => self.skip(&format!("ledger.json, {session}"), "it names no path".to_owned()),
            }
        }
    }

    fn read_queue(&mut self, folder: &Folder) {
        for name in folder.names("queue", ".job").unwrap_or_default() {
            let file = format!("queue/{name}");
            match folder.text(&file) {
                Ok(Some(path)) if !path.trim().is_empty() => self.queued.push(path.trim().to_owned()),
                Ok(_) => self.skip(&file, "it is empty".to_owned()),
                Err(why) => self.skip(&file, why),
            }
        }
    }

    fn json(&mut self, folder: &Folder, file: &str) -> Option<Value> {
        match folder.text(file).and_then(|text| {
            text.map(|text| serde_json::from_str(&text).map_err(|error| format!("it is damaged: {error}"))).transpose()
        }) {
            Ok(value) => value,
            Err(why) => {
                self.skip(file, why);
                None
            }
        }
    }

    fn skip(&mut self, what: &str, why: String) {
        self.skipped.push(Matter { what: what.to_owned(), why });
    }
}

/// A file that an id with `up` before its name led to: it says so itself.
fn escaped(folder: &Folder, up: &str, name: &str) -> Option<Value> {
    let id = format!("{up}{}", name.trim_end_matches(".json"));
    let text = folder.text(name).ok()??;
    if !text.contains(&id) {
        return None;
    }
    let value: Value = serde_json::from_str(&text).ok()?;
    (value["id"].as_str() == Some(&id) && value["evidence"].is_array()).then_some(value)
}

fn read_evidence(raw: &Value) -> Result<Evidence, &'static str> {
    let fields = raw.as_object().ok_or("it is none")?;
    let hash = text(fields, "snippet_hash").unwrap_or_default();
    let session = match text(fields, "session_id") {
        Some(session) => session,
        // Transcripts that name no session were all told by the same empty name. What was said in them tells them apart.
        None if !hash.is_empty() && hash != BLANK => format!("snippet-{hash}"),
        None => return Err("it names no session"),
    };
    Ok(Evidence {
        tool: text(fields, "tool").unwrap_or_else(|| "claude-code".to_owned()),
        session,
        turns: fields.get("turn_refs").and_then(Value::as_array).into_iter().flatten().filter_map(number).collect(),
        at: date(fields, "ts"),
        is_blank: hash == BLANK,
    })
}

/// A text that says something.
fn text(fields: &Map<String, Value>, name: &str) -> Option<String> {
    fields.get(name)?.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

fn date(fields: &Map<String, Value>, name: &str) -> Option<i64> {
    fields.get(name)?.as_str().and_then(time::parse)
}

/// A whole number, also where a model wrote it as `3.0` or `"3"`.
fn number(value: &Value) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| value.as_f64().filter(|it| it.fract() == 0.0).map(|it| it as i64))
        .or_else(|| value.as_str()?.trim().parse().ok())
}
