//! Drafts one rule after the other: by a model where the person agreed to one, else from the template.

use super::{Context, ui};
use crate::{
    clean::clean,
    model::{Model, Purpose, Request, not_agreed},
    proposal::{self, Answered, Case, Draft, Earlier, Skip},
    redact::Redactor,
    store::Store,
};

pub(super) struct Drafter<'c> {
    model: Option<Model<'c>>,
    redactor: Redactor,
    schema: serde_json::Value,
    /// Rules and instructions that are there.
    existing: Vec<String>,
}

impl<'c> Drafter<'c> {
    pub(super) fn new(context: &'c Context, store: &Store, no_model: bool) -> anyhow::Result<Self> {
        let may_ask = !no_model && not_agreed(store, &context.config.model)?.is_none();
        if may_ask {
            context.stop_on_ctrl_c();
        }
        Ok(Self {
            model: may_ask.then(|| Model::new(&context.config, &context.home, context.now, &context.stop)),
            redactor: context.config.redactor(),
            schema: proposal::schema(),
            existing: proposal::existing(),
        })
    }

    /// A draft, or why there is none, in words where a model said why.
    pub(super) fn draft(
        &mut self,
        store: &mut Store,
        case: &Case<'_>,
        earlier: Option<&Earlier<'_>>,
    ) -> Result<Draft, (Skip, Option<String>)> {
        // What the template has nothing to say about, the service's failures, no rule helps with.
        let draft = proposal::propose(case).map_err(|skip| (skip, None))?;
        match self.ask(store, case, earlier) {
            Some(Answered::Draft(mut by_model)) => {
                by_model.check = by_model.check.or(draft.check);
                if by_model.paths.is_empty() {
                    by_model.paths = draft.paths;
                }
                if by_model.rationale.is_empty() {
                    by_model.rationale = draft.rationale;
                }
                Ok(*by_model)
            }
            Some(Answered::Covered(rule)) => Err((Skip::Covered, Some(rule))),
            Some(Answered::Unusable(why)) => {
                ui::warn(&format!(
                    "what the model drafted for {} was not taken: {why}; here is the draft without it",
                    clean(&case.pattern.id)
                ));
                Ok(draft)
            }
            None => Ok(draft),
        }
    }

    /// None where no model is asked, or in vain, which is said.
    fn ask(&mut self, store: &mut Store, case: &Case<'_>, earlier: Option<&Earlier<'_>>) -> Option<Answered> {
        let model = self.model.as_mut()?;
        let request = Request {
            purpose: Purpose::Draft,
            subject: &case.pattern.id,
            instructions: proposal::INSTRUCTIONS,
            input: &proposal::input(case, &self.existing, earlier, &self.redactor),
            schema: &self.schema,
        };
        let asked = model.ask(store, &request).and_then(|answer| {
            let answered = proposal::read(&answer, case, &self.redactor);
            if let Answered::Unusable(why) = answered {
                store.mark_call_unusable(answer.call, why)?;
            }
            Ok(answered)
        });
        match asked {
            Ok(answered) => Some(answered),
            Err(error) => {
                ui::warn(&format!("drafted without the model: {}", clean(&error.to_string())));
                if error.ends_run() {
                    self.model = None;
                }
                None
            }
        }
    }
}
