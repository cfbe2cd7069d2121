//! What is different between two packages: items, rows, and verdicts on given facts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::canonical::{Part, parts};
use super::checked::{Checked, evaluate};
use super::eval::{Context, EmissionState, EvalError};
use super::program::{Op, Program};
use super::text::show_row;
use crate::facts::Fact;

/// What is different between two packages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// Items that are not the same, sorted by kind and name.
    pub items: Vec<ItemDiff>,
    /// Rules that read the same but use something that is not the same, sorted.
    pub affected: Vec<String>,
}

/// An item that is not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ItemDiff {
    /// `rule`, `table`, `def`, `emit`, `const`, `enum` or `package`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// How.
    pub change: Change,
    /// What of it: parts of a rule, rows of a table.
    pub details: Vec<String>,
}

/// How an item changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Only in the second package.
    Added,
    /// Only in the first package.
    Removed,
    /// In both, and not the same.
    Changed,
}

/// What is different on the same facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OutcomeDiff {
    /// Rules that say something else: rule, before, after. A rule that is not in a package says
    /// nothing.
    pub verdicts: Vec<(String, Option<String>, Option<String>)>,
    /// Attributes that are there in another way: pointer, before, after.
    pub attributes: Vec<(String, String, String)>,
}

/// What is different between two packages.
pub fn diff(before: &Checked, after: &Checked) -> Diff {
    let (old, new) = (parts(before.program()), parts(after.program()));
    let names: BTreeSet<&(&'static str, String)> = old.keys().chain(new.keys()).collect();
    let mut items = Vec::new();
    for name in names {
        let (change, details) = match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) if old == new => continue,
            (Some(old), Some(new)) => {
                (Change::Changed, details(before.program(), after.program(), name, old, new))
            }
            (None, _) => (Change::Added, Vec::new()),
            (_, None) => (Change::Removed, Vec::new()),
        };
        items.push(ItemDiff { kind: name.0, name: name.1.clone(), change, details });
    }
    let affected = affected(after.program(), &items);
    Diff { items, affected }
}

/// What is different on the same facts.
///
/// # Errors
///
/// If one of the packages cannot be evaluated on them.
pub fn diff_outcomes(
    before: &Checked,
    after: &Checked,
    facts: &[Fact],
    context: Context<'_>,
) -> Result<OutcomeDiff, EvalError> {
    let (old, new) = (evaluate(before, facts, context)?, evaluate(after, facts, context)?);
    let verdicts = |results: &super::eval::Results| -> BTreeMap<String, String> {
        let said = results.rules.iter().map(|result| {
            let code = result.outcome.code.as_ref().map_or(String::new(), |code| format!(" {code}"));
            let missing = match result.outcome.missing.as_slice() {
                [] => String::new(),
                missing => format!(" missing {}", missing.join(", ")),
            };
            (result.rule.clone(), format!("{}{code}{missing}", result.outcome.verdict))
        });
        said.collect()
    };
    let states = |results: &super::eval::Results| -> BTreeMap<String, String> {
        let emissions = results.emissions.iter();
        emissions.map(|emission| (emission.pointer.clone(), state(&emission.state))).collect()
    };
    let (old_states, new_states) = (states(&old), states(&new));
    let (old, new) = (verdicts(&old), verdicts(&new));
    let rules: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let pointers: BTreeSet<&String> = old_states.keys().chain(new_states.keys()).collect();
    let nothing = || "nothing".to_owned();
    Ok(OutcomeDiff {
        verdicts: rules
            .into_iter()
            .filter(|rule| old.get(*rule) != new.get(*rule))
            .map(|rule| (rule.clone(), old.get(rule).cloned(), new.get(rule).cloned()))
            .collect(),
        attributes: pointers
            .into_iter()
            .map(|pointer| {
                let of =
                    |states: &BTreeMap<String, String>| states.get(pointer).cloned().unwrap_or_else(nothing);
                (pointer.clone(), of(&old_states), of(&new_states))
            })
            .filter(|(_, old, new)| old != new)
            .collect(),
    })
}

fn state(state: &EmissionState) -> String {
    match state {
        EmissionState::Shown(value) => format!("shown {}", value.as_str()),
        EmissionState::Held { from: Some(from), .. } => format!("held until {from}"),
        EmissionState::Held { from: None, .. } => "held, no day set".to_owned(),
        EmissionState::Absent { .. } => "absent".to_owned(),
    }
}

fn details(
    before: &Program,
    after: &Program,
    name: &(&'static str, String),
    old: &Part,
    new: &Part,
) -> Vec<String> {
    if name.0 == "table" {
        return rows(before, after, &name.1);
    }
    let fields: BTreeSet<&&'static str> = old.keys().chain(new.keys()).collect();
    let changed = fields.into_iter().filter(|field| old.get(**field) != new.get(**field));
    let mut words: Vec<String> = changed
        .map(|field| match (*field, old.get(*field), new.get(*field)) {
            ("nodes" | "check" | "filter" | "unless" | "bind" | "lets" | "body" | "value", ..) => {
                "expression".to_owned()
            }
            (field, old, new) => {
                let word = |text: Option<&String>| match text.map(|text| text.trim_matches('"')) {
                    None | Some("null") => "nothing".to_owned(),
                    Some(text) => text.to_owned(),
                };
                format!("{field}: {} to {}", word(old), word(new))
            }
        })
        .collect();
    words.dedup();
    words
}

/// Rows that are not in both tables, by what they match.
fn rows(before: &Program, after: &Program, name: &str) -> Vec<String> {
    let of = |program: &Program| -> BTreeMap<String, String> {
        let table = program.tables.iter().find(|table| table.name == name);
        let rows = table.into_iter().flat_map(|table| {
            let rows = table.rows.iter().map(|row| show_row(&program.enums, table, row));
            let otherwise = table.otherwise.iter().map(|(lit, _)| {
                ("otherwise".to_owned(), super::text::show_lit(&program.enums, lit, &table.result))
            });
            rows.chain(otherwise).collect::<Vec<_>>()
        });
        rows.collect()
    };
    let (old, new) = (of(before), of(after));
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    keys.into_iter()
        .filter(|key| old.get(*key) != new.get(*key))
        .map(|key| match (old.get(key), new.get(key)) {
            (Some(old), Some(new)) => format!("{key}: {old} to {new}"),
            (Some(old), None) => format!("{key}: {old} no longer"),
            (None, Some(new)) => format!("{key}: {new} is new"),
            (None, None) => key.clone(),
        })
        .collect()
}

/// Rules that are the same themselves and use something that is not.
fn affected(program: &Program, items: &[ItemDiff]) -> Vec<String> {
    let changed = |kind: &str, name: &str| items.iter().any(|item| item.kind == kind && item.name == name);
    let uses_changed = |op: &Op| match op {
        Op::Const(at) => changed("const", &program.consts[*at].name),
        Op::Call(def, _) => changed("def", &program.defs[*def].name),
        Op::Table(table, _) => changed("table", &program.tables[*table].name),
        _ => false,
    };
    let mut affected = Vec::new();
    for rule in program.rules.iter().filter(|rule| !changed("rule", &rule.id)) {
        let mut found = rule.reads.iter().any(|pointer| changed("emit", pointer));
        for root in rule.roots() {
            program.walk(root, &mut |_, node| found |= uses_changed(&node.op));
        }
        if found {
            affected.push(rule.id.clone());
        }
    }
    affected
}
