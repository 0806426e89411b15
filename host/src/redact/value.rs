//! Is a value that something secret is set to really one, or does it only stand where one would?

use super::run::compact;

/// How a value stands in the text, which says how much it must look like a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    /// In quotes: a literal.
    Quoted,
    /// After a name in capitals or a command-line flag: a literal too, as no code looks like this.
    Plain,
    /// Bare, perhaps in code: might as well be the name of a variable.
    Bare,
}

/// Starts of what is only a reference to a secret, or a remark in its place.
const REFERENCES: &[&str] = &[
    "${",
    "$(",
    "$env:",
    "<",
    "{",
    "%(",
    "%{",
    "process.env",
    "os.",
    "env.",
    "env[",
    "env:",
    "secrets.",
    "var.",
    "vars.",
    "vault:",
    "op://",
    "ssm:",
    "arn:",
    "projects/",
    "file:",
    "self.",
    "this.",
    "config.",
    "settings.",
    "import.meta",
    "./",
    "../",
    "~/",
    "[redacted",
    "http://",
    "https://",
    "data:",
    "sha256",
    "sha512",
];

/// Words that stand where a secret would, as words of their own: keys in documentation that merely end in `EXAMPLEKEY`
/// are taken out, which harms no one.
const STAND_INS: &[&str] = &[
    "example",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "your",
    "dummy",
    "redacted",
    "replace",
    "insert",
    "todo",
    "sample",
    "foobar",
    "hidden",
    "masked",
];

/// What a secret is blanked out with.
const BLANKS: &[&str] = &["xxxx", "****", "....", "${", "{{"];

/// Does a value of something called password look like one? People choose these, so they may be short and plain.
pub(super) fn is_password(value: &[u8], setting: Setting) -> bool {
    if value.len() < 6 || is_stand_in(value) {
        return false;
    }
    let mix = Mix::of(compact(value));
    if mix.space || mix.code {
        return false;
    }
    let mixed = (mix.letters > 0 && mix.digits > 0)
        || (mix.other > 0 && mix.letters > 0 && mix.joins == 0)
        || (mix.digits == value.len());
    match setting {
        Setting::Quoted | Setting::Plain => mixed || (value.len() >= 10 && mix.turns >= 3),
        Setting::Bare => mixed && !reads_like_words(value) && (mix.letters > 0 || value.len() < 10),
    }
}

/// Does a value of something called key, token, secret or the like look drawn by lot?
pub(super) fn is_key(value: &[u8], setting: Setting) -> bool {
    let least = if setting == Setting::Bare { 16 } else { 12 };
    if value.len() < least || is_stand_in(value) || is_uuid(value) {
        return false;
    }
    let head = compact(value);
    let mix = Mix::of(head);
    let entropy = entropy(head);
    if mix.space || mix.code || entropy < 2.8 {
        return false;
    }
    let drawn = mix.digits >= 2 || (mix.digits == 1 && mix.turns >= 2) || (mix.turns >= 6 && entropy >= 3.5);
    drawn && mix.letters >= 2 && !reads_like_words(value)
}

/// `8-4-4-4-12` hexadecimal digits: an id as often as a key.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(i, byte)| match i {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// A reference (`${TOKEN}`), a placeholder (`<your-key>`, `xxxx`) or a path?
pub(super) fn is_stand_in(value: &[u8]) -> bool {
    let lower = compact(value).to_ascii_lowercase();
    let has = |word: &&str| memchr::memmem::find(&lower, word.as_bytes()).is_some();
    REFERENCES.iter().any(|start| lower.starts_with(start.as_bytes()))
        || BLANKS.iter().any(has)
        || STAND_INS.iter().any(|word| has_word(&lower, word.as_bytes()))
        || is_variable(&lower)
        || is_path(&lower)
        || lower.iter().all(|byte| *byte == lower[0])
}

/// Is `word` there with nothing but marks around it?
fn has_word(value: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find_iter(value, word).any(|at| {
        let before = value[..at].last();
        let after = value.get(at + word.len());
        !before.is_some_and(u8::is_ascii_alphanumeric) && !after.is_some_and(u8::is_ascii_alphanumeric)
    })
}

/// `$NAME`
fn is_variable(value: &[u8]) -> bool {
    value.strip_prefix(b"$").is_some_and(|name| name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_'))
}

/// `/run/secrets/token` or `C:\keys\one`, but not base64 that happens to begin with a slash.
fn is_path(value: &[u8]) -> bool {
    let windows = value.get(1) == Some(&b':') && matches!(value.get(2), Some(b'\\' | b'/'));
    let unix = value
        .strip_prefix(b"/")
        .is_some_and(|path| path.split(|byte| *byte == b'/').all(|name| name.len() <= 3 || reads_like_words(name)));
    windows || unix
}

/// Bits a character that the value needs at its own frequencies.
fn entropy(value: &[u8]) -> f32 {
    let mut counts = [0u16; 256];
    for &byte in value {
        counts[byte as usize] += 1;
    }
    let all = value.len() as f32;
    counts.iter().filter(|&&n| n > 0).map(|&n| f32::from(n) / all).map(|p| -p * p.log2()).sum()
}

/// What a value is made of.
#[derive(Default)]
struct Mix {
    letters: usize,
    digits: usize,
    /// `_`, `-` and `.`, which join words of an identifier.
    joins: usize,
    /// Anything else that is visible.
    other: usize,
    /// Changes from small to capital letters or back.
    turns: usize,
    space: bool,
    /// Brackets, as of a call: an expression.
    code: bool,
}

impl Mix {
    fn of(value: &[u8]) -> Self {
        let mut mix = Self::default();
        let mut last = 0u8;
        for &byte in value {
            match byte {
                b'0'..=b'9' => mix.digits += 1,
                b'_' | b'-' | b'.' => mix.joins += 1,
                b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' => mix.code = true,
                _ if byte.is_ascii_alphabetic() || byte >= 0x80 => {
                    mix.letters += 1;
                    mix.turns += usize::from(
                        last.is_ascii_alphabetic() && last.is_ascii_uppercase() != byte.is_ascii_uppercase(),
                    );
                }
                _ if byte.is_ascii_whitespace() => mix.space = true,
                _ => mix.other += 1,
            }
            last = byte;
        }
        mix
    }
}

/// Words, numbers and what joins them, as in `getAccessTokenV2` or `user-service-token-2024`: few digits, in few places,
/// and rows of letters as long as words are.
fn reads_like_words(value: &[u8]) -> bool {
    let value = compact(value);
    if !value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')) {
        return false;
    }
    let (mut words, mut numbers, mut letters) = (0, 0, 0);
    let mut last = b'-';
    for &byte in value {
        if byte.is_ascii_alphabetic() {
            let begins = !last.is_ascii_alphabetic() || (byte.is_ascii_uppercase() && last.is_ascii_lowercase());
            words += usize::from(begins);
            letters += 1;
        } else if byte.is_ascii_digit() {
            numbers += usize::from(!last.is_ascii_digit());
        }
        last = byte;
    }
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    numbers <= 2 && digits * 4 <= value.len() && letters * 2 >= words * 7
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_look_drawn_and_names_do_not() {
        for key in
            ["9f86d081884c7d659a2feaa0c55ad015", "Zk3vQ81xPm0aLs7c", "dGhpcyBpcyBhIHNlY3JldA1x", "q8Jx-2kLmZ_90aPw"]
        {
            assert!(is_key(key.as_bytes(), Setting::Quoted), "{key}");
        }
        for name in [
            "getAccessTokenV2",
            "user-service-token-2024",
            "aaaaaaaaaaaaaaaa",
            "<your-api-key>",
            "${API_TOKEN}",
            "process.env.API_TOKEN1",
            "/run/secrets/token1",
            "550e8400-e29b-41d4-a716-446655440000",
            "xxxxxxxxxxxxxxxxxxxx1",
            "await fetch(url2)",
            "$DB_TOKEN_2024",
        ] {
            assert!(!is_key(name.as_bytes(), Setting::Quoted), "{name}");
        }
    }

    #[test]
    fn a_bare_word_is_no_password_but_a_quoted_one_with_a_digit_is() {
        assert!(is_password(b"hunter2", Setting::Quoted));
        assert!(!is_password(b"password1", Setting::Bare));
        assert!(!is_password(b"userPassword", Setting::Bare));
        assert!(is_password(b"S3cr!tPa55", Setting::Bare));
        assert!(!is_password("Passwort vergessen?".as_bytes(), Setting::Quoted));
        assert!(!is_password(b"string", Setting::Quoted));
    }
}
