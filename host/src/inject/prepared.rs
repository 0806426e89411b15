//! What is prepared for hooks: a file for each project, one for what is told wherever there is nothing of a project, and one for each
//! conversation that was compacted lately.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    InjectError,
    fit::{Injection, LeftOut, Line, counted, room, text},
    item::Item,
    seen,
};
use crate::{files, paths::Home, project, verdict::Verdict};

/// The folder's name in the home.
pub const FOLDER: &str = "inject";

/// Where what stood in conversations is, inside of it.
const COMPACTED: &str = "compacted";

/// The verdicts on rules, which take long to make.
const VERDICTS: &str = "verdicts.json";

/// For where there is nothing of a project.
const EVERYWHERE: &str = "everywhere.json";

/// Longest file: many times what a budget allows.
const MAX_BYTES: u64 = 1 << 20;

/// A compaction takes minutes at most.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Folders above the one where a hook is called that are looked at.
const DEEP: usize = 24;

/// A file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Prepared {
    /// The project's place; hashes may be equal.
    place: Option<String>,
    lines: Vec<Line>,
    left_out: LeftOut,
    /// Most tokens of the whole, whatever stands before these lines.
    budget: u32,
}

/// What a session is told that begins or goes on in this folder. None: nothing, or it was told just that already. `source` is why it
/// begins, in the client's words; `now` is in milliseconds since the Unix epoch. For hooks: neither the store nor the settings are
/// opened.
pub fn tell(home: &Path, folder: &Path, session: Option<&str>, source: Option<&str>, now: i64) -> Option<String> {
    let inject = home.join(FOLDER);
    let of = |place: &String| {
        read::<Prepared>(&inject.join(file(place))).filter(|it| it.place.as_deref() == Some(place.as_str()))
    };
    let found = places(folder).iter().find_map(of).or_else(|| read(&inject.join(EVERYWHERE)));
    // What was told before a conversation was compacted is gone from it.
    let is_compacted = source == Some("compact");
    // Asides go by it, too, whatever there is to tell now.
    session.filter(|_| is_compacted).inspect(|session| seen::forget(home, session));
    let before = session.filter(|_| is_compacted).and_then(|id| read::<Prepared>(&compacted(&inject, id)));
    let (Prepared { lines, mut left_out, budget, .. }, before) =
        (found.unwrap_or_default(), before.unwrap_or_default());
    let holds = |line: &Line| {
        line.until.is_none_or(|end| end > now) && (line.session.is_none() || line.session.as_deref() != session)
    };
    let mut lines: Vec<Line> = before.lines.into_iter().chain(lines.into_iter().filter(holds)).collect();
    // Where something stands before it there is less room for it.
    let mut has_room = room(&lines, budget.max(before.budget)).into_iter();
    for line in lines.extract_if(.., |_| !has_room.next().unwrap_or_default()) {
        *left_out.entry(line.section).or_default() += 1;
    }
    let text = text(&lines, &left_out)?;
    let Some(session) = session else { return Some(text) };
    let _alone = seen::alone(home);
    if !is_compacted && !seen::is_new(home, session, &text) {
        return None;
    }
    seen::note(home, session, Some(&text), lines.iter().map(|line| line.source.as_str()));
    Some(text)
}

/// The places that a project may have whose session is in this folder, the nearest first: its repository, or the folder and those
/// above it. One who works in their home directory has no project of all that lies below.
pub(super) fn places(folder: &Path) -> Vec<String> {
    let real = project::resolved(folder);
    if let Some(repository) = project::repository(&real) {
        return vec![repository.to_string_lossy().into_owned()];
    }
    let above = real.ancestors().skip(1).take_while(|above| !project::is_no_project(above));
    std::iter::once(real.as_path()).chain(above).take(DEEP).map(|it| it.to_string_lossy().into_owned()).collect()
}

fn file(place: &str) -> String {
    format!("{}.json", files::name_of(place))
}

fn compacted(inject: &Path, session: &str) -> PathBuf {
    inject.join(COMPACTED).join(format!("{}.json", files::name_of(session)))
}

/// Writes what a project is told, and gives the file's name. None: there is nothing.
pub(super) fn write(home: &Home, place: Option<&str>, injection: &Injection) -> Result<Option<String>, InjectError> {
    if injection.text.is_none() {
        return Ok(None);
    }
    let name = place.map_or_else(|| EVERYWHERE.to_owned(), file);
    let lines = injection.told.iter().map(Line::of).collect();
    let left_out = counted(injection.left_out.iter().map(|item| item.section));
    let prepared = Prepared { place: place.map(str::to_owned), lines, left_out, budget: injection.budget };
    put(&home.path().join(FOLDER).join(&name), &prepared)?;
    Ok(Some(name))
}

/// Writes what stood in a conversation.
pub(super) fn write_snapshot(home: &Home, session: &str, items: &[Item], budget: u32) -> Result<(), InjectError> {
    let lines: Vec<Line> = items.iter().map(Line::of).collect();
    put(&compacted(&home.path().join(FOLDER), session), &Prepared { lines, budget, ..Prepared::default() })
}

/// To be called before a conversation is compacted: what stood in it the last time is not what stands in it now. For hooks.
pub fn expect(home: &Path, session: &str) {
    // One that stays is told once more.
    let _ = fs::remove_file(compacted(&home.join(FOLDER), session));
}

/// Drops what stood in a conversation.
pub(super) fn drop_session(home: &Path, session: &str) {
    expect(home, session);
}

/// The file of a lock, made if there is none.
pub(super) fn lock_file(path: &Path) -> io::Result<fs::File> {
    files::make_private_folder(path.parent().unwrap_or(path))?;
    fs::OpenOptions::new().write(true).create(true).truncate(false).open(path)
}

pub(super) fn drop_snapshots(home: &Home) -> io::Result<()> {
    match fs::remove_dir_all(home.path().join(FOLDER).join(COMPACTED)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Keeps the verdicts; none: gives those that were kept.
pub(super) fn verdicts(home: &Home, new: Option<&[Verdict]>) -> Result<Vec<Verdict>, InjectError> {
    let path = home.path().join(FOLDER).join(VERDICTS);
    match new {
        Some(new) if new.is_empty() && !path.exists() => Ok(Vec::new()),
        Some(new) => put(&path, &new).map(|()| new.to_vec()),
        None => Ok(read(&path).unwrap_or_default()),
    }
}

/// Removes what was prepared for projects that have nothing to be told any more, and what nobody will ask for.
pub(super) fn remove_others(home: &Home, kept: &BTreeSet<String>, everything: bool) {
    let inject = home.path().join(FOLDER);
    for entry in fs::read_dir(&inject).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".json") && name != VERDICTS && !kept.contains(&name) {
            // One that stays is told once too often.
            let _ = fs::remove_file(entry.path());
        }
    }
    files::remove_unfinished(&inject, SystemTime::now());
    let age = if everything { Duration::ZERO } else { DAY };
    files::remove_older(&inject.join(COMPACTED), age, SystemTime::now());
    seen::sweep(home.path());
}

/// None where there is no such file, or none of ours.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let mut text = Vec::new();
    fs::File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Only if it says something else: most runs change nothing.
fn put(path: &Path, value: &impl Serialize) -> Result<(), InjectError> {
    let failed = |why: io::Error| InjectError::Write { path: path.to_owned(), why };
    let text = serde_json::to_vec(value).map_err(|why| failed(why.into()))?;
    if fs::read(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    files::make_private_folder(folder).and_then(|()| files::write_atomically(path, &text)).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::{super::item::Section, *};

    /// More than anything here takes.
    const BUDGET: u32 = 2_000;

    fn prepared(home: &Path, name: &str, place: Option<&str>, lines: &[(&str, Option<&str>, Option<i64>)]) {
        let line = |(text, session, until): &(&str, Option<&str>, Option<i64>)| Line {
            section: Section::Critical,
            text: format!("- {text}"),
            rank: 100,
            source: (*text).to_owned(),
            session: session.map(str::to_owned),
            until: *until,
        };
        let lines = lines.iter().map(line).collect();
        let prepared = Prepared { place: place.map(str::to_owned), lines, left_out: LeftOut::new(), budget: BUDGET };
        put(&home.join(FOLDER).join(name), &prepared).unwrap();
    }

    #[test]
    fn the_nearest_project_is_told_and_else_what_holds_everywhere() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().canonicalize().unwrap();
        let (home, work) = (base.join("state"), base.join("work"));
        fs::create_dir_all(work.join("app/src")).unwrap();
        let place = work.join("app").to_string_lossy().into_owned();
        let tell = |folder: &str| tell(&home, &work.join(folder), None, None, 0);
        assert_eq!(tell("app/src"), None);
        prepared(&home, EVERYWHERE, None, &[("everywhere", None, None)]);
        prepared(&home, &file(&place), Some(&place), &[("of the app", None, None)]);
        assert!(tell("app/src").unwrap().contains("- of the app"));
        assert!(tell("other").unwrap().contains("- everywhere"));
        // A file that is of another place, or damaged.
        prepared(&home, &file(&place), Some("/elsewhere"), &[("secret", None, None)]);
        assert!(tell("app").unwrap().contains("- everywhere"));
        fs::write(home.join(FOLDER).join(file(&place)), "{").unwrap();
        assert!(tell("app").unwrap().contains("- everywhere"));
    }

    #[test]
    fn a_session_is_told_once_until_something_changes_or_it_is_compacted() {
        let temporary = tempfile::tempdir().unwrap();
        let home = temporary.path();
        let tell = |session: &str, source: &str, now| tell(home, Path::new("/"), Some(session), Some(source), now);
        prepared(
            home,
            EVERYWHERE,
            None,
            &[("always", None, None), ("until then", None, Some(10)), ("of b", Some("b"), None)],
        );
        let first = tell("a", "startup", 5).unwrap();
        assert!(first.contains("- until then") && first.contains("- of b"));
        assert_eq!(tell("a", "resume", 6), None);
        assert!(tell("b", "startup", 6).is_some_and(|it| !it.contains("- of b") && it.contains("- always")));
        assert!(tell("a", "resume", 10).is_some_and(|it| !it.contains("- until then")), "something ended to hold");
        assert_eq!(tell("a", "resume", 11), None);
        assert!(tell("a", "compact", 11).is_some(), "the conversation does not have it any more");
        assert_eq!(tell("a", "resume", 12), None);
    }

    #[test]
    fn what_stood_in_a_conversation_takes_room_from_the_rest_and_leaves_what_is_critical() {
        let temporary = tempfile::tempdir().unwrap();
        let home = temporary.path();
        let line = |section, rank, number: i32| Line {
            section,
            text: format!("- {section:?} {number}: {}", "word ".repeat(20)),
            rank,
            source: format!("{section:?}{number}"),
            session: None,
            until: None,
        };
        let lines = |section, rank| (0..6).map(|number| line(section, rank, number)).collect::<Vec<_>>();
        let [everywhere, stood] =
            [[lines(Section::Critical, 110), lines(Section::Sessions, 66)].concat(), lines(Section::Snapshot, 96)]
                .map(|lines| Prepared { lines, budget: 500, ..Prepared::default() });
        put(&home.join(FOLDER).join(EVERYWHERE), &everywhere).unwrap();
        put(&compacted(&home.join(FOLDER), "a"), &stood).unwrap();
        let text = tell(home, Path::new("/"), Some("a"), Some("compact"), 0).unwrap();
        assert!(crate::model::tokens(&text) <= 500, "{text}");
        assert_eq!(text.matches("- Critical").count(), 6, "{text}");
        let kept = text.matches("- Snapshot").count();
        assert!((1..6).contains(&kept) && text.find("- Snapshot 0") < text.find("- Critical 0"), "{text}");
        assert!(text.contains(&format!("{} parts of this conversation, 6 sessions.", 6 - kept)), "{text}");
        // What stood in it at an earlier compaction is told at none.
        expect(home, "a");
        assert!(!tell(home, Path::new("/"), Some("a"), Some("compact"), 0).unwrap().contains("- Snapshot"));
    }
}
