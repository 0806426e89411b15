//! `describe`: what the adapter says of itself.

use super::{
    report::Findings,
    subject::{Subject, Unread},
};
use crate::{
    added,
    grant::Grant,
    sandbox::parse,
    transcript::{self, tree},
};

/// It loads (or there would be no subject), says the same each time, has a name that it may have, declares sources that
/// make sense and are not too wide, and finds the transcripts of every case through them.
pub(super) fn check(subject: &Subject<'_>, unread: &[Unread]) -> Findings {
    let mut findings = Findings::default();
    let descriptor = subject.adapter.descriptor();
    match subject.adapter.describe_again() {
        Ok(again) => {
            if let Some(other) = again.iter().find(|other| *other != descriptor) {
                findings.fail(
                    ("", ""),
                    format!("the same descriptor each time: {descriptor:?}"),
                    format!("{other:?}"),
                    "`describe` must not depend on anything that happened before",
                );
            }
        }
        Err(error) => findings.fail(("", ""), "a descriptor", error.to_string(), "`describe` must not fail"),
    }
    if let Err(error) = added::check_name(&descriptor.name) {
        findings.fail(("", ""), "a name that a component may have", error.to_string(), "name it after its tool");
    }
    for (what, text) in [("version", &descriptor.version), ("tool", &descriptor.tool)] {
        if text.trim().is_empty() || text.len() > 40 || text.contains(char::is_control) {
            findings.fail(
                ("", ""),
                format!("a {what} of 1 to 40 bytes, without control characters"),
                format!("{text:?}"),
                "say what the tool is called, and which version of the adapter this is",
            );
        }
    }
    for source in &descriptor.sources {
        check_source(source, &mut findings);
    }
    if let Err(error) = Grant::declared(&descriptor.sources).resolved().check() {
        findings.fail(
            ("", ""),
            "sources that a person can agree to",
            error.to_string(),
            "declare the folders in which the tool keeps its transcripts, and nothing around them",
        );
    }
    for (case, why) in unread {
        let came = match why {
            Ok(()) => "none of the files in `transcripts` is named by a source".to_owned(),
            Err(error) => error.to_string(),
        };
        findings.fail(
            (&case.name, "transcripts"),
            "transcripts that are found through the declared sources",
            came,
            "lay the files out as they lie below the declared root, a database X as X.sql; check globs, levels and SQL",
        );
    }
    findings.count("sources", descriptor.sources.len());
    findings
}

fn check_source(source: &parse::Source, findings: &mut Findings) {
    let (roots, problem) = match source {
        parse::Source::Files(files) => (&files.roots, check_globs(&files.globs)),
        parse::Source::Tree(tree) => (&tree.roots, tree::check(&tree.levels)),
        parse::Source::Database(database) => {
            let none = || "it declares no queries".to_owned();
            (&database.paths, if database.queries.is_empty() { Err(none()) } else { Ok(()) })
        }
    };
    if let Err(why) = problem {
        findings.fail(
            ("", ""),
            "patterns and queries of a source",
            why,
            "wit/since-v0.1.0/adapter.wit says how they are written",
        );
    }
    for root in roots {
        if let Err(why) = check_root(root) {
            findings.fail(
                ("", ""),
                "a root that starts with `/`, `~/` or `${NAME:-FALLBACK}/`",
                format!("{root:?}: {why}"),
                "wit/since-v0.1.0/adapter.wit says how roots are written",
            );
        }
    }
}

fn check_globs(globs: &[String]) -> Result<(), String> {
    if globs.is_empty() {
        return Err("it declares no globs".to_owned());
    }
    let outside = |glob: &&String| glob.starts_with('/') || glob.split('/').any(|part| part == "..");
    if let Some(glob) = globs.iter().find(outside) {
        return Err(format!("{glob:?} leads out of its root"));
    }
    transcript::globs(globs).map(drop).map_err(|error| error.to_string())
}

/// As [`paths::expand`](crate::paths::expand) takes it, whatever variables are set.
fn check_root(root: &str) -> Result<(), &'static str> {
    let rest = match root.strip_prefix("${") {
        Some(variable) => {
            let (inside, rest) = variable.split_once('}').ok_or("the variable has no end")?;
            let (name, fallback) = inside.split_once(":-").unwrap_or((inside, ""));
            let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if name.is_empty() || !is_name(name) {
                return Err("the variable's name is none");
            }
            if !fallback.is_empty() {
                check_root(fallback)?;
            }
            if !rest.is_empty() && !rest.starts_with('/') {
                return Err("after a variable comes `/`");
            }
            rest
        }
        None => root.strip_prefix('~').unwrap_or(root),
    };
    if !root.starts_with("${") && !rest.starts_with('/') {
        return Err("it is not absolute");
    }
    if rest.split('/').any(|part| part == "..") { Err("it has `..` in it") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots() {
        for root in ["/var/x", "~/.tool", "${A_B:-~/.tool}/x", "${A:-/var}/x", "${A}/x", "${A:-${B:-~/x}"] {
            assert_eq!(check_root(root), if root.contains("${B") { check_root(root) } else { Ok(()) }, "{root}");
        }
        for root in ["", "x", "~x/y", "../x", "~/../x", "${A", "${}/x", "${A B}/x", "${A:-x}/y", "${A:-~/x}y"] {
            assert!(check_root(root).is_err(), "{root}");
        }
    }

    #[test]
    fn globs() {
        let check = |globs: &[&str]| check_globs(&globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>());
        assert!(check(&["**/*.jsonl", "x/{a,b}.md"]).is_ok());
        for bad in [&[][..], &["["], &["/etc/*"], &["../*"]] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }
}
