//! Values while they are calculated with.

use std::rc::Rc;

use bpc_core::canonical::{write_integer, write_string};

use crate::facts::{FieldType, Value as FactValue};
use crate::rules::program::Lit;
use crate::rules::types::{Enums, Type};
use crate::value::{ArithmeticError, Date, Decimal, Month};

use super::trace::TraceId;

/// A value. Numbers with a unit are decimals here; the type of the node knows the unit.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Bool(bool),
    Int(i64),
    Dec(Rc<Decimal>),
    Date(Date),
    Month(Month),
    Text(&'a str),
    Tag(u16),
    /// Nothing, where something might be. Something is the value itself.
    None,
    List(Rc<[Item<'a>]>),
    /// In the order of the type's fields.
    Rec(Rc<[Item<'a>]>),
    Fact(u32),
    /// Cannot be told; the number stands for what is missing.
    Unknown(Missing),
    /// A calculation without a result.
    Fault(Fault),
}

/// A value and how it was found.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    pub(super) value: Value<'a>,
    pub(super) trace: TraceId,
}

/// What is missing: an index into the machine's sets of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Missing(pub(super) u32);

/// Why a calculation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Overflow,
    DivisionByZero,
    Fuel,
}

impl Fault {
    pub(super) fn code(self) -> &'static str {
        match self {
            Fault::Overflow => "EVAL_OVERFLOW",
            Fault::DivisionByZero => "DIVISION_BY_ZERO",
            Fault::Fuel => "EVAL_FUEL_EXHAUSTED",
        }
    }
}

impl From<ArithmeticError> for Fault {
    fn from(error: ArithmeticError) -> Self {
        match error {
            ArithmeticError::DivisionByZero => Fault::DivisionByZero,
            // The checker leaves no units to disagree.
            ArithmeticError::Overflow | ArithmeticError::UnitMismatch => Fault::Overflow,
        }
    }
}

impl<'a> Value<'a> {
    pub(super) fn of_lit(lit: &'a Lit) -> Self {
        match lit {
            Lit::Bool(truth) => Value::Bool(*truth),
            Lit::Int(number) => Value::Int(*number),
            Lit::Dec(number) => Value::Dec(Rc::new(number.clone())),
            Lit::Date(date) => Value::Date(*date),
            Lit::Month(month) => Value::Month(*month),
            Lit::Text(text) => Value::Text(text),
            Lit::Tag(tag) => Value::Tag(*tag),
            Lit::None => Value::None,
        }
    }

    /// The same as a literal, if it can be one.
    pub(super) fn lit(&self) -> Option<Lit> {
        Some(match self {
            Value::Bool(truth) => Lit::Bool(*truth),
            Value::Int(number) => Lit::Int(*number),
            Value::Dec(number) => Lit::Dec(Decimal::clone(number)),
            Value::Date(date) => Lit::Date(*date),
            Value::Month(month) => Lit::Month(*month),
            Value::Text(text) => Lit::Text((*text).to_owned()),
            Value::Tag(tag) => Lit::Tag(*tag),
            Value::None => Lit::None,
            _ => return None,
        })
    }

    /// Whether two values of one scalar type are the same.
    pub(super) fn same(&self, other: &Value<'_>) -> bool {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Dec(a), Value::Dec(b)) => a == b,
            (Value::Date(a), Value::Date(b)) => a == b,
            (Value::Month(a), Value::Month(b)) => a == b,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Tag(a), Value::Tag(b)) => a == b,
            _ => false,
        }
    }

    /// The order of two values of one ordered type.
    pub(super) fn order(&self, other: &Value<'_>) -> std::cmp::Ordering {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Dec(a), Value::Dec(b)) => a.cmp(b),
            (Value::Date(a), Value::Date(b)) => a.cmp(b),
            (Value::Month(a), Value::Month(b)) => a.cmp(b),
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Tag(a), Value::Tag(b)) => a.cmp(b),
            _ => std::cmp::Ordering::Equal,
        }
    }
}

/// The value of a field; parts get the trace of the whole.
pub(super) fn of_field<'a>(value: &'a FactValue, field_type: &FieldType, trace: TraceId) -> Value<'a> {
    match (value, field_type) {
        (FactValue::Bool(truth), _) => Value::Bool(*truth),
        (FactValue::Int(number), _) => Value::Int(*number),
        (FactValue::Dec(number), _) => Value::Dec(Rc::new(number.clone())),
        (FactValue::Qty(quantity), _) => Value::Dec(Rc::new(quantity.value.clone())),
        (FactValue::Date(date), _) => Value::Date(*date),
        (FactValue::Month(month), _) => Value::Month(*month),
        (FactValue::Text(text), _) => Value::Text(text),
        (FactValue::Tag(tag), FieldType::Tag(set)) => {
            let at = set.tags.iter().position(|known| known == tag);
            at.map_or(Value::None, |at| Value::Tag(at as u16))
        }
        (FactValue::List(items), FieldType::List(item_type)) => {
            let item = |item| Item { value: of_field(item, item_type, trace), trace };
            Value::List(items.iter().map(item).collect())
        }
        (FactValue::Rec(record), FieldType::Rec(fields)) => {
            let part = |field: &crate::facts::Field| match record.get(field.name) {
                Some(value) => Item { value: of_field(value, &field.field_type, trace), trace },
                None => Item { value: Value::None, trace },
            };
            Value::Rec(fields.iter().map(part).collect())
        }
        // Facts are what their schema says.
        _ => Value::None,
    }
}

/// Appends a value as canonical JSON. Parts of a record that are nothing are left out.
pub(super) fn write_value(enums: &Enums, value: &Value<'_>, ty: &Type, out: &mut Vec<u8>) {
    match (value, ty.present()) {
        (Value::Bool(truth), _) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
        (Value::Int(number), _) => write_integer(*number, out),
        (Value::Dec(number), ty) => write_number(number, ty, out),
        (Value::Date(date), _) => write_string(&date.to_string(), out),
        (Value::Month(month), _) => write_string(&month.to_string(), out),
        (Value::Text(text), _) => write_string(text, out),
        (Value::Tag(tag), Type::Enum(id)) => write_string(enums.word(*id, *tag), out),
        (Value::List(items), Type::List(element)) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_value(enums, &item.value, element, out);
            }
            out.push(b']');
        }
        (Value::Rec(parts), Type::Rec(fields)) => {
            out.push(b'{');
            let start = out.len();
            for (part, (name, ty)) in parts.iter().zip(fields) {
                if matches!(part.value, Value::None) {
                    continue;
                }
                if out.len() > start {
                    out.push(b',');
                }
                write_string(name, out);
                out.push(b':');
                write_value(enums, &part.value, ty, out);
            }
            out.push(b'}');
        }
        _ => out.extend_from_slice(b"null"),
    }
}

/// Appends a literal as canonical JSON.
pub(in crate::rules) fn write_lit(enums: &Enums, lit: &Lit, ty: &Type, out: &mut Vec<u8>) {
    write_value(enums, &Value::of_lit(lit), ty, out);
}

fn write_number(number: &Decimal, ty: &Type, out: &mut Vec<u8>) {
    if let Type::Qty(unit) = ty {
        out.extend_from_slice(b"{\"u\":");
        write_string(unit.symbol(), out);
        out.extend_from_slice(b",\"v\":");
        write_string(&number.to_string(), out);
        out.push(b'}');
    } else {
        write_string(&number.to_string(), out);
    }
}
