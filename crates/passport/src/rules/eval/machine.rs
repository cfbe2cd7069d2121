//! The evaluator: one walk over the nodes, values and traces together.

use std::rc::Rc;

use crate::facts::Fact;
use crate::rules::program::{Def, Lit, NodeId, Op, Program, Slot, Step};
use crate::rules::types::Type;

use super::facts::{Indexed, first_segment};
use super::probe::Probe;
use super::reading::{Caches, CallKey, Kept};
use super::results::{Emission, Results, RuleResult, in_order};
use super::touched::Touched;
use super::trace::{NewValue, NodeKind, Trace, TraceId, Traces};
use super::value::{Fault, Item, Missing, Value, write_value};
use super::{Answer, Context, EvalError, Found};

/// An evaluation on its way.
pub(super) struct Machine<'a, P> {
    pub(super) program: &'a Program,
    pub(super) indexed: &'a Indexed<'a>,
    pub(super) context: Context<'a>,
    pub(super) probe: &'a mut P,
    pub(super) trace: Trace,
    /// Variables of the running definition begin at `base`.
    pub(super) slots: Vec<Item<'a>>,
    pub(super) base: usize,
    pub(super) cost: u64,
    /// Paths that were missed, and sets of them that values stand for.
    pub(super) paths: Vec<String>,
    pub(super) sets: Vec<Box<[u32]>>,
    /// What the running check found absent, and for which elements it did not hold.
    pub(super) absent: Vec<String>,
    pub(super) witnesses: Vec<String>,
    /// Facts that the running rule or attribute looked at.
    pub(super) touched: Touched,
    pub(super) emitted: Vec<Option<Emitted<'a>>>,
    pub(super) verdicts: Vec<Option<RuleResult>>,
    pub(super) caches: Caches<'a>,
    /// Texts on their way into the trace.
    pub(super) json: Vec<u8>,
    pub(super) name: String,
}

/// An attribute that was evaluated.
pub(super) struct Emitted<'a> {
    pub(super) item: Item<'a>,
    pub(super) shown: bool,
    pub(super) touched: Touched,
    pub(super) emission: Emission,
}

impl<'a, P: Probe> Machine<'a, P> {
    pub(super) fn new(
        program: &'a Program,
        indexed: &'a Indexed<'a>,
        context: Context<'a>,
        trace: Trace,
        probe: &'a mut P,
    ) -> Self {
        Self {
            program,
            indexed,
            context,
            probe,
            trace,
            slots: Vec::new(),
            base: 0,
            cost: 0,
            paths: Vec::new(),
            sets: Vec::new(),
            absent: Vec::new(),
            witnesses: Vec::new(),
            touched: Touched::default(),
            emitted: (0..program.emits.len()).map(|_| None).collect(),
            verdicts: vec![None; program.rules.len()],
            caches: Caches::new(program, indexed),
            json: Vec::new(),
            name: String::new(),
        }
    }

    /// Evaluates these steps; what they ask about must be among them, before them.
    pub(super) fn run(&mut self, steps: &[Step]) -> Result<(), EvalError> {
        for step in steps {
            match step {
                Step::Emit(emit) => self.emit(*emit),
                Step::Rule(rule) => self.rule(*rule),
            }
            if self.is_out_of_fuel() {
                return Err(EvalError::Fuel { fuel: self.context.fuel });
            }
        }
        Ok(())
    }

    /// What was found.
    pub(super) fn finish(self) -> Results {
        let rules = in_order(self.program, self.verdicts);
        let emissions = self.emitted.into_iter().flatten().map(|emitted| emitted.emission).collect();
        Results { rules, emissions, trace: self.trace, cost: self.cost }
    }

    /// What was found of the steps that were run.
    pub(super) fn finish_some(self) -> Found {
        let rules = self.verdicts;
        let emissions =
            self.emitted.into_iter().map(|emitted| emitted.map(|emitted| emitted.emission)).collect();
        Found { rules, emissions }
    }

    /// The value of a definition for these arguments.
    pub(super) fn ask(&mut self, def: &'a Def, args: &'a [Lit]) -> Answer {
        self.enter(def.slots);
        for (slot, lit) in args.iter().enumerate() {
            let item = self.step(NodeKind::Const, "", Value::of_lit(lit), &def.params[slot].1, &[]);
            self.slots[slot] = item;
        }
        let value = self.eval(def.body).value;
        match value.lit() {
            Some(lit) => Answer::Value(lit),
            None => match value {
                Value::Unknown(missing) => Answer::Unknown(self.missing_paths(missing)),
                Value::Fault(fault) => Answer::Fault(fault.code()),
                _ => Answer::Compound,
            },
        }
    }

    /// The value of a node, and how it was found.
    pub(super) fn eval(&mut self, id: NodeId) -> Item<'a> {
        self.cost += 1;
        self.probe.evaluated(id);
        if self.is_out_of_fuel() {
            return self.fault(Fault::Fuel, &[]);
        }
        let program: &'a Program = self.program;
        match &program.node(id).op {
            Op::Lit(_) | Op::Const(_) | Op::AsOf | Op::BuildId => self.literal(id),
            Op::Local(slot) => self.slot(*slot).clone(),
            Op::Product => self.product(),
            Op::Datapoints => self.datapoints(),
            Op::Facts(fact_type) => self.facts(*fact_type),
            Op::FactBy(fact_type, key) => self.fact_by(*fact_type, *key),
            Op::Field(base, name) => self.field(id, *base, name),
            Op::Need(inner, text) => self.need(*inner, text),
            Op::Some(inner) | Op::ToDec(inner) => self.wrapped(id, *inner),
            Op::Convert(inner, from, to) => self.convert(id, *inner, *from, *to),
            Op::Not(inner) => self.not(id, *inner),
            Op::Neg(inner) => self.negative(id, *inner),
            Op::Abs(inner) => self.absolute(id, *inner),
            Op::Logic(logic, left, right) => self.logic(id, *logic, *left, *right),
            Op::Compare(compare, left, right) => self.compare(id, *compare, *left, *right),
            Op::In(left, right) => self.is_in(id, *left, *right),
            Op::Arith(arith, left, right) => self.arith(id, *arith, *left, *right),
            Op::Div(above, below, scale) => self.divide(id, *above, *below, *scale),
            Op::Ratio(above, below) => self.ratio(id, *above, *below),
            Op::PctOf(share, whole) => self.pct_of(id, share, *whole),
            Op::If(condition, then, otherwise) => self.if_(id, *condition, *then, *otherwise),
            Op::MatchOpt(value, slot, some, none) => self.match_opt(id, *value, *slot, *some, *none),
            Op::MatchTag(value, arm_of, arms) => self.match_tag(id, *value, arm_of, arms),
            Op::List(elements) => self.list(id, elements),
            Op::Record(parts) => self.compound(id, "record", parts, Value::Rec),
            Op::Comp { kind, slot, source, filter, body } => {
                self.comprehension(id, *kind, *slot, *source, *filter, *body)
            }
            Op::Call(def, args) => self.call(id, *def, args),
            Op::Table(table, args) => self.table(id, *table, args),
            Op::Present(inner, text) => self.present(id, *inner, text),
            Op::HasValue(number) => self.has_value(id, *number),
            Op::Emitted(number) => self.is_emitted(id, *number),
            Op::Payload(emit) => self.payload(*emit),
            Op::VerdictOf(rule) => self.verdict_of(id, *rule),
            Op::Sku(fact) => self.of_fact(id, "sku", *fact, first_segment),
            Op::Key(fact) => self.of_fact(id, "key", *fact, Fact::key),
            Op::ContainsAll(whole, part) => self.contains_all(id, *whole, *part),
            Op::MonthOf(date) => self.month_of(id, *date),
        }
    }

    pub(super) fn is_out_of_fuel(&self) -> bool {
        self.cost > self.context.fuel
    }

    pub(super) fn slot(&self, slot: Slot) -> &Item<'a> {
        &self.slots[self.base + slot.0 as usize]
    }

    pub(super) fn set_slot(&mut self, slot: Slot, item: Item<'a>) {
        let at = self.base + slot.0 as usize;
        self.slots[at] = item;
    }

    /// Begins with fresh variables.
    pub(super) fn enter(&mut self, slots: u32) {
        let nothing = Item { value: Value::None, trace: TraceId(0) };
        self.slots.clear();
        self.slots.resize(slots as usize, nothing);
        self.base = 0;
    }

    /// A step whose value follows from the steps under it. It is said unless one of them is not.
    pub(super) fn op(&mut self, id: NodeId, name: &str, value: Value<'a>, children: &[TraceId]) -> Item<'a> {
        self.step(NodeKind::Op, name, value, &self.program.node(id).ty, children)
    }

    pub(super) fn step(
        &mut self,
        kind: NodeKind,
        name: &str,
        value: Value<'a>,
        ty: &Type,
        children: &[TraceId],
    ) -> Item<'a> {
        if self.trace.is_off() {
            return Item { value, trace: TraceId(0) };
        }
        let open = children.iter().all(|child| self.trace.is_open(*child));
        let mut json = std::mem::take(&mut self.json);
        json.clear();
        let new = match &value {
            Value::Unknown(_) => NewValue::Unknown,
            Value::Fault(fault) => NewValue::Fault(fault.code()),
            Value::List(_) | Value::Rec(_) | Value::Fact(_) => NewValue::Unsaid,
            _ if !open => NewValue::Unsaid,
            _ => {
                write_value(&self.program.enums, &value, ty, &mut json);
                NewValue::Shown(&json)
            }
        };
        let trace = self.trace.add(kind, name, children, new, open);
        self.json = json;
        Item { value, trace }
    }

    pub(super) fn fault(&mut self, fault: Fault, children: &[TraceId]) -> Item<'a> {
        let trace = self.trace.add(NodeKind::Op, "fault", children, NewValue::Fault(fault.code()), true);
        Item { value: Value::Fault(fault), trace }
    }

    /// Values that cannot be calculated with decide over the result: a fault first, then all that
    /// is missing.
    pub(super) fn stuck<'v>(&mut self, values: impl IntoIterator<Item = &'v Value<'a>>) -> Option<Value<'a>>
    where
        'a: 'v,
    {
        let mut all: Option<Missing> = None;
        for value in values {
            match value {
                Value::Fault(fault) => return Some(Value::Fault(*fault)),
                Value::Unknown(more) => all = Some(all.map_or(*more, |all| self.union(all, *more))),
                _ => {}
            }
        }
        all.map(Value::Unknown)
    }

    pub(super) fn union(&mut self, left: Missing, right: Missing) -> Missing {
        if left == right {
            return left;
        }
        let mut both: Vec<u32> =
            [left, right].iter().flat_map(|one| self.sets[one.0 as usize].iter().copied()).collect();
        both.sort_unstable();
        both.dedup();
        self.sets.push(both.into());
        Missing(self.sets.len() as u32 - 1)
    }

    pub(super) fn missing(&mut self, path: String) -> Missing {
        let at = self.paths.iter().position(|known| *known == path).unwrap_or_else(|| {
            self.paths.push(path);
            self.paths.len() - 1
        });
        self.sets.push([at as u32].into());
        Missing(self.sets.len() as u32 - 1)
    }

    /// The paths of a set, sorted.
    pub(super) fn missing_paths(&self, missing: Missing) -> Vec<String> {
        let mut paths: Vec<_> =
            self.sets[missing.0 as usize].iter().map(|path| self.paths[*path as usize].clone()).collect();
        paths.sort();
        paths
    }

    fn wrapped(&mut self, id: NodeId, inner: NodeId) -> Item<'a> {
        let item = self.eval(inner);
        match (&self.program.node(id).op, &item.value) {
            (Op::ToDec(_), Value::Int(number)) => {
                let value = Value::Dec(Rc::new((*number).into()));
                Item { value, trace: item.trace }
            }
            _ => item,
        }
    }

    pub(super) fn compound(
        &mut self,
        id: NodeId,
        name: &str,
        parts: &[NodeId],
        wrap: fn(Rc<[Item<'a>]>) -> Value<'a>,
    ) -> Item<'a> {
        let items: Rc<[Item<'a>]> = parts.iter().map(|part| self.eval(*part)).collect();
        let value = match self.stuck(items.iter().map(|item| &item.value)) {
            Some(stuck) => stuck,
            None => wrap(Rc::clone(&items)),
        };
        let traces = Traces::of(&items);
        self.op(id, name, value, traces.get())
    }

    /// Arguments are found with the caller's variables, and are then the first variables of the
    /// definition.
    fn call(&mut self, id: NodeId, index: usize, args: &[NodeId]) -> Item<'a> {
        let next = self.slots.len();
        for arg in args {
            let item = self.eval(*arg);
            self.slots.push(item);
        }
        // A definition says the same of the same every time, so it is evaluated once; what it looked at
        // and missed counts every time. Without a trace nothing tells where arguments come from.
        let key = match args {
            [] => None,
            _ if self.trace.is_off() => return self.body(id, index, next),
            _ => match CallKey::new(index, &self.slots[next..]) {
                Some(key) => Some(key),
                None => return self.body(id, index, next),
            },
        };
        let known = match &key {
            None => self.caches.defs[index].clone(),
            Some(key) => self.caches.calls.get(key).cloned(),
        };
        if let Some(kept) = known {
            self.slots.truncate(next);
            self.touched.extend(&kept.touched);
            self.absent.extend(kept.absent.iter().cloned());
            self.witnesses.extend(kept.witnesses.iter().cloned());
            return kept.item.clone();
        }
        let outer = std::mem::take(&mut self.touched);
        let (absent, witnesses) = (self.absent.len(), self.witnesses.len());
        let item = self.body(id, index, next);
        let touched = std::mem::replace(&mut self.touched, outer);
        self.touched.extend(&touched);
        let kept = Rc::new(Kept {
            item: item.clone(),
            touched,
            absent: self.absent[absent..].to_vec(),
            witnesses: self.witnesses[witnesses..].to_vec(),
        });
        match key {
            None => self.caches.defs[index] = Some(kept),
            Some(key) => drop(self.caches.calls.insert(key, kept)),
        }
        item
    }

    /// Evaluates a definition whose arguments stand in the variables from `next` on.
    fn body(&mut self, id: NodeId, index: usize, next: usize) -> Item<'a> {
        let program: &'a Program = self.program;
        let def = &program.defs[index];
        let nothing = Item { value: Value::None, trace: TraceId(0) };
        self.slots.resize(next + def.slots as usize, nothing);
        let before = std::mem::replace(&mut self.base, next);
        let body = self.eval(def.body);
        self.base = before;
        self.slots.truncate(next);
        self.op(id, &def.name, body.value, &[body.trace])
    }
}
