//! Decisions about patterns: which are the same, which are not, what they are called, which are not to be shown.
//!
//! Findings stay what they are. Decisions are applied anew, in the order in which they were taken, whenever patterns are
//! made, so that undoing one gives what would be there without it, and no evidence is ever lost.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::group::{Group, Key};
use super::{Anchor, Incident, Pattern, Session, id, normal};
use crate::finding::Category;

/// Kind of anchors of patterns that a decision made. No findings have it.
pub(super) const SPLIT: &str = "split";

/// What was decided about a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The store's number of it; 0: not stored yet.
    pub id: i64,
    /// Milliseconds since the Unix epoch.
    pub at: i64,
    /// Who decided.
    pub by: By,
    /// Those of one run of `synth` have one name, and are undone together.
    pub run: Option<String>,
    /// The pattern's id ([`Anchor::id`]).
    pub pattern: String,
    /// What shall be.
    pub act: Act,
    /// When it was undone.
    pub undone_at: Option<i64>,
}

/// Who decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The person.
    Person,
    /// The program, because the patterns are alike.
    Similarity,
    /// A model.
    Model,
}

impl By {
    /// As it is stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Similarity => "similarity",
            Self::Model => "model",
        }
    }
}

/// What shall be with a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// Others are the same friction. Their ids lead here from now on.
    Merge {
        /// Their ids.
        others: Vec<String>,
    },
    /// Some of its findings are another friction.
    Split {
        /// Id of the pattern that they are from now on.
        into: String,
        /// The findings of these sessions, also those that are still to come.
        sessions: Vec<SessionName>,
        /// The findings with these subjects (normal form), also those that are still to come.
        subjects: Vec<String>,
    },
    /// A title to show in place of the subject.
    Rename {
        /// The title; empty: the subject again.
        title: String,
    },
    /// It is kept, and not shown where nobody asks for it.
    Mute,
    /// It is shown again.
    Unmute,
}

/// A session's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionName {
    /// The tool's name.
    pub tool: String,
    /// As the tool names it.
    pub session: String,
}

/// The anchor of a pattern that a split of `pattern` makes. The same split makes the same one.
pub fn split_off(pattern: &Pattern, sessions: &[SessionName], subjects: &[String]) -> Anchor {
    let mut taken: Vec<String> = sessions.iter().map(|s| format!("{}\n{}", s.tool, s.session)).collect();
    taken.extend(subjects.iter().map(|subject| format!("\n{subject}")));
    taken.sort();
    let subject = subjects.first().unwrap_or(&pattern.subject);
    let key = format!("{}\n{}", pattern.id, taken.join("\n\n"));
    Anchor {
        id: id::of(SPLIT, pattern.project.as_deref(), &key, subject),
        kind: SPLIT.to_owned(),
        project: pattern.project.clone(),
        key,
        subject: subject.clone(),
        category: pattern.category,
    }
}

/// The groups as they are after all decisions, by id.
pub(super) fn apply<'a>(
    groups: Vec<Group<'a>>,
    sessions: &[Session],
    anchors: &[Anchor],
    decisions: &[Decision],
) -> Vec<Group<'a>> {
    let mut applied = Applied { by_id: BTreeMap::new(), leads_to: HashMap::new(), anchors };
    for group in groups {
        for alias in group.aliases.iter().filter(|alias| **alias != group.id) {
            applied.leads_to.insert(alias.clone(), group.id.clone());
        }
        match applied.by_id.get_mut(&group.id) {
            Some(same) => same.take_in(group),
            None => drop(applied.by_id.insert(group.id.clone(), group)),
        }
    }
    // Whatever the anchors say, what a group has for its id leads to it.
    applied.leads_to.retain(|alias, _| !applied.by_id.contains_key(alias));
    for decision in decisions.iter().filter(|decision| decision.undone_at.is_none()) {
        let id = applied.resolve(&decision.pattern);
        match &decision.act {
            Act::Merge { others } => others.iter().for_each(|other| applied.merge(&id, other)),
            Act::Split { into, sessions: names, subjects } => {
                let takes = |incident: &Incident<'_>| {
                    let session = &sessions[incident.session];
                    names.iter().any(|name| name.tool == session.tool && name.session == session.id)
                        || subjects.iter().any(|subject| {
                            let finding = incident.finding;
                            *subject == normal(&finding.subject)
                                || finding.words.as_ref().is_some_and(|words| *subject == normal(words))
                        })
                };
                applied.split(&id, into, takes);
            }
            Act::Rename { title } => applied.group(&id).title = (!title.is_empty()).then(|| title.clone()),
            Act::Mute => applied.group(&id).muted = true,
            Act::Unmute => applied.group(&id).muted = false,
        }
    }
    applied.by_id.into_values().filter(|group| !group.members.is_empty() || !group.merged.is_empty()).collect()
}

struct Applied<'a, 'k> {
    by_id: BTreeMap<String, Group<'a>>,
    /// From the id of a pattern that is another one now to that one's. No id leads to itself, by however many steps.
    leads_to: HashMap<String, String>,
    anchors: &'k [Anchor],
}

impl<'a> Applied<'a, '_> {
    fn resolve(&self, id: &str) -> String {
        let mut id = id;
        while let Some(next) = self.leads_to.get(id) {
            id = next;
        }
        id.to_owned()
    }

    /// The group of an id; an empty one if nothing was found for it: it may be the kept side of a merge.
    fn group(&mut self, id: &str) -> &mut Group<'a> {
        let anchors = self.anchors;
        self.by_id.entry(id.to_owned()).or_insert_with(|| {
            let anchor = anchors.iter().find(|anchor| anchor.id == id).cloned().unwrap_or_else(|| Anchor {
                id: id.to_owned(),
                category: Category::Other,
                ..Anchor::default()
            });
            let key = Key { kind: anchor.kind.clone(), project: anchor.project.clone(), text: anchor.key.clone() };
            Group::new(key, anchor.id.clone(), Some(anchor))
        })
    }

    fn merge(&mut self, kept: &str, other: &str) {
        let gone = self.resolve(other);
        // Whoever is merged into what it was merged from is where it belongs already.
        if gone == kept {
            return;
        }
        self.leads_to.insert(gone.clone(), kept.to_owned());
        let taken = self.by_id.remove(&gone);
        let group = self.group(kept);
        group.aliases.push(gone);
        if let Some(taken) = taken {
            group.take_in(taken);
        }
    }

    fn split(&mut self, from: &str, into: &str, takes: impl Fn(&Incident<'_>) -> bool) {
        let into = self.resolve(into);
        if into == from {
            return;
        }
        let source = self.group(from);
        let (mut taken, members) = std::mem::take(&mut source.members).into_iter().partition::<Vec<_>, _>(&takes);
        source.members = members;
        let (also, merged) = std::mem::take(&mut source.merged).into_iter().partition::<Vec<_>, _>(&takes);
        source.merged = merged;
        taken.extend(also);
        let (spoken, project) = (source.spoken, source.key.project.clone());
        let group = self.group(&into);
        if group.members.is_empty() && group.merged.is_empty() {
            group.spoken = spoken;
            group.key.project = project;
        }
        group.members.extend(taken);
    }
}
