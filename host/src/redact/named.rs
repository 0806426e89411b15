//! Secrets that are told by their name: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `<password>…</password>`.
//!
//! Only the value goes; the name stays, as it says what the text was about.

use super::run::{Class, Runs};
use super::span::Span;
use super::value::{Setting, is_key, is_password, is_uuid};

/// A word that makes a name a secret's.
pub(super) struct Word {
    /// What the marker calls it.
    pub(super) kind: &'static str,
    /// In the ways it is written.
    pub(super) spellings: &'static [&'static str],
}

const fn word(kind: &'static str, spellings: &'static [&'static str]) -> Word {
    Word { kind, spellings }
}

/// The words, in small letters, in capitals and as part of `camelCase` names.
pub(super) const WORDS: &[Word] = &[
    word("password", &["password", "Password", "PASSWORD", "passwd", "Passwd", "PASSWD", "passphrase", "Passphrase"]),
    word("password", &["PASSPHRASE", "_pass", "_PASS", "_pwd", "_PWD", "Pwd"]),
    word("secret", &["secret", "Secret", "SECRET"]),
    word("token", &["token", "Token", "TOKEN"]),
    word("api-key", &["api_key", "api-key", "apikey", "apiKey", "ApiKey", "APIKey", "API_KEY", "APIKEY", "Api-Key"]),
    word("api-key", &["API-Key", "API-KEY"]),
    word("access-key", &["access_key", "access-key", "accesskey", "accessKey", "AccessKey", "ACCESS_KEY", "ACCESSKEY"]),
    word("private-key", &["private_key", "private-key", "privateKey", "PrivateKey", "PRIVATE_KEY"]),
    word("key", &["signing_key", "signingKey", "SIGNING_KEY", "encryption_key", "encryptionKey", "ENCRYPTION_KEY"]),
    word("key", &["auth_key", "authKey", "AUTH_KEY", "master_key", "masterKey", "MASTER_KEY", "account_key"]),
    word("key", &["accountKey", "ACCOUNT_KEY", "shared_key", "sharedKey", "SHARED_KEY", "_KEY"]),
    word("credential", &["credential", "Credential", "CREDENTIAL"]),
    word("authorization", &["uthorization", "UTHORIZATION", "\"auth\"", "_auth"]),
];

/// What may follow the word within a name for it still to be the secret itself (and not its length, name, file …).
const TAILS: &[&str] = &[
    "",
    "s",
    "key",
    "value",
    "val",
    "string",
    "base64",
    "b64",
    "raw",
    "plain",
    "plaintext",
    "hex",
    "accesskey",
    "keybase",
    "text",
    "default",
];

/// Where something runs, at the end of a name: `API_KEY_PROD`.
const PLACES: &[&str] =
    &["prod", "production", "dev", "development", "staging", "stage", "test", "local", "live", "sandbox", "main"];

/// What before the word makes it no secret: `nextPageToken`, `max_tokens`, `eos_token`, `PUBLIC_KEY`.
const HEADS: &[&str] = &[
    "public",
    "publishable",
    "page",
    "continuation",
    "max",
    "min",
    "num",
    "eos",
    "bos",
    "pad",
    "unk",
    "sep",
    "mask",
    "cls",
    "cancel",
    "cancellation",
    "sync",
    "primary",
    "foreign",
    "sort",
    "partition",
    "cache",
    "range",
    "next",
    "total",
];

/// Longest name and longest quoted value that are looked at.
const NAME: usize = 64;
const VALUE: usize = 4096;

/// The value that belongs to the name in which `kind`'s word was seen at `start..end`.
pub(super) fn find(text: &[u8], start: usize, end: usize, kind: &'static str, runs: &mut Runs) -> Option<Span> {
    let name_end = Class::Url.end(&text[..text.len().min(end + NAME)], end);
    if !tail_fits(&text[end..name_end]) {
        return None;
    }
    let name_start =
        start - text[start.saturating_sub(NAME)..start].iter().rev().take_while(|b| Class::Url.has(**b)).count();
    let name = &text[name_start..name_end];
    if text[..name_start].ends_with(b"[redacted:") || head_denies(&text[name_start..start]) {
        return None;
    }
    let capitals = !name.iter().any(u8::is_ascii_lowercase);
    if text[start..end] == *b"_KEY" && !capitals {
        return None;
    }
    let assigned = operator(text, name_end, name)?;
    let value = literal(text, assigned, capitals, runs)?;
    let bytes = &text[value.start..value.end];
    let secret = match kind {
        "password" => is_password(bytes, value.setting),
        // A uuid is a key only where nothing else is meant by the name.
        "api-key" | "secret" | "access-key" if is_uuid(bytes) => true,
        _ => is_key(bytes, value.setting),
    };
    let aws = kind == "secret" && name.len() > 3 && memchr::memmem::find(&name.to_ascii_lowercase(), b"aws").is_some();
    secret.then(|| Span::named(value.start, value.end, if aws { "aws-secret-key" } else { kind }))
}

fn tail_fits(tail: &[u8]) -> bool {
    if tail.is_empty() {
        return true;
    }
    let tail: String =
        tail.iter().filter(|b| b.is_ascii_alphanumeric()).map(|b| char::from(b.to_ascii_lowercase())).collect();
    let tail = tail.trim_end_matches(|c: char| c.is_ascii_digit());
    let known = |tail: &str| TAILS.contains(&tail);
    known(tail) || PLACES.iter().any(|place| tail.strip_suffix(place).is_some_and(known))
}

fn head_denies(head: &[u8]) -> bool {
    let head = head.trim_ascii_end().to_ascii_lowercase();
    let head = head.strip_suffix(b"_").or_else(|| head.strip_suffix(b"-")).unwrap_or(&head);
    HEADS.iter().any(|word| head.ends_with(word.as_bytes()))
}

/// What ties a value to its name.
#[derive(Clone, Copy)]
pub(super) struct Assigned {
    /// Where the value begins, quotes included.
    pub(super) at: usize,
    /// Only a quoted value counts, as in a call: `setToken("…")`.
    pub(super) quoted: bool,
    /// Only what follows on a command line or in an `.env` file: no code.
    plain: bool,
    /// An element of XML: the value goes on to the next `<`.
    pub(super) element: bool,
}

/// What follows a name that ends at `name_end`, where a value is tied to it.
pub(super) fn operator(text: &[u8], name_end: usize, name: &[u8]) -> Option<Assigned> {
    let name_start = name_end - name.len();
    let flag = name.starts_with(b"-") || text[..name_start].ends_with(b"-");
    let mut at = name_end;
    let closed = closing(text, &mut at);
    while matches!(text.get(at), Some(b']' | b'?' | b'!')) {
        at += 1;
    }
    let gap = spaces(text, at);
    let mut found = Assigned { at: gap, quoted: false, plain: false, element: false };
    match text.get(gap)? {
        b'=' => {
            found.at += 1 + text[gap + 1..].iter().take(2).take_while(|b| matches!(b, b'=' | b'>' | b'~')).count();
            found.plain = gap == name_end && !matches!(text.get(gap + 1), Some(b' ' | b'='));
        }
        b':' => {
            found.at += 1 + usize::from(matches!(text.get(gap + 1), Some(b'=' | b':')));
            found.at = annotated(text, found.at).unwrap_or(found.at);
        }
        b'>' if text[..name_start].ends_with(b"<") => {
            found.at += 1;
            found.element = true;
        }
        b'(' => {
            found.at += 1;
            found.quoted = true;
        }
        b',' if closed => {
            found.at += 1;
            found.quoted = true;
        }
        _ if flag && gap > at => found.plain = true,
        _ => return None,
    }
    found.at = spaces(text, found.at);
    Some(found)
}

/// Steps over the quote that closes a name: `"`, `'`, or escaped as in JSON within JSON.
fn closing(text: &[u8], at: &mut usize) -> bool {
    let slashes = text[*at..].iter().take(8).take_while(|&&b| b == b'\\').count();
    let closes = matches!(text.get(*at + slashes), Some(b'"' | b'\'' | b'`'));
    if closes {
        *at += slashes + 1;
    }
    closes || text[..*at].ends_with(b"\"")
}

fn spaces(text: &[u8], at: usize) -> usize {
    at + text[at.min(text.len())..].iter().take(32).take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// `password: String = "…"`: steps over a type to what is assigned.
fn annotated(text: &[u8], at: usize) -> Option<usize> {
    let begin = spaces(text, at);
    let window = &text[begin..text.len().min(begin + 48)];
    let kind = window.iter().take_while(|b| b.is_ascii_alphanumeric() || b"_&<>[]?:' |.".contains(b)).count();
    (kind > 0 && window.get(kind) == Some(&b'=') && window[..kind].ends_with(b" ")).then_some(begin + kind + 1)
}

struct Literal {
    start: usize,
    end: usize,
    setting: Setting,
}

/// The value at `at`: what is in quotes, or all that comes before a space or a bracket.
fn literal(text: &[u8], assigned: Assigned, capitals: bool, runs: &mut Runs) -> Option<Literal> {
    let Assigned { mut at, .. } = assigned;
    // `b"…"`, `r'…'`, `f"…"`.
    if matches!(text.get(at), Some(b'b' | b'r' | b'f' | b'u')) && matches!(text.get(at + 1), Some(b'"' | b'\'')) {
        at += 1;
    }
    let slashes = text[at..].iter().take(8).take_while(|&&b| b == b'\\').count();
    if let Some(&quote @ (b'"' | b'\'' | b'`')) = text.get(at + slashes) {
        let start = at + slashes + 1;
        if let Some(end) = quoted_end(text, start, quote, slashes) {
            let mut start = start;
            for scheme in [&b"Bearer "[..], b"bearer ", b"Token ", b"token ", b"Basic "] {
                if text[start..end].starts_with(scheme) {
                    start += scheme.len();
                }
            }
            return Some(unmarked(text, Literal { start, end, setting: Setting::Quoted }));
        }
        at = start;
    } else if assigned.quoted || slashes > 0 {
        return None;
    }
    let end = if assigned.element {
        let rest = &text[at..text.len().min(at + VALUE)];
        at + memchr::memchr2(b'<', b'\n', rest)?
    } else {
        runs.value_end(text, at)
    };
    let setting = if assigned.plain && (capitals || !code_follows(text, end)) || assigned.element {
        Setting::Plain
    } else {
        Setting::Bare
    };
    // A full stop or the like after the value belongs to the sentence.
    let kept = text[at..end].trim_ascii_end();
    let end = at + kept.len() - usize::from(setting == Setting::Bare && matches!(kept.last(), Some(b'.' | b':')));
    (end > at).then(|| unmarked(text, Literal { start: at, end, setting }))
}

/// `f(password=value1)` and `password=value1,` are code as like as not.
fn code_follows(text: &[u8], end: usize) -> bool {
    matches!(text.get(end), Some(b')' | b',' | b';' | b']' | b'}'))
}

/// Ends a value before a marker in it, which is there because that part has been replaced already.
fn unmarked(text: &[u8], mut value: Literal) -> Literal {
    let bytes = &text[value.start..value.end];
    if let Some(at) = memchr::memmem::find(&bytes[..bytes.len().min(VALUE)], b"[redacted:") {
        value.end = value.start + at;
    }
    value
}

/// Where a quoted value ends: at the same quote, escaped as often, in the same line.
fn quoted_end(text: &[u8], start: usize, quote: u8, slashes: usize) -> Option<usize> {
    let limit = text.len().min(start + VALUE);
    let mut from = start;
    // Few quotes within a value: a text of nothing else must not be read again and again.
    for _ in 0..8 {
        let at = from + memchr::memchr2(quote, b'\n', text.get(from..limit)?)?;
        if text[at] == b'\n' {
            return None;
        }
        let before = text[start..at].iter().rev().take(8).take_while(|&&b| b == b'\\').count();
        if before <= slashes {
            return Some(at - before);
        }
        from = at + 1;
    }
    None
}
