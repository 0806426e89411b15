//! Names of patterns: readable, safe in paths, and the same for the same friction.

use unicode_normalization::UnicodeNormalization as _;
use xxhash_rust::xxh3::xxh3_64;

/// Most characters of an id.
pub const ID_LENGTH: usize = 64;

/// Hexadecimal digits of the hash: 40 bits, so that among ten thousand patterns with the same words no two are likely to
/// meet.
const DIGITS: usize = 10;

/// A subject in the form in which subjects are compared: compatible forms made equal, lower case, white space squeezed, no
/// control characters. Nothing of any script is left out.
pub fn normal(subject: &str) -> String {
    if subject.is_ascii() {
        let mut normal = String::with_capacity(subject.len());
        for word in subject.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
            if !normal.is_empty() {
                normal.push(' ');
            }
            normal.push_str(word);
        }
        normal.make_ascii_lowercase();
        return normal;
    }
    let folded = subject.nfkc().flat_map(char::to_lowercase).map(|c| if c.is_control() { ' ' } else { c });
    let mut normal = String::with_capacity(subject.len());
    for c in folded {
        if !c.is_whitespace() {
            normal.push(c);
        } else if !normal.is_empty() && !normal.ends_with(' ') {
            normal.push(' ');
        }
    }
    normal.truncate(normal.trim_end().len());
    normal
}

/// The path as one of the project's: without the project's own place, with `/` between its parts.
pub(super) fn within(path: &str, project: &str) -> String {
    let (path, project) = (path.replace('\\', "/"), project.replace('\\', "/"));
    match path.strip_prefix(project.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) if !project.is_empty() => rest.to_owned(),
        _ => path.trim_start_matches("./").to_owned(),
    }
}

/// Whether a text is one that a pattern can have as its id: safe in paths and on command lines.
pub fn is_id(text: &str) -> bool {
    let length = text.chars().count();
    (1..=ID_LENGTH).contains(&length)
        && text.chars().all(|c| c.is_alphanumeric() || c == '-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// `kind-some-words-of-the-subject-1c9f00aa27`. The hash alone tells patterns apart; the words are for people.
pub fn of(kind: &str, project: Option<&str>, key: &str, subject: &str) -> String {
    let hash = xxh3_64([kind, project.unwrap_or_default(), key].join("\0").as_bytes());
    let hash = format!("{hash:016x}");
    let room = ID_LENGTH - DIGITS - 1;
    let words = slug(&format!("{kind} {subject}"), room);
    format!("{words}-{}", &hash[..DIGITS])
}

/// Letters and digits of any script in lower case, a hyphen for everything between them.
fn slug(text: &str, chars: usize) -> String {
    let mut slug = String::new();
    let mut length = 0;
    for c in text.nfkc().flat_map(char::to_lowercase) {
        if length == chars {
            break;
        }
        if c.is_alphanumeric() {
            slug.push(c);
            length += 1;
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
            length += 1;
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_readable_in_every_script() {
        let id = of("tool-error", None, "edit: file has not been read", "Edit: File has not been read");
        assert!(id.starts_with("tool-error-edit-file-has-not-been-read-"), "{id}");
        assert!(of("correction", None, "k", "不要用 npm，用 pnpm").starts_with("correction-不要用-npm-用-pnpm-"));
        assert_ne!(of("correction", None, "注释", "注释"), of("correction", None, "测试", "测试"));
    }

    #[test]
    fn ids_are_safe_in_paths() {
        for subject in
            ["../../etc/passwd", "..\\..\\x", "a\0b", "", "🙈", "CON", &"很长".repeat(200), &"x/".repeat(200)]
        {
            let id = of("churn", Some("/p"), &normal(subject), subject);
            assert!(is_id(&id), "{id}");
        }
    }

    #[test]
    fn equal_subjects_have_one_normal_form() {
        assert_eq!(normal("  Ｅｄｉｔ:\tFile\n not  read "), "edit: file not read");
        assert_eq!(normal("가"), normal("\u{1100}\u{1161}"));
        assert_ne!(normal("注释"), normal("測試"));
    }

    #[test]
    fn a_file_is_named_within_its_project() {
        assert_eq!(within("/home/u/p/src/a.rs", "/home/u/p/"), "src/a.rs");
        assert_eq!(within("src\\a.rs", "C:\\p"), "src/a.rs");
        assert_eq!(within("/home/u/project/a.rs", "/home/u/p"), "/home/u/project/a.rs");
        assert_eq!(within("./a.rs", ""), "a.rs");
    }
}
