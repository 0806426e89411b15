//! What a text names: files, versions, modules, tickets, functions. The predecessor's rules (RLM 0.11), in its order and
//! with its bound, so that its chunks keep their entities.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

/// Most entities of one text.
const MOST: usize = 50;
/// Longest one, in bytes.
const LONGEST: usize = 200;

/// In the order in which they fill the bound.
static RULES: LazyLock<[Regex; 5]> = LazyLock::new(|| {
    [
        // Files, by what they end with.
        r"[\w./\\-]*\w\.(?:py|rs|ts|tsx|js|jsx|mjs|go|java|kt|rb|c|h|cpp|hpp|cs|php|swift|sh|sql|md|json|jsonl|toml|yaml|yml|xml|html|css|scss|lock|txt|csv|ini|cfg|conf|wit|wasm|proto|vue|svelte|ipynb|lua|zig|ex|exs)\b",
        // Versions of three numbers at least.
        r"\bv?\d+\.\d+\.\d+(?:\.\d+)*\b",
        // Modules, behind the words that name them.
        r"\b(?:import|from|module|package|pip install)\s+([A-Za-z_][\w-]*(?:\.[\w-]+)*)",
        // Tickets.
        r"\b[A-Z]{2,}-\d+\b",
        // Functions, called.
        r"\b([A-Za-z_]\w*)\(\)",
    ]
    .map(|rule| Regex::new(rule).expect("the rules are written here"))
});

/// The files that a text names with a place to look for them, in their order: not those behind a sign that stands for a
/// folder, as in `~/a.rs`, `$HOME/a.rs` or `src/*/a.rs`.
pub(crate) fn files(text: &str) -> impl Iterator<Item = &str> {
    let stands_for = |c: char| matches!(c, '~' | '$' | '{' | '}' | '*' | '?' | '%' | ':' | '@' | '>');
    RULES[0]
        .find_iter(text)
        .filter(move |file| file.len() <= LONGEST && !text[..file.start()].ends_with(stands_for))
        .map(|file| file.as_str())
}

/// The entities of a text, at most 50, each once.
pub(crate) fn entities(text: &str) -> Vec<String> {
    let (mut found, mut known) = (Vec::new(), BTreeSet::new());
    for rule in RULES.iter() {
        for captures in rule.captures_iter(text) {
            let Some(name) = captures.get(1).or_else(|| captures.get(0)) else { continue };
            let name = name.as_str();
            if name.len() <= LONGEST && known.insert(name) {
                found.push(name.to_owned());
            }
            if found.len() == MOST {
                return found;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::entities;

    #[test]
    fn all_five_sorts_are_found_once() {
        let text =
            "BILL-77: src/price.rs calls round_cents() since 1.4.2; import decimal. round_cents() and src/price.rs";
        assert_eq!(entities(text), ["src/price.rs", "1.4.2", "decimal", "BILL-77", "round_cents"]);
    }

    #[test]
    fn there_are_fifty_at_most() {
        let text: String = (0..200).map(|i| format!("file{i}.rs ")).collect();
        assert_eq!(entities(&text).len(), 50);
    }
}
