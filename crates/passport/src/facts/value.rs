//! What a field of a fact holds, and whether a schema allows it.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::problem::Problem;
use super::schema::{Bound, Field, FieldType};
use crate::value::{Date, Decimal, Month, Quantity};

/// What a field of a fact holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A JSON integer.
    Int(i64),
    /// A number, written as text.
    Dec(Decimal),
    /// A number with a unit, written `{"u":..,"v":..}`.
    Qty(Quantity),
    /// A day, written as text.
    Date(Date),
    /// A month, written as text.
    Month(Month),
    /// Text.
    Text(String),
    /// A word of a closed list, written as text.
    Tag(&'static str),
    /// A list.
    List(Vec<Value>),
    /// A record.
    Rec(BTreeMap<&'static str, Value>),
}

/// The most entries of one list.
const LIST_MAX: usize = 1000;

impl Value {
    /// Every way in which this value is not one of that type. Pointers start at the value.
    #[must_use]
    pub fn problems(&self, field_type: &FieldType) -> Vec<Problem> {
        match (self, field_type) {
            (Value::Bool(_), FieldType::Bool)
            | (Value::Date(_), FieldType::Date)
            | (Value::Month(_), FieldType::Month) => Vec::new(),
            (Value::Int(n), FieldType::Int(least, most)) => {
                let inside = (least..=most).contains(&n);
                problem(inside, "INT_RANGE", format!("an integer from {least} to {most}"), n.to_string())
            }
            (Value::Dec(number), FieldType::Dec(bound)) => bound_problem(number, *bound, number.to_string()),
            (Value::Qty(quantity), FieldType::Qty(unit, bound)) if quantity.unit == *unit => {
                bound_problem(&quantity.value, *bound, quantity.to_string())
            }
            (Value::Qty(quantity), FieldType::Qty(unit, _)) => {
                problem(false, "UNIT_MISMATCH", unit.symbol().to_owned(), quantity.to_string())
            }
            (Value::Text(text), FieldType::Text(form)) => {
                problem(form.admits(text), form.code(), form.expected().to_owned(), format!("{text:?}"))
            }
            (Value::Tag(tag), FieldType::Tag(set)) => {
                problem(set.tags.contains(tag), "TAG_UNKNOWN", set.tags.join(", "), (*tag).to_owned())
            }
            (Value::List(items), FieldType::List(item_type)) => {
                let short = items.len() <= LIST_MAX;
                let mut all = problem(
                    short,
                    "LIST_TOO_LONG",
                    format!("at most {LIST_MAX} entries"),
                    items.len().to_string(),
                );
                for (index, item) in items.iter().enumerate() {
                    let name = index.to_string();
                    all.extend(item.problems(item_type).into_iter().map(|found| found.under(&name)));
                }
                all
            }
            (Value::Rec(record), FieldType::Rec(fields)) => record_problems(record, fields),
            (other, wanted) => problem(false, "TYPE_MISMATCH", wanted.expected(), other.kind().to_owned()),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Value::Bool(_) => "a truth value",
            Value::Int(_) => "an integer",
            Value::Dec(_) => "a number",
            Value::Qty(_) => "a quantity",
            Value::Date(_) => "a day",
            Value::Month(_) => "a month",
            Value::Text(_) => "a text",
            Value::Tag(_) => "a word",
            Value::List(_) => "a list",
            Value::Rec(_) => "a record",
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Bool(truth) => serializer.serialize_bool(*truth),
            Value::Int(integer) => serializer.serialize_i64(*integer),
            Value::Dec(number) => number.serialize(serializer),
            Value::Qty(quantity) => quantity.serialize(serializer),
            Value::Date(date) => date.serialize(serializer),
            Value::Month(month) => month.serialize(serializer),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Tag(tag) => serializer.serialize_str(tag),
            Value::List(items) => items.serialize(serializer),
            Value::Rec(record) => record.serialize(serializer),
        }
    }
}

/// Every way in which a record is not one of these fields.
pub(super) fn record_problems(record: &BTreeMap<&'static str, Value>, fields: &[Field]) -> Vec<Problem> {
    let mut all = Vec::new();
    for field in fields {
        match record.get(field.name) {
            Some(value) => {
                let problems = value.problems(&field.field_type);
                all.extend(problems.into_iter().map(|found| found.under(field.name)));
            }
            None if field.required => {
                let missing = Problem::new("FIELD_MISSING", "", field.field_type.expected(), "nothing");
                all.push(missing.under(field.name));
            }
            None => {}
        }
    }
    for name in record.keys().filter(|name| fields.iter().all(|field| field.name != **name)) {
        all.push(Problem::new("FIELD_UNKNOWN", "", "no such field", *name).under(name));
    }
    all
}

impl FieldType {
    /// What a value of this type looks like, for people.
    #[must_use]
    pub fn expected(&self) -> String {
        match self {
            FieldType::Bool => "true or false".to_owned(),
            FieldType::Int(least, most) => format!("an integer from {least} to {most}"),
            FieldType::Dec(bound) => format!("a number{}", bound.suffix()),
            FieldType::Qty(unit, bound) => format!("a quantity in {unit}{}", bound.suffix()),
            FieldType::Date => "a day such as 2027-02-18".to_owned(),
            FieldType::Month => "a month such as 2027-02".to_owned(),
            FieldType::Text(form) => form.expected().to_owned(),
            FieldType::Tag(set) => format!("one of {}", set.tags.join(", ")),
            FieldType::List(items) => format!("a list, each entry {}", items.expected()),
            FieldType::Rec(fields) => {
                let names: Vec<_> = fields.iter().map(|field| field.name).collect();
                format!("a record of {}", names.join(", "))
            }
        }
    }
}

impl Bound {
    /// Whether the number lies inside.
    #[must_use]
    pub fn admits(self, number: &Decimal) -> bool {
        match self {
            Bound::Any => true,
            Bound::Positive => !number.is_negative() && !number.is_zero(),
            Bound::NotNegative => !number.is_negative(),
            Bound::Within(least, most) => *number >= Decimal::from(least) && *number <= Decimal::from(most),
        }
    }

    fn suffix(self) -> String {
        match self {
            Bound::Any => String::new(),
            Bound::Positive => " above 0".to_owned(),
            Bound::NotNegative => ", 0 or more".to_owned(),
            Bound::Within(least, most) => format!(" from {least} to {most}"),
        }
    }
}

fn problem(fine: bool, code: &'static str, expected: String, found: String) -> Vec<Problem> {
    if fine { Vec::new() } else { vec![Problem::new(code, "", expected, found)] }
}

fn bound_problem(number: &Decimal, bound: Bound, found: String) -> Vec<Problem> {
    problem(bound.admits(number), "VALUE_RANGE", format!("a value{}", bound.suffix()), found)
}
