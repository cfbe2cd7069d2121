//! What is asked of tests before a package may be used. A bare count would be met by 500 copies of
//! one case, so more is asked.

use super::run::Run;

const PASSED_MIN: usize = 500;
const DISTINCT_MIN: usize = 500;
const CASES_PER_RULE_MIN: usize = 20;
const SCORE_PERMILLE_MIN: usize = 900;

/// What keeps a package from being used; nothing if it may be.
pub(super) fn gate(run: &Run) -> Vec<String> {
    let mut reasons = Vec::new();
    if run.failed > 0 {
        reasons.push(format!("{} of {} tests fail", run.failed, run.total));
    }
    if run.passed < PASSED_MIN {
        reasons.push(format!("{} tests pass, at least {PASSED_MIN} are asked for", run.passed));
    }
    if run.distinct < DISTINCT_MIN {
        reasons
            .push(format!("{} different inputs pass, at least {DISTINCT_MIN} are asked for", run.distinct));
    }
    for rule in run.rules.iter().filter(|rule| rule.cases < CASES_PER_RULE_MIN) {
        reasons.push(format!(
            "{} is tested with {} different inputs, at least {CASES_PER_RULE_MIN} are asked for",
            rule.rule, rule.cases
        ));
    }
    if !run.branches.missed.is_empty() {
        reasons.push(format!(
            "{} of {} branches are never taken",
            run.branches.missed.len(),
            run.branches.all
        ));
    }
    if !run.verdicts.missed.is_empty() {
        reasons.push(format!(
            "{} of {} verdicts are never reached",
            run.verdicts.missed.len(),
            run.verdicts.all
        ));
    }
    // With failing tests there is nothing for mistakes to be noticed against.
    if run.failed == 0 && run.mutation.score_permille < SCORE_PERMILLE_MIN {
        reasons.push(format!(
            "declared tests notice {} of {} mistakes made on purpose, at least {} % are asked for",
            run.mutation.killed,
            run.mutation.mutants,
            SCORE_PERMILLE_MIN / 10
        ));
    }
    reasons
}
