//! The descriptions by which a model chooses a skill.
//!
//! No model runs here, and nothing here shows that one chooses well. What can be checked without one: a description fits
//! into the client's listing (`tests/clients` reads it there, in the real client), says when to use the skill and when not
//! to, and has the words in it that people use. For the last there are labelled prompts in `triggers.toml`: by the words
//! that they share with a description, weighted by how few of the descriptions have them, each must be nearest to its own
//! skill, and those for none must stay below what the others reach. A description that is reworded until it no longer has
//! people's words fails here.

use std::collections::{BTreeMap, BTreeSet};

use crate::{names, text, words::parts};

/// Longest in the standard for skills; the client cuts off what is longer than its listing.
const LONGEST: usize = 1_024;

/// Words that say nothing about what a prompt is for.
const COMMON: &[&str] = &[
    "the", "and", "that", "this", "with", "for", "has", "have", "had", "was", "what", "when", "where", "which", "how",
    "why", "you", "your", "our", "from", "not", "are", "but", "some", "any", "did", "does", "let", "now", "its", "out",
    "who", "they", "into", "about", "all", "been", "will", "would", "should", "use", "only", "never", "just", "such",
    "these", "those", "there",
];

fn description(skill: &str) -> String {
    parts(&format!("skills/{skill}/SKILL.md")).0["description"].as_str().unwrap().to_owned()
}

/// The words of a text that say something, without their endings.
fn stems(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let telling = words.filter(|word| word.len() > 2 && !COMMON.contains(&word.as_str()));
    let stem = |word: String| {
        let ends = ["ations", "ation", "ings", "ing", "als", "al", "ion", "ions", "ed", "es", "s", "e"];
        let end = ends.iter().find(|end| word.ends_with(**end) && word.len() - end.len() >= 3);
        word[..word.len() - end.map_or(0, |end| end.len())].to_owned()
    };
    telling.map(stem).collect()
}

/// How much a prompt has in common with each description.
fn scores(prompt: &str, skills: &BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, f64> {
    let prompt = stems(prompt);
    let weight = |word: &String| {
        let in_how_many = skills.values().filter(|words| words.contains(word)).count();
        1.0 / in_how_many as f64
    };
    skills.iter().map(|(skill, words)| (skill.clone(), prompt.intersection(words).map(weight).sum())).collect()
}

#[test]
fn a_description_says_when_and_when_not_and_fits() {
    for skill in names("skills") {
        let description = description(&skill);
        assert!(description.len() <= LONGEST && !description.contains('\n'), "{skill}: {} bytes", description.len());
        assert!(description.contains(" Use when "), "{skill} does not say when");
        assert!(description.contains("Not for") || description.contains("Never"), "{skill} does not say when not");
        assert!(!description.contains('<') && !description.contains('>'), "{skill}: it is shown between tags");
    }
}

#[test]
fn descriptions_have_the_words_that_people_use() {
    let labelled: BTreeMap<String, Vec<String>> = toml::from_str(&text("host/tests/plugin/triggers.toml")).unwrap();
    let skills: BTreeMap<_, _> =
        names("skills").into_iter().map(|skill| (skill.clone(), stems(&description(&skill)))).collect();
    let mut labels: Vec<_> = skills.keys().cloned().collect();
    labels.insert(0, "none".to_owned());
    assert_eq!(labelled.keys().cloned().collect::<Vec<_>>(), labels);
    let (mut least_of_ours, mut most_of_none) = (f64::MAX, 0.0_f64);
    for (label, prompts) in &labelled {
        assert!(prompts.len() >= 5, "{label}");
        for prompt in prompts {
            let scores = scores(prompt, &skills);
            if label == "none" {
                most_of_none = scores.values().copied().fold(most_of_none, f64::max);
                continue;
            }
            let ours = scores[label];
            least_of_ours = least_of_ours.min(ours);
            for (skill, score) in scores.iter().filter(|(skill, _)| *skill != label) {
                assert!(ours > *score, "{prompt:?} is for {label} ({ours}) and has more of {skill} ({score})");
            }
        }
    }
    assert!(least_of_ours > most_of_none, "a prompt for a skill has {least_of_ours}, one for none {most_of_none}");
}
