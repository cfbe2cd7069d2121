//! Where the mistake probably is when declared tests fail.
//!
//! Two questions are asked. Which small change would make failing tests pass and no passing test
//! fail? And which comparison, had it come out the other way, would have given what a failing test
//! expects? What the answers have in common is shown first.

use std::collections::BTreeMap;

use crate::rules::program::{Compare, NodeId, Op, Program};
use crate::rules::source::Span;

use super::declared::{Asked, Lookup};
use super::harness::table_row;
use super::mutate::Mutant;
use super::ready::{Asks, Ready};

/// How many failing tests of a kind are looked at.
const TESTS_MAX: usize = 12;

/// A place, what about it, and how much speaks for it.
pub(super) struct Suspicion {
    pub(super) span: Span,
    pub(super) what: String,
    pub(super) weight: u64,
}

/// Places that could be wrong, most suspicious first.
pub(super) fn suspects(program: &Program, mutants: &[Mutant], tests: &[Ready<'_>]) -> Vec<Suspicion> {
    let (passing, failing): (Vec<&Ready<'_>>, Vec<_>) = tests.iter().partition(|test| test.passes(program));
    let failing = few_of_each_kind(failing);
    let mut found: BTreeMap<(Span, String), u64> = BTreeMap::new();
    for test in &failing {
        let (places, weight) = match &test.asks {
            Asks::Lookup(lookup) => (vec![answered(program, lookup)], 100),
            Asks::Example(_) | Asks::Property(..) => (switches(program, test), 10),
        };
        for place in places {
            *found.entry(place).or_default() += weight;
        }
    }
    for mutant in mutants {
        let concerned = |test: &&&Ready<'_>| test.comes_by(&mutant.change);
        if !failing.iter().any(|test| test.comes_by(&mutant.change)) {
            continue;
        }
        let Some(repaired) = mutant.change.apply(program) else { continue };
        let fixed = failing.iter().filter(concerned).filter(|test| test.passes(&repaired)).count();
        if fixed > 0 && passing.iter().filter(concerned).all(|test| test.passes(&repaired)) {
            let what = format!("{} would make {fixed} failing tests pass", mutant.what);
            *found.entry((mutant.span, what)).or_default() += 1000 * fixed as u64;
        }
    }
    let mut all: Vec<Suspicion> =
        found.into_iter().map(|((span, what), weight)| Suspicion { span, what, weight }).collect();
    all.sort_by(|left, right| right.weight.cmp(&left.weight).then(left.span.cmp(&right.span)));
    all
}

fn few_of_each_kind<'r, 't>(failing: Vec<&'r Ready<'t>>) -> Vec<&'r Ready<'t>> {
    let (lookups, others): (Vec<_>, Vec<_>) =
        failing.into_iter().partition(|test| matches!(test.asks, Asks::Lookup(_)));
    lookups.into_iter().take(TESTS_MAX).chain(others.into_iter().take(TESTS_MAX)).collect()
}

/// What answered a lookup.
fn answered(program: &Program, lookup: &Lookup) -> (Span, String) {
    match lookup.of {
        Asked::Table(index) => {
            let table = &program.tables[index];
            match (table.rows.get(table_row(program, index, lookup)), &table.otherwise) {
                (Some(row), _) => (row.span, format!("this row of table {} answers", table.name)),
                (None, Some((_, span))) => (*span, format!("`otherwise` of table {} answers", table.name)),
                (None, None) => (table.span, format!("table {} answers", table.name)),
            }
        }
        Asked::Def(index) => {
            let def = &program.defs[index];
            (def.span, format!("definition {} answers", def.name))
        }
    }
}

/// Comparisons that, had they come out the other way, would have given what was expected; and the
/// constants they compare with.
fn switches(program: &Program, test: &Ready<'_>) -> Vec<(Span, String)> {
    let mut switched = program.clone();
    let mut found = Vec::new();
    for at in 0..program.nodes.len() {
        let id = NodeId(at as u32);
        let Op::Compare(compare, left, right) = program.node(id).op else { continue };
        if !test.seen.node(id) {
            continue;
        }
        switched.nodes[at].op = Op::Compare(opposite(compare), left, right);
        let gives = test.passes(&switched);
        switched.nodes[at].op = Op::Compare(compare, left, right);
        if !gives {
            continue;
        }
        let mut constants = Vec::new();
        for side in [left, right] {
            program.walk(side, &mut |_, node| match &node.op {
                Op::Lit(_) | Op::PctOf(..) => constants.push((node.span, "this constant decides".to_owned())),
                Op::Const(at) => {
                    constants.push((program.consts[*at].span, "this constant decides".to_owned()))
                }
                Op::Table(table, _) => {
                    let rows =
                        test.seen.rows_of(*table).filter_map(|row| program.tables[*table].rows.get(row));
                    constants.extend(rows.map(|row| (row.span, "this row decides".to_owned())));
                }
                _ => {}
            });
        }
        if constants.is_empty() {
            constants.push((program.node(id).span, "this comparison decides".to_owned()));
        }
        found.extend(constants);
    }
    found
}

fn opposite(compare: Compare) -> Compare {
    match compare {
        Compare::Equal => Compare::NotEqual,
        Compare::NotEqual => Compare::Equal,
        Compare::Less => Compare::AtLeast,
        Compare::AtMost => Compare::Greater,
        Compare::Greater => Compare::AtMost,
        Compare::AtLeast => Compare::Less,
    }
}
