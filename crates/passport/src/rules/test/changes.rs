//! Changes that must not matter: the order of facts, facts of other batteries, units of literals.

use std::collections::BTreeMap;

use crate::rules::checked::{Checked, check};
use crate::rules::eval::Results;
use crate::rules::eval::probe::NoProbe;
use crate::rules::program::Program;
use crate::value::Unit;

use super::declared::Change;
use super::draft::{Case, Draft};
use super::harness::evaluate;
use super::rescale::rescale;
use super::seed::Numbers;

/// A change, ready to be made to any input.
pub(super) struct Prepared {
    change: Change,
    /// The package with other units, for changes of the package.
    program: Option<Program>,
}

impl Prepared {
    /// # Errors
    ///
    /// If the change would change nothing, and so test nothing.
    pub(super) fn new(checked: &Checked, change: Change) -> Result<Self, String> {
        let program = match change {
            Change::Rescale(to, from) => Some(rescaled(checked, to, from)?),
            Change::PermuteFacts | Change::AddIrrelevant => None,
        };
        Ok(Self { change, program })
    }

    /// Whether the change makes no difference to an input; if it does, which.
    pub(super) fn makes_no_difference(
        &self,
        program: &Program,
        draft: &Draft,
        numbers: &mut Numbers,
    ) -> Result<(), String> {
        let case = draft.case().map_err(|_| "its facts are not allowed".to_owned())?;
        let before = evaluate(program, &case, &mut NoProbe).map_err(|error| error.to_string())?;
        let mut other = case;
        match self.change {
            Change::PermuteFacts => numbers.shuffle(&mut other.facts),
            Change::AddIrrelevant => other = with_another_battery(draft)?,
            Change::Rescale(..) => {}
        }
        let changed = self.program.as_ref().unwrap_or(program);
        let after = evaluate(changed, &other, &mut NoProbe).map_err(|error| error.to_string())?;
        // Other units are other steps, so there the traces differ.
        same(&before, &after, self.program.is_none())
    }
}

fn rescaled(checked: &Checked, to: Unit, from: Unit) -> Result<Program, String> {
    let mut package = checked.package().clone();
    if rescale(&mut package, to, from).is_empty() {
        return Err(format!("the package has no literal in `{from}`, so this tests nothing"));
    }
    let checked = check(&package).map_err(|wrong| wrong.render(checked.sources(), false))?;
    Ok(checked.program().clone())
}

/// The input with the facts of another battery beside its own.
fn with_another_battery(draft: &Draft) -> Result<Case, String> {
    let mut draft = draft.clone();
    let others: BTreeMap<_, _> = draft
        .facts
        .iter()
        .filter(|((fact, _), _)| fact.schema().has_sku())
        .map(|((fact, key), fields)| {
            let rest = key.split_once('/').map_or(String::new(), |(_, rest)| format!("/{rest}"));
            ((*fact, format!("{}:another-battery{rest}", fact.schema().key_prefix)), fields.clone())
        })
        .collect();
    draft.facts.extend(others);
    draft.case().map_err(|_| "facts of another battery are not allowed".to_owned())
}

fn same(before: &Results, after: &Results, traces: bool) -> Result<(), String> {
    for (before, after) in before.rules.iter().zip(&after.rules) {
        if before.outcome != after.outcome {
            return Err(format!(
                "{}: {} becomes {}",
                before.rule, before.outcome.verdict, after.outcome.verdict
            ));
        }
        if traces && before.trace_hash != after.trace_hash {
            return Err(format!("{}: its trace changes", before.rule));
        }
    }
    for (before, after) in before.emissions.iter().zip(&after.emissions) {
        if before.state != after.state {
            return Err(format!("{} changes", before.pointer));
        }
    }
    Ok(())
}
