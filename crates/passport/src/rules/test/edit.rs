//! One change to an input, and how to say it.

use crate::facts::{FactType, Value as FactValue};
use crate::value::Date;

use super::draft::Draft;
use super::show::show_value;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// Another day.
    AsOf(Date),
    /// A field of a fact.
    Set(FactType, String, &'static str, FactValue),
    /// A field of one fact, or of all of its type, is left out.
    Drop(FactType, Option<String>, &'static str),
    /// A fact, or all of a type, is left out.
    Remove(FactType, Option<String>),
}

impl Edit {
    pub(super) fn apply(&self, draft: &mut Draft) {
        match self {
            Edit::AsOf(day) => draft.as_of = *day,
            Edit::Set(fact, key, field, value) => {
                if let Some(fields) = draft.facts.get_mut(&(*fact, key.clone())) {
                    fields.insert(field, value.clone());
                }
            }
            Edit::Drop(fact, key, field) => {
                for ((this, this_key), fields) in &mut draft.facts {
                    if this == fact && key.as_ref().is_none_or(|key| key == this_key) {
                        fields.remove(field);
                    }
                }
            }
            Edit::Remove(fact, key) => {
                draft.facts.retain(|(this, this_key), _| {
                    this != fact || key.as_ref().is_some_and(|key| key != this_key)
                });
            }
        }
    }
}

impl std::fmt::Display for Edit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Edit::AsOf(day) => write!(f, "as_of {day}"),
            Edit::Set(fact, key, field, value) => {
                write!(f, "set {fact} \"{key}\".{field} = {}", show_value(value))
            }
            Edit::Drop(fact, Some(key), field) => write!(f, "drop {fact} \"{key}\".{field}"),
            Edit::Drop(fact, None, field) => write!(f, "drop {fact}.{field}"),
            Edit::Remove(fact, Some(key)) => write!(f, "remove {fact} \"{key}\""),
            Edit::Remove(fact, None) => write!(f, "remove {fact}"),
        }
    }
}
