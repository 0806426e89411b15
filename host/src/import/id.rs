//! Names of patterns: the other program took them from a model, or made them of a description's Latin letters and digits.

use crate::pattern;

/// What it called what has no Latin letters.
const NAMELESS: &str = "pattern";

/// Characters that it cut its names to.
const LENGTH: usize = 60;

/// Why a pattern cannot keep its name here. None: it can.
pub(super) fn fault(id: &str, description: &str) -> Option<Fault> {
    if id.contains(['/', '\\']) || id.split('.').all(str::is_empty) {
        return Some(Fault::Path);
    }
    if id == NAMELESS || is_remnant(id, description) {
        return Some(Fault::Collapsed);
    }
    if id.chars().count() > pattern::ID_LENGTH {
        return Some(Fault::Long);
    }
    (!pattern::is_id(id)).then_some(Fault::Characters)
}

/// See [`fault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It leads to another folder.
    Path,
    /// Descriptions in other scripts than the Latin end up under one name.
    Collapsed,
    /// It is too long.
    Long,
    /// It has characters that names here do not have.
    Characters,
    /// A pattern here that is another friction has the name.
    Taken,
}

impl Fault {
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Path => "it leads to another folder",
            Self::Collapsed => {
                "the old program gave this name to every description with the same Latin letters, or with none"
            }
            Self::Long => "it is longer than names here are",
            Self::Characters => "it has characters that names here do not have",
            Self::Taken => "another pattern here has this name",
        }
    }
}

/// Whether the name is what the other program left of a description that is mostly of other scripts.
fn is_remnant(id: &str, description: &str) -> bool {
    let latin = description.chars().filter(char::is_ascii_alphanumeric).count();
    let letters = description.chars().filter(|c| c.is_alphanumeric()).count();
    if latin * 2 >= letters {
        return false;
    }
    let words = description.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let left = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    left.chars().take(LENGTH).eq(id.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_kept_and_names_that_are_not() {
        for kept in ["re-reads-unchanged-files", "uses-npm", "测试-先跑", "A1"] {
            assert_eq!(fault(kept, "Re-reads unchanged files"), None, "{kept}");
        }
        let long = "a".repeat(65);
        for (id, fault_of) in [
            ("../../x", Fault::Path),
            ("..\\x", Fault::Path),
            ("/etc/x", Fault::Path),
            ("..", Fault::Path),
            ("", Fault::Path),
            ("pattern", Fault::Collapsed),
            (long.as_str(), Fault::Long),
            ("two words", Fault::Characters),
            ("a\u{1b}[31m", Fault::Characters),
            ("under_score", Fault::Characters),
        ] {
            assert_eq!(fault(id, "Re-reads unchanged files"), Some(fault_of), "{id}");
        }
    }

    #[test]
    fn a_name_of_the_few_latin_letters_of_another_script_is_nobodys() {
        assert_eq!(fault("npm", "应该用 pnpm，却用了 npm 安装依赖"), None, "a model chose it");
        assert_eq!(fault("pnpm-npm", "应该用 pnpm，却用了 npm 安装依赖"), Some(Fault::Collapsed));
        assert_eq!(fault("uses-npm", "uses npm 。"), None);
        assert_eq!(fault("caf-menu", "Café menu"), None);
    }
}
