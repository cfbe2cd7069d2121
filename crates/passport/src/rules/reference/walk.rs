//! Expressions, one meaning after the other.

use std::collections::BTreeSet;

use crate::facts::{Access, Fact, FactType, Field, escape_segment};
use crate::rules::program::{Arith, CellTest, Compare, Lit, Logic, NodeId, Op, Table};
use crate::rules::syntax::ast::CompKind;
use crate::rules::types::{Enums, Type};
use crate::value::Unit;
use num_traits::{Signed, Zero};

use super::Reference;
use super::number::{self, Number};
use super::trace::{CONST, FIELD, OP, Says, TABLE, hash};
use super::value::{Found, Value, json, of_field};

impl Reference<'_> {
    pub(super) fn eval(&mut self, id: NodeId) -> Found {
        let program = self.program;
        let node = program.node(id);
        let ty = &node.ty;
        match &node.op {
            Op::Lit(lit) => self.step(CONST, "", Value::of_lit(lit), ty, &[]),
            Op::Const(at) => {
                let one = &program.consts[*at];
                self.step(CONST, &one.name, Value::of_lit(&one.value), ty, &[])
            }
            Op::AsOf => self.step(CONST, "as_of", Value::Date(self.context.as_of), ty, &[]),
            Op::BuildId => {
                self.step(CONST, "build_id", Value::Text(self.context.build_id.to_owned()), ty, &[])
            }
            Op::Local(slot) => self.frames[self.frames.len() - 1][&slot.0].clone(),
            Op::Product => match self.of_type(FactType::Battery).first() {
                Some(index) => self.fact(*index),
                None => Found {
                    value: Value::Unknown(["Battery".to_owned()].into()),
                    hash: hash(OP, "product", &[], &Says::Unknown),
                    open: true,
                },
            },
            Op::Datapoints => {
                let number = |n| self.step(CONST, "", Value::Number(number::of_integer(n)), &Type::Int, &[]);
                let value = Value::List((1..=program.datapoints).map(number).collect());
                Found { value, hash: hash(CONST, "datapoints", &[], &Says::Nothing), open: true }
            }
            Op::Facts(fact) => self.fact_list(*fact, self.of_type(*fact)),
            Op::FactBy(fact, key) => {
                let key = self.eval(*key);
                match &key.value {
                    Value::Text(text) => match self.by_segment(*fact, text).last() {
                        Some(index) => self.fact(*index),
                        None => self.step(OP, "fact", Value::None, &Type::Bool, &[&key]),
                    },
                    stuck => self.step(OP, "fact", stuck.clone(), &Type::Bool, &[&key]),
                }
            }
            Op::Field(base, name) => self.field(*base, name, ty),
            Op::Need(inner, text) => {
                let found = self.eval(*inner);
                match found.value {
                    Value::None => Found {
                        value: Value::Unknown([self.path(*inner, text)].into()),
                        hash: hash(OP, "need", &[found.hash], &Says::Unknown),
                        open: true,
                    },
                    _ => found,
                }
            }
            Op::Some(inner) | Op::ToDec(inner) => self.eval(*inner),
            Op::Convert(inner, from, to) => {
                self.one(*inner, &format!("to:{to}"), ty, |amount| convert(amount, *from, *to))
            }
            Op::Neg(inner) => self.one(*inner, "neg", ty, |amount| Some(-amount)),
            Op::Abs(inner) => self.one(*inner, "abs", ty, |amount| Some(amount.abs())),
            Op::PctOf(share, whole) => self.one(*whole, &format!("pct_of:{share}"), ty, |amount| {
                let times = number::held(number::of(share) * amount)?;
                number::held(times / number::of_integer(100))
            }),
            Op::Not(inner) => {
                let found = self.eval(*inner);
                let value = match &found.value {
                    Value::Bool(truth) => Value::Bool(!truth),
                    stuck => stuck.clone(),
                };
                self.step(OP, "not", value, ty, &[&found])
            }
            Op::Logic(logic, left, right) => self.logic(*logic, *left, *right, ty),
            Op::Compare(compare, left, right) => {
                self.two(*left, *right, compare.as_str(), ty, |left, right| {
                    Value::Bool(compares(*compare, left, right))
                })
            }
            Op::In(left, right) => self.two(*left, *right, "in", ty, |left, right| match right {
                Value::List(items) => Value::Bool(items.iter().any(|item| item.value.same(left))),
                _ => Value::Bool(false),
            }),
            Op::ContainsAll(whole, part) => {
                self.two(*whole, *part, "contains_all", ty, |whole, part| match (whole, part) {
                    (Value::List(whole), Value::List(part)) => Value::Bool(
                        part.iter().all(|wanted| whole.iter().any(|item| item.value.same(&wanted.value))),
                    ),
                    _ => Value::Bool(false),
                })
            }
            Op::Arith(arith, left, right) => {
                let integers = ty.is_integer();
                self.two(*left, *right, arith.as_str(), ty, |left, right| {
                    arithmetic(*arith, left, right, integers)
                })
            }
            Op::Div(above, below, scale) => {
                self.two(*above, *below, &format!("div:{scale}"), ty, |above, below| {
                    quotient(above, below, *scale, 1)
                })
            }
            Op::Ratio(above, below) => {
                self.two(*above, *below, "ratio", ty, |above, below| quotient(above, below, 18, 100))
            }
            Op::MonthOf(date) => {
                let found = self.eval(*date);
                let value = match &found.value {
                    Value::Date(date) => Value::Month(date.month()),
                    stuck => stuck.clone(),
                };
                self.step(OP, "month", value, ty, &[&found])
            }
            Op::If(condition, then, otherwise) => {
                let condition = self.eval(*condition);
                match condition.value {
                    Value::Bool(truth) => {
                        let taken = self.eval(if truth { *then } else { *otherwise });
                        self.step(OP, "if", taken.value.clone(), ty, &[&condition, &taken])
                    }
                    ref stuck => self.step(OP, "if", stuck.clone(), ty, &[&condition]),
                }
            }
            Op::MatchOpt(value, slot, some, none) => {
                let value = self.eval(*value);
                let taken = match &value.value {
                    stuck if stuck.is_stuck() => return self.step(OP, "match", stuck.clone(), ty, &[&value]),
                    Value::None => self.eval(*none),
                    _ => {
                        self.set(slot.0, value.clone());
                        self.eval(*some)
                    }
                };
                self.step(OP, "match", taken.value.clone(), ty, &[&value, &taken])
            }
            Op::MatchTag(value, arm_of, arms) => {
                let value = self.eval(*value);
                match value.value {
                    Value::Tag(tag) => {
                        let taken = self.eval(arms[usize::from(arm_of[usize::from(tag)])]);
                        self.step(OP, "match", taken.value.clone(), ty, &[&value, &taken])
                    }
                    ref stuck => self.step(OP, "match", stuck.clone(), ty, &[&value]),
                }
            }
            Op::List(parts) => self.compound(parts, "list", ty, Value::List),
            Op::Record(parts) => self.compound(parts, "record", ty, Value::Rec),
            Op::Comp { kind, slot, source, filter, body } => {
                self.comp(*kind, slot.0, *source, *filter, *body, ty)
            }
            Op::Call(def, args) => {
                let def = &program.defs[*def];
                let args: Vec<Found> = args.iter().map(|arg| self.eval(*arg)).collect();
                self.frames.push(args.into_iter().enumerate().map(|(at, arg)| (at as u32, arg)).collect());
                let body = self.eval(def.body);
                self.frames.pop();
                self.step(OP, &def.name, body.value.clone(), ty, &[&body])
            }
            Op::Table(table, args) => self.table(&program.tables[*table], args),
            Op::Present(inner, text) => {
                let found = self.eval(*inner);
                let (value, says) = match &found.value {
                    Value::None => {
                        let path = self.path(*inner, text);
                        self.absent.insert(path);
                        (Value::Bool(false), Says::Json("false".to_owned()))
                    }
                    Value::Fault(code) => (Value::Fault(code), Says::Fault(code)),
                    Value::Unknown(missing) => (Value::Unknown(missing.clone()), Says::Unknown),
                    _ => (Value::Bool(true), Says::Json("true".to_owned())),
                };
                Found { value, hash: hash(OP, "present", &[found.hash], &says), open: true }
            }
            Op::HasValue(number) => self.datapoint(*number, "has_value", ty),
            Op::Emitted(number) => self.datapoint(*number, "emitted", ty),
            Op::Payload(emit) => {
                let emitted = &self.emitted[emit];
                let value = if emitted.shown { emitted.found.value.clone() } else { Value::None };
                Found { value, ..emitted.found.clone() }
            }
            Op::VerdictOf(rule) => {
                let said = &self.said[rule];
                let tag = self.program.enums.tag(Enums::VERDICT, said.verdict.as_str()).unwrap_or(0);
                let of = Found { value: Value::None, hash: said.trace_hash, open: true };
                self.step(OP, "verdict", Value::Tag(tag), ty, &[&of])
            }
            Op::Sku(fact) => self.of_fact(*fact, "sku", ty, |fact| fact.segments()[0].clone()),
            Op::Key(fact) => self.of_fact(*fact, "key", ty, |fact| fact.key().to_owned()),
        }
    }

    pub(super) fn set(&mut self, slot: u32, found: Found) {
        if let Some(frame) = self.frames.last_mut() {
            frame.insert(slot, found);
        }
    }

    pub(super) fn fact(&self, index: usize) -> Found {
        Found { value: Value::Fact(index), hash: self.leaves[index], open: true }
    }

    pub(super) fn fact_list(&self, fact: FactType, indexes: Vec<usize>) -> Found {
        let facts: Vec<Found> = indexes.into_iter().map(|index| self.fact(index)).collect();
        let hashes: Vec<_> = facts.iter().map(|found| found.hash).collect();
        Found { value: Value::List(facts), hash: hash(OP, fact.name(), &hashes, &Says::Nothing), open: true }
    }

    /// Facts of a type that belong to the product, or to no product.
    pub(super) fn of_type(&self, fact_type: FactType) -> Vec<usize> {
        let belongs = |fact: &Fact| fact.sku().is_none() || fact.sku() == Some(self.context.product);
        (0..self.facts.len())
            .filter(|index| self.facts[*index].fact_type() == fact_type && belongs(self.facts[*index]))
            .collect()
    }

    pub(super) fn by_segment(&self, fact_type: FactType, segment: &str) -> Vec<usize> {
        self.of_type(fact_type)
            .into_iter()
            .filter(|index| self.facts[*index].segments()[0] == segment)
            .collect()
    }

    fn field(&mut self, base: NodeId, name: &str, ty: &Type) -> Found {
        let from = self.eval(base);
        match &from.value {
            Value::Fact(index) => {
                let of = self.fact(*index);
                let found = self.fact_field(*index, name, &of);
                if of.hash == from.hash {
                    found
                } else {
                    self.step(OP, ".", found.value.clone(), ty, &[&from, &found])
                }
            }
            Value::Rec(parts) => match self.program.node(base).ty.present() {
                Type::Rec(fields) => {
                    let at = fields.iter().position(|(field, _)| field == name).unwrap_or(0);
                    parts[at].clone()
                }
                _ => from,
            },
            _ => from,
        }
    }

    fn fact_field(&self, index: usize, name: &str, of: &Found) -> Found {
        let fact = self.facts[index];
        let Some(field) = fact.fact_type().schema().field(name) else { return of.clone() };
        let read = |of: &Found| self.read_field(fact, field, of);
        self.fields.borrow_mut().entry((index, field.name)).or_insert_with(|| read(of)).clone()
    }

    fn read_field(&self, fact: &Fact, field: &Field, of: &Found) -> Found {
        let (name, field_type, value) = (field.name, &field.field_type, fact.field(field.name));
        let open = value.is_none() || fact.access(name) == Access::Public;
        let says = match value {
            None => Says::Json("null".to_owned()),
            Some(value) => {
                let ty = self.program.enums.value_type(field_type);
                let text = json(&self.program.enums, &of_field(value, field_type, of.hash, open), &ty);
                if open {
                    Says::Json(text)
                } else {
                    Says::Hidden(self.context.leaves.value(fact, name, &text))
                }
            }
        };
        let hash = hash(FIELD, name, &[of.hash], &says);
        let value = value.map_or(Value::None, |value| of_field(value, field_type, hash, open));
        Found { value, hash, open }
    }

    fn logic(&mut self, logic: Logic, left: NodeId, right: NodeId, ty: &Type) -> Found {
        let left = self.eval(left);
        let name = logic.as_str();
        // `a implies b` is `not a or b`.
        let (stop, result) = match logic {
            Logic::And => (false, false),
            Logic::Or => (true, true),
            Logic::Implies => (false, true),
        };
        match &left.value {
            Value::Bool(truth) if *truth == stop => {
                return self.step(OP, name, Value::Bool(result), ty, &[&left]);
            }
            Value::Fault(code) => return self.step(OP, name, Value::Fault(code), ty, &[&left]),
            _ => {}
        }
        let right = self.eval(right);
        let value = match (&left.value, &right.value) {
            (Value::Unknown(_), Value::Bool(truth)) if *truth == result => Value::Bool(result),
            (Value::Unknown(missing), Value::Bool(_)) => Value::Unknown(missing.clone()),
            (Value::Unknown(a), Value::Unknown(b)) => Value::Unknown(a | b),
            (_, right) => right.clone(),
        };
        self.step(OP, name, value, ty, &[&left, &right])
    }

    fn one(&mut self, inner: NodeId, name: &str, ty: &Type, of: impl Fn(&Number) -> Option<Number>) -> Found {
        let found = self.eval(inner);
        let value = match &found.value {
            Value::Number(amount) => of(amount).map_or(Value::Fault("EVAL_OVERFLOW"), Value::Number),
            stuck => stuck.clone(),
        };
        self.step(OP, name, value, ty, &[&found])
    }

    fn two(
        &mut self,
        left: NodeId,
        right: NodeId,
        name: &str,
        ty: &Type,
        of: impl Fn(&Value, &Value) -> Value,
    ) -> Found {
        let (left, right) = (self.eval(left), self.eval(right));
        let value = stuck([&left.value, &right.value]).unwrap_or_else(|| of(&left.value, &right.value));
        self.step(OP, name, value, ty, &[&left, &right])
    }

    fn compound(&mut self, parts: &[NodeId], name: &str, ty: &Type, wrap: fn(Vec<Found>) -> Value) -> Found {
        let parts: Vec<Found> = parts.iter().map(|part| self.eval(*part)).collect();
        let value = stuck(parts.iter().map(|part| &part.value)).unwrap_or_else(|| wrap(parts.clone()));
        self.step(OP, name, value, ty, &parts.iter().collect::<Vec<_>>())
    }

    fn comp(
        &mut self,
        kind: CompKind,
        slot: u32,
        source: NodeId,
        filter: Option<NodeId>,
        body: Option<NodeId>,
        ty: &Type,
    ) -> Found {
        let list = self.eval(source);
        let elements = match &list.value {
            Value::List(elements) => elements.clone(),
            stuck => return self.step(OP, kind.as_str(), stuck.clone(), ty, &[&list]),
        };
        let (mut hashes, mut open) = (vec![list.hash], list.open);
        let mut results: Vec<Value> = Vec::new();
        let mut chosen: Vec<Found> = Vec::new();
        for element in elements {
            self.set(slot, element.clone());
            if let Some(filter) = filter {
                let passes = self.eval(filter);
                hashes.push(passes.hash);
                open &= passes.open;
                match passes.value {
                    Value::Bool(true) => {}
                    Value::Bool(false) => continue,
                    other => {
                        results.push(other);
                        continue;
                    }
                }
            }
            let found = match body {
                Some(body) => {
                    let found = self.eval(body);
                    hashes.push(found.hash);
                    open &= found.open;
                    found
                }
                None => element,
            };
            results.push(found.value.clone());
            if !found.value.is_stuck() {
                chosen.push(found);
            }
        }
        let value = made(kind, &results, chosen, ty);
        self.follows(OP, kind.as_str(), value, ty, &hashes, open)
    }

    /// Rows are tried one after the other.
    fn table(&mut self, table: &Table, args: &[NodeId]) -> Found {
        let args: Vec<Found> = args.iter().map(|arg| self.eval(*arg)).collect();
        let from: Vec<&Found> = args.iter().collect();
        if let Some(stuck) = stuck(args.iter().map(|arg| &arg.value)) {
            return self.step(TABLE, &table.name, stuck, &table.result, &from);
        }
        let matches =
            |tests: &Vec<CellTest>, arg: &Found| tests.iter().any(|test| cell_matches(test, &arg.value));
        let row = table
            .rows
            .iter()
            .position(|row| row.tests.iter().zip(&args).all(|(tests, arg)| matches(tests, arg)));
        let (row, lit) = match (row, &table.otherwise) {
            (Some(row), _) => (row, table.rows[row].value.clone()),
            (None, Some((lit, _))) => (table.rows.len(), lit.clone()),
            (None, None) => (table.rows.len(), Lit::None),
        };
        self.step(TABLE, &format!("{}#{row}", table.name), Value::of_lit(&lit), &table.result, &from)
    }

    fn datapoint(&mut self, number: NodeId, name: &str, ty: &Type) -> Found {
        let number = self.eval(number);
        let dp = match &number.value {
            Value::Number(dp) => number::integer(dp).unwrap_or(0),
            stuck => return self.step(OP, name, stuck.clone(), ty, &[&number]),
        };
        let emit = self.program.emits.iter().position(|emit| emit.dp == dp);
        let emitted = emit.and_then(|emit| self.emitted.get(&emit));
        let has_value =
            emitted.is_some_and(|one| !one.found.value.is_stuck() && !matches!(one.found.value, Value::None));
        let truth = has_value && (name == "has_value" || emitted.is_some_and(|one| one.shown));
        let mut hashes = vec![number.hash];
        hashes.extend(emitted.map(|one| one.found.hash));
        if name == "has_value" && !has_value {
            let path = emit.map_or(format!("dp:{dp}"), |emit| self.program.emits[emit].pointer.clone());
            self.absent.insert(path);
        }
        let says = Says::Json(truth.to_string());
        Found { value: Value::Bool(truth), hash: hash(OP, name, &hashes, &says), open: true }
    }

    fn of_fact(&mut self, fact: NodeId, name: &str, ty: &Type, of: fn(&Fact) -> String) -> Found {
        let found = self.eval(fact);
        let value = match &found.value {
            Value::Fact(index) => Value::Text(of(self.facts[*index])),
            stuck => stuck.clone(),
        };
        self.step(OP, name, value, ty, &[&found])
    }

    /// What to call something that is missing.
    pub(super) fn path(&self, missing: NodeId, text: &str) -> String {
        let node = self.program.node(missing);
        match &node.op {
            Op::Field(base, name) => match self.known(*base) {
                Some(Value::Fact(index)) => format!("{}#{name}", self.facts[index].key()),
                _ => text.to_owned(),
            },
            Op::FactBy(fact, key) => match self.known(*key) {
                Some(Value::Text(key)) => begins_with(*fact, &key),
                _ => fact.name().to_owned(),
            },
            Op::Call(def, args) => {
                let scalars = args.iter().filter(|arg| self.program.node(**arg).ty.is_scalar());
                let args: Vec<String> = scalars
                    .filter_map(|arg| {
                        let ty = &self.program.node(*arg).ty;
                        Some(json(&self.program.enums, &self.known(*arg)?, ty).trim_matches('"').to_owned())
                    })
                    .collect();
                format!("{}({})", self.program.defs[*def].name, args.join(", "))
            }
            _ => match node.ty.present() {
                Type::Fact(fact) => fact.name().to_owned(),
                _ => text.to_owned(),
            },
        }
    }

    fn known(&self, id: NodeId) -> Option<Value> {
        match &self.program.node(id).op {
            Op::Local(slot) => self.frames.last()?.get(&slot.0).map(|found| found.value.clone()),
            Op::Product => self.of_type(FactType::Battery).first().map(|index| Value::Fact(*index)),
            Op::Need(inner, _) | Op::Some(inner) => self.known(*inner),
            Op::Field(base, name) => match self.known(*base)? {
                Value::Fact(index) => {
                    let fact = self.facts[index];
                    let field = fact.fact_type().schema().field(name)?;
                    Some(of_field(fact.field(name)?, &field.field_type, bpc_core::Hash::ZERO, true))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

pub(super) fn begins_with(fact: FactType, segment: &str) -> String {
    format!("{}:{}", fact.schema().key_prefix, escape_segment(segment))
}

/// Values that decide nothing: the first fault, else all that is missing.
fn stuck<'v>(values: impl IntoIterator<Item = &'v Value>) -> Option<Value> {
    let mut missing: Option<BTreeSet<String>> = None;
    for value in values {
        match value {
            Value::Fault(code) => return Some(Value::Fault(code)),
            Value::Unknown(more) => missing.get_or_insert_default().extend(more.iter().cloned()),
            _ => {}
        }
    }
    missing.map(Value::Unknown)
}

fn made(kind: CompKind, results: &[Value], chosen: Vec<Found>, ty: &Type) -> Value {
    let stuck = stuck(results);
    if let Some(Value::Fault(code)) = stuck {
        return Value::Fault(code);
    }
    let has =
        |wanted: bool| results.iter().any(|value| matches!(value, Value::Bool(truth) if *truth == wanted));
    match kind {
        CompKind::All if has(false) => return Value::Bool(false),
        CompKind::Any if has(true) => return Value::Bool(true),
        _ => {}
    }
    if let Some(stuck) = stuck {
        return stuck;
    }
    let values = chosen.iter().map(|found| found.value.clone());
    match kind {
        CompKind::All => Value::Bool(true),
        CompKind::Any => Value::Bool(false),
        CompKind::Count => Value::Number(number::of_integer(chosen.len() as i64)),
        CompKind::List => Value::List(chosen),
        CompKind::First => chosen.into_iter().next().map_or(Value::None, |found| found.value),
        CompKind::Sum => {
            let zero = Value::Number(Number::zero());
            let integers = ty.is_integer();
            values.into_iter().fold(zero, |sum, value| match &sum {
                Value::Fault(_) => sum,
                _ => arithmetic(Arith::Plus, &sum, &value, integers),
            })
        }
        CompKind::Min | CompKind::Max => {
            let wanted =
                if kind == CompKind::Min { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater };
            values
                .reduce(|best, value| if value.order(&best) == Some(wanted) { value } else { best })
                .unwrap_or(Value::None)
        }
    }
}

fn compares(compare: Compare, left: &Value, right: &Value) -> bool {
    match compare {
        Compare::Equal => left.same(right),
        Compare::NotEqual => !left.same(right),
        Compare::Less => left.order(right).is_some_and(|order| order.is_lt()),
        Compare::AtMost => left.order(right).is_some_and(|order| order.is_le()),
        Compare::Greater => left.order(right).is_some_and(|order| order.is_gt()),
        Compare::AtLeast => left.order(right).is_some_and(|order| order.is_ge()),
    }
}

fn arithmetic(arith: Arith, left: &Value, right: &Value, integers: bool) -> Value {
    let (Value::Number(left), Value::Number(right)) = (left, right) else {
        return Value::Fault("EVAL_OVERFLOW");
    };
    let exact = match arith {
        Arith::Plus => left + right,
        Arith::Minus => left - right,
        Arith::Times => left * right,
    };
    let largest = number::of_integer((1 << 53) - 1);
    let held = if integers { (exact.abs() <= largest).then_some(exact) } else { number::held(exact) };
    held.map_or(Value::Fault("EVAL_OVERFLOW"), Value::Number)
}

fn quotient(above: &Value, below: &Value, scale: u8, times: i64) -> Value {
    let (Value::Number(above), Value::Number(below)) = (above, below) else {
        return Value::Fault("EVAL_OVERFLOW");
    };
    let Some(above) = number::held(above * number::of_integer(times)) else {
        return Value::Fault("EVAL_OVERFLOW");
    };
    if below.is_zero() {
        return Value::Fault("DIVISION_BY_ZERO");
    }
    number::held(number::rounded(&(above / below), scale))
        .map_or(Value::Fault("EVAL_OVERFLOW"), Value::Number)
}

fn convert(amount: &Number, from: Unit, to: Unit) -> Option<Number> {
    let finest = amount * number::of_integer(from.in_finest());
    number::held(finest / number::of_integer(to.in_finest()))
}

fn cell_matches(test: &CellTest, value: &Value) -> bool {
    match test {
        CellTest::Any => true,
        CellTest::Is(Lit::Int(integer)) => {
            matches!(value, Value::Number(number) if number::integer(number) == Some(*integer))
        }
        CellTest::Is(lit) => value.same(&Value::of_lit(lit)),
        CellTest::Within(first, last) => {
            compares(Compare::AtLeast, value, &Value::of_lit(first))
                && compares(Compare::AtMost, value, &Value::of_lit(last))
        }
        CellTest::Compare(compare, lit) => compares(*compare, value, &Value::of_lit(lit)),
    }
}
