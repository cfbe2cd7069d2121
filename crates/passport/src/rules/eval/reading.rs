//! Reading literals, facts and fields. What was read once is kept: value, trace and all.

use std::collections::HashMap;
use std::rc::Rc;

use crate::facts::{Access, FactType};
use crate::rules::program::{NodeId, Op, Program};
use crate::rules::types::Type;

use super::facts::{Indexed, field};
use super::machine::Machine;
use super::mix::Mixed;
use super::probe::Probe;
use super::touched::Touched;
use super::trace::{NewValue, NodeKind, TraceId};
use super::value::{Item, Value, of_field, write_value};

/// What need not be found twice.
pub(super) struct Caches<'a> {
    literals: Vec<Option<Item<'a>>>,
    facts: Vec<Option<TraceId>>,
    fields: Vec<Option<Item<'a>>>,
    /// Where the fields of each fact begin.
    field_starts: Vec<u32>,
    /// For nodes that read a field, its place among the fields of its type, which is always the same.
    places: Vec<Option<u16>>,
    lists: Vec<Option<Item<'a>>>,
    datapoints: Option<Item<'a>>,
    /// Definitions without parameters.
    pub(super) defs: Vec<Option<Rc<Kept<'a>>>>,
    /// Definitions with few and plain arguments.
    pub(super) calls: HashMap<CallKey, Rc<Kept<'a>>, Mixed>,
}

/// A definition and its arguments: for each the step that found it, and its value. The step alone would
/// not do, as parts of a value have the step of the whole.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CallKey {
    def: u32,
    args: [(u32, u64); 3],
}

impl CallKey {
    /// `None` if there are many arguments, or one that is no small value.
    pub(super) fn new(def: usize, args: &[Item<'_>]) -> Option<Self> {
        let mut key = Self { def: def as u32, args: [(u32::MAX, 0); 3] };
        if args.len() > key.args.len() {
            return None;
        }
        for (place, arg) in key.args.iter_mut().zip(args) {
            let value = match arg.value {
                Value::Bool(truth) => u64::from(truth),
                Value::Int(number) => number as u64,
                Value::Tag(tag) => u64::from(tag),
                Value::Fact(index) => u64::from(index),
                _ => return None,
            };
            *place = (arg.trace.0, value);
        }
        Some(key)
    }
}

/// What a definition found, and what it did on the way.
pub(super) struct Kept<'a> {
    pub(super) item: Item<'a>,
    pub(super) touched: Touched,
    pub(super) absent: Vec<String>,
    pub(super) witnesses: Vec<String>,
}

impl Caches<'_> {
    pub(super) fn new(program: &Program, indexed: &Indexed<'_>) -> Self {
        let mut fields = 0;
        let mut field_starts = Vec::with_capacity(indexed.facts.len());
        for fact in &indexed.facts {
            field_starts.push(fields);
            fields += fact.fact_type().schema().fields.len() as u32;
        }
        Self {
            literals: vec![None; program.nodes.len()],
            facts: vec![None; indexed.facts.len()],
            fields: vec![None; fields as usize],
            field_starts,
            places: vec![None; program.nodes.len()],
            lists: vec![None; FactType::ALL.len()],
            datapoints: None,
            defs: vec![None; program.defs.len()],
            calls: HashMap::with_capacity_and_hasher(2 * program.defs.len(), Mixed::default()),
        }
    }
}

impl<'a, P: Probe> Machine<'a, P> {
    pub(super) fn literal(&mut self, id: NodeId) -> Item<'a> {
        if let Some(known) = &self.caches.literals[id.0 as usize] {
            return known.clone();
        }
        let program: &'a Program = self.program;
        let node = program.node(id);
        let (name, value) = match &node.op {
            Op::Lit(lit) => ("", Value::of_lit(lit)),
            Op::Const(at) => (program.consts[*at].name.as_str(), Value::of_lit(&program.consts[*at].value)),
            Op::AsOf => ("as_of", Value::Date(self.context.as_of)),
            _ => ("build_id", Value::Text(self.context.build_id)),
        };
        let item = self.step(NodeKind::Const, name, value, &node.ty, &[]);
        self.caches.literals[id.0 as usize] = Some(item.clone());
        item
    }

    /// A list of literals is one itself.
    pub(super) fn list(&mut self, id: NodeId, elements: &[NodeId]) -> Item<'a> {
        if let Some(known) = &self.caches.literals[id.0 as usize] {
            return known.clone();
        }
        let item = self.compound(id, "list", elements, Value::List);
        if elements.iter().all(|element| matches!(self.program.node(*element).op, Op::Lit(_) | Op::Const(_)))
        {
            self.caches.literals[id.0 as usize] = Some(item.clone());
        }
        item
    }

    pub(super) fn datapoints(&mut self) -> Item<'a> {
        if let Some(known) = &self.caches.datapoints {
            return known.clone();
        }
        let items: Vec<Item<'a>> = (1..=self.program.datapoints)
            .map(|number| self.step(NodeKind::Const, "", Value::Int(number), &Type::Int, &[]))
            .collect();
        let trace = self.trace.add(NodeKind::Const, "datapoints", &[], NewValue::Unsaid, true);
        let item = Item { value: Value::List(items.into()), trace };
        self.caches.datapoints = Some(item.clone());
        item
    }

    /// The step that stands for a fact.
    pub(super) fn fact(&mut self, index: u32) -> Item<'a> {
        self.touched.add(index);
        let trace = match self.caches.facts[index as usize] {
            Some(known) => known,
            None if self.trace.is_off() => TraceId(0),
            None => {
                let fact = self.indexed.facts[index as usize];
                let leaf = self.context.leaves.fact(fact);
                let name = fact.fact_type().name();
                let trace = self.trace.add(NodeKind::Fact, name, &[], NewValue::Hidden(leaf), true);
                self.caches.facts[index as usize] = Some(trace);
                trace
            }
        };
        Item { value: Value::Fact(index), trace }
    }

    pub(super) fn product(&mut self) -> Item<'a> {
        match self.indexed.product {
            Some(index) => self.fact(index),
            None => {
                let missing = self.missing(FactType::Battery.name().to_owned());
                let trace = self.trace.add(NodeKind::Op, "product", &[], NewValue::Unknown, true);
                Item { value: Value::Unknown(missing), trace }
            }
        }
    }

    pub(super) fn facts(&mut self, fact_type: FactType) -> Item<'a> {
        let at = fact_type as usize;
        if let Some(known) = self.caches.lists[at].clone() {
            if let Value::List(items) = &known.value {
                for item in items.iter() {
                    if let Value::Fact(index) = item.value {
                        self.touched.add(index);
                    }
                }
            }
            return known;
        }
        let item = self.fact_list(fact_type, self.indexed.of_type(fact_type).to_vec());
        self.caches.lists[at] = Some(item.clone());
        item
    }

    pub(super) fn fact_list(&mut self, fact_type: FactType, indexes: Vec<u32>) -> Item<'a> {
        let items: Vec<Item<'a>> = indexes.into_iter().map(|index| self.fact(index)).collect();
        let traces: Vec<TraceId> = items.iter().map(|item| item.trace).collect();
        let trace = self.trace.add(NodeKind::Op, fact_type.name(), &traces, NewValue::Unsaid, true);
        Item { value: Value::List(items.into()), trace }
    }

    pub(super) fn fact_by(&mut self, fact_type: FactType, key: NodeId) -> Item<'a> {
        let key = self.eval(key);
        let value = match &key.value {
            Value::Text(text) => match self.indexed.by_segment(fact_type, text).last() {
                Some(index) => return self.fact(*index),
                None => Value::None,
            },
            other => other.clone(),
        };
        self.step(NodeKind::Op, "fact", value, &Type::Bool, &[key.trace])
    }

    pub(super) fn field(&mut self, id: NodeId, base: NodeId, name: &'a str) -> Item<'a> {
        let from = self.eval(base);
        match &from.value {
            Value::Fact(index) => {
                let of = self.fact(*index);
                let found = self.fact_field(id, *index, name, of.trace);
                if of.trace == from.trace {
                    return found;
                }
                // The fact was chosen by some step; that step belongs to the derivation.
                self.op(id, ".", found.value, &[from.trace, found.trace])
            }
            Value::Rec(parts) => {
                let at = match self.program.node(base).ty.present() {
                    Type::Rec(fields) => fields.binary_search_by(|(field, _)| field.as_str().cmp(name)).ok(),
                    _ => None,
                };
                at.map_or(Item { value: Value::None, trace: from.trace }, |at| parts[at].clone())
            }
            stuck => Item { value: stuck.clone(), trace: from.trace },
        }
    }

    fn fact_field(&mut self, id: NodeId, index: u32, name: &str, of: TraceId) -> Item<'a> {
        let start = self.caches.field_starts[index as usize] as usize;
        if let Some(place) = self.caches.places[id.0 as usize]
            && let Some(known) = &self.caches.fields[start + place as usize]
        {
            return known.clone();
        }
        let fact = self.indexed.facts[index as usize];
        let Some((place, field_type, value)) = field(fact, name) else {
            return Item { value: Value::None, trace: of };
        };
        self.caches.places[id.0 as usize] = Some(place as u16);
        let at = start + place;
        if let Some(known) = &self.caches.fields[at] {
            return known.clone();
        }
        if self.trace.is_off() {
            let value = value.map_or(Value::None, |value| of_field(value, field_type, of));
            let item = Item { value, trace: of };
            self.caches.fields[at] = Some(item.clone());
            return item;
        }
        let access = fact.access(name);
        let open = access == Access::Public;
        let mut json = std::mem::take(&mut self.json);
        json.clear();
        let new = match value {
            // That something is absent is no secret: its absence is what verdicts are about.
            None => NewValue::Shown(b"null"),
            Some(value) => {
                let ty = self.program.enums.value_type(field_type);
                write_value(&self.program.enums, &of_field(value, field_type, of), &ty, &mut json);
                if open {
                    NewValue::Shown(&json)
                } else {
                    let text = std::str::from_utf8(&json).unwrap_or("null");
                    NewValue::Hidden(self.context.leaves.value(fact, name, text))
                }
            }
        };
        let trace = self.trace.add(NodeKind::Field, name, &[of], new, open || value.is_none());
        self.json = json;
        let value = value.map_or(Value::None, |value| of_field(value, field_type, trace));
        let item = Item { value, trace };
        self.caches.fields[at] = Some(item.clone());
        item
    }
}
