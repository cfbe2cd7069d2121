//! Which verdicts a rule can come to, as far as its shape tells. The gate for rule tests wants to
//! see each of them.

use crate::facts::FactType;
use crate::rules::program::{Op, Program, Rule};
use crate::rules::syntax::ast::Many;
use crate::rules::verdict::Verdict;

/// Fills in the possible verdicts of all rules.
pub(super) fn possible(program: &mut Program) {
    let all: Vec<Vec<Verdict>> = program.rules.iter().map(|rule| verdicts(program, rule)).collect();
    for (rule, possible) in program.rules.iter_mut().zip(all) {
        rule.possible = possible;
    }
}

fn verdicts(program: &Program, rule: &Rule) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::Pass, rule.otherwise.verdict];
    let each = || rule.bindings.iter().filter(|bind| bind.many == Many::Each);
    // Without a fact to be about, a rule is about nothing; a fact that is pointed to must exist.
    let about_nothing = each().any(|bind| bind.by.is_none() && bind.fact != FactType::Battery);
    let dangling = each().any(|bind| bind.by.is_some());
    if rule.filter.is_some() || rule.unless.is_some() || about_nothing {
        verdicts.push(Verdict::NotApplicable);
    }
    if rule.from.is_some() {
        verdicts.push(Verdict::NotYet);
    }
    let mut needs = false;
    for root in rule.roots() {
        program.walk(root, &mut |_, node| {
            if let Op::Need(inner, _) = node.op {
                needs |= !is_narrowed(program, node, inner);
            }
        });
    }
    if needs || dangling || each().any(|bind| bind.fact == FactType::Battery) {
        verdicts.push(Verdict::Unknown);
    }
    verdicts.sort();
    verdicts.dedup();
    verdicts
}

/// A value that a condition has found present is asked for with its own place in the text; one
/// that is written with `need` begins with that word.
fn is_narrowed(
    program: &Program,
    node: &crate::rules::program::Node,
    inner: crate::rules::program::NodeId,
) -> bool {
    program.node(inner).span == node.span
}
