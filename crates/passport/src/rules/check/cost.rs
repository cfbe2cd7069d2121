//! The most that evaluating something can cost: one for each node, times the size of the lists.

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::limits::{FUEL, LIST_MAX, facts_max};
use crate::rules::program::{Bind, NodeId, Op, Program};
use crate::rules::syntax::ast::Many;
use crate::rules::types::Type;

/// Fills in the costs of rules and attributes, and warns where they exceed what an evaluation may
/// spend.
pub(super) fn bound(program: &mut Program, wrong: &mut Vec<Diagnostic>) {
    let mut bounds = Bounds { program, defs: vec![None; program.defs.len()] };
    let emits: Vec<u64> = bounds.program.emits.iter().map(|emit| bounds.cost(emit.value)).collect();
    let rules: Vec<u64> = bounds
        .program
        .rules
        .iter()
        .map(|rule| {
            let once = rule.roots().fold(1u64, |sum, root| sum.saturating_add(bounds.cost(root)));
            let each = rule.bindings.iter().filter(|bind| bind.many == Many::Each);
            each.fold(once, |cost, bind| cost.saturating_mul(choices(bind)))
        })
        .collect();
    for (emit, cost) in program.emits.iter_mut().zip(emits) {
        emit.cost_max = cost;
        wrong.extend(warning(&emit.pointer, cost, emit.span));
    }
    for (rule, cost) in program.rules.iter_mut().zip(rules) {
        rule.cost_max = cost;
        wrong.extend(warning(&rule.id, cost, rule.span));
    }
}

/// How many facts a binding can stand for one after the other. A key of one segment names one.
fn choices(bind: &Bind) -> u64 {
    if bind.by.is_some() && bind.fact.schema().key_segments.len() == 1 { 1 } else { facts_max(bind.fact) }
}

fn warning(name: &str, cost: u64, span: crate::rules::source::Span) -> Option<Diagnostic> {
    if cost <= FUEL {
        return None;
    }
    let message = format!("`{name}` can cost {cost}, and an evaluation may spend {FUEL}");
    Some(
        Diagnostic::new(Code::RuleCostHigh, span, message)
            .help("with as many facts as are allowed it would be refused; avoid lists inside lists"),
    )
}

struct Bounds<'p> {
    program: &'p Program,
    defs: Vec<Option<u64>>,
}

impl Bounds<'_> {
    fn cost(&mut self, id: NodeId) -> u64 {
        let op = &self.program.node(id).op;
        let mut cost = 1u64;
        match op {
            Op::Comp { source, filter, body, .. } => {
                let each =
                    filter.iter().chain(body).fold(1u64, |sum, node| sum.saturating_add(self.cost(*node)));
                let source_cost = self.cost(*source);
                let size = self.size(*source);
                return cost.saturating_add(source_cost).saturating_add(size.saturating_mul(each));
            }
            Op::Call(def, _) => cost = cost.saturating_add(self.def(*def)),
            // Going through lists costs their length.
            Op::In(_, list) => cost = cost.saturating_add(self.size(*list)),
            Op::ContainsAll(whole, part) => {
                cost = cost.saturating_add(self.size(*whole).saturating_mul(self.size(*part)));
            }
            _ => {}
        }
        let mut children = Vec::new();
        op.children(&mut |child| children.push(child));
        children.into_iter().fold(cost, |sum, child| sum.saturating_add(self.cost(child)))
    }

    fn def(&mut self, def: usize) -> u64 {
        if let Some(known) = self.defs[def] {
            return known;
        }
        let cost = self.cost(self.program.defs[def].body);
        self.defs[def] = Some(cost);
        cost
    }

    /// The most elements a list can have.
    fn size(&self, id: NodeId) -> u64 {
        let node = self.program.node(id);
        match &node.op {
            Op::Facts(fact) => facts_max(*fact),
            Op::Datapoints => self.program.datapoints.unsigned_abs(),
            Op::List(elements) => elements.len() as u64,
            Op::Comp { source, .. } => self.size(*source),
            Op::Call(def, _) => self.size(self.program.defs[*def].body),
            Op::If(_, then, otherwise) | Op::MatchOpt(_, _, then, otherwise) => {
                self.size(*then).max(self.size(*otherwise))
            }
            Op::MatchTag(_, _, arms) => arms.iter().map(|arm| self.size(*arm)).max().unwrap_or(0),
            Op::Some(inner) | Op::Need(inner, _) => self.size(*inner),
            Op::Payload(emit) => self.size(self.program.emits[*emit].value),
            Op::Local(_) => match node.ty.present() {
                Type::List(element) => match &**element {
                    Type::Fact(fact) => facts_max(*fact),
                    _ => LIST_MAX,
                },
                _ => LIST_MAX,
            },
            _ => LIST_MAX,
        }
    }
}
