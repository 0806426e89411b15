//! What an error says, without what is different every time: equal errors of different sessions get equal templates.

use crate::text::{one_line, truncate};

/// Bytes looked at from each end of an output: the telling line is among the first or, in a traceback, the last ones.
const LOOK: usize = 4096;

/// Characters of a template: enough for the sentence, too few for a listing that came without line breaks.
const TEMPLATE_CHARS: usize = 120;

/// The template of an error text: its most telling line, normalised.
pub fn template(text: &str) -> String {
    let line = telling_line(text);
    if line.is_empty() { "no output".into() } else { one_line(&normalise(line), TEMPLATE_CHARS) }
}

/// The line of an error output that says most about what went wrong.
pub fn telling_line(text: &str) -> &str {
    let text = text.trim();
    let head = truncate(text, LOOK);
    let tail_from = text.ceil_char_boundary(text.len().saturating_sub(LOOK)).max(head.len());
    let tail = &text[tail_from..];
    let mut best = ("", i32::MIN);
    for line in head.lines().chain(tail.lines()) {
        let line = bare(line);
        if line.is_empty() {
            continue;
        }
        let score = telling(line);
        // Of equals the first counts: what follows is mostly consequence. A traceback's exception is the other way
        // round, but scores higher than anything above it.
        if score > best.1 {
            best = (line, score);
        }
    }
    best.0
}

/// The line without the wrapping that tools put around it.
fn bare(line: &str) -> &str {
    let mut line = line.trim();
    for tag in ["<tool_use_error>", "</tool_use_error>"] {
        line = line.trim_start_matches(tag).trim_end_matches(tag);
    }
    for lead in ["Error: ", "E   "] {
        line = line.strip_prefix(lead).unwrap_or(line);
    }
    line.trim()
}

fn telling(line: &str) -> i32 {
    let lower = line.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if is_exit_code(&lower) || lower.starts_with("[request interrupted") {
        return -4;
    }
    if !line.chars().any(char::is_alphanumeric) {
        return -5;
    }
    let mut score = 0;
    if names_exception(line) {
        score += 5;
    } else if ["error:", "error[", "fatal:", "panic:", "err!", "npm err", "bash:", "sh:", "zsh:"]
        .iter()
        .any(|lead| lower.starts_with(lead))
    {
        score += 4;
    } else if has(&[" error:", ": error", "error ts", "panicked at"]) {
        score += 3;
    }
    if has(&[
        "no such file",
        "not found",
        "permission denied",
        "cannot ",
        "can't ",
        "could not",
        "unable to",
        "refused",
    ]) {
        score += 2;
    }
    if has(&["failed", "failure", "invalid", "unexpected", "undefined", "denied", "missing", "timed out", "timeout"]) {
        score += 1;
    }
    if has(&["0 errors", "0 failed", "no errors", "warning:", "deprecat"]) {
        score -= 3;
    }
    if lower.starts_with("traceback") || lower.starts_with("at ") || lower.starts_with("file \"") {
        score -= 1;
    }
    score
}

fn is_exit_code(lower: &str) -> bool {
    ["exit code ", "command failed with exit code ", "process exited with code ", "exit status "]
        .iter()
        .filter_map(|lead| lower.strip_prefix(lead))
        .any(|rest| rest.trim().trim_end_matches('.').bytes().all(|byte| byte.is_ascii_digit()))
}

/// `ValueError: …`, `java.lang.IllegalStateException: …`.
fn names_exception(line: &str) -> bool {
    let Some((name, _)) = line.split_once(':') else { return false };
    let name = name.rsplit_once(' ').map_or(name, |(before, last)| if before == "Uncaught" { last } else { name });
    (name.ends_with("Error") || name.ends_with("Exception"))
        && name.len() > 5
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'))
}

/// Paths, addresses, quoted names, ids and numbers replaced by what they are.
pub fn normalise(line: &str) -> String {
    let chars: Vec<char> = line.chars().take(400).collect();
    let mut normal = String::with_capacity(chars.len());
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        if let Some(end) = quoted(&chars, at) {
            normal.push_str("<name>");
            at = end;
        } else if is_word(c) || (matches!(c, '/' | '~' | '.') && starts_path(&chars, at)) {
            let end = (at..chars.len()).find(|i| !is_token(chars[*i])).unwrap_or(chars.len());
            let token: String = chars[at..end].iter().collect();
            let body = token.trim_end_matches(['.', ':', ',', '?', '!']);
            normal.push_str(&replacement(body));
            normal.push_str(&token[body.len()..]);
            at = end;
        } else {
            normal.push(c);
            at += 1;
        }
    }
    normal
}

/// The end of a quotation that begins at `at`, if one does. An apostrophe inside a word is none.
fn quoted(chars: &[char], at: usize) -> Option<usize> {
    let close = match chars[at] {
        '"' => '"',
        '`' => '`',
        '\'' if at == 0 || !chars[at - 1].is_alphanumeric() => '\'',
        '‘' => '’',
        '“' => '”',
        '«' => '»',
        '「' => '」',
        _ => return None,
    };
    let inside = chars[at + 1..].iter().position(|c| *c == close)?;
    (inside > 0).then_some(at + inside + 2)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_token(c: char) -> bool {
    is_word(c) || matches!(c, '/' | '\\' | '.' | '-' | ':' | '@' | '~' | '+' | '%' | '=' | '#' | '?' | '&' | ',')
}

fn starts_path(chars: &[char], at: usize) -> bool {
    let next = chars.get(at + 1).copied().unwrap_or(' ');
    match chars[at] {
        '/' => is_word(next) || next == '.',
        '~' => next == '/',
        _ => next == '/' || next == '.' || is_word(next),
    }
}

fn replacement(token: &str) -> String {
    if token.contains("://") {
        return "<url>".into();
    }
    // `src/main.rs:3:14` is a path with a place in it.
    let is_drive = token.len() > 2 && token.as_bytes()[1] == b':' && token.as_bytes()[2] == b'\\';
    if is_drive || token.starts_with(['/', '~', '\\']) || token.matches('/').count() > 1 || is_file_name(token) {
        return "<path>".into();
    }
    if let Some((file, rest)) = token.split_once(':')
        && is_file_name(file)
        && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
    {
        return "<path>".into();
    }
    if token.contains('/') && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-@".contains(&byte)) {
        return "<path>".into();
    }
    if is_id(token) {
        return "<id>".into();
    }
    // `E0597` and `TS2304` are names; `12ms`, `line 3`, `0.5` are figures.
    if token.starts_with(|c: char| c.is_ascii_alphabetic()) && !token.contains(['=', ':', '-']) {
        return token.into();
    }
    digits_out(token)
}

fn is_file_name(token: &str) -> bool {
    let token = token.split(':').next().unwrap_or(token);
    match token.rsplit_once('.') {
        Some((stem, extension)) => {
            !stem.is_empty()
                && (1..=5).contains(&extension.len())
                && extension.starts_with(|c: char| c.is_ascii_lowercase())
                && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && !stem.contains(['=', '(', ':'])
                && FILE_EXTENSIONS.contains(&extension)
        }
        None => false,
    }
}

/// Endings that make `name.ending` a file: a dotted name such as `os.path` is none.
const FILE_EXTENSIONS: &[&str] = &[
    "bat", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "go", "gz", "h", "hpp", "html", "ini", "ipynb", "java",
    "jpg", "js", "json", "jsonl", "jsx", "kt", "lock", "log", "lua", "md", "mjs", "php", "pl", "png", "proto", "ps1",
    "py", "rb", "rs", "scala", "scss", "sh", "sql", "svg", "swift", "tf", "toml", "ts", "tsx", "txt", "vue", "xml",
    "yaml", "yml", "zig", "zip",
];

/// A hash, a uuid, a request id: long, and letters mixed with digits.
fn is_id(token: &str) -> bool {
    let bare = token.trim_start_matches("0x");
    let digits = bare.bytes().filter(u8::is_ascii_digit).count();
    let hex = bare.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let letters = bare.bytes().filter(u8::is_ascii_alphabetic).count();
    if hex && bare.len() >= 7 && digits >= 2 && letters >= 1 {
        return true;
    }
    let joined = bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    joined && bare.len() >= 16 && digits >= 4 && letters >= 4
}

fn digits_out(token: &str) -> String {
    let mut out = String::with_capacity(token.len());
    let mut in_number = false;
    for c in token.chars() {
        let digit = c.is_ascii_digit() || (in_number && matches!(c, '.' | ',' | ':'));
        if digit && !in_number {
            out.push_str("<n>");
        }
        if !digit {
            out.push(c);
        }
        in_number = digit;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_errors_have_equal_templates() {
        let pairs = [
            ("Exit code 1\nbash: /home/a/run.sh: No such file or directory", "bash: <path>: No such file or directory"),
            (
                "<tool_use_error>String to replace not found in file.\nString: foo</tool_use_error>",
                "String to replace not found in file.",
            ),
            (
                "Exit code 101\n   Compiling x v0.1.0\nerror[E0597]: `db` does not live long enough",
                "error[E0597]: <name> does not live long enough",
            ),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nValueError: invalid literal for int() with base 10: 'x'",
                "ValueError: invalid literal for int() with base <n>: <name>",
            ),
            (
                "File content (31022 tokens) exceeds maximum allowed tokens (25000).",
                "File content (<n> tokens) exceeds maximum allowed tokens (<n>).",
            ),
            ("fatal: bad object 3f2a9c1d77", "fatal: bad object <id>"),
            ("connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED <n>"),
            (
                "curl: (22) The requested URL https://x.test/a returned error: 404",
                "curl: (<n>) The requested URL <url> returned error: <n>",
            ),
            ("can't open file 'a.py'", "can't open file <name>"),
            ("Exit code 2", "Exit code <n>"),
            ("", "no output"),
            ("错误：找不到文件「設定」", "错误：找不到文件<name>"),
        ];
        for (text, expected) in pairs {
            assert_eq!(template(text), expected, "{text}");
        }
    }

    #[test]
    fn names_keep_their_digits() {
        assert_eq!(normalise("error TS2304: Cannot find name 'x'."), "error TS2304: Cannot find name <name>.");
        assert_eq!(normalise("src/app.ts:14:3 is wrong"), "<path> is wrong");
        assert_eq!(normalise("took 12ms at v1.2.3"), "took <n>ms at v1.2.3");
    }
}
