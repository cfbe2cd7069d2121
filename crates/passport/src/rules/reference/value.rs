//! Values of the reference.

use std::collections::BTreeSet;

use bpc_core::Hash;

use crate::facts::{FieldType, Value as FactValue};
use crate::rules::program::Lit;
use crate::rules::types::{Enums, Type};
use crate::value::{Date, Month};

use super::number::{self, Number};

/// A value, and the hash of how it was found. Open means that everybody may see it.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) value: Value,
    pub(super) hash: Hash,
    pub(super) open: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Bool(bool),
    /// Integers too: the type tells.
    Number(Number),
    Date(Date),
    Month(Month),
    Text(String),
    Tag(u16),
    None,
    List(Vec<Found>),
    Rec(Vec<Found>),
    Fact(usize),
    Unknown(BTreeSet<String>),
    Fault(&'static str),
}

impl Value {
    pub(super) fn of_lit(lit: &Lit) -> Self {
        match lit {
            Lit::Bool(truth) => Value::Bool(*truth),
            Lit::Int(integer) => Value::Number(number::of_integer(*integer)),
            Lit::Dec(decimal) => Value::Number(number::of(decimal)),
            Lit::Date(date) => Value::Date(*date),
            Lit::Month(month) => Value::Month(*month),
            Lit::Text(text) => Value::Text(text.clone()),
            Lit::Tag(tag) => Value::Tag(*tag),
            Lit::None => Value::None,
        }
    }

    pub(super) fn is_stuck(&self) -> bool {
        matches!(self, Value::Unknown(_) | Value::Fault(_))
    }

    /// Whether two scalars of one type are the same; that is all that the language can ask.
    pub(super) fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Tag(a), Value::Tag(b)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            _ => self.order(other) == Some(std::cmp::Ordering::Equal),
        }
    }

    pub(super) fn order(&self, other: &Value) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Value::Number(a), Value::Number(b)) => Some(a.cmp(b)),
            (Value::Date(a), Value::Date(b)) => Some(a.cmp(b)),
            (Value::Month(a), Value::Month(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

/// The value of a field; parts share the hash of the whole.
pub(super) fn of_field(value: &FactValue, field_type: &FieldType, hash: Hash, open: bool) -> Value {
    match (value, field_type) {
        (FactValue::Bool(truth), _) => Value::Bool(*truth),
        (FactValue::Int(integer), _) => Value::Number(number::of_integer(*integer)),
        (FactValue::Dec(decimal), _) => Value::Number(number::of(decimal)),
        (FactValue::Qty(quantity), _) => Value::Number(number::of(&quantity.value)),
        (FactValue::Date(date), _) => Value::Date(*date),
        (FactValue::Month(month), _) => Value::Month(*month),
        (FactValue::Text(text), _) => Value::Text(text.clone()),
        (FactValue::Tag(tag), FieldType::Tag(set)) => {
            Value::Tag(set.tags.iter().position(|known| known == tag).unwrap_or(0) as u16)
        }
        (FactValue::List(items), FieldType::List(item_type)) => Value::List(
            items
                .iter()
                .map(|item| Found { value: of_field(item, item_type, hash, open), hash, open })
                .collect(),
        ),
        (FactValue::Rec(record), FieldType::Rec(fields)) => Value::Rec(
            fields
                .iter()
                .map(|field| {
                    let part = record.get(field.name);
                    let value =
                        part.map_or(Value::None, |part| of_field(part, &field.field_type, hash, open));
                    Found { value, hash, open }
                })
                .collect(),
        ),
        _ => Value::None,
    }
}

/// A value as canonical JSON.
pub(super) fn json(enums: &Enums, value: &Value, ty: &Type) -> String {
    match (value, ty.present()) {
        (Value::Bool(truth), _) => truth.to_string(),
        (Value::Number(amount), Type::Qty(unit)) => {
            format!("{{\"u\":{},\"v\":{}}}", quoted(unit.symbol()), quoted(&number::text(amount)))
        }
        (Value::Number(amount), Type::Dec) => quoted(&number::text(amount)),
        (Value::Number(amount), _) => number::text(amount),
        (Value::Date(date), _) => quoted(&date.to_string()),
        (Value::Month(month), _) => quoted(&month.to_string()),
        (Value::Text(text), _) => quoted(text),
        (Value::Tag(tag), Type::Enum(id)) => quoted(enums.word(*id, *tag)),
        (Value::List(items), Type::List(element)) => {
            let items: Vec<String> = items.iter().map(|item| json(enums, &item.value, element)).collect();
            format!("[{}]", items.join(","))
        }
        (Value::Rec(parts), Type::Rec(fields)) => {
            let parts: Vec<String> = parts
                .iter()
                .zip(fields)
                .filter(|(part, _)| !matches!(part.value, Value::None))
                .map(|(part, (name, ty))| format!("{}:{}", quoted(name), json(enums, &part.value, ty)))
                .collect();
            format!("{{{}}}", parts.join(","))
        }
        _ => "null".to_owned(),
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", control as u32)),
            plain => out.push(plain),
        }
    }
    out.push('"');
    out
}
