//! Declared tests made ready to run many times: their facts are built once, and it is known what each of
//! them comes by, so that a mistake is only tried on tests that can notice it.

use std::collections::BTreeSet;

use crate::rules::checked::Checked;
use crate::rules::eval::probe::{NoProbe, Probe};
use crate::rules::program::{Lit, NodeId, Op, Program, Step};

use super::declared::{Asked, Example, Lookup, Property};
use super::draft::Case;
use super::harness::{asked_by, look_up, table_row};
use super::mutate::Mutation;
use super::properties::{PropertyCase, holds};
use super::seed::Seed;

/// How many cases of a property are tried on each mistake.
const PROPERTY_CASES: u32 = 10;

/// A declared test, ready to run.
pub(super) struct Ready<'t> {
    pub(super) asks: Asks<'t>,
    case: Case,
    steps: Vec<Step>,
    pub(super) seen: Seen,
}

/// What a test asks.
pub(super) enum Asks<'t> {
    Lookup(&'t Lookup),
    Example(&'t Example),
    Property(&'t Property, Vec<Lit>),
}

/// All declared tests, those that cost least first.
pub(super) fn ready<'t>(checked: &'t Checked, seed: &Seed) -> Vec<Ready<'t>> {
    let (program, tests) = (checked.program(), checked.tests());
    let mut all = Vec::new();
    for lookup in &tests.lookups {
        if let Ok((case, steps)) = lookup.about(program) {
            all.push(Ready::new(program, Asks::Lookup(lookup), case, steps));
        }
    }
    for example in &tests.examples {
        if let Ok(case) = example.input.case() {
            all.push(Ready::new(program, Asks::Example(example), case, program.with_needs(example.steps())));
        }
    }
    for (index, property) in tests.properties.iter().enumerate() {
        let steps = asked_by(program, property.holds.body);
        for number in 0..property.cases.min(PROPERTY_CASES) {
            let made = PropertyCase::new(&program.enums, property, index, number, seed);
            if let Some(case) = made.case(program.effective) {
                all.push(Ready::new(program, Asks::Property(property, made.values), case, steps.clone()));
            }
        }
    }
    all
}

impl<'t> Ready<'t> {
    fn new(program: &Program, asks: Asks<'t>, case: Case, steps: Vec<Step>) -> Self {
        let mut ready = Self { asks, case, steps, seen: Seen::default() };
        let mut watch = Watch::new(program);
        ready.run(program, &mut watch);
        if let Asks::Lookup(Lookup { of: Asked::Table(table), .. }) = &ready.asks
            && let Asks::Lookup(lookup) = &ready.asks
        {
            watch.seen.rows.insert((*table, table_row(program, *table, lookup)));
        }
        ready.seen = watch.seen;
        ready
    }

    /// Whether a program gives what is expected.
    pub(super) fn passes(&self, program: &Program) -> bool {
        self.run(program, &mut NoProbe)
    }

    /// Whether a mistake can make a difference to it.
    pub(super) fn comes_by(&self, mistake: &Mutation) -> bool {
        match mistake {
            Mutation::RuleFrom(rule, _) => self.steps.contains(&Step::Rule(*rule)),
            Mutation::EmitFrom(emit, _) => self.steps.contains(&Step::Emit(*emit)),
            of_value => self.seen.comes_by(of_value),
        }
    }

    fn run<P: Probe>(&self, program: &Program, probe: &mut P) -> bool {
        match &self.asks {
            Asks::Lookup(lookup) => look_up(program, lookup, &self.case, &self.steps, probe).is_ok(),
            Asks::Example(example) => example.judge(program, &self.steps, &self.case, probe).is_ok(),
            Asks::Property(property, values) => {
                holds(program, property, &self.steps, &self.case, values, probe).is_ok()
            }
        }
    }
}

/// What an evaluation came by. If it does not come by a mistake, the mistake makes no difference to it:
/// up to there both programs are the same.
#[derive(Default)]
pub(super) struct Seen {
    /// A bit for each node.
    nodes: Vec<u64>,
    consts: BTreeSet<usize>,
    /// Table and row; one past the last row is `otherwise`.
    rows: BTreeSet<(usize, usize)>,
}

impl Seen {
    /// Whether a mistake can make a difference, if all steps were evaluated.
    pub(super) fn comes_by(&self, mistake: &Mutation) -> bool {
        match mistake {
            Mutation::Compare(id, _)
            | Mutation::Drop(id, _)
            | Mutation::Lit(id, _)
            | Mutation::Share(id, _) => self.node(*id),
            Mutation::Const(at, _) => self.consts.contains(at),
            Mutation::Row(table, row, _) => self.rows.contains(&(*table, *row)),
            Mutation::Bound { table, .. } => self.rows_of(*table).next().is_some(),
            Mutation::RuleFrom(..) | Mutation::EmitFrom(..) => true,
        }
    }

    /// Whether a node was evaluated.
    pub(super) fn node(&self, id: NodeId) -> bool {
        let (word, bit) = (id.0 / 64, id.0 % 64);
        self.nodes.get(word as usize).is_some_and(|word| word >> bit & 1 == 1)
    }

    /// The rows of a table that answered.
    pub(super) fn rows_of(&self, table: usize) -> impl Iterator<Item = usize> + '_ {
        self.rows.range((table, 0)..=(table, usize::MAX)).map(|(_, row)| *row)
    }
}

/// Sees what an evaluation comes by.
pub(super) struct Watch<'p> {
    program: &'p Program,
    pub(super) seen: Seen,
}

impl<'p> Watch<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        let nodes = vec![0; program.nodes.len().div_ceil(64)];
        Self { program, seen: Seen { nodes, ..Seen::default() } }
    }
}

impl Probe for Watch<'_> {
    fn evaluated(&mut self, node: NodeId) {
        self.seen.nodes[node.0 as usize / 64] |= 1 << (node.0 % 64);
        if let Op::Const(at) = self.program.node(node).op {
            self.seen.consts.insert(at);
        }
    }

    fn branch(&mut self, node: NodeId, way: u32) {
        if let Op::Table(table, _) = self.program.node(node).op {
            self.seen.rows.insert((table, way as usize));
        }
    }
}
