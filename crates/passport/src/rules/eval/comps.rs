//! Comprehensions. Every element is looked at, so that all that is missing is told at once.

use crate::rules::program::{NodeId, Slot};
use crate::rules::syntax::ast::CompKind;
use crate::rules::types::Type;

use super::machine::Machine;
use super::probe::Probe;
use super::value::{Fault, Item, Value};

impl<'a, P: Probe> Machine<'a, P> {
    pub(super) fn comprehension(
        &mut self,
        id: NodeId,
        kind: CompKind,
        slot: Slot,
        source: NodeId,
        filter: Option<NodeId>,
        body: Option<NodeId>,
    ) -> Item<'a> {
        let list = self.eval(source);
        let mut traces = vec![list.trace];
        let Value::List(elements) = &list.value else {
            return self.op(id, kind.as_str(), list.value, &traces);
        };
        let mut chosen = Vec::with_capacity(elements.len());
        let (mut stuck, mut failed) = (None, Vec::new());
        for element in elements.iter() {
            if self.is_out_of_fuel() {
                return self.fault(Fault::Fuel, &traces);
            }
            self.set_slot(slot, element.clone());
            if let Some(filter) = filter {
                let passes = self.eval(filter);
                traces.push(passes.trace);
                match passes.value {
                    Value::Bool(true) => {}
                    Value::Bool(false) => continue,
                    other => {
                        stuck = self.worse(stuck, other);
                        continue;
                    }
                }
            }
            let item = match body {
                Some(body) => {
                    let item = self.eval(body);
                    traces.push(item.trace);
                    item
                }
                None => element.clone(),
            };
            match item.value {
                Value::Unknown(_) | Value::Fault(_) => stuck = self.worse(stuck, item.value),
                Value::Bool(false) if kind == CompKind::All => failed.push(element.value.clone()),
                _ => chosen.push(item),
            }
        }
        self.probe.branch(id, u32::from(!chosen.is_empty() || !failed.is_empty()));
        if !failed.is_empty() {
            let ty = self.element_type(source);
            let names: Vec<String> = failed.iter().map(|value| self.shown(value, &ty)).collect();
            self.witnesses.extend(names);
        }
        let value = self.made(id, kind, chosen, stuck, !failed.is_empty());
        self.op(id, kind.as_str(), value, &traces)
    }

    fn made(
        &mut self,
        id: NodeId,
        kind: CompKind,
        chosen: Vec<Item<'a>>,
        stuck: Option<Value<'a>>,
        failed: bool,
    ) -> Value<'a> {
        let fault = matches!(stuck, Some(Value::Fault(_)));
        match (kind, stuck) {
            (_, Some(stuck)) if fault => stuck,
            (CompKind::All, _) if failed => Value::Bool(false),
            (CompKind::Any, _) if chosen.iter().any(|item| matches!(item.value, Value::Bool(true))) => {
                Value::Bool(true)
            }
            (_, Some(stuck)) => stuck,
            (CompKind::All, None) => Value::Bool(true),
            (CompKind::Any, None) => Value::Bool(false),
            (CompKind::Count, None) => Value::Int(chosen.len() as i64),
            (CompKind::List, None) => Value::List(chosen.into()),
            (CompKind::First, None) => chosen.into_iter().next().map_or(Value::None, |item| item.value),
            (CompKind::Sum, None) => {
                let integers = self.program.node(id).ty == Type::Int;
                let values: Vec<Value<'a>> = chosen.into_iter().map(|item| item.value).collect();
                self.sum_of(&values, integers)
            }
            (CompKind::Min | CompKind::Max, None) => {
                let best = chosen.into_iter().map(|item| item.value).reduce(|best, value| {
                    let order = value.order(&best);
                    let better = if kind == CompKind::Min { order.is_lt() } else { order.is_gt() };
                    if better { value } else { best }
                });
                best.unwrap_or(Value::None)
            }
        }
    }

    /// Of two values that decide nothing: the first fault, else all that is missing.
    fn worse(&mut self, before: Option<Value<'a>>, value: Value<'a>) -> Option<Value<'a>> {
        match (before, value) {
            (Some(Value::Fault(fault)), _) => Some(Value::Fault(fault)),
            (Some(Value::Unknown(a)), Value::Unknown(b)) => Some(Value::Unknown(self.union(a, b))),
            (_, value) => Some(value),
        }
    }

    fn element_type(&self, source: NodeId) -> Type {
        match self.program.node(source).ty.present() {
            Type::List(element) => (**element).clone(),
            _ => Type::Wrong,
        }
    }
}
