//! Truth, comparisons, branches and tables.

use std::fmt::Write;

use crate::rules::program::{Compare, Lit, Logic, NodeId, Program, Slot, TableColumn};
use crate::rules::table::{bound_cell, row_at, text_cell};

use super::machine::Machine;
use super::probe::Probe;
use super::trace::{NodeKind, Traces};
use super::value::{Item, Value};

impl<'a, P: Probe> Machine<'a, P> {
    pub(super) fn not(&mut self, id: NodeId, inner: NodeId) -> Item<'a> {
        let item = self.eval(inner);
        let value = match item.value {
            Value::Bool(truth) => Value::Bool(!truth),
            stuck => stuck,
        };
        self.op(id, "not", value, &[item.trace])
    }

    /// The right side is left alone where the left side decides. Where the left side cannot be
    /// told, the right side may still decide.
    pub(super) fn logic(&mut self, id: NodeId, logic: Logic, left: NodeId, right: NodeId) -> Item<'a> {
        let (decides, then) = match logic {
            Logic::And => (false, false),
            Logic::Or => (true, true),
            Logic::Implies => (false, true),
        };
        let left = self.eval(left);
        match left.value {
            Value::Bool(truth) => self.probe.branch(id, u32::from(truth)),
            Value::Unknown(_) => {}
            _ => return self.op(id, logic.as_str(), left.value, &[left.trace]),
        }
        if matches!(left.value, Value::Bool(truth) if truth == decides) {
            return self.op(id, logic.as_str(), Value::Bool(then), &[left.trace]);
        }
        let right = self.eval(right);
        if let Value::Bool(truth) = right.value {
            self.probe.branch(id, 2 + u32::from(truth));
        }
        let value = match (&left.value, &right.value) {
            (Value::Bool(_), right) => right.clone(),
            (_, Value::Bool(truth)) if *truth == then => Value::Bool(then),
            (_, Value::Fault(fault)) => Value::Fault(*fault),
            (Value::Unknown(a), Value::Unknown(b)) => Value::Unknown(self.union(*a, *b)),
            (unknown, _) => unknown.clone(),
        };
        self.op(id, logic.as_str(), value, &[left.trace, right.trace])
    }

    pub(super) fn compare(&mut self, id: NodeId, compare: Compare, left: NodeId, right: NodeId) -> Item<'a> {
        let (left, right) = (self.eval(left), self.eval(right));
        let value = match self.stuck([&left.value, &right.value]) {
            Some(stuck) => stuck,
            None => {
                self.probe.compared(id, &|| left.value.lit(), &|| right.value.lit());
                let holds = match compare {
                    Compare::Equal => left.value.same(&right.value),
                    Compare::NotEqual => !left.value.same(&right.value),
                    _ => compare.holds(left.value.order(&right.value)),
                };
                self.probe.branch(id, u32::from(holds));
                Value::Bool(holds)
            }
        };
        self.op(id, compare.as_str(), value, &[left.trace, right.trace])
    }

    pub(super) fn is_in(&mut self, id: NodeId, left: NodeId, right: NodeId) -> Item<'a> {
        let (left, right) = (self.eval(left), self.eval(right));
        let value = match (self.stuck([&left.value, &right.value]), &right.value) {
            (Some(stuck), _) => stuck,
            (None, Value::List(items)) => {
                self.cost += items.len() as u64;
                let found = items.iter().any(|item| item.value.same(&left.value));
                self.probe.branch(id, u32::from(found));
                Value::Bool(found)
            }
            (None, _) => Value::Bool(false),
        };
        self.op(id, "in", value, &[left.trace, right.trace])
    }

    pub(super) fn contains_all(&mut self, id: NodeId, whole: NodeId, part: NodeId) -> Item<'a> {
        let (whole, part) = (self.eval(whole), self.eval(part));
        let value = match (self.stuck([&whole.value, &part.value]), &whole.value, &part.value) {
            (Some(stuck), ..) => stuck,
            (None, Value::List(whole), Value::List(part)) => {
                self.cost += whole.len() as u64 * part.len() as u64;
                let has = |wanted: &Item<'a>| whole.iter().any(|item| item.value.same(&wanted.value));
                let all = part.iter().all(has);
                self.probe.branch(id, u32::from(all));
                Value::Bool(all)
            }
            _ => Value::Bool(false),
        };
        self.op(id, "contains_all", value, &[whole.trace, part.trace])
    }

    pub(super) fn if_(&mut self, id: NodeId, condition: NodeId, then: NodeId, otherwise: NodeId) -> Item<'a> {
        let condition = self.eval(condition);
        let Value::Bool(truth) = condition.value else {
            return self.op(id, "if", condition.value, &[condition.trace]);
        };
        self.probe.branch(id, u32::from(truth));
        let taken = self.eval(if truth { then } else { otherwise });
        self.op(id, "if", taken.value, &[condition.trace, taken.trace])
    }

    pub(super) fn match_opt(
        &mut self,
        id: NodeId,
        value: NodeId,
        slot: Slot,
        some: NodeId,
        none: NodeId,
    ) -> Item<'a> {
        let value = self.eval(value);
        let of = value.trace;
        let taken = match value.value {
            Value::Unknown(_) | Value::Fault(_) => return self.op(id, "match", value.value, &[of]),
            Value::None => {
                self.probe.branch(id, 0);
                self.eval(none)
            }
            _ => {
                self.probe.branch(id, 1);
                self.set_slot(slot, value);
                self.eval(some)
            }
        };
        self.op(id, "match", taken.value, &[of, taken.trace])
    }

    pub(super) fn match_tag(
        &mut self,
        id: NodeId,
        value: NodeId,
        arm_of: &[u16],
        arms: &[NodeId],
    ) -> Item<'a> {
        let value = self.eval(value);
        let Value::Tag(tag) = value.value else {
            return self.op(id, "match", value.value, &[value.trace]);
        };
        let arm = arm_of[usize::from(tag)];
        self.probe.branch(id, u32::from(arm));
        let taken = self.eval(arms[usize::from(arm)]);
        self.op(id, "match", taken.value, &[value.trace, taken.trace])
    }

    pub(super) fn table(&mut self, id: NodeId, table: usize, args: &[NodeId]) -> Item<'a> {
        let program: &'a Program = self.program;
        let table = &program.tables[table];
        let args: Vec<Item<'a>> = args.iter().map(|arg| self.eval(*arg)).collect();
        let traces = Traces::of(&args);
        if let Some(stuck) = self.stuck(args.iter().map(|arg| &arg.value)) {
            return self.step(NodeKind::Table, &table.name, stuck, &table.result, traces.get());
        }
        let row =
            row_at(table, table.columns.iter().zip(&args).map(|(column, arg)| cell(column, &arg.value)));
        self.probe.branch(id, row as u32);
        let lit = match (table.rows.get(row), &table.otherwise) {
            (Some(row), _) => &row.value,
            (None, Some((lit, _))) => lit,
            // The checker made sure that every cell has a row.
            (None, None) => &Lit::None,
        };
        let mut name = std::mem::take(&mut self.name);
        name.clear();
        // Writing to a text cannot fail.
        let _ = write!(name, "{}#{row}", table.name);
        let item = self.step(NodeKind::Table, &name, Value::of_lit(lit), &table.result, traces.get());
        self.name = name;
        item
    }
}

/// The cell of a table's column that a value falls into.
fn cell(column: &TableColumn, value: &Value<'_>) -> usize {
    match (column, value) {
        (TableColumn::Bool, Value::Bool(truth)) => usize::from(*truth),
        (TableColumn::Tags(_), Value::Tag(tag)) => usize::from(*tag),
        (TableColumn::Integers(first, _), Value::Int(number)) => (number - first) as usize,
        (TableColumn::Texts(texts), Value::Text(text)) => text_cell(texts, text),
        (TableColumn::Bounds(bounds), value) => bound_cell(bounds, |bound| match (bound, value) {
            (Lit::Int(bound), Value::Int(number)) => bound.cmp(number),
            (Lit::Dec(bound), Value::Dec(number)) => bound.cmp(number),
            (Lit::Date(bound), Value::Date(date)) => bound.cmp(date),
            (Lit::Month(bound), Value::Month(month)) => bound.cmp(month),
            _ => std::cmp::Ordering::Equal,
        }),
        _ => 0,
    }
}
