//! Where the mistake probably is when declared tests fail.
//!
//! Two questions are asked. Which small change would make failing tests pass and no passing test
//! fail? And which comparison, had it come out the other way, would have given what a failing test
//! expects? What the answers have in common is shown first.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::eval::probe::{NoProbe, Probe};
use crate::rules::program::{Compare, NodeId, Op, Program};
use crate::rules::source::Span;

use super::declared::{Asked, Example, Lookup};
use super::harness::{evaluate_some, look_up, table_row};
use super::mutate::Mutant;

/// How many failing tests are looked at.
const TESTS_MAX: usize = 12;

/// A place, what about it, and how much speaks for it.
pub(super) struct Suspicion {
    pub(super) span: Span,
    pub(super) what: String,
    pub(super) weight: u64,
}

/// Declared tests, by whether they pass.
#[derive(Default)]
pub(super) struct Tests<'t> {
    pub(super) failing: Vec<&'t Example>,
    pub(super) passing: Vec<&'t Example>,
    pub(super) failing_lookups: Vec<&'t Lookup>,
    pub(super) passing_lookups: Vec<&'t Lookup>,
}

/// Places that could be wrong, most suspicious first.
pub(super) fn suspects(program: &Program, mutants: &[Mutant], tests: &Tests<'_>) -> Vec<Suspicion> {
    let mut found: BTreeMap<(Span, String), u64> = BTreeMap::new();
    for lookup in tests.failing_lookups.iter().take(TESTS_MAX) {
        let (span, what) = answered(program, lookup);
        *found.entry((span, what)).or_default() += 100;
    }
    let failing: Vec<&Example> = tests.failing.iter().copied().take(TESTS_MAX).collect();
    for example in &failing {
        for (span, what) in switches(program, example) {
            *found.entry((span, what)).or_default() += 10;
        }
    }
    for mutant in mutants {
        let Some(repaired) = mutant.change.apply(program) else { continue };
        let answers = |lookup: &&&Lookup| look_up(&repaired, lookup, &mut NoProbe).is_ok();
        let fixed = failing.iter().filter(|example| passes(&repaired, example)).count()
            + tests.failing_lookups.iter().take(TESTS_MAX).filter(answers).count();
        let harmless = fixed > 0
            && tests.passing_lookups.iter().all(|lookup| answers(&lookup))
            && tests.passing.iter().all(|example| passes(&repaired, example));
        if harmless {
            let what = format!("{} would make {fixed} failing tests pass", mutant.what);
            *found.entry((mutant.span, what)).or_default() += 1000 * fixed as u64;
        }
    }
    let mut all: Vec<Suspicion> =
        found.into_iter().map(|((span, what), weight)| Suspicion { span, what, weight }).collect();
    all.sort_by(|left, right| right.weight.cmp(&left.weight).then(left.span.cmp(&right.span)));
    all
}

fn passes(program: &Program, example: &Example) -> bool {
    let steps = program.with_needs(example.steps());
    example.input.case().is_ok_and(|case| example.judge(program, &steps, &case, &mut NoProbe).is_ok())
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
fn switches(program: &Program, example: &Example) -> Vec<(Span, String)> {
    let Ok(case) = example.input.case() else { return Vec::new() };
    let steps = program.with_needs(example.steps());
    let mut seen = Seen::default();
    if evaluate_some(program, &steps, &case, &mut seen).is_err() {
        return Vec::new();
    }
    let mut nodes: Vec<NodeId> = Vec::new();
    for step in example.steps() {
        for root in program.roots(step) {
            program.walk(root, &mut |id, _| nodes.push(id));
        }
    }
    nodes.sort();
    nodes.dedup();
    let mut found = Vec::new();
    for id in nodes.into_iter().filter(|id| seen.nodes.contains(id)) {
        let Op::Compare(compare, left, right) = program.node(id).op else { continue };
        let mut switched = program.clone();
        if let Op::Compare(was, ..) = &mut switched.nodes[id.0 as usize].op {
            *was = opposite(compare);
        }
        if !passes(&switched, example) {
            continue;
        }
        let mut constants = Vec::new();
        for side in [left, right] {
            program.walk(side, &mut |id, node| match &node.op {
                Op::Lit(_) | Op::PctOf(..) => constants.push((node.span, "this constant decides".to_owned())),
                Op::Const(at) => {
                    constants.push((program.consts[*at].span, "this constant decides".to_owned()))
                }
                Op::Table(table, _) => {
                    if let Some(row) =
                        seen.rows.get(&id).and_then(|row| program.tables[*table].rows.get(*row))
                    {
                        constants.push((row.span, "this row decides".to_owned()));
                    }
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

/// What an evaluation came by.
#[derive(Default)]
struct Seen {
    nodes: BTreeSet<NodeId>,
    rows: BTreeMap<NodeId, usize>,
}

impl Probe for Seen {
    fn evaluated(&mut self, node: NodeId) {
        self.nodes.insert(node);
    }

    fn branch(&mut self, node: NodeId, way: u32) {
        self.rows.insert(node, way as usize);
    }
}
