//! Is a memory possibly outdated? It is if it names a file that is not there any more.

use std::path::Path;

use super::{Category, Memory};
use crate::chunk::files;

/// Files that a memory names by folder and name and that are not there, in the order in which it names them. `exists` tells of
/// a path whether it is there.
///
/// A name alone (`README.md`, `Node.js`) tells no place, a todo may name what is still to be made, and where the project's
/// folder is not there itself, as on another machine, nothing can be told.
pub fn missing(memory: &Memory, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    let mut gone: Vec<String> = Vec::new();
    if memory.category == Category::Todo {
        return gone;
    }
    let folder = memory.project.as_deref().map(Path::new).filter(|folder| folder.is_absolute() && exists(folder));
    let is_there = |name: &str| match (Path::new(name).is_absolute(), folder) {
        (true, _) => exists(Path::new(name)),
        (false, Some(folder)) => exists(&folder.join(name)),
        (false, None) => true,
    };
    for name in files(&memory.content) {
        // Of words without blanks between them, as `见src/price.rs`, only the end is a name.
        let bare = name.trim_start_matches(|c: char| !c.is_ascii());
        let is_path = bare.contains('/') && !bare.contains('\\') && !bare.starts_with("//");
        if is_path && !is_there(name) && !is_there(bare) && !gone.iter().any(|known| known == bare) {
            gone.push(bare.to_owned());
        }
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Importance, Trust};

    fn of(content: &str, project: Option<&str>) -> Vec<String> {
        let memory = Memory {
            row: 1,
            id: "00000001".to_owned(),
            content: content.to_owned(),
            category: Category::Fact,
            importance: Importance::Medium,
            trust: Trust::Person,
            confidence: 1.0,
            tags: Vec::new(),
            project: project.map(str::to_owned),
            session: None,
            domain: None,
            ticket: None,
            created_at: 0,
            expires_at: None,
            done_at: None,
            superseded_by: None,
            superseded_at: None,
        };
        let there = ["/w/app", "/w/app/src/price.rs", "/etc/app.conf"];
        missing(&memory, |path| there.iter().any(|it| path == Path::new(it)))
    }

    #[test]
    fn only_what_can_be_told_is_called_gone() {
        let app = Some("/w/app");
        assert_eq!(of("rounding is in src/price.rs, tax in src/tax.rs:12 and src/tax.rs", app), ["src/tax.rs"]);
        assert_eq!(of("see /etc/app.conf and /etc/old.conf", None), ["/etc/old.conf"]);
        assert_eq!(of("见src/price.rs，不在src/gone.rs", app), ["src/gone.rs"]);
        for nothing in [
            "Node.js reads package.json",
            "https://corp.example/a/b.json",
            "~/notes/a.md and $HOME/b.md and src/*.rs and {dir}/c.rs",
            r"C:\work\a.rs",
        ] {
            assert_eq!(of(nothing, app), Vec::<String>::new(), "{nothing}");
        }
        assert_eq!(of("src/tax.rs", None), Vec::<String>::new());
        assert_eq!(of("src/tax.rs", Some("/gone")), Vec::<String>::new(), "the project is not on this machine");
        assert_eq!(of("src/tax.rs", Some("app")), Vec::<String>::new());
    }
}
