//! Which pattern a model's finding is of.
//!
//! A model puts the same friction another way each day. A finding joins a pattern by the id that it names, else by its exact
//! subject, else because it says what others say; else it begins a pattern. As with the words of people, the pairs that are
//! alike are taken from the most alike down, and two clusters become one if they are alike on average. Two patterns that
//! something refers to, or that signals gave, are never put together by likeness: that is for a decision, which can be
//! undone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::decision::SPLIT;
use super::group::{Gathered, Key, SPOKEN, keys_by_id};
use super::likeness::{self, ALIKE, ALIKE_ON_AVERAGE, Features, Vocabulary};
use super::{Anchor, Incident, Session, normal};
use crate::finding::Category;

/// Texts of a cluster that stand for all of it when averages are taken.
const SAMPLE: usize = 12;

/// Sorts of friction that a model takes for each other. What a person has to say twice is a rule that was not kept to one
/// reader, and a lost patience to another.
fn family(category: Category) -> Category {
    match category {
        Category::RepeatedCorrection
        | Category::ClarificationGap
        | Category::RuleViolation
        | Category::Frustration
        | Category::MisunderstoodIntent => Category::MisunderstoodIntent,
        other => other,
    }
}

/// Whether a model may take one sort of friction for the other.
pub fn compatible(a: Category, b: Category) -> bool {
    family(a) == family(b)
}

/// What is compared of a finding, and what makes two of them the same without comparing.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Text {
    /// The pattern it is of because it says so.
    named: Option<Key>,
    family: Category,
    subject: String,
    /// None: the finding says nothing, and its subject is its session's name.
    detail: Option<String>,
}

/// Texts that are one pattern.
#[derive(Debug, Default)]
struct Cluster {
    /// Indices, ascending.
    texts: Vec<usize>,
    /// The pattern that there is already.
    target: Option<Key>,
}

/// Puts a model's findings, in chronological order, to those that are gathered.
pub(super) fn join<'a>(sessions: &[Session], judged: &[Incident<'a>], anchors: &[Anchor], gathered: &mut Gathered<'a>) {
    if judged.is_empty() {
        return;
    }
    let ids = keys_by_id(anchors, gathered);
    let mut incidents: BTreeMap<Text, Vec<Incident<'a>>> = BTreeMap::new();
    for incident in judged {
        let named = incident.finding.judged.as_ref().and_then(|judged| ids.get(judged.pattern.as_deref()?)).cloned();
        incidents.entry(text(sessions, incident, named)).or_default().push(*incident);
    }
    // The anchors' own words take part, and count nothing.
    for anchor in anchors.iter().filter(|anchor| anchor.project.is_none() && anchor.kind != SPLIT) {
        let named = ids.get(anchor.id.as_str()).cloned();
        let subject = normal(&anchor.subject);
        incidents
            .entry(Text { named, family: family(anchor.category), subject, detail: Some(String::new()) })
            .or_default();
    }
    drop(ids);

    let (texts, incidents): (Vec<Text>, Vec<Vec<Incident<'a>>>) = incidents.into_iter().unzip();
    let known = Subjects::new(&texts, anchors, gathered);
    for cluster in clusters(&texts, &known) {
        let members: Vec<Incident<'a>> =
            cluster.texts.iter().flat_map(|&text| incidents[text].iter().copied()).collect();
        let Some(oldest) =
            members.iter().min_by(|a, b| super::chronology(sessions, a).cmp(&super::chronology(sessions, b)))
        else {
            continue;
        };
        let key = cluster.target.unwrap_or_else(|| Key {
            kind: oldest.finding.category.name().to_owned(),
            project: None,
            text: text(sessions, oldest, None).subject,
        });
        gathered.findings.entry(key).or_default().extend(members);
    }
}

/// A finding that says nothing is its session's alone: what is empty is not the same.
fn text(sessions: &[Session], incident: &Incident<'_>, named: Option<Key>) -> Text {
    let finding = incident.finding;
    let session = &sessions[incident.session];
    let (subject, detail) = match (normal(&finding.subject), normal(&finding.detail)) {
        (subject, detail) if subject.is_empty() && detail.is_empty() => {
            (format!("{} {}", session.tool, session.id), None)
        }
        (subject, detail) if subject.is_empty() => (detail.clone(), Some(detail)),
        (subject, detail) => (subject, Some(detail)),
    };
    Text { named, family: family(finding.category), subject, detail }
}

/// Patterns that there are already, by what they are about.
struct Subjects(HashMap<(Category, String), Key>);

impl Subjects {
    fn new(texts: &[Text], anchors: &[Anchor], gathered: &Gathered<'_>) -> Self {
        let wanted: BTreeSet<(Category, &str)> =
            texts.iter().filter(|text| text.named.is_none()).map(|text| (text.family, text.subject.as_str())).collect();
        // Of several, what is referred to (longest) first, then the kind that is the category's namesake.
        let mut found: BTreeMap<(Category, String), ((usize, bool), Key)> = BTreeMap::new();
        let mut offer = |category: Category, subject: String, key: &Key| {
            let subject = (family(category), subject);
            if !wanted.contains(&(subject.0, subject.1.as_str())) {
                return;
            }
            let anchored = gathered.anchors.get(key).and_then(|of| of.first()).copied().unwrap_or(usize::MAX);
            let offered = ((anchored, key.kind != category.name()), key.clone());
            match found.get_mut(&subject) {
                Some(best) if *best <= offered => {}
                Some(best) => *best = offered,
                None => drop(found.insert(subject, offered)),
            }
        };
        for (key, members) in &gathered.findings {
            if key.project.is_some() {
                continue;
            }
            if key.kind == SPOKEN {
                for words in members.iter().filter_map(|member| member.finding.words.as_deref()) {
                    offer(Category::MisunderstoodIntent, normal(words), key);
                }
            } else {
                offer(Category::of(&key.kind, false), key.text.clone(), key);
            }
        }
        for (key, of) in &gathered.anchors {
            for anchor in of.iter().map(|&index| &anchors[index]) {
                if anchor.project.is_none() && anchor.kind != SPLIT {
                    offer(anchor.category, normal(&anchor.subject), key);
                    offer(anchor.category, anchor.key.clone(), key);
                }
            }
        }
        Self(found.into_iter().map(|(subject, (_, key))| (subject, key)).collect())
    }

    fn key<'k>(&'k self, text: &'k Text) -> Option<&'k Key> {
        text.named.as_ref().or_else(|| self.0.get(&(text.family, text.subject.clone())))
    }
}

fn clusters(texts: &[Text], known: &Subjects) -> Vec<Cluster> {
    let mut clusters: Vec<Cluster> = Vec::new();
    let mut of: Vec<usize> = Vec::with_capacity(texts.len());
    let mut by_target: BTreeMap<&Key, usize> = BTreeMap::new();
    let mut by_subject: BTreeMap<(Category, &str), usize> = BTreeMap::new();
    for (index, text) in texts.iter().enumerate() {
        let next = clusters.len();
        let number = match known.key(text) {
            Some(key) => *by_target.entry(key).or_insert(next),
            None => *by_subject.entry((text.family, &text.subject)).or_insert(next),
        };
        if number == next {
            clusters.push(Cluster { texts: Vec::new(), target: known.key(text).cloned() });
        }
        clusters[number].texts.push(index);
        of.push(number);
    }

    let mut vocabulary = Vocabulary::default();
    let features: Vec<Features> = texts
        .iter()
        .map(|text| text.detail.as_ref().map(|detail| vocabulary.features(&text.subject, detail)).unwrap_or_default())
        .collect();
    for (_, a, b) in alike_pairs(texts, &features, vocabulary.len()) {
        let (a, b) = (of[a].min(of[b]), of[a].max(of[b]));
        if a == b || clusters[a].target.is_some() && clusters[b].target.is_some() {
            continue;
        }
        if average(&features, &clusters[a].texts, &clusters[b].texts) >= ALIKE_ON_AVERAGE {
            let gone = std::mem::take(&mut clusters[b]);
            for &text in &gone.texts {
                of[text] = a;
            }
            clusters[a].texts.extend(gone.texts);
            clusters[a].texts.sort_unstable();
            clusters[a].target = clusters[a].target.take().or(gone.target);
        }
    }
    clusters.retain(|cluster| !cluster.texts.is_empty());
    clusters
}

/// Pairs that are alike, most alike first.
fn alike_pairs(texts: &[Text], features: &[Features], vocabulary: usize) -> Vec<(u64, usize, usize)> {
    let mut holders: Vec<Vec<usize>> = vec![Vec::new(); vocabulary];
    let mut pairs = Vec::new();
    let mut seen = vec![usize::MAX; texts.len()];
    for (index, one) in features.iter().enumerate() {
        for &feature in one.all() {
            for &other in &holders[feature as usize] {
                if seen[other] == index {
                    continue;
                }
                seen[other] = index;
                if texts[other].family != texts[index].family {
                    continue;
                }
                let likeness = likeness::likeness(one, &features[other]);
                if likeness >= ALIKE {
                    pairs.push((u64::MAX - (likeness * 1e9) as u64, other, index));
                }
            }
            holders[feature as usize].push(index);
        }
    }
    pairs.sort_unstable();
    pairs
}

fn average(features: &[Features], a: &[usize], b: &[usize]) -> f64 {
    let (a, b) = (&a[..a.len().min(SAMPLE)], &b[..b.len().min(SAMPLE)]);
    let sum: f64 = a.iter().flat_map(|&x| b.iter().map(move |&y| likeness::likeness(&features[x], &features[y]))).sum();
    sum / (a.len() * b.len()).max(1) as f64
}
