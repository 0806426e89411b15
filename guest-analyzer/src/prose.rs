//! The person's own words in what they sent: without code, logs, quotations, review comments and other pasted material.
//!
//! Pasted text is full of "wrong", "fails" and "don't" that nobody said to the agent. What is cut out of a line leaves a
//! placeholder, so that the sentence around it keeps its shape.

use crate::language::{PLACEHOLDER, is_wide};

/// What is left of a text.
#[derive(Debug, Default, PartialEq)]
pub struct Prose {
    /// The person's own words.
    pub text: String,
    /// Whether something was cut out that looks like an error or a log.
    pub pasted_error: bool,
    /// Whether whole lines were cut out.
    pub pasted: bool,
}

/// Bytes that are looked at: enough for anything typed.
const LOOK: usize = 32 * 1024;

/// A quotation of more characters than this, on one line, is cut out whatever it says.
const QUOTE: usize = 400;

impl Prose {
    /// Cuts out what is not the person's own.
    pub fn new(text: &str) -> Self {
        let mut prose = Self::default();
        let text = crate::text::truncate(text, LOOK);
        let mut fenced = false;
        // After "review comments:" what is listed is somebody else's.
        let mut reported = false;
        let mut remark = false;
        for line in text.lines() {
            let trimmed = line.trim();
            if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
                fenced = !fenced;
                prose.pasted = true;
                continue;
            }
            if fenced || trimmed.starts_with('>') || is_markup(trimmed) {
                prose.pasted = true;
                prose.pasted_error |= names_failure(trimmed);
                continue;
            }
            // A remark goes on over wrapped lines.
            remark = is_remark(trimmed) || (remark && !trimmed.is_empty());
            if is_machine(trimmed) || remark {
                prose.pasted = true;
                prose.pasted_error |= names_failure(trimmed) || trimmed.starts_with(['$', '❯']);
                continue;
            }
            if reported && (is_item(trimmed) || trimmed.is_empty()) {
                prose.pasted |= !trimmed.is_empty();
                continue;
            }
            reported = reports(trimmed);
            prose.text.push_str(&without_quotes(trimmed));
            prose.text.push('\n');
        }
        let end = prose.text.trim_end().len();
        prose.text.truncate(end);
        prose
    }
}

/// A line of some program's output.
fn is_machine(line: &str) -> bool {
    let lower = line.to_lowercase();
    let starts = |leads: &[&str]| leads.iter().any(|lead| line.starts_with(lead));
    if starts(&[
        "at ",
        "    at",
        "File \"",
        "Traceback",
        "E   ",
        "$ ",
        "❯",
        "=> ",
        "[+]",
        "| ",
        "+--",
        "+++",
        "---",
        "@@",
        "FAILED ",
        "PASS ",
        "FAIL ",
        "npm ",
        "error[",
        "warning: ",
        "error: ",
        "Error: ",
        "Error [",
        "fatal: ",
        "Run ",
        "--> ",
        "Uncaught ",
        "^",
    ]) && !line.ends_with('?')
    {
        // `at the top it should …` is prose, `at f (x.js:3)` is not.
        return !line.starts_with("at ") || line.contains(['(', '/']) || line.contains("::");
    }
    let first = line.split_whitespace().next().unwrap_or_default();
    if is_time(first) || is_level(first) {
        return true;
    }
    // `ValueError: …`, `java.lang.X: …`
    let name = first.trim_end_matches(':');
    if first.ends_with(':') && (name.ends_with("Error") || name.ends_with("Exception")) && name.len() > 5 {
        // The person's words may follow on the same line in scripts that need no space.
        return !line.chars().any(is_wide);
    }
    if numbered_code(line) {
        return true;
    }
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    let marks = line.chars().filter(|c| "{}[]()<>=;|\\/*&^%$#@~\"".contains(*c)).count();
    let spaces = line.chars().filter(|c| *c == ' ').count();
    // Code: more marks than prose ever has.
    line.len() > 8
        && (marks * 4 > letters + spaces
            || (line.ends_with([';', '{', '}']) && marks > 2)
            || lower.starts_with("select "))
}

/// `  12\tcode`, `296 +code`: a numbered line of a file or diff.
fn numbered_code(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    digits >= 2 && (rest.starts_with(" +") || rest.starts_with(" -") || rest.starts_with('\t') || rest.starts_with("→"))
}

fn is_time(word: &str) -> bool {
    let word = word.trim_matches(['[', ']', '(', ')', ',']);
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    digits >= 6
        && word.bytes().all(|byte| byte.is_ascii_digit() || b"-:/.TZ+,".contains(&byte))
        && word.contains(['-', ':', '/'])
}

fn is_level(word: &str) -> bool {
    let bare = word.trim_matches(['[', ']', ':']);
    word != bare
        && matches!(
            bare,
            "ERROR" | "WARN" | "WARNING" | "INFO" | "DEBUG" | "FATAL" | "critical" | "error" | "warn" | "info"
        )
}

/// A review tool's remark: `In src/a.rs around lines 7 to 9, …`.
fn is_remark(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("In")
        && words.next().is_some_and(|path| path.contains('/'))
        && matches!(words.next(), Some("around" | "at" | "on"))
        && words.next().is_some_and(|word| word.starts_with("line"))
}

fn is_markup(line: &str) -> bool {
    (line.starts_with('<') && line.ends_with('>') && line.len() > 4) || line.starts_with("diff --git")
}

fn names_failure(line: &str) -> bool {
    let lower = line.to_lowercase();
    [
        "error",
        "exception",
        "fail",
        "fatal",
        "traceback",
        "panic",
        "denied",
        "refused",
        "not found",
        "cannot",
        "undefined",
        "错误",
        "失败",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// The line announces what others said.
fn reports(line: &str) -> bool {
    let lower = line.to_lowercase();
    [
        "review",
        "feedback",
        "comments",
        "reviewer",
        "log:",
        "logs",
        "output",
        "error",
        "评审",
        "意见",
        "日志",
        "报错",
        "評審",
        "レビュー",
        "コメント",
        "ログ",
        "relecture",
        "remarques",
        "retours",
        "voici",
        "lighthouse",
        "says",
        "said",
    ]
    .iter()
    .any(|word| lower.contains(word))
        && (line.ends_with([':', '：', '。', '.']) || line.len() < 60)
}

fn is_item(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with(['-', '*', '•', '・', '·', '#'])
        || (rest.len() < line.len() && rest.starts_with(['.', ')', '、', '．', '）']))
}

/// The line with quotations, inline code and addresses replaced by placeholders.
fn without_quotes(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let close = match c {
            '`' => Some('`'),
            '"' => Some('"'),
            '“' => Some('”'),
            '«' => Some('»'),
            '「' => Some('」'),
            '『' => Some('』'),
            _ => None,
        };
        let after = &rest[c.len_utf8()..];
        let end = close
            .and_then(|close| after.find(close).map(|end| (end, close)))
            .filter(|(end, _)| *end > 0 && *end <= QUOTE);
        if let Some((end, close)) = end {
            out.push(' ');
            out.push(PLACEHOLDER);
            out.push(' ');
            rest = &after[end + close.len_utf8()..];
        } else if c == 'h' && (rest.starts_with("http://") || rest.starts_with("https://")) {
            out.push(PLACEHOLDER);
            let end = rest.find(|c: char| c.is_whitespace() || is_wide(c)).unwrap_or(rest.len());
            rest = &rest[end..];
        } else {
            out.push(c);
            rest = after;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_material_is_left_out() {
        let own = |text: &str| Prose::new(text).text.replace(PLACEHOLDER, "_");
        assert_eq!(own("still red:\n\nE   ModuleNotFoundError: No module named 'x'\nFAILED a.py"), "still red:");
        assert_eq!(own("please fix\n```\nwrong\n```\nthanks"), "please fix\nthanks");
        assert_eq!(
            own("review feedback, please address:\n1. naming is wrong\n2. don't use reduce"),
            "review feedback, please address:"
        );
        assert_eq!(own("In a/b.ts around lines 7 to 9, this is\nwrong; don't\n\nplease look"), "\nplease look");
        assert_eq!(own("> this is wrong\nwhat does he mean"), "what does he mean");
        assert_eq!(own("change the title to \"don't stop\" please"), "change the title to  _  please");
        assert_eq!(own("2024-03-02 03:11:04 ERROR wrong owner"), "");
        assert_eq!(own("no, use https://a.b/c instead"), "no, use _ instead");
        assert_eq!(own("でも「間違い」じゃない"), "でも _ じゃない");
        assert!(Prose::new("ValueError: bad").pasted_error);
    }
}
