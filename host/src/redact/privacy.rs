//! What a person wants taken out besides secrets: the settings, checked when they are read, so that an error names its key.

use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::own::Own;

/// Most entries of one list, and the longest of them in bytes.
const ENTRIES: usize = 1_000;
const LENGTH: usize = 1_000;
/// Most bytes that a pattern may take once it is compiled. `[a-z]{1,1000}` takes some 100 KiB.
const COMPILED: usize = 1 << 20;
/// Most bytes of all names of fields, or of hosts, compiled.
const LIST: usize = 16 << 20;

/// Section `[privacy]` of the settings. What it names is taken out of everything that is stored, shown to a model or printed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Lists", into = "Lists")]
pub struct Privacy {
    lists: Lists,
    /// None: nothing is asked for.
    pub(super) own: Option<Arc<Own>>,
}

/// As it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Lists {
    /// Names whose values go, in whatever case, `-` and `_` being the same: `x-internal-key`.
    pub fields: Vec<String>,
    /// Hosts that go, with all below them: `corp.example`.
    pub hosts: Vec<String>,
    /// Addresses of private networks go: 10/8, 172.16/12, 192.168/16, fd00::/8.
    pub private_addresses: bool,
    /// Regular expressions; what they match within a line goes.
    pub patterns: Vec<String>,
}

impl PartialEq for Privacy {
    fn eq(&self, other: &Self) -> bool {
        self.lists == other.lists
    }
}

impl From<Privacy> for Lists {
    fn from(privacy: Privacy) -> Self {
        privacy.lists
    }
}

impl TryFrom<Lists> for Privacy {
    type Error = String;

    fn try_from(lists: Lists) -> Result<Self, String> {
        for (key, list) in [("fields", &lists.fields), ("hosts", &lists.hosts), ("patterns", &lists.patterns)] {
            if list.len() > ENTRIES {
                return Err(format!(
                    "`{key}` in [privacy] has at most {ENTRIES} entries, and these are {}",
                    list.len()
                ));
            }
            if let Some(long) = list.iter().find(|entry| entry.len() > LENGTH) {
                return Err(wrong(key, long, &format!("it is longer than {LENGTH} bytes")));
            }
        }
        let fields = any_of("fields", &lists.fields, |name| {
            let is_fit = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
            if name.chars().count() < 2 || !name.chars().all(is_fit) {
                return Err("a name has two or more letters, digits, `-`, `_` and `.`, and nothing else");
            }
            Ok(name.split(['-', '_']).map(regex::escape).collect::<Vec<_>>().join("[-_]"))
        })?;
        let hosts = any_of("hosts", &lists.hosts, |host| {
            let host = host.trim_start_matches("*.").trim_matches('.');
            let is_fit = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
            if host.chars().count() < 2 || !host.chars().all(is_fit) || !host.contains(char::is_alphanumeric) {
                return Err("a host is a name such as `corp.example`, without scheme, port and path");
            }
            Ok(regex::escape(host))
        })?;
        let patterns = lists.patterns.iter().map(|text| pattern(text)).collect::<Result<Vec<_>, _>>()?;
        let is_idle = fields.is_none() && hosts.is_none() && !lists.private_addresses && patterns.is_empty();
        let own = (!is_idle).then(|| Arc::new(Own::new(fields, hosts, lists.private_addresses, patterns)));
        Ok(Self { lists, own })
    }
}

impl Privacy {
    /// Tells settings apart that take out other things. Empty: they take out nothing.
    pub fn fingerprint(&self) -> String {
        if self.own.is_none() {
            return String::new();
        }
        let Lists { fields, hosts, private_addresses, patterns } = &self.lists;
        let mut hash = Sha256::new();
        for list in [fields, hosts, patterns] {
            let mut sorted: Vec<_> = list.iter().collect();
            sorted.sort_unstable();
            sorted.dedup();
            sorted.iter().for_each(|entry| hash.update(format!("{}:{entry}", entry.len())));
            hash.update("/");
        }
        hash.update([u8::from(*private_addresses)]);
        hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

fn wrong(key: &str, entry: &str, why: &str) -> String {
    let entry: String = entry.chars().take(60).collect();
    format!("`{key}` in [privacy], entry {entry:?}: {why}")
}

/// One expression for all entries of a list, the longest first, so that of two that begin alike the longer one is found.
fn any_of(
    key: &str,
    entries: &[String],
    part: impl Fn(&str) -> Result<String, &'static str>,
) -> Result<Option<Regex>, String> {
    let mut parts = Vec::new();
    for entry in entries {
        parts.push(part(entry.trim()).map_err(|why| wrong(key, entry, why))?);
    }
    if parts.is_empty() {
        return Ok(None);
    }
    parts.sort_unstable_by_key(|part| std::cmp::Reverse(part.len()));
    let any = RegexBuilder::new(&parts.join("|")).case_insensitive(true).size_limit(LIST).build();
    any.map(Some).map_err(|error| format!("`{key}` in [privacy]: {error}"))
}

fn pattern(text: &str) -> Result<Regex, String> {
    let regex = RegexBuilder::new(text)
        .size_limit(COMPILED)
        .dfa_size_limit(2 * COMPILED)
        .build()
        .map_err(|error| wrong("patterns", text, &error.to_string()))?;
    if regex.is_match("") {
        return Err(wrong("patterns", text, "it matches where nothing is; it would take out nothing, or everything"));
    }
    Ok(regex)
}
