//! What is evaluated when: what something needs comes before it, else names decide.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::program::{Lit, NodeId, Op, Program, Step};
use crate::rules::source::Span;

/// Fills in the order of evaluation and what rules read; reports circles.
pub(super) fn order(program: &mut Program, wrong: &mut Vec<Diagnostic>) {
    let defs: Vec<BTreeSet<usize>> = program.defs.iter().map(|def| called(program, def.body)).collect();
    let def_name = |def: usize| (program.defs[def].name.clone(), program.defs[def].span);
    if let Err(circle) = sorted(&defs, |def| program.defs[def].name.clone()) {
        wrong.push(circle_of(circle.into_iter().map(def_name)));
        return;
    }
    // Attributes first, then rules: the index space of the graph.
    let emits = program.emits.len();
    let step = |index: usize| if index < emits { Step::Emit(index) } else { Step::Rule(index - emits) };
    let name = |index: usize| match step(index) {
        Step::Emit(emit) => (program.emits[emit].pointer.clone(), program.emits[emit].span),
        Step::Rule(rule) => (program.rules[rule].id.clone(), program.rules[rule].span),
    };
    let mut needs = Vec::new();
    for emit in &program.emits {
        needs.push(needed(program, &[emit.value]));
    }
    for rule in &program.rules {
        needs.push(needed(program, &rule.roots().collect::<Vec<_>>()));
    }
    let reads: Vec<Vec<String>> =
        needs[emits..].iter().map(|needs| needs.range(..emits).map(|emit| name(*emit).0).collect()).collect();
    match sorted(&needs, |index| name(index).0) {
        Ok(order) => {
            let asked = |index: &usize| needs[*index].iter().map(|need| step(*need)).collect();
            program.needs = order.iter().map(asked).collect();
            program.order = order.into_iter().map(step).collect();
        }
        Err(circle) => wrong.push(circle_of(circle.into_iter().map(name))),
    }
    for (rule, reads) in program.rules.iter_mut().zip(reads) {
        rule.reads = reads;
    }
}

/// Kahn's algorithm; of those that could come next, the first by name does. The error is a circle.
fn sorted(needs: &[BTreeSet<usize>], name: impl Fn(usize) -> String) -> Result<Vec<usize>, Vec<usize>> {
    let mut waiting: BTreeMap<usize, BTreeSet<usize>> = needs.iter().cloned().enumerate().collect();
    let mut ready: BTreeSet<(String, usize)> = waiting
        .iter()
        .filter(|(_, needs)| needs.is_empty())
        .map(|(index, _)| (name(*index), *index))
        .collect();
    waiting.retain(|_, needs| !needs.is_empty());
    let mut order = Vec::with_capacity(needs.len());
    while let Some((_, next)) = ready.pop_first() {
        order.push(next);
        waiting.retain(|index, needs| {
            if needs.remove(&next) && needs.is_empty() {
                ready.insert((name(*index), *index));
                return false;
            }
            true
        });
    }
    match waiting.keys().next() {
        None => Ok(order),
        Some(first) => Err(circle_in(&waiting, *first)),
    }
}

/// Follows needs until something comes up again. Each waiting one needs another waiting one.
fn circle_in(waiting: &BTreeMap<usize, BTreeSet<usize>>, first: usize) -> Vec<usize> {
    let mut path = vec![first];
    loop {
        let last = path[path.len() - 1];
        let next = waiting[&last].iter().find(|need| waiting.contains_key(need)).copied().unwrap_or(last);
        if let Some(at) = path.iter().position(|index| *index == next) {
            return path.split_off(at);
        }
        path.push(next);
    }
}

fn circle_of(mut circle: impl Iterator<Item = (String, Span)>) -> Diagnostic {
    let (first, span) = circle.next().unwrap_or_default();
    let rest: Vec<_> = circle.collect();
    let path = rest
        .iter()
        .map(|(name, _)| name.as_str())
        .chain([first.as_str()])
        .collect::<Vec<_>>()
        .join(" needs ");
    let message = format!("`{first}` needs itself: {first} needs {path}");
    let wrong = Diagnostic::new(Code::RuleCycleDetected, span, message)
        .label("the circle begins here")
        .help("nothing may need itself; let one of them read facts instead of the other");
    rest.into_iter().fold(wrong, |wrong, (name, span)| wrong.also(span, format!("`{name}` is part of it")))
}

/// Definitions that are called directly under a node.
fn called(program: &Program, root: NodeId) -> BTreeSet<usize> {
    let mut called = BTreeSet::new();
    let mut waiting = vec![root];
    while let Some(id) = waiting.pop() {
        let op = &program.node(id).op;
        if let Op::Call(def, _) = op {
            called.insert(*def);
        }
        op.children(&mut |child| waiting.push(child));
    }
    called
}

/// Attributes and rules whose outcome these expressions ask for.
fn needed(program: &Program, roots: &[NodeId]) -> BTreeSet<usize> {
    let emits = program.emits.len();
    let mut needed = BTreeSet::new();
    for root in roots {
        program.walk(*root, &mut |_, node| match &node.op {
            Op::Payload(emit) => drop(needed.insert(*emit)),
            Op::VerdictOf(rule) => drop(needed.insert(emits + rule)),
            Op::HasValue(number) | Op::Emitted(number) => match program.node(*number).op {
                Op::Lit(Lit::Int(dp)) => needed.extend(program.emit_of(dp)),
                _ => needed.extend(0..emits),
            },
            _ => {}
        });
    }
    needed
}
