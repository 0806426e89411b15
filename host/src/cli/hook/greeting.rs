//! What a person is told when a session begins: one line, and only if there is something to tell.

use std::{fs, io};

use super::is_of_a_script;
use crate::{config, files, locale, news, paths, paths::Home};

/// Who speaks.
const WE: &str = "TotalRecall";

/// The variable in which the plugin's launcher says which version it is of.
const PLUGIN_VERSION: &str = "TOTALRECALL_PLUGIN_VERSION";

/// The line for a session that begins in this way.
pub(super) fn line(home: &Home, source: Option<&str>) -> Option<String> {
    // The session just goes on; or nobody would read the line, so that it waits for a session that someone sees.
    if source == Some("compact") || is_of_a_script() {
        return None;
    }
    let plugin = paths::variable(PLUGIN_VERSION);
    // The settings are the worker's matter: it writes no news where none is wanted.
    let is_wanted = config::session_line_option() != Some(false);
    let news = is_wanted.then(|| news::claim(home, plugin.is_some())).flatten();
    let version = plugin.and_then(|plugin| mismatch(home, &plugin));
    let parts: Vec<_> = [version, news].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{WE}: {}", parts.join(" ")))
}

/// What to say of a plugin that is of another version than we, once for each pair of them.
fn mismatch(home: &Home, plugin: &str) -> Option<String> {
    let ours = env!("CARGO_PKG_VERSION");
    let theirs = release(plugin)?;
    if release(ours) == Some(theirs) {
        return None;
    }
    // One that cannot be noted would be said again and again.
    note(home, &format!("{}.{} {}", theirs.0, theirs.1, ours)).ok()?;
    let language = config::language_option().or_else(|| news::glance(home).map(|glance| glance.language));
    let locale = locale::choose(language.as_deref(), config::system_language().as_deref());
    let values = [("plugin", plugin.trim().into()), ("program", ours.into()), ("how", "/recall-setup".into())];
    Some(locale.with("news-version", &values))
}

/// Notes that this was told.
///
/// # Errors
/// If it was, or it cannot be noted.
fn note(home: &Home, what: &str) -> io::Result<()> {
    files::make_private_folder(&home.told())?;
    fs::OpenOptions::new().write(true).create_new(true).open(home.told().join(what)).map(drop)
}

/// The two numbers that say whether versions understand each other. None where it is no version.
fn release(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.trim().splitn(3, '.');
    let (major, minor, patch) = (numbers.next()?, numbers.next()?, numbers.next()?);
    let is_plain =
        version.len() < 40 && patch.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte));
    is_plain.then_some(())?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_of_a_release_or_none() {
        for (version, expected) in [
            ("0.1.0", Some((0, 1))),
            ("1.12.3-rc.1+abc", Some((1, 12))),
            (" 2.0.0\n", Some((2, 0))),
            ("1.2", None),
            ("1.2.3\u{1b}[2J", None),
            ("../../x", None),
            ("", None),
        ] {
            assert_eq!(release(version), expected, "{version:?}");
        }
    }

    #[test]
    fn a_pair_of_versions_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::choose(Some(folder.path().to_owned())).unwrap();
        assert!(mismatch(&home, "99.0.0").is_some_and(|line| line.contains("99.0.0")));
        assert_eq!(mismatch(&home, "99.0.7"), None, "the same release");
        assert!(mismatch(&home, "99.1.0").is_some());
        assert_eq!(mismatch(&home, env!("CARGO_PKG_VERSION")), None);
        assert_eq!(mismatch(&home, "nonsense"), None);
    }
}
