//! What is stored, on its way to whoever looks. What is to be taken out today is not shown either, though it was stored before
//! anybody said so, and until `secrets scan --fix` has taken it out there as well.

use std::borrow::Cow;

use serde_json::Value;

use super::Redactor;

impl Redactor {
    /// Every text of a value that is to be shown, without what is to be taken out today. Gives whether there was any. For a text
    /// alone it is [`Redactor::redact`].
    pub fn shown(&self, value: &mut Value) -> bool {
        // Not `any`: all of them are to be looked at.
        match value {
            Value::String(text) => match self.redact(text) {
                Cow::Owned(shown) => {
                    *text = shown;
                    true
                }
                Cow::Borrowed(_) => false,
            },
            Value::Array(list) => list.iter_mut().fold(false, |changed, it| self.shown(it) | changed),
            Value::Object(object) => object.values_mut().fold(false, |changed, it| self.shown(it) | changed),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}
