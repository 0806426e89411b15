//! What the person agreed to. Nothing is asked without it.

use serde::{Deserialize, Serialize};

use crate::{
    config,
    store::{Store, StoreError},
};

/// An agreement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// When, in milliseconds since the Unix epoch.
    pub at: i64,
    /// The program that text is given to, with its arguments.
    pub program: Vec<String>,
    /// The model it was to ask then. Another one of the same program needs no new agreement.
    pub model: String,
    /// What a day may cost at most, in USD.
    pub usd_per_day: f64,
}

impl Agreement {
    /// To what the settings say.
    pub fn new(settings: &config::Model, now: i64) -> Self {
        Self { at: now, program: program(settings), model: settings.name.clone(), usd_per_day: settings.usd_per_day }
    }

    /// Why it does not hold for these settings; none: it does.
    pub fn lacks(&self, settings: &config::Model) -> Option<String> {
        let wanted = program(settings);
        if self.program != wanted {
            return Some(format!(
                "you agreed to asking `{}`, the settings now say `{}`",
                self.program.join(" "),
                wanted.join(" ")
            ));
        }
        // Written so that a budget that is no number is not agreed to.
        let is_covered = settings.usd_per_day <= self.usd_per_day;
        (!is_covered).then(|| {
            format!("you agreed to USD {:.2} a day, the settings now say {:.2}", self.usd_per_day, settings.usd_per_day)
        })
    }
}

/// The program that is asked, with its arguments.
pub fn program(settings: &config::Model) -> Vec<String> {
    if settings.command.is_empty() { vec![super::CLAUDE.to_owned()] } else { settings.command.clone() }
}

/// Why nothing may be asked with these settings; none: the person agreed to it.
///
/// # Errors
/// Those of the store.
pub fn not_agreed(store: &Store, settings: &config::Model) -> Result<Option<String>, StoreError> {
    Ok(match store.agreement()? {
        None => Some("you have not agreed to asking a model".to_owned()),
        Some(agreement) => agreement.lacks(settings),
    })
}

/// Notes that the person agrees to what the settings say.
///
/// # Errors
/// Those of the store.
pub fn agree(store: &mut Store, settings: &config::Model, now: i64) -> Result<(), StoreError> {
    store.set_agreement(Some(&Agreement::new(settings, now)))
}

/// Takes it back: nothing is asked any more.
///
/// # Errors
/// Those of the store.
pub fn withdraw(store: &mut Store) -> Result<(), StoreError> {
    store.set_agreement(None)
}
