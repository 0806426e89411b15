//! Whether a text, or a name, is about a file.

/// Does a text name the file, by its path or by its name?
pub fn names(text: &str, path: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '\\' | '.' | '_' | '-');
    text.split(|c: char| !is_part(c)).any(|word| is_it(word.trim_end_matches(['.', '-']), path))
}

/// Are these two the same file, as far as both say? One may leave out the first folders; of all of them only where its name has an
/// extension, because `test` and `main` are words.
pub fn is_it(one: &str, other: &str) -> bool {
    let parts =
        |path: &str| path.split(['/', '\\']).filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (one, other) = (parts(one), parts(other));
    let says_enough = one.len().min(other.len()) > 1 || one.last().is_some_and(|name| name.contains('.'));
    says_enough && !one.is_empty() && !other.is_empty() && (one.ends_with(&other) || other.ends_with(&one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_path_or_its_name() {
        for (text, path, expected) in [
            ("see src/db.rs.", "src/db.rs", true),
            ("see `db.rs`", "/home/dev/app/src/db.rs", true),
            ("see src/db.rs", "db.rs", true),
            ("see odb.rs", "db.rs", false),
            ("see lib/db.rs", "src/db.rs", false),
            ("run the test of main.", "/home/dev/app/test", false),
            ("see app/test", "/home/dev/app/test", true),
            ("see main", "src/main", false),
            ("it lies in .env", "/home/dev/app/.env", true),
            ("价格在 src/价格.py 里", "价格.py", true),
            ("", "db.rs", false),
        ] {
            assert_eq!(names(text, path), expected, "{text} {path}");
        }
    }
}
