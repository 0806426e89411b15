//! `synth`: patterns that are the same in other words become one.

use super::{Context, Outcome, patterns, ui, work};
use crate::{
    clean::clean,
    config,
    model::{self, Model, ModelError},
    store::Store,
    synth::{self, Candidates, Found},
};

/// Merge patterns that are the same friction in other words
#[derive(Debug, clap::Args)]
#[command(
    after_help = "With a model that was agreed to (`totalrecall learn`), it says which are the same, in one call within the budget;
without one, or with --no-model, what is alike without doubt is merged. No evidence is lost, and `totalrecall patterns undo --last`
takes all of it back. Patterns with a rule in force keep their ids.

It runs by itself after every `patterns.synth-every` reviewed sessions."
)]
pub(super) struct Synth {
    /// Show what would be merged, and merge nothing; a model is asked all the same
    #[arg(long)]
    dry_run: bool,
    /// Ask no model
    #[arg(long)]
    no_model: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Synth {
    pub(super) fn run(&self, context: &Context) -> anyhow::Result<Outcome> {
        context.stop_on_ctrl_c();
        let mut store = work::open(context)?;
        let mut model = Model::new(&context.config, &context.home, context.now, &context.stop);
        let candidates = Candidates::load(&store, &context.config, context.now)?;
        let found = look(context, &mut store, &candidates, (!self.no_model).then_some(&mut model), !self.json)?;
        if self.json {
            context.print_json(&found)?;
        } else {
            context.print(&text(&candidates, &found))?;
        }
        if found.merges.is_empty() {
            ui::say("Nothing to merge.");
        }
        if self.dry_run {
            return Ok(if found.merges.is_empty() { Outcome::NothingFound } else { Outcome::Done });
        }
        synth::looked(&mut store, context.now)?;
        if candidates.decide(&mut store, &found, context.now)?.is_none() {
            return Ok(Outcome::NothingFound);
        }
        patterns::renew(context, &mut store)?;
        ui::say("`totalrecall patterns undo --last` takes it back.");
        Ok(Outcome::Done)
    }
}

/// What a model says, or likeness where none may be asked.
fn look(
    context: &Context,
    store: &mut Store,
    candidates: &Candidates,
    model: Option<&mut Model<'_>>,
    talks: bool,
) -> anyhow::Result<Found> {
    let Some(model) = model else { return Ok(candidates.by_similarity()) };
    if model::not_agreed(store, &context.config.model)?.is_some() {
        return Ok(candidates.by_similarity());
    }
    match candidates.by_model(store, model, &context.config) {
        Ok(found) => Ok(found),
        Err(ModelError::Refused(why)) => {
            if talks {
                ui::say(&format!("No model was asked: {why}"));
            }
            Ok(candidates.by_similarity())
        }
        Err(error) => Err(anyhow::Error::from(error).context("the model was of no help; nothing was merged")),
    }
}

/// At the end of a run: merges, if enough sessions were reviewed since the last time, over all runs. What goes wrong is said, and
/// leaves everything as it was. Gives whether something was merged.
pub(super) fn after_run(
    context: &Context,
    store: &mut Store,
    model: &mut Model<'_>,
    quiet: bool,
) -> anyhow::Result<bool> {
    let config::Patterns { synth_every, .. } = context.config.patterns;
    if !synth::is_due(store, synth_every)? {
        return Ok(false);
    }
    // Also after a failure: the next try is as many sessions away, not one run.
    synth::looked(store, context.now)?;
    let candidates = Candidates::load(store, &context.config, context.now)?;
    let found = match look(context, store, &candidates, Some(model), false) {
        Ok(found) => found,
        Err(error) => {
            ui::warn(&clean(&format!("{error:#}")));
            return Ok(false);
        }
    };
    if candidates.decide(store, &found, context.now)?.is_none() {
        return Ok(false);
    }
    if !quiet {
        let merged: usize = found.merges.iter().map(|merge| merge.others.len()).sum();
        let merged = ui::counted(merged as u64, "pattern", "patterns");
        ui::say(&format!(
            "{merged} merged into others that are the same (`totalrecall patterns undo` lists and undoes)"
        ));
    }
    Ok(true)
}

fn text(candidates: &Candidates, found: &Found) -> String {
    let mut out = String::new();
    let name = |id: &str| {
        let name = candidates.pattern(id).map(|pattern| pattern.name().to_owned()).unwrap_or_default();
        format!("{}  {dim}{}{dim:#}\n", clean(&name), clean(id), dim = ui::DIM)
    };
    for merge in &found.merges {
        out += &name(&merge.keep);
        merge.others.iter().for_each(|other| out += &format!("  = {}", name(other)));
    }
    if found.dropped > 0 {
        out += &format!(
            "{} in the model's answer made no sense and were left out\n",
            ui::counted(found.dropped as u64, "id", "ids")
        );
    }
    out
}
