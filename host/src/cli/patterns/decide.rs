//! `patterns merge|split|rename|mute|unmute`: decisions of the person.

use crate::cli::{Context, Outcome, Usage, ui, work};
use crate::{
    clean::clean,
    guests::Guests,
    library::Library,
    pattern::{self, Act, Anchor, By, Decision, Pattern, SessionName},
    pipeline::Pipeline,
    redact::Counts,
    store::Store,
};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The first one keeps its id, and the ids of the others lead to it. `patterns undo` takes it back."
)]
pub(super) struct Merge {
    /// The pattern that stays
    id: String,
    /// Those that become it
    #[arg(required = true, value_name = "ID")]
    others: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  totalrecall patterns split correction-tests --session 6f0c1e2a
  totalrecall patterns split correction-tests --subject 'run the linter too'

`patterns show` lists sessions and subjects. What is still to come of these sessions and subjects is the new pattern's, too.")]
pub(super) struct Split {
    /// The pattern
    id: String,
    /// A session whose findings are another friction; the beginning of its id is enough
    #[arg(long = "session", value_name = "SESSION", required_unless_present = "subjects")]
    sessions: Vec<String>,
    /// A subject, or what a person said, that is another friction
    #[arg(long = "subject", value_name = "TEXT")]
    subjects: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Rename {
    /// The pattern
    id: String,
    /// The title
    title: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct Mute {
    /// The pattern
    id: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct Unmute {
    /// The pattern
    id: String,
}

impl Merge {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let mut desk = Desk::open(context)?;
        let keep = desk.pattern(&self.id)?;
        let mut others = Vec::new();
        for id in &self.others {
            let other = desk.pattern(id)?;
            if other.id != keep.id && !others.iter().any(|known: &Pattern| known.id == other.id) {
                others.push(other);
            }
        }
        if others.is_empty() {
            return Err(Usage("these are one pattern already".to_owned()).into());
        }
        let ids = others.iter().map(|other| other.id.clone()).collect();
        let anchors: Vec<Anchor> = others.iter().map(|other| other.anchor.clone()).collect();
        let what =
            format!("{} merged into {}", ui::counted(others.len() as u64, "pattern", "patterns"), clean(&keep.id));
        desk.decide(context, &keep, &anchors, Act::Merge { others: ids }, &what)
    }
}

impl Split {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let mut desk = Desk::open(context)?;
        let from = desk.pattern(&self.id)?;
        let sessions: Vec<SessionName> =
            self.sessions.iter().map(|id| desk.session(&from, id)).collect::<anyhow::Result<_>>()?;
        let subjects: Vec<String> = self.subjects.iter().map(|subject| pattern::normal(subject)).collect();
        let new = pattern::split_off(&from, &sessions, &subjects);
        let act = Act::Split { into: new.id.clone(), sessions, subjects };
        let supposed = Library::load(&desk.store)?
            .suppose(&[from.anchor.clone(), new.clone()], decision(context, &from, act.clone()));
        let supposed = supposed.patterns(&context.config.patterns, context.now);
        if !supposed.iter().any(|pattern| pattern.id == new.id) {
            return Err(Usage(format!("nothing of {} has that session or subject", clean(&from.id))).into());
        }
        if !supposed.iter().any(|pattern| pattern.id == from.id) {
            return Err(Usage(format!(
                "that is all of {}: `patterns rename` calls it something else",
                clean(&from.id)
            ))
            .into());
        }
        let what = format!("split off as {}", clean(&new.id));
        desk.decide(context, &from, &[new], act, &what)
    }
}

impl Rename {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let mut desk = Desk::open(context)?;
        let one = desk.pattern(&self.id)?;
        let title = context.redactor().kept(self.title.trim(), &mut Counts::default());
        let title = crate::insights::clean(&title, TITLE).trim().to_owned();
        let what = if title.is_empty() {
            format!("{} is called what it is about", clean(&one.id))
        } else {
            format!("{} is called {}", clean(&one.id), clean(&title))
        };
        desk.decide(context, &one, &[], Act::Rename { title }, &what)
    }
}

/// Characters of a title.
const TITLE: usize = 200;

impl Mute {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let mut desk = Desk::open(context)?;
        let one = desk.pattern(&self.id)?;
        if one.muted {
            ui::say(&context.shown(&format!("{} is muted already", clean(&one.id))));
            return Ok(Outcome::Done);
        }
        desk.decide(context, &one, &[], Act::Mute, &format!("{} is muted", clean(&one.id)))
    }
}

impl Unmute {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        let mut desk = Desk::open(context)?;
        let one = desk.pattern(&self.id)?;
        if !one.muted {
            ui::say(&context.shown(&format!("{} is not muted", clean(&one.id))));
            return Ok(Outcome::Done);
        }
        desk.decide(context, &one, &[], Act::Unmute, &format!("{} is shown again", clean(&one.id)))
    }
}

/// Where decisions are taken: the store, and what is there to decide about.
struct Desk {
    store: Store,
    library: Library,
    patterns: Vec<Pattern>,
}

impl Desk {
    fn open(context: &Context) -> anyhow::Result<Self> {
        let store = work::open(context)?;
        let library = Library::load(&store)?;
        let patterns = library.patterns(&context.config.patterns, context.now);
        Ok(Self { store, library, patterns })
    }

    fn pattern(&self, id: &str) -> anyhow::Result<Pattern> {
        Ok(pattern::find(&self.patterns, id).map_err(|error| Usage(error.to_string()))?.clone())
    }

    /// A session of the pattern, by the beginning of its id.
    fn session(&self, of: &Pattern, id: &str) -> anyhow::Result<SessionName> {
        let sessions = || of.seen_in.iter().map(|&index| &self.library.sessions()[index]);
        let fitting: Vec<_> = match sessions().find(|session| session.id == id) {
            Some(session) => vec![session],
            None => sessions().filter(|session| !id.is_empty() && session.id.starts_with(id)).collect(),
        };
        match fitting[..] {
            [session] => Ok(SessionName { tool: session.tool.clone(), session: session.id.clone() }),
            [] => Err(Usage(format!("{} was not seen in a session {id:?}", clean(&of.id))).into()),
            _ => {
                Err(Usage(format!("{id:?} begins the ids of {} of its sessions; give more of it", fitting.len()))
                    .into())
            }
        }
    }

    fn decide(
        &mut self,
        context: &Context,
        about: &Pattern,
        anchors: &[Anchor],
        act: Act,
        what: &str,
    ) -> anyhow::Result<Outcome> {
        let anchors: Vec<Anchor> = std::iter::once(&about.anchor).chain(anchors).cloned().collect();
        let numbers = self.store.decide(&anchors, &[decision(context, about, act)], context.now)?;
        renew(context, &mut self.store)?;
        let number = numbers.first().copied().unwrap_or_default();
        ui::say(&context.shown(&format!("{what} (`totalrecall patterns undo {number}` takes it back)")));
        Ok(Outcome::Done)
    }
}

fn decision(context: &Context, about: &Pattern, act: Act) -> Decision {
    let pattern = about.id.clone();
    Decision { id: 0, at: context.now, by: By::Person, run: None, pattern, act, undone_at: None }
}

/// Writes the page anew, if there is one.
pub(in crate::cli) fn renew(context: &Context, store: &mut Store) -> anyhow::Result<()> {
    if context.home.insights().exists() {
        let guests = Guests::load(&context.config, Some(&context.home))?;
        Pipeline::new(&context.home, &context.config, &guests, context.now, &context.stop)?.renew(store)?;
    }
    Ok(())
}
