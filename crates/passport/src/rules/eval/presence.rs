//! What is there and what is not.

use crate::facts::{Fact, FactType, escape_segment};
use crate::rules::program::{NodeId, Op};
use crate::rules::types::{Enums, Type};
use crate::rules::verdict::Verdict;

use super::facts::field;
use super::machine::Machine;
use super::probe::Probe;
use super::trace::{NewValue, NodeKind, TraceId};
use super::value::{Item, Value, of_field, write_value};

impl<'a, P: Probe> Machine<'a, P> {
    /// The value, or that it is missing.
    pub(super) fn need(&mut self, inner: NodeId, text: &str) -> Item<'a> {
        let item = self.eval(inner);
        if !matches!(item.value, Value::None) {
            return item;
        }
        let path = self.path(inner, text);
        let missing = self.missing(path);
        let trace = self.trace.add(NodeKind::Op, "need", &[item.trace], NewValue::Unknown, true);
        Item { value: Value::Unknown(missing), trace }
    }

    pub(super) fn present(&mut self, id: NodeId, inner: NodeId, text: &str) -> Item<'a> {
        let item = self.eval(inner);
        let value = match item.value {
            Value::None => {
                let path = self.path(inner, text);
                self.absent.push(path);
                Value::Bool(false)
            }
            Value::Unknown(_) | Value::Fault(_) => item.value,
            _ => Value::Bool(true),
        };
        if let Value::Bool(truth) = value {
            self.probe.branch(id, u32::from(truth));
        }
        // Whether something is there is no secret, so this step is open whatever is under it.
        let new = match &value {
            Value::Bool(true) => NewValue::Shown(b"true"),
            Value::Bool(false) => NewValue::Shown(b"false"),
            Value::Fault(fault) => NewValue::Fault(fault.code()),
            _ => NewValue::Unknown,
        };
        let trace = self.trace.add(NodeKind::Op, "present", &[item.trace], new, true);
        Item { value, trace }
    }

    pub(super) fn has_value(&mut self, id: NodeId, number: NodeId) -> Item<'a> {
        self.about_datapoint(id, number, "has_value")
    }

    pub(super) fn is_emitted(&mut self, id: NodeId, number: NodeId) -> Item<'a> {
        self.about_datapoint(id, number, "emitted")
    }

    fn about_datapoint(&mut self, id: NodeId, number: NodeId, name: &str) -> Item<'a> {
        let number = self.eval(number);
        let Value::Int(dp) = number.value else {
            return self.op(id, name, number.value, &[number.trace]);
        };
        let emit = self.program.emit_of(dp);
        let emitted = emit.and_then(|emit| self.emitted[emit].as_ref());
        let (present, shown, trace) = match emitted {
            Some(emitted) => {
                let present =
                    !matches!(emitted.item.value, Value::None | Value::Unknown(_) | Value::Fault(_));
                self.touched.extend(&emitted.touched);
                (present, present && emitted.shown, Some(emitted.item.trace))
            }
            None => (false, false, None),
        };
        let truth = if name == "emitted" { shown } else { present };
        if name == "has_value" && !present {
            let path =
                emit.map_or_else(|| format!("dp:{dp}"), |emit| self.program.emits[emit].pointer.clone());
            self.absent.push(path);
        }
        self.probe.branch(id, u32::from(truth));
        let json: &[u8] = if truth { b"true" } else { b"false" };
        let children: Vec<_> = [Some(number.trace), trace].into_iter().flatten().collect();
        let trace = self.trace.add(NodeKind::Op, name, &children, NewValue::Shown(json), true);
        Item { value: Value::Bool(truth), trace }
    }

    pub(super) fn payload(&mut self, emit: usize) -> Item<'a> {
        match &self.emitted[emit] {
            Some(emitted) => {
                self.touched.extend(&emitted.touched);
                let value = if emitted.shown { emitted.item.value.clone() } else { Value::None };
                Item { value, trace: emitted.item.trace }
            }
            // The order of evaluation puts attributes before what reads them.
            None => Item {
                value: Value::None,
                trace: self.trace.add(NodeKind::Op, "payload", &[], NewValue::Unsaid, true),
            },
        }
    }

    pub(super) fn verdict_of(&mut self, id: NodeId, rule: usize) -> Item<'a> {
        let (verdict, trace, inputs) = match &self.verdicts[rule] {
            Some(result) => (result.outcome.verdict, Some(TraceId(result.trace)), result.inputs.clone()),
            None => (Verdict::Unknown, None, Vec::new()),
        };
        for input in inputs {
            self.touched.add(input);
        }
        let tag = self.program.enums.tag(Enums::VERDICT, verdict.as_str()).unwrap_or(0);
        let children: Vec<_> = trace.into_iter().collect();
        self.op(id, "verdict", Value::Tag(tag), &children)
    }

    pub(super) fn of_fact(
        &mut self,
        id: NodeId,
        name: &str,
        fact: NodeId,
        of: fn(&Fact) -> &str,
    ) -> Item<'a> {
        let item = self.eval(fact);
        let value = match &item.value {
            Value::Fact(index) => {
                self.touched.add(*index);
                Value::Text(of(self.indexed.facts[*index as usize]))
            }
            stuck => stuck.clone(),
        };
        self.op(id, name, value, &[item.trace])
    }

    /// What to call something that is missing: the fact and field where that is known, else the
    /// words of the rule.
    pub(super) fn path(&self, missing: NodeId, text: &str) -> String {
        match &self.program.node(missing).op {
            Op::Field(base, name) => match self.known(*base) {
                Some(Value::Fact(index)) => format!("{}#{name}", self.indexed.facts[index as usize].key()),
                _ => text.to_owned(),
            },
            Op::FactBy(fact_type, key) => match self.known(*key) {
                Some(Value::Text(key)) => begins_with(*fact_type, key),
                _ => fact_type.name().to_owned(),
            },
            Op::Call(def, args) => {
                let args = args.iter().filter_map(|arg| {
                    let ty = &self.program.node(*arg).ty;
                    let value = self.known(*arg).filter(|_| ty.is_scalar())?;
                    Some(self.shown(&value, ty))
                });
                format!("{}({})", self.program.defs[*def].name, args.collect::<Vec<_>>().join(", "))
            }
            _ => match self.program.node(missing).ty.present() {
                Type::Fact(fact_type) => fact_type.name().to_owned(),
                _ => text.to_owned(),
            },
        }
    }

    /// A value as a person reads it.
    pub(super) fn shown(&self, value: &Value<'a>, ty: &Type) -> String {
        match value {
            Value::Fact(index) => self.indexed.facts[*index as usize].key().to_owned(),
            Value::Text(text) => (*text).to_owned(),
            Value::Tag(tag) => match ty.present() {
                Type::Enum(enumeration) => self.program.enums.word(*enumeration, *tag).to_owned(),
                _ => tag.to_string(),
            },
            _ => {
                let mut json = Vec::new();
                write_value(&self.program.enums, value, ty, &mut json);
                String::from_utf8_lossy(&json).trim_matches('"').to_owned()
            }
        }
    }

    /// The value of a node that needs no evaluation.
    fn known(&self, node: NodeId) -> Option<Value<'a>> {
        match &self.program.node(node).op {
            Op::Local(slot) => Some(self.slot(*slot).value.clone()),
            Op::Product => self.indexed.product.map(Value::Fact),
            Op::Need(inner, _) | Op::Some(inner) => self.known(*inner),
            Op::Field(base, name) => match self.known(*base)? {
                Value::Fact(index) => {
                    let fact = self.indexed.facts[index as usize];
                    let (_, field_type, value) = field(fact, name)?;
                    Some(of_field(value?, field_type, TraceId(0)))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// What to call a fact that is missing, of which only the beginning of its key is known.
pub(super) fn begins_with(fact_type: FactType, segment: &str) -> String {
    format!("{}:{}", fact_type.schema().key_prefix, escape_segment(segment))
}
