//! Changing fields of facts.

use crate::facts::Value as FactValue;

use super::declared::{Set, SetTo};
use super::draft::Draft;

impl Set {
    /// Sets the field of all facts it is about; gives how many there are.
    pub fn apply(&self, draft: &mut Draft, generated: &dyn Fn(usize) -> Option<FactValue>) -> usize {
        let mut count = 0;
        for ((fact, key), fields) in &mut draft.facts {
            if *fact != self.fact || self.key.as_ref().is_some_and(|wanted| wanted != key) {
                continue;
            }
            count += 1;
            let value = match &self.to {
                SetTo::Value(value) => Some(value.clone()),
                SetTo::Var(at) => generated(*at),
                SetTo::Nothing => None,
            };
            match value {
                Some(value) => drop(fields.insert(self.field, value)),
                None => drop(fields.remove(self.field)),
            }
        }
        count
    }
}
