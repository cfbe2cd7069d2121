//! Running all tests of a package.

use std::collections::BTreeSet;

use bpc_core::Hash;

use crate::hash::sha256;
use crate::rules::checked::Checked;
use crate::rules::eval::Found;
use crate::rules::eval::probe::{Both, NoProbe, Probe};
use crate::rules::program::{Program, Step};
use crate::rules::reference;
use crate::rules::source::Span;
use crate::rules::text::show_lit;
use crate::rules::verdict::Verdict;

use super::changes::Prepared;
use super::coverage::Coverage;
use super::declared::{Asked, Example, Expect, Golden, Lookup};
use super::draft::{Case, Draft};
use super::gate::gate;
use super::generate::{Generated, generate};
use super::harness::{asked_by, context, evaluate_some, evaluate_traced, look_up, table_row};
use super::mutate::{Mutant, mutants};
use super::mutation::{Baseline, mutation};
use super::properties::{PropertyCase, holds};
use super::ready::{Ready, Watch, ready};
use super::run::{self, Failure, Kinds, RuleCases, Run, Spot, Suspect};
use super::seed::{CHANGES, Seed};
use super::show::show;
use super::shrink::shrink;
use super::suspects::suspects;

/// How much of long lists is told.
const TOLD_MAX: usize = 100;
const SUSPECTS_MAX: usize = 5;

/// Somebody who can compile the facts of a file, for golden tests.
pub trait Goldens {
    /// The hash of the payload and the root of the proof, in hex.
    ///
    /// # Errors
    ///
    /// Why it cannot be compiled.
    fn hashes(&self, checked: &Checked, file: &str) -> Result<(String, String), String>;
}

/// How much of a case the two evaluators are compared on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What the case is about, with all that this asks about; everything for fixtures.
    Own,
    /// Everything, for every case. Takes several times as long.
    All,
}

/// Runs all tests of a package.
pub fn run(checked: &Checked, seed: i64) -> Run {
    run_with(checked, seed, Scope::Own, None)
}

/// Runs all tests of a package; golden tests with somebody who can compile, without whom they fail.
pub fn run_with(checked: &Checked, seed: i64, scope: Scope, goldens: Option<&dyn Goldens>) -> Run {
    let mut suite = Suite {
        checked,
        program: checked.program(),
        scope,
        seed: Seed::new(checked.name(), checked.rules_hash(), seed),
        kinds: Kinds::default(),
        passed: 0,
        failures: Vec::new(),
        hashes: BTreeSet::new(),
        per_rule: vec![BTreeSet::new(); checked.program().rules.len()],
        coverage: Coverage::default(),
        declared_pass: true,
    };
    suite.fixtures();
    suite.examples();
    suite.lookups();
    suite.properties();
    suite.metamorphics();
    suite.goldens(goldens);
    let generated = generate(suite.program, &checked.tests().fixtures, &suite.seed);
    let baselines = suite.generated(&generated);
    suite.finish(seed, &generated, &baselines)
}

struct Suite<'c> {
    checked: &'c Checked,
    program: &'c Program,
    scope: Scope,
    seed: Seed,
    kinds: Kinds,
    passed: usize,
    failures: Vec<Failed>,
    /// Inputs that passed, of all and of each rule.
    hashes: BTreeSet<Hash>,
    per_rule: Vec<BTreeSet<Hash>>,
    coverage: Coverage,
    /// Whether all examples and lookups have passed so far.
    declared_pass: bool,
}

/// A test that failed, before it is made small.
struct Failed {
    test: String,
    span: Option<Span>,
    message: String,
    input: Option<Draft>,
    how: How,
}

/// In which way a test failed, to know whether a smaller input fails in the same way.
enum How {
    /// Rules say this instead of what was expected.
    Says(Vec<(usize, Verdict)>),
    /// The two evaluators disagree.
    Disagree,
    /// Cannot be made smaller.
    Fixed,
}

impl Suite<'_> {
    fn fail(&mut self, test: String, span: Option<Span>, message: String, input: Option<Draft>, how: How) {
        self.failures.push(Failed { test, span, message, input, how });
    }

    fn examples(&mut self) {
        for example in &self.checked.tests().examples {
            self.kinds.examples += 1;
            let mut coverage = Coverage::default();
            match self.example(example, &mut coverage) {
                Ok(case) => {
                    self.passed += 1;
                    self.coverage.merge(&coverage);
                    self.hashes.insert(case.hash);
                    for expect in &example.expects {
                        if let Expect::Rule { rule, .. } = expect {
                            self.per_rule[*rule].insert(case.hash);
                        }
                    }
                }
                Err((message, how)) => {
                    self.declared_pass = false;
                    let input = Some(example.input.clone());
                    self.fail(example.name.clone(), Some(example.span), message, input, how);
                }
            }
        }
    }

    fn example(&self, example: &Example, coverage: &mut Coverage) -> Result<Case, (String, How)> {
        let case = example.input.case().map_err(|_| ("its facts are not allowed".to_owned(), How::Fixed))?;
        let steps = self.program.with_needs(example.steps());
        example
            .judge(self.program, &steps, &case, &mut NoProbe)
            .map_err(|unexpected| (unexpected.message, How::Says(unexpected.said)))?;
        self.both(&self.scoped(steps), &case, coverage).map_err(|message| (message, How::Disagree))?;
        Ok(case)
    }

    /// These steps, or all of them.
    fn scoped(&self, own: Vec<Step>) -> Vec<Step> {
        match self.scope {
            Scope::Own => own,
            Scope::All => self.program.order.clone(),
        }
    }

    /// What both evaluators find; that they do not agree is an error.
    fn both<P: Probe>(&self, steps: &[Step], case: &Case, probe: &mut P) -> Result<Found, String> {
        let found = evaluate_traced(self.program, steps, case, probe).map_err(|error| error.to_string())?;
        let context = context(&case.product, case.as_of);
        let judgement = reference::judge(self.program, steps, &case.facts, context);
        reference::disagreement(&found, &judgement).map_or(Ok(found), Err)
    }

    /// Fixtures are judged on everything, whatever the scope.
    fn fixtures(&mut self) {
        for (name, draft) in &self.checked.tests().fixtures {
            let mut coverage = Coverage::default();
            let all = &self.program.order;
            let judged = draft
                .case()
                .map_err(|_| "its facts are not allowed".to_owned())
                .and_then(|case| self.both(all, &case, &mut coverage).map(|_| case));
            match judged {
                Ok(_) => self.coverage.merge(&coverage),
                Err(message) => {
                    self.fail(format!("fixture {name}"), None, message, Some(draft.clone()), How::Disagree);
                }
            }
        }
    }

    fn lookups(&mut self) {
        for lookup in &self.checked.tests().lookups {
            self.kinds.lookups += 1;
            let mut coverage = Coverage::default();
            let found = lookup
                .about(self.program)
                .and_then(|(case, steps)| look_up(self.program, lookup, &case, &steps, &mut coverage));
            match found {
                Ok(()) => {
                    self.passed += 1;
                    coverage.rows.extend(row_of(self.program, lookup));
                    self.coverage.merge(&coverage);
                }
                Err(message) => {
                    self.declared_pass = false;
                    self.fail(lookup.name.clone(), Some(lookup.span), message, None, How::Fixed);
                }
            }
        }
    }

    fn properties(&mut self) {
        for (index, property) in self.checked.tests().properties.iter().enumerate() {
            let steps = asked_by(self.program, property.holds.body);
            for number in 0..property.cases {
                let made = PropertyCase::new(&self.program.enums, property, index, number, &self.seed);
                // What schemas do not allow says nothing about rules.
                let Some(case) = made.case(self.program.effective) else { continue };
                self.kinds.properties += 1;
                let mut coverage = Coverage::default();
                match holds(self.program, property, &steps, &case, &made.values, &mut coverage) {
                    Ok(()) => {
                        self.passed += 1;
                        self.coverage.merge(&coverage);
                        if made.draft.is_some() {
                            self.hashes.insert(case.hash);
                        }
                    }
                    Err(message) => {
                        let values = property.vars.iter().zip(&made.values).map(|(var, lit)| {
                            format!("{} = {}", var.name, show_lit(&self.program.enums, lit, &var.ty))
                        });
                        let message = format!("{message} for {}", values.collect::<Vec<_>>().join(", "));
                        let test = format!("{}#{number}", property.name);
                        self.fail(test, Some(property.span), message, made.draft, How::Fixed);
                    }
                }
            }
        }
    }

    fn metamorphics(&mut self) {
        let tests = self.checked.tests();
        for (index, metamorphic) in tests.metamorphics.iter().enumerate() {
            let prepared = match Prepared::new(self.checked, metamorphic.change) {
                Ok(prepared) => prepared,
                Err(message) => {
                    self.kinds.metamorphic += 1;
                    self.fail(metamorphic.name.clone(), Some(metamorphic.span), message, None, How::Fixed);
                    continue;
                }
            };
            for (number, (name, draft)) in tests.fixtures.iter().enumerate() {
                self.kinds.metamorphic += 1;
                let mut numbers = self.seed.case(CHANGES + ((index as u64) << 16) + number as u64);
                match prepared.makes_no_difference(self.program, draft, &mut numbers) {
                    Ok(()) => self.passed += 1,
                    Err(message) => {
                        let test = format!("{} on {name}", metamorphic.name);
                        self.fail(test, Some(metamorphic.span), message, Some(draft.clone()), How::Fixed);
                    }
                }
            }
        }
    }

    fn goldens(&mut self, compiler: Option<&dyn Goldens>) {
        for golden in &self.checked.tests().goldens {
            self.kinds.goldens += 1;
            let found = match compiler {
                Some(compiler) => compiler.hashes(self.checked, &golden.file),
                None => Err("nobody here can compile passports".to_owned()),
            };
            match found.and_then(|found| compare_golden(golden, &found)) {
                Ok(()) => self.passed += 1,
                Err(message) => self.fail(golden.name.clone(), Some(golden.span), message, None, How::Fixed),
            }
        }
    }

    fn generated(&mut self, generated: &[Generated]) -> Vec<Option<Baseline>> {
        let mut baselines = Vec::with_capacity(generated.len());
        for one in generated {
            self.kinds.generated += 1;
            let mut coverage = Coverage::default();
            let mut watch = Watch::new(self.program);
            let steps = self.scoped(self.program.with_needs([Step::Rule(one.rule)]));
            let found = self.both(&steps, &one.case, &mut Both(&mut coverage, &mut watch));
            baselines.push(match found {
                Ok(found) => {
                    self.passed += 1;
                    self.coverage.merge(&coverage);
                    self.hashes.insert(one.case.hash);
                    self.per_rule[one.rule].insert(one.case.hash);
                    let outcomes = found.rules.into_iter().map(|result| Some(result?.outcome)).collect();
                    let states = found.emissions.into_iter().map(|emission| Some(emission?.state)).collect();
                    Some(Baseline { outcomes, states, seen: watch.seen })
                }
                Err(message) => {
                    let test = format!("generated for {}: {}", self.program.rules[one.rule].id, one.about);
                    self.fail(test, None, message, Some(one.case.draft()), How::Disagree);
                    None
                }
            });
        }
        baselines
    }

    fn finish(self, seed: i64, generated: &[Generated], baselines: &[Option<Baseline>]) -> Run {
        let mutants = mutants(self.program);
        let tests = ready(self.checked, &self.seed);
        let (mutation, suspects) = if self.declared_pass {
            (mutation(self.checked, &tests, &mutants, generated, baselines), Vec::new())
        } else {
            (run::Mutation::default(), self.suspects(&mutants, &tests))
        };
        let rules = self.program.rules.iter().zip(&self.per_rule);
        let mut run = Run {
            package: self.checked.name().to_owned(),
            version: self.checked.version().to_owned(),
            rules_hash: self.checked.rules_hash().to_string(),
            seed,
            total: self.passed + self.failures.len(),
            passed: self.passed,
            failed: self.failures.len(),
            distinct: self.hashes.len(),
            inputs_hash: sha256(&self.hashes.iter().map(|hash| &hash.0[..]).collect::<Vec<_>>()).to_string(),
            kinds: self.kinds.clone(),
            rules: rules
                .map(|(rule, cases)| RuleCases { rule: rule.id.clone(), cases: cases.len() })
                .collect(),
            branches: self.branches(),
            verdicts: self.verdicts(),
            mutation,
            first_failure: self.failures.first().map(|failed| self.small(failed)),
            failures: self.failures.iter().take(TOLD_MAX).map(|failed| failed.test.clone()).collect(),
            suspects,
            gate: Vec::new(),
        };
        run.gate = gate(&run);
        run
    }

    fn branches(&self) -> run::Coverage {
        let (all, missed) = self.coverage.branches(self.program);
        let missed: Vec<Spot> =
            missed.into_iter().map(|way| Spot::new(self.checked.sources(), way.span, way.what)).collect();
        run::Coverage { all, hit: all - missed.len(), missed }
    }

    fn verdicts(&self) -> run::Coverage {
        let all: usize = self.program.rules.iter().map(|rule| rule.possible.len()).sum();
        let missed = self.coverage.missed_verdicts(self.program).into_iter().map(|(rule, verdict)| {
            let span = self.program.rule(&rule).map_or(Span::default(), |rule| rule.span);
            Spot::new(self.checked.sources(), span, format!("never comes to {verdict}"))
        });
        let missed: Vec<Spot> = missed.collect();
        run::Coverage { all, hit: all - missed.len(), missed }
    }

    fn suspects(&self, mutants: &[Mutant], tests: &[Ready<'_>]) -> Vec<Suspect> {
        let found = suspects(self.program, mutants, tests);
        let most = found.first().map_or(1, |first| first.weight.max(1));
        found
            .into_iter()
            .take(SUSPECTS_MAX)
            .map(|one| Suspect {
                spot: Spot::new(self.checked.sources(), one.span, one.what),
                score_permille: one.weight * 1000 / most,
            })
            .collect()
    }

    /// A failure with the smallest input that still fails in the same way.
    fn small(&self, failed: &Failed) -> Failure {
        let before = failed.input.as_ref().map_or(0, |input| input.facts.len());
        let small = failed.input.as_ref().map(|input| match &failed.how {
            How::Fixed => input.clone(),
            How::Says(said) if said.is_empty() => input.clone(),
            How::Says(said) => shrink(input, |draft| self.still_says(draft, said)),
            How::Disagree => shrink(input, |draft| self.still_disagrees(draft)),
        });
        Failure {
            test: failed.test.clone(),
            spot: failed.span.map(|span| Spot::new(self.checked.sources(), span, "test")),
            message: failed.message.clone(),
            input: small.as_ref().map_or(String::new(), show),
            facts_before: before,
            facts: small.map_or(0, |small| small.facts.len()),
        }
    }

    fn still_says(&self, draft: &Draft, said: &[(usize, Verdict)]) -> bool {
        let Ok(case) = draft.case() else { return false };
        let steps = self.program.with_needs(said.iter().map(|(rule, _)| Step::Rule(*rule)));
        evaluate_some(self.program, &steps, &case, &mut NoProbe).is_ok_and(|found| {
            said.iter().all(|(rule, verdict)| {
                found.rules[*rule].as_ref().is_some_and(|result| result.outcome.verdict == *verdict)
            })
        })
    }

    fn still_disagrees(&self, draft: &Draft) -> bool {
        let Ok(case) = draft.case() else { return false };
        // Costing too much is no disagreement.
        let all = &self.program.order;
        evaluate_some(self.program, all, &case, &mut NoProbe).is_ok()
            && self.both(all, &case, &mut NoProbe).is_err()
    }
}

fn row_of(program: &Program, lookup: &Lookup) -> Option<(usize, usize)> {
    match lookup.of {
        Asked::Table(index) => Some((index, table_row(program, index, lookup))),
        Asked::Def(_) => None,
    }
}

fn compare_golden(golden: &Golden, found: &(String, String)) -> Result<(), String> {
    for (expected, found, what) in
        [(&golden.payload_hash, &found.0, "payload_hash"), (&golden.proof_root, &found.1, "proof_root")]
    {
        if let Some(expected) = expected.as_ref().filter(|expected| *expected != found) {
            return Err(format!("{what}: expected {expected}, found {found}"));
        }
    }
    Ok(())
}
