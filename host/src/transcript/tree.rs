//! Transcripts that are many small files each: a session's file, those of its messages, those of their parts (OpenCode
//! before 1.2).
//!
//! Patterns say how the files hang together, one a level: `session/*/{session}.json`, `message/{session}/{message}.json`,
//! `part/{message}/{part}.json`. A name in braces is found at the level that brings it in and put in below. Everything is
//! reached through the granted folder's capability.

use std::{
    io::{self, Read as _},
    path::{Path, PathBuf},
    rc::Rc,
};

use cap_std::fs::{Dir, Metadata};
use globset::{GlobBuilder, GlobMatcher};

use super::{
    Bytes, Found, Opened, Unreadable,
    files::{open_folder, stamp_of},
};
use crate::{sandbox::parse, store::Stamp};

/// A file of a tree is small; a larger one than a guest takes as one row is none of a tool.
const MAX_FILE: u64 = 64 << 20;

/// A granted folder, and how the sessions in it are laid out.
pub struct Tree {
    dir: Dir,
    path: PathBuf,
    levels: Vec<Level>,
}

/// One pattern.
struct Level {
    components: Vec<Component>,
    /// The name that it brings in.
    name: String,
}

/// One folder or file of a pattern.
enum Component {
    /// Stands as it is.
    Literal(String),
    /// Anything that it matches.
    Glob(GlobMatcher),
    /// What lies between prefix and suffix is the level's name.
    New(String, String),
    /// What a level above found, between prefix and suffix.
    Known(String, String, String),
}

/// Names that were found, with what was found for them.
type Names = Vec<(String, String)>;

impl Tree {
    /// Opens a folder; `Ok(None)` when there is none.
    ///
    /// # Errors
    /// When it is there and cannot be opened, or a pattern is none.
    pub fn open_root(path: &Path, levels: &[String]) -> Result<Option<Self>, Unreadable> {
        let levels = parse(levels).map_err(|why| Unreadable::new(path, why))?;
        let Some((dir, path)) = open_folder(path)? else { return Ok(None) };
        Ok(Some(Self { dir, path, levels }))
    }

    /// The tree that a session's file is of, if it lies as one of the sources has it.
    ///
    /// # Errors
    /// When the folder cannot be opened.
    pub fn around(path: &Path, sources: &[parse::Source]) -> Result<Option<Self>, Unreadable> {
        for source in sources {
            let parse::Source::Tree(declared) = source else { continue };
            let depth = declared.levels.first().map_or(0, |level| level.split('/').count());
            let Some(root) = path.ancestors().nth(depth) else { continue };
            if let Some(tree) = Self::open_root(root, &declared.levels)?
                && tree.names(path)
            {
                return Ok(Some(tree));
            }
        }
        Ok(None)
    }

    /// The resolved folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Does the first pattern name this file?
    pub fn names(&self, path: &Path) -> bool {
        self.key_of(path).is_some()
    }

    /// Every session, by path.
    pub fn discover(&self) -> (Vec<Found>, Vec<Unreadable>) {
        let (mut found, mut unreadable) = (Vec::new(), Vec::new());
        let listed = self.each_of::<io::Error>(0, &Vec::new(), &mut |relative, _, names| {
            let path = self.path.join(relative);
            match self.version(relative, names) {
                Ok(version) => {
                    let key = names.last().map(|(_, key)| key.clone()).unwrap_or_default();
                    found.push(Found { path, key, stamp: Stamp::version(version), begins_at: None });
                }
                Err(error) => unreadable.push(Unreadable::new(&path, error)),
            }
            Ok(())
        });
        if let Err(error) = listed {
            unreadable.push(Unreadable::new(&self.path, error));
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        (found, unreadable)
    }

    /// Opens a session.
    ///
    /// # Errors
    /// Those of the system; `NotFound` when it is gone.
    pub fn open(self: &Rc<Self>, path: &Path, key: &str) -> io::Result<Opened> {
        let known = self.key_of(path).filter(|(_, found)| found == key).ok_or(io::ErrorKind::NotFound)?;
        let file = path.strip_prefix(&self.path).map_err(|_| io::ErrorKind::NotFound)?.to_owned();
        self.dir.metadata(&file)?;
        let names = vec![known];
        let stamp = Stamp::version(self.version(&file, &names)?);
        Ok(Opened { stamp, bytes: Bytes::Tree(Session { tree: Rc::clone(self), file, names }) })
    }

    fn key_of(&self, path: &Path) -> Option<(String, String)> {
        let relative = path.strip_prefix(&self.path).ok()?;
        let level = self.levels.first()?;
        let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_str()).collect::<Option<_>>()?;
        if parts.len() != level.components.len() {
            return None;
        }
        let mut key = None;
        for (component, part) in level.components.iter().zip(parts) {
            key = component.matches(part, &Vec::new())?.or(key);
        }
        Some((level.name.clone(), key?))
    }

    /// Changes when any file of the session does, comes or goes.
    fn version(&self, file: &Path, names: &Names) -> io::Result<String> {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        let mut add = |relative: &Path, metadata: &Metadata| {
            let stamp = stamp_of(metadata);
            hash.update(relative.as_os_str().as_encoded_bytes());
            hash.update(&stamp.size.to_le_bytes());
            hash.update(&stamp.mtime_ns.to_le_bytes());
        };
        add(file, &self.dir.metadata(file)?);
        self.each_below::<io::Error>(1, names, &mut |relative, metadata| {
            add(relative, metadata);
            Ok(())
        })?;
        Ok(format!("{:016x}", hash.digest()))
    }

    /// Visits the files of a level and, after each, those below it.
    fn each_below<E: From<io::Error>>(
        &self,
        level: usize,
        names: &Names,
        visit: &mut dyn FnMut(&Path, &Metadata) -> Result<(), E>,
    ) -> Result<(), E> {
        if level == self.levels.len() {
            return Ok(());
        }
        self.each_of(level, names, &mut |relative, metadata, names| {
            visit(relative, metadata)?;
            self.each_below(level + 1, names, visit)
        })
    }

    /// Visits the files of one level in the order of their names.
    fn each_of<E: From<io::Error>>(
        &self,
        level: usize,
        names: &Names,
        visit: &mut dyn FnMut(&Path, &Metadata, &Names) -> Result<(), E>,
    ) -> Result<(), E> {
        let level = &self.levels[level];
        self.descend(level, 0, Path::new(""), names, visit)
    }

    fn descend<E: From<io::Error>>(
        &self,
        level: &Level,
        depth: usize,
        below: &Path,
        names: &Names,
        visit: &mut dyn FnMut(&Path, &Metadata, &Names) -> Result<(), E>,
    ) -> Result<(), E> {
        let component = &level.components[depth];
        let last = depth + 1 == level.components.len();
        for (name, found) in self.entries(below, component, names)? {
            let relative = below.join(&name);
            // A link that leads out of the folder fails here, as does what vanished meanwhile.
            let metadata = match self.dir.metadata(&relative) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
            };
            let mut names = names.clone();
            names.extend(found.map(|found| (level.name.clone(), found)));
            if last && metadata.is_file() {
                visit(&relative, &metadata, &names)?;
            } else if !last && metadata.is_dir() {
                self.descend(level, depth + 1, &relative, &names, visit)?;
            }
        }
        Ok(())
    }

    /// Entries of a folder that a component matches, by name, each with what it found for a new name.
    fn entries(&self, below: &Path, component: &Component, names: &Names) -> io::Result<Vec<(String, Option<String>)>> {
        if let Some(name) = component.fixed(names) {
            return Ok(vec![(name, None)]);
        }
        let folder = if below.as_os_str().is_empty() { self.dir.entries() } else { self.dir.read_dir(below) };
        let folder = match folder {
            Ok(folder) => folder,
            // A session without messages has no folder for them.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut entries = Vec::new();
        for entry in folder {
            // No tool gives its files names that are no text.
            let Ok(name) = entry?.file_name().into_string() else { continue };
            if let Some(found) = component.matches(&name, names) {
                entries.push((name, found));
            }
        }
        entries.sort();
        Ok(entries)
    }
}

impl Component {
    fn parse(text: &str, known: &[String], name: &mut Option<String>) -> Result<Self, String> {
        if matches!(text, "" | "." | "..") {
            return Err(format!("`{text}` is no part of a pattern"));
        }
        if let Some((prefix, rest)) = text.split_once('{') {
            let (inside, suffix) = rest.split_once('}').ok_or_else(|| format!("`{text}` has no closing brace"))?;
            if [prefix, inside, suffix].concat().contains(['*', '{', '}']) || inside.is_empty() {
                return Err(format!("`{text}` may hold one name in braces and nothing else that is special"));
            }
            let (prefix, suffix) = (prefix.to_owned(), suffix.to_owned());
            if known.iter().any(|known| known == inside) {
                return Ok(Self::Known(prefix, inside.to_owned(), suffix));
            }
            return match name.replace(inside.to_owned()) {
                None => Ok(Self::New(prefix, suffix)),
                Some(other) => Err(format!("`{{{other}}}` and `{{{inside}}}` are both new at one level")),
            };
        }
        if text.contains('*') {
            let glob = GlobBuilder::new(text).literal_separator(true).build().map_err(|error| error.to_string())?;
            return Ok(Self::Glob(glob.compile_matcher()));
        }
        Ok(Self::Literal(text.to_owned()))
    }

    /// The one name it can match, where that is known.
    fn fixed(&self, names: &Names) -> Option<String> {
        match self {
            Self::Literal(text) => Some(text.clone()),
            Self::Known(prefix, name, suffix) => {
                let (_, found) = names.iter().find(|(known, _)| known == name)?;
                Some(format!("{prefix}{found}{suffix}"))
            }
            Self::Glob(_) | Self::New(..) => None,
        }
    }

    /// Does it match this name, and what is found in it for a new name?
    fn matches(&self, entry: &str, names: &Names) -> Option<Option<String>> {
        match self {
            Self::Glob(glob) => glob.is_match(entry).then_some(None),
            Self::New(prefix, suffix) => {
                let found = entry.strip_prefix(prefix.as_str())?.strip_suffix(suffix.as_str())?;
                (!found.is_empty()).then(|| Some(found.to_owned()))
            }
            Self::Literal(_) | Self::Known(..) => (self.fixed(names)? == entry).then_some(None),
        }
    }
}

fn parse(patterns: &[String]) -> Result<Vec<Level>, String> {
    let mut known = Vec::new();
    let mut levels = Vec::new();
    for pattern in patterns {
        let mut name = None;
        let components =
            pattern.split('/').map(|part| Component::parse(part, &known, &mut name)).collect::<Result<_, _>>()?;
        let name = name.ok_or_else(|| format!("`{pattern}` brings in no new `{{name}}`"))?;
        known.push(name.clone());
        levels.push(Level { components, name });
    }
    if levels.is_empty() { Err("a tree without levels".to_owned()) } else { Ok(levels) }
}

/// Are these patterns of a tree?
///
/// # Errors
/// Says which is none, and why.
pub fn check(patterns: &[String]) -> Result<(), String> {
    parse(patterns).map(drop)
}

/// A session of a tree, open.
pub(crate) struct Session {
    tree: Rc<Tree>,
    file: PathBuf,
    names: Names,
}

impl Session {
    /// Gives the content of each file, the session's own first.
    pub(super) fn each_row<E: From<io::Error>>(&self, row: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut content = Vec::new();
        let mut read = |relative: &Path| {
            content.clear();
            let fail = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", relative.display()));
            let file = self.tree.dir.open(relative).map_err(fail)?;
            file.take(MAX_FILE + 1).read_to_end(&mut content).map_err(fail)?;
            if content.len() as u64 > MAX_FILE {
                return Err(fail(io::Error::other(format!("larger than {} MiB", MAX_FILE >> 20))).into());
            }
            row(&content)
        };
        read(&self.file)?;
        self.tree.each_below(1, &self.names, &mut |relative, _| read(relative))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn levels(patterns: &[&str]) -> Vec<String> {
        patterns.iter().map(|&pattern| pattern.to_owned()).collect()
    }

    fn open(root: &Path) -> Rc<Tree> {
        let levels =
            levels(&["session/*/{session}.json", "message/{session}/{message}.json", "part/{message}/{part}.json"]);
        Rc::new(Tree::open_root(root, &levels).unwrap().unwrap())
    }

    fn write(root: &Path, files: &[&str]) {
        for file in files {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), format!("{{\n\"file\": {file:?}}}")).unwrap();
        }
    }

    fn read(tree: &Rc<Tree>, found: &Found) -> String {
        let mut bytes = Vec::new();
        let mut opened = tree.open(&found.path, &found.key).unwrap();
        opened
            .each_chunk::<io::Error>(0, &mut |chunk| {
                bytes.extend_from_slice(chunk);
                Ok(())
            })
            .unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_session_is_its_files_from_the_top_down() {
        let dir = tempfile::tempdir().unwrap();
        write(
            dir.path(),
            &[
                "session/p1/s1.json",
                "session/p2/s2.json",
                "session/p2/notes.txt",
                "message/s1/m2.json",
                "message/s1/m1.json",
                "message/other/m9.json",
                "part/m1/b.json",
                "part/m1/a.json",
                "part/m9/z.json",
            ],
        );
        let tree = open(dir.path());
        let (found, unreadable) = tree.discover();
        assert!(unreadable.is_empty(), "{unreadable:?}");
        assert_eq!(found.iter().map(|found| found.key.as_str()).collect::<Vec<_>>(), ["s1", "s2"]);
        let order = ["session/p1/s1", "message/s1/m1", "part/m1/a", "part/m1/b", "message/s1/m2"];
        let rows = order.map(|file| format!("{{ \"file\": \"{file}.json\"}}\n"));
        assert_eq!(read(&tree, &found[0]), rows.concat());

        write(dir.path(), &["part/m2/new.json"]);
        let (after, _) = tree.discover();
        assert_ne!(after[0].stamp, found[0].stamp, "a part more is a change");
        assert_eq!(after[1].stamp, found[1].stamp);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_leads_out() {
        let outside = tempfile::tempdir().unwrap();
        write(outside.path(), &["m1.json"]);
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &["session/p/s1.json", "session/p/s2.json"]);
        fs::create_dir(dir.path().join("message")).unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("message/s1")).unwrap();
        let (found, unreadable) = open(dir.path()).discover();
        assert_eq!(found.iter().map(|found| found.key.as_str()).collect::<Vec<_>>(), ["s2"]);
        assert_eq!(unreadable.len(), 1, "the session with the link is told: {unreadable:?}");
    }

    #[test]
    fn patterns_are_checked() {
        for bad in
            [&["x.json"][..], &["../{a}.json"], &["{a}{b}"], &["{a}*"], &["{a"], &["{a}/{b}"], &[], &["{a}", "{a}"]]
        {
            assert!(check(&levels(bad)).is_err(), "{bad:?}");
        }
        check(&levels(&["{a}/x-*.json", "{a}/{b}"])).unwrap();
    }
}
