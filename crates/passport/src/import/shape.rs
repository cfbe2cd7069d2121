//! The shapes in which documents write values.

use super::units::unit_of;
use crate::facts::{FieldType, Problem, Value, read_value};
use crate::facts::{convert, mismatch, read_decimal};
use crate::json::{Json, Node};
use crate::value::{CalendarError, Date, Month, Quantity, Unit, parse_instant};

/// How a value is written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// As native documents write a value of this type.
    Plain,
    /// A bare number in this unit.
    In(Unit),
    /// An object with a number under the first key and a unit under the second.
    Measure(&'static str, &'static str),
    /// A day, or a moment of which the written day counts.
    Day,
    /// A month, a day or a moment of which the month counts.
    MonthOf,
    /// A word of another list, with the word of ours beside it.
    Words(&'static [(&'static str, &'static str)]),
}

impl Shape {
    pub(super) fn read(self, node: &Node<'_>, field_type: &FieldType) -> Result<Value, Vec<Problem>> {
        match self {
            Shape::Plain => read_value(node, field_type),
            Shape::In(unit) => quantity(node, read_decimal(node), unit, field_type).map_err(one),
            Shape::Measure(value, unit) => measure(node, value, unit, field_type).map_err(one),
            Shape::Day => day(node).map(Value::Date).map_err(one),
            Shape::MonthOf => month(node).map(Value::Month).map_err(one),
            Shape::Words(words) => word(node, words, field_type).map_err(one),
        }
    }
}

fn one(problem: Problem) -> Vec<Problem> {
    vec![problem]
}

fn measure(node: &Node<'_>, value: &str, unit: &str, field_type: &FieldType) -> Result<Value, Problem> {
    if !matches!(node.value(), Some(Json::Object(_))) {
        return Err(mismatch(node, &field_type.expected()));
    }
    let written = node.member(unit);
    let text = written.text().ok_or_else(|| mismatch(&written, "a unit"))?;
    let found = unit_of(text)
        .ok_or_else(|| Problem::new("UNIT_UNKNOWN", written.pointer(), field_type.expected(), text))?;
    quantity(node, read_decimal(&node.member(value)), found, field_type)
}

fn quantity(
    node: &Node<'_>,
    number: Result<crate::value::Decimal, Problem>,
    found: Unit,
    field_type: &FieldType,
) -> Result<Value, Problem> {
    match field_type {
        FieldType::Qty(unit, _) => convert(node, &Quantity::new(number?, found), *unit).map(Value::Qty),
        _ => Err(mismatch(node, &field_type.expected())),
    }
}

/// The day as it is written. A moment counts for the day of its own offset, which is the day that
/// the writer saw.
fn day(node: &Node<'_>) -> Result<Date, Problem> {
    let text = node.text().ok_or_else(|| mismatch(node, "a day such as 2027-02-18"))?;
    let written = match text.split_once(['T', 't']) {
        Some((day, _)) if parse_instant(text).is_ok() => day,
        _ => text,
    };
    written.parse().map_err(|error: CalendarError| calendar(node, error, text))
}

fn month(node: &Node<'_>) -> Result<Month, Problem> {
    let text = node.text().ok_or_else(|| mismatch(node, "a month such as 2027-02"))?;
    text.parse().or_else(|_| day(node).map(Date::month))
}

fn calendar(node: &Node<'_>, error: CalendarError, text: &str) -> Problem {
    Problem::new(error.code(), node.pointer(), "a day such as 2027-02-18", format!("{text:?}"))
}

fn word(node: &Node<'_>, words: &[(&str, &'static str)], field_type: &FieldType) -> Result<Value, Problem> {
    let listed: Vec<_> = words.iter().map(|(theirs, _)| *theirs).collect();
    let expected = format!("one of {}", listed.join(", "));
    let text = node.text().ok_or_else(|| mismatch(node, &expected))?;
    let ours = words.iter().find(|(theirs, _)| theirs.eq_ignore_ascii_case(text)).map(|(_, ours)| *ours);
    match (ours, field_type) {
        (Some(ours), FieldType::Tag(set)) if set.tags.contains(&ours) => Ok(Value::Tag(ours)),
        _ => Err(Problem::new("TAG_UNKNOWN", node.pointer(), expected, format!("{text:?}"))),
    }
}
