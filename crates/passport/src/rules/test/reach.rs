//! What a mistake can make a difference to.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::program::{NodeId, Op, Program, Step};

use super::mutate::Mutation;

/// Which steps a node is part of.
pub(super) struct Reach {
    steps: BTreeMap<NodeId, BTreeSet<Step>>,
}

impl Reach {
    pub(super) fn new(program: &Program) -> Self {
        let mut steps: BTreeMap<NodeId, BTreeSet<Step>> = BTreeMap::new();
        for step in &program.order {
            for root in program.roots(*step) {
                program.walk(root, &mut |id, _| steps.entry(id).or_default().extend([*step]));
            }
        }
        Self { steps }
    }

    /// The steps that a mistake can make a difference to, itself or through others.
    pub(super) fn steps(&self, program: &Program, mutation: &Mutation) -> BTreeSet<Step> {
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
