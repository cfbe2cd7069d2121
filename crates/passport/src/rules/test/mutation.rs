//! Which mistakes made on purpose the declared tests notice.

use crate::rules::checked::Checked;
use crate::rules::eval::EmissionState;
use crate::rules::eval::probe::NoProbe;
use crate::rules::program::{Program, Step};
use crate::rules::verdict::Outcome;

use super::generate::Generated;
use super::harness::evaluate_some;
use super::mutate::Mutant;
use super::reach::Reach;
use super::ready::{Ready, Seen};
use super::run::{self, Spot, Survivor};

/// How many survivors are explained with a case that tells them apart.
const EXPLAINED_MAX: usize = 20;

/// What a generated case gives without any mistake, of what was evaluated.
pub(super) struct Baseline {
    pub(super) outcomes: Vec<Option<Outcome>>,
    pub(super) states: Vec<Option<EmissionState>>,
    pub(super) seen: Seen,
}

/// Runs declared tests against all mistakes, each against the tests that come by it.
pub(super) fn mutation(
    checked: &Checked,
    tests: &[Ready<'_>],
    mutants: &[Mutant],
    generated: &[Generated],
    baselines: &[Option<Baseline>],
) -> run::Mutation {
    let program = checked.program();
    let reach = Reach::new(program);
    let (mut made, mut killed, mut survivors) = (0usize, 0usize, Vec::new());
    for mutant in mutants {
        let Some(changed) = mutant.change.apply(program) else { continue };
        made += 1;
        if tests.iter().any(|test| test.comes_by(&mutant.change) && !test.passes(&changed)) {
            killed += 1;
            continue;
        }
        let needed = program.with_needs(reach.steps(program, &mutant.change));
        let told_apart = match survivors.len() {
            told if told < EXPLAINED_MAX => generated
                .iter()
                .zip(baselines)
                .filter_map(|(one, baseline)| Some((one, baseline.as_ref()?)))
                .filter(|(_, baseline)| baseline.seen.comes_by(&mutant.change))
                .find_map(|(one, baseline)| tells_apart(&changed, &needed, one, baseline)),
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
        let before = baseline.outcomes[at].as_ref()?;
        (*before != result.outcome)
            .then(|| format!("{}: {} becomes {}", result.rule, before.verdict, result.outcome.verdict))
    });
    let emissions = || {
        found.emissions.iter().zip(&baseline.states).find_map(|(emission, before)| {
            let (emission, before) = (emission.as_ref()?, before.as_ref()?);
            (emission.state != *before).then(|| format!("{} becomes another", emission.pointer))
        })
    };
    Some(format!("{} on {}", rules.or_else(emissions)?, one.about))
}
