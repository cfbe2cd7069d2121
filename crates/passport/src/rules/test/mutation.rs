//! Which mistakes made on purpose the declared tests notice.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::checked::Checked;
use crate::rules::eval::EmissionState;
use crate::rules::eval::probe::NoProbe;
use crate::rules::program::{NodeId, Op, Program, Step};
use crate::rules::verdict::Outcome;

use super::draft::Case;
use super::generate::Generated;
use super::harness::{asked_by, evaluate_some, look_up};
use super::mutate::{Mutant, Mutation};
use super::properties::{PropertyCase, holds};
use super::run::{self, Spot, Survivor};
use super::seed::Seed;

/// How many survivors are explained with a case that tells them apart.
const EXPLAINED_MAX: usize = 20;

/// How many cases of a property are tried on each mistake.
const PROPERTY_CASES: u32 = 10;

/// What a generated case gives without any mistake.
pub(super) struct Baseline {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) states: Vec<EmissionState>,
}

/// Runs declared tests against all mistakes.
pub(super) fn mutation(
    checked: &Checked,
    seed: &Seed,
    mutants: &[Mutant],
    generated: &[Generated],
    baselines: &[Option<Baseline>],
) -> run::Mutation {
    let program = checked.program();
    let reach = Reach::new(program);
    let tests = checked.tests();
    let examples: Vec<(Option<Case>, Vec<Step>)> = tests
        .examples
        .iter()
        .map(|example| (example.input.case().ok(), program.with_needs(example.steps())))
        .collect();
    let noticed = |mutant: &Mutant, changed: &Program, steps: &BTreeSet<Step>| {
        let lookups = || tests.lookups.iter().any(|lookup| look_up(changed, lookup, &mut NoProbe).is_err());
        let by_example = || {
            tests.examples.iter().zip(&examples).any(|(example, (case, needed))| {
                let concerned = needed.iter().any(|step| steps.contains(step));
                let case = case.as_ref().filter(|_| concerned);
                case.is_some_and(|case| example.judge(changed, needed, case, &mut NoProbe).is_err())
            })
        };
        let by_property = || {
            tests.properties.iter().enumerate().any(|(index, property)| {
                let needed = asked_by(program, property.holds.body);
                (0..property.cases.min(PROPERTY_CASES)).any(|number| {
                    let made = PropertyCase::new(&program.enums, property, index, number, seed);
                    let case = made.case(program.effective);
                    case.is_some_and(|case| {
                        holds(changed, property, &needed, &case, &made.values, &mut NoProbe).is_err()
                    })
                })
            })
        };
        // Tables are asked directly before anything else: it costs least.
        let of_table = matches!(mutant.change, Mutation::Row(..) | Mutation::Bound { .. });
        (of_table && lookups()) || by_example() || (!of_table && lookups()) || by_property()
    };
    let (mut made, mut killed, mut survivors) = (0usize, 0usize, Vec::new());
    for mutant in mutants {
        let Some(changed) = mutant.change.apply(program) else { continue };
        made += 1;
        let steps = reach.steps(program, &mutant.change);
        if noticed(mutant, &changed, &steps) {
            killed += 1;
            continue;
        }
        let needed = program.with_needs(steps.iter().copied());
        let told_apart = match survivors.len() {
            told if told < EXPLAINED_MAX => generated
                .iter()
                .zip(baselines)
                .find_map(|(one, baseline)| tells_apart(&changed, &needed, one, baseline.as_ref()?)),
            _ => None,
        };
        let spot = Spot::new(checked.sources(), mutant.span, mutant.what.clone());
        survivors.push(Survivor { spot, told_apart });
    }
    let score_permille = (killed * 1000).checked_div(made).unwrap_or(1000);
    run::Mutation { mutants: made, killed, score_permille, survivors }
}

/// What a mistake changes on a generated case, if anything.
fn tells_apart(mutant: &Program, needed: &[Step], one: &Generated, baseline: &Baseline) -> Option<String> {
    let found = evaluate_some(mutant, needed, &one.case, &mut NoProbe).ok()?;
    let rules = found.rules.iter().flatten().find_map(|result| {
        let at = mutant.rules.iter().position(|rule| rule.id == result.rule)?;
        let before = &baseline.outcomes[at];
        (*before != result.outcome)
            .then(|| format!("{}: {} becomes {}", result.rule, before.verdict, result.outcome.verdict))
    });
    let emissions = || {
        found.emissions.iter().zip(&baseline.states).find_map(|(emission, before)| {
            let emission = emission.as_ref()?;
            (emission.state != *before).then(|| format!("{} becomes another", emission.pointer))
        })
    };
    Some(format!("{} on {}", rules.or_else(emissions)?, one.about))
}

/// Which steps a node is part of.
struct Reach {
    steps: BTreeMap<NodeId, BTreeSet<Step>>,
}

impl Reach {
    fn new(program: &Program) -> Self {
        let mut steps: BTreeMap<NodeId, BTreeSet<Step>> = BTreeMap::new();
        for step in &program.order {
            for root in program.roots(*step) {
                program.walk(root, &mut |id, _| drop(steps.entry(id).or_default().insert(*step)));
            }
        }
        Self { steps }
    }

    /// The steps that a mistake can make a difference to, itself or through others.
    fn steps(&self, program: &Program, mutation: &Mutation) -> BTreeSet<Step> {
        let using = |uses: &dyn Fn(&Op) -> bool| -> BTreeSet<Step> {
            let nodes = self.steps.iter().filter(|(id, _)| uses(&program.node(**id).op));
            nodes.flat_map(|(_, steps)| steps.iter().copied()).collect()
        };
        let mut steps = match mutation {
            Mutation::Compare(id, _)
            | Mutation::Drop(id, _)
            | Mutation::Lit(id, _)
            | Mutation::Share(id, _) => self.steps.get(id).cloned().unwrap_or_default(),
            Mutation::Const(at, _) => using(&|op| matches!(op, Op::Const(of) if of == at)),
            Mutation::Row(table, ..) | Mutation::Bound { table, .. } => {
                using(&|op| matches!(op, Op::Table(of, _) if of == table))
            }
            Mutation::RuleFrom(rule, _) => [Step::Rule(*rule)].into(),
            Mutation::EmitFrom(emit, _) => [Step::Emit(*emit)].into(),
        };
        for (step, needs) in program.order.iter().zip(&program.needs) {
            if needs.iter().any(|need| steps.contains(need)) {
                steps.insert(*step);
            }
        }
        steps
    }
}
