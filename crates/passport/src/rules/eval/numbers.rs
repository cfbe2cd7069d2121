//! Arithmetic: exact, or a fault.

use std::rc::Rc;

use bpc_core::canonical::MAX_INTEGER;

use crate::rules::program::{Arith, NodeId};
use crate::value::{ArithmeticError, Decimal, MAX_DECIMALS, Quantity, Unit};

use super::machine::Machine;
use super::probe::Probe;
use super::value::{Fault, Item, Value};

impl<'a, P: Probe> Machine<'a, P> {
    pub(super) fn arith(&mut self, id: NodeId, arith: Arith, left: NodeId, right: NodeId) -> Item<'a> {
        let (left, right) = (self.eval(left), self.eval(right));
        let value =
            self.stuck([&left.value, &right.value]).unwrap_or_else(|| match (&left.value, &right.value) {
                (Value::Int(a), Value::Int(b)) => integers(arith, *a, *b),
                (Value::Dec(a), Value::Dec(b)) => number(decimals(arith, a, b)),
                _ => Value::Fault(Fault::Overflow),
            });
        self.op(id, arith.as_str(), value, &[left.trace, right.trace])
    }

    pub(super) fn divide(&mut self, id: NodeId, above: NodeId, below: NodeId, scale: u8) -> Item<'a> {
        let (above, below) = (self.eval(above), self.eval(below));
        let value =
            self.stuck([&above.value, &below.value]).unwrap_or_else(|| match (&above.value, &below.value) {
                (Value::Dec(a), Value::Dec(b)) => number(a.div_half_even(b, scale)),
                _ => Value::Fault(Fault::Overflow),
            });
        self.op(id, &format!("div:{scale}"), value, &[above.trace, below.trace])
    }

    pub(super) fn ratio(&mut self, id: NodeId, above: NodeId, below: NodeId) -> Item<'a> {
        let (above, below) = (self.eval(above), self.eval(below));
        let value =
            self.stuck([&above.value, &below.value]).unwrap_or_else(|| match (&above.value, &below.value) {
                (Value::Dec(a), Value::Dec(b)) => number(in_percent(a, b)),
                _ => Value::Fault(Fault::Overflow),
            });
        self.op(id, "ratio", value, &[above.trace, below.trace])
    }

    pub(super) fn pct_of(&mut self, id: NodeId, share: &Decimal, whole: NodeId) -> Item<'a> {
        let whole = self.eval(whole);
        let value = match &whole.value {
            Value::Dec(amount) => number(share.checked_mul(amount).and_then(|times| hundredth(&times))),
            stuck => stuck.clone(),
        };
        self.op(id, &format!("pct_of:{share}"), value, &[whole.trace])
    }

    pub(super) fn convert(&mut self, id: NodeId, inner: NodeId, from: Unit, to: Unit) -> Item<'a> {
        let item = self.eval(inner);
        let value = match &item.value {
            Value::Dec(amount) => {
                let quantity = Quantity::new(Decimal::clone(amount), from);
                number(quantity.convert(to).map(|converted| converted.value))
            }
            stuck => stuck.clone(),
        };
        self.op(id, &format!("to:{to}"), value, &[item.trace])
    }

    pub(super) fn negative(&mut self, id: NodeId, inner: NodeId) -> Item<'a> {
        let item = self.eval(inner);
        let value = match &item.value {
            Value::Int(number) => Value::Int(-number),
            Value::Dec(amount) => Value::Dec(Rc::new(-&**amount)),
            stuck => stuck.clone(),
        };
        self.op(id, "neg", value, &[item.trace])
    }

    pub(super) fn absolute(&mut self, id: NodeId, inner: NodeId) -> Item<'a> {
        let item = self.eval(inner);
        let value = match &item.value {
            Value::Int(number) => Value::Int(number.abs()),
            Value::Dec(amount) => Value::Dec(Rc::new(amount.abs())),
            stuck => stuck.clone(),
        };
        self.op(id, "abs", value, &[item.trace])
    }

    pub(super) fn month_of(&mut self, id: NodeId, date: NodeId) -> Item<'a> {
        let item = self.eval(date);
        let value = match &item.value {
            Value::Date(date) => Value::Month(date.month()),
            stuck => stuck.clone(),
        };
        self.op(id, "month", value, &[item.trace])
    }

    /// The sum of numbers of one type; `zero` if there are none.
    pub(super) fn sum_of(&self, values: &[Value<'a>], integers_only: bool) -> Value<'a> {
        let zero = if integers_only { Value::Int(0) } else { Value::Dec(Rc::new(Decimal::zero())) };
        values.iter().fold(zero, |sum, value| match (sum, value) {
            (Value::Int(a), Value::Int(b)) => integers(Arith::Plus, a, *b),
            (Value::Dec(a), Value::Dec(b)) => number(a.checked_add(b)),
            (stuck @ Value::Fault(_), _) => stuck,
            _ => Value::Fault(Fault::Overflow),
        })
    }
}

fn number<'a>(result: Result<Decimal, ArithmeticError>) -> Value<'a> {
    match result {
        Ok(number) => Value::Dec(Rc::new(number)),
        Err(error) => Value::Fault(error.into()),
    }
}

fn integers<'a>(arith: Arith, a: i64, b: i64) -> Value<'a> {
    let result = match arith {
        Arith::Plus => a.checked_add(b),
        Arith::Minus => a.checked_sub(b),
        Arith::Times => a.checked_mul(b),
    };
    match result {
        Some(number) if (-MAX_INTEGER..=MAX_INTEGER).contains(&number) => Value::Int(number),
        _ => Value::Fault(Fault::Overflow),
    }
}

fn decimals(arith: Arith, a: &Decimal, b: &Decimal) -> Result<Decimal, ArithmeticError> {
    match arith {
        Arith::Plus => a.checked_add(b),
        Arith::Minus => a.checked_sub(b),
        Arith::Times => a.checked_mul(b),
    }
}

/// `100 a / b`, rounded half to even at 18 decimals.
fn in_percent(a: &Decimal, b: &Decimal) -> Result<Decimal, ArithmeticError> {
    a.checked_mul(&Decimal::from(100))?.div_half_even(b, MAX_DECIMALS as u8)
}

/// `a / 100`, exactly.
fn hundredth(a: &Decimal) -> Result<Decimal, ArithmeticError> {
    let (coefficient, decimals) = a.coefficient_and_decimals();
    Decimal::from_coefficient(coefficient, decimals + 2)
}
