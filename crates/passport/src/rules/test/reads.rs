//! What a rule looks at: fields, types of facts, days.

use std::collections::BTreeSet;

use crate::facts::{FactType, Field};
use crate::rules::program::{Lit, NodeId, Op, Program, Rule, Shown};
use crate::rules::types::Type;
use crate::value::Date;

/// What a rule looks at, itself and through attributes.
#[derive(Clone, Debug, Default)]
pub(super) struct Reads {
    /// Fields, by type of fact and name.
    pub(super) fields: BTreeSet<(FactType, &'static str)>,
    /// Types of facts.
    pub(super) facts: BTreeSet<FactType>,
    /// Days on which something begins, or that something is compared with.
    pub(super) days: BTreeSet<Date>,
    /// Comparisons.
    pub(super) comparisons: BTreeSet<NodeId>,
}

impl Reads {
    pub(super) fn of(program: &Program, rule: &Rule) -> Self {
        let mut reads = Self::default();
        for bind in &rule.bindings {
            reads.facts.insert(bind.fact);
        }
        reads.days.extend(rule.from.map(|(day, _)| day));
        for root in rule.roots() {
            reads.add(program, root);
        }
        for emit in program.emits.iter().filter(|emit| rule.reads.contains(&emit.pointer)) {
            if let Shown::From(day, _) = emit.shown {
                reads.days.insert(day);
            }
            reads.add(program, emit.value);
        }
        reads
    }

    /// Fields under one node.
    pub(super) fn under(program: &Program, root: NodeId) -> Self {
        let mut reads = Self::default();
        reads.add(program, root);
        reads
    }

    fn add(&mut self, program: &Program, root: NodeId) {
        program.walk(root, &mut |id, node| match &node.op {
            Op::Field(base, name) => {
                if let Type::Fact(fact) = program.node(*base).ty.present()
                    && let Some(field) = fact.schema().field(name)
                {
                    self.facts.insert(*fact);
                    self.fields.insert((*fact, field.name));
                }
            }
            Op::Facts(fact) | Op::FactBy(fact, _) => drop(self.facts.insert(*fact)),
            Op::Product => drop(self.facts.insert(FactType::Battery)),
            Op::Compare(..) => drop(self.comparisons.insert(id)),
            Op::Lit(Lit::Date(day)) => drop(self.days.insert(*day)),
            Op::Table(table, _) => {
                for row in &program.tables[*table].rows {
                    if let Lit::Date(day) = &row.value {
                        self.days.insert(*day);
                    }
                }
            }
            _ => {}
        });
    }
}

/// A field by its name.
pub(super) fn schema_field(fact: FactType, name: &str) -> Option<&'static Field> {
    fact.schema().field(name)
}
