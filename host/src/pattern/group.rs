//! Which findings are one pattern, before anything was decided about it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Anchor, Incident, Session, Words, cluster, id, join, normal};
use crate::finding::{Scope, scope_of};

/// Kind of groups of human words, as ids show it.
pub(super) const SPOKEN: &str = "correction";

/// What makes findings one pattern.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// The kind, or [`SPOKEN`] for the words of people, which mean the same whichever kind of signal holds them.
    pub(super) kind: String,
    pub(super) project: Option<String>,
    /// The subject in its normal form; for words, those of the oldest finding.
    pub(super) text: String,
}

impl Key {
    pub(super) fn of(anchor: &Anchor) -> Self {
        Self { kind: anchor.kind.clone(), project: anchor.project.clone(), text: anchor.key.clone() }
    }
}

/// Findings that are one pattern.
#[derive(Debug, Clone)]
pub(super) struct Group<'a> {
    pub(super) key: Key,
    pub(super) id: String,
    /// The oldest of those that fell into it.
    pub(super) anchor: Option<Anchor>,
    /// Other ids that lead here.
    pub(super) aliases: Vec<String>,
    /// Its own findings, in chronological order.
    pub(super) members: Vec<Incident<'a>>,
    /// Findings of patterns that were merged into it.
    pub(super) merged: Vec<Incident<'a>>,
    /// Whether its subject is what a person said.
    pub(super) spoken: bool,
    pub(super) title: Option<String>,
    pub(super) muted: bool,
}

impl<'a> Group<'a> {
    pub(super) fn new(key: Key, id: String, anchor: Option<Anchor>) -> Self {
        let spoken = key.kind == SPOKEN;
        Self {
            key,
            id,
            anchor,
            aliases: Vec::new(),
            members: Vec::new(),
            merged: Vec::new(),
            spoken,
            title: None,
            muted: false,
        }
    }

    /// Takes in another one, which is the same friction. A title is kept if this one has none.
    pub(super) fn take_in(&mut self, other: Self) {
        self.aliases.extend(other.aliases);
        if self.members.is_empty() && self.merged.is_empty() {
            self.key.project = other.key.project;
        } else if self.key.project != other.key.project {
            self.key.project = None;
        }
        self.merged.extend(other.members.into_iter().chain(other.merged));
        if self.title.is_none() {
            self.title = other.title;
        }
    }
}

/// Findings by key, and the anchors (as indices, the oldest first) that each key has.
#[derive(Debug, Default)]
pub(super) struct Gathered<'a> {
    pub(super) findings: BTreeMap<Key, Vec<Incident<'a>>>,
    pub(super) anchors: BTreeMap<Key, BTreeSet<usize>>,
}

/// Findings by what makes them one pattern. `incidents` are in chronological order, and so are the members.
pub(super) fn gather<'a>(sessions: &[Session], incidents: &[Incident<'a>], anchors: &[Anchor]) -> Vec<Group<'a>> {
    let (judged, seen): (Vec<Incident<'a>>, Vec<Incident<'a>>) =
        incidents.iter().partition(|i| i.finding.judged.is_some());
    let (spoken, silent): (Vec<Incident<'a>>, Vec<Incident<'a>>) = seen.iter().partition(|i| i.finding.words.is_some());
    let mut gathered = Gathered::default();
    for (index, anchor) in anchors.iter().enumerate().filter(|(_, anchor)| anchor.kind != SPOKEN) {
        gathered.anchors.entry(Key::of(anchor)).or_default().insert(index);
    }
    words(sessions, &spoken, anchors, &mut gathered);
    for incident in silent {
        gathered.findings.entry(by_subject(sessions, &incident)).or_default().push(incident);
    }
    join::join(sessions, &judged, anchors, &mut gathered);
    let Gathered { findings, anchors: mut of } = gathered;
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (key, mut members) in findings {
        members.sort_by(|a, b| super::chronology(sessions, a).cmp(&super::chronology(sessions, b)));
        let anchored: Vec<&Anchor> = of.remove(&key).into_iter().flatten().map(|index| &anchors[index]).collect();
        let group = match anchored.split_first() {
            Some((oldest, others)) => Group {
                members,
                aliases: others.iter().map(|anchor| anchor.id.clone()).collect(),
                ..Group::new(key, oldest.id.clone(), Some((*oldest).clone()))
            },
            None => {
                let id = id::of(&key.kind, key.project.as_deref(), &key.text, &said(&key, members[0]));
                Group { members, ..Group::new(key, id, None) }
            }
        };
        groups.push(group);
    }
    // Two anchors that nothing was found for may still be one friction.
    for anchored in of.into_values() {
        let mut ids = anchored.into_iter().map(|index| &anchors[index]);
        let Some(oldest) = ids.next() else { continue };
        let aliases = ids.map(|anchor| anchor.id.clone()).collect();
        groups.push(Group { aliases, ..Group::new(Key::of(oldest), oldest.id.clone(), Some(oldest.clone())) });
    }
    groups
}

/// What the id's words are taken from.
fn said(key: &Key, oldest: Incident<'_>) -> String {
    let finding = oldest.finding;
    match &finding.words {
        Some(words) if key.kind == SPOKEN => words.clone(),
        _ => finding.subject.clone(),
    }
}

/// Groups what people said. The words of anchors take part, and count nothing.
fn words<'a>(sessions: &[Session], spoken: &[Incident<'a>], anchors: &[Anchor], gathered: &mut Gathered<'a>) {
    let anchored: Vec<usize> = (0..anchors.len()).filter(|&index| anchors[index].kind == SPOKEN).collect();
    let words: Vec<Words> = spoken
        .iter()
        .map(|i| Words::of(i.finding.words.as_deref().unwrap_or_default()))
        .chain(anchored.iter().map(|&index| Words::of_key(&anchors[index].key)))
        .collect();
    let mut clusters: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, number) in cluster(&words.iter().collect::<Vec<_>>()).into_iter().enumerate() {
        clusters.entry(number).or_default().push(index);
    }
    for members in clusters.into_values() {
        let (members, held): (Vec<usize>, Vec<usize>) = members.into_iter().partition(|&m| m < spoken.len());
        let held: BTreeSet<usize> = held.into_iter().map(|index| anchored[index - spoken.len()]).collect();
        let text = match (members.first(), held.first()) {
            (Some(&oldest), _) => words[oldest].tokens().join(" "),
            (None, Some(&index)) => anchors[index].key.clone(),
            (None, None) => continue,
        };
        let alone = held.is_empty() && members.iter().all(|&m| spoken[m].session == spoken[members[0]].session);
        let key = Key { kind: SPOKEN.into(), project: None, text };
        let says_nothing = key.text.is_empty();
        for member in members {
            let incident = spoken[member];
            // A refusal has a second subject, the refused call. It counts where the words are nobody else's.
            let refused = (incident.finding.kind == "permission-denied").then(|| by_subject(sessions, &incident));
            let key = match refused {
                Some(call) if alone || says_nothing || held.is_empty() && gathered.anchors.contains_key(&call) => call,
                _ => key.clone(),
            };
            gathered.findings.entry(key).or_default().push(incident);
        }
        if !held.is_empty() {
            gathered.anchors.entry(key).or_default().extend(held);
        }
    }
}

fn by_subject(sessions: &[Session], incident: &Incident<'_>) -> Key {
    let (project, finding) = (&sessions[incident.session].project, incident.finding);
    let scoped = scope_of(&finding.kind) == Scope::Project;
    let subject = if scoped { id::within(&finding.subject, project) } else { finding.subject.clone() };
    Key { kind: finding.kind.clone(), project: scoped.then(|| project.clone()), text: normal(&subject) }
}

/// Where the id of an anchor leads: the key of its group.
pub(super) fn keys_by_id<'k>(anchors: &'k [Anchor], gathered: &Gathered<'_>) -> HashMap<&'k str, Key> {
    let mut keys = HashMap::new();
    for (key, indices) in &gathered.anchors {
        for &index in indices {
            keys.insert(anchors[index].id.as_str(), key.clone());
        }
    }
    keys
}
