//! Reads the fields of a fact from JSON, as native documents and stored payloads spell them.

use super::fact::Fields;
use super::problem::Problem;
use super::schema::{Field, FieldType};
use super::value::Value;
use crate::json::{Json, Node};
use crate::value::{Decimal, Quantity, Unit};

/// Reads a record of these fields. Numbers may be JSON numbers or texts; quantities are
/// `{"u":..,"v":..}` in any unit of the dimension. Whether the values make sense is left to
/// [`Fact::new`](super::Fact::new).
///
/// # Errors
///
/// Every value that is not of its type and every unknown field; pointers start at the document.
pub fn read_record(node: &Node<'_>, fields: &'static [Field]) -> Result<Fields, Vec<Problem>> {
    if !matches!(node.value(), Some(Json::Object(_))) {
        return Err(vec![mismatch(node, "an object")]);
    }
    let (mut record, mut problems) = (Fields::new(), Vec::new());
    for (name, member) in node.members() {
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            problems.push(Problem::new("FIELD_UNKNOWN", member.pointer(), "no such field", name));
            continue;
        };
        match read_value(&member, &field.field_type) {
            Ok(value) => drop(record.insert(field.name, value)),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() { Ok(record) } else { Err(problems) }
}

/// Reads one value of that type.
///
/// # Errors
///
/// Everything that is not of the type; pointers start at the document.
pub fn read_value(node: &Node<'_>, field_type: &FieldType) -> Result<Value, Vec<Problem>> {
    let one = |problem| vec![problem];
    match field_type {
        FieldType::Bool => match node.value() {
            Some(Json::Bool(truth)) => Ok(Value::Bool(*truth)),
            _ => Err(one(mismatch(node, &field_type.expected()))),
        },
        FieldType::Int(..) => {
            let number = read_decimal(node).map_err(one)?;
            let outside =
                || Problem::new("INT_RANGE", node.pointer(), field_type.expected(), number.to_string());
            number.to_i64().map(Value::Int).ok_or_else(|| one(outside()))
        }
        FieldType::Dec(_) => read_decimal(node).map(Value::Dec).map_err(one),
        FieldType::Qty(unit, _) => read_quantity(node, *unit).map(Value::Qty).map_err(one),
        FieldType::Date => {
            read_text(node, field_type, |text| text.parse().map(Value::Date).map_err(|e| e.code()))
        }
        FieldType::Month => {
            read_text(node, field_type, |text| text.parse().map(Value::Month).map_err(|e| e.code()))
        }
        FieldType::Text(_) => read_text(node, field_type, |text| Ok(Value::Text(text.to_owned()))),
        FieldType::Tag(set) => {
            read_text(node, field_type, |text| set.tag(text).map(Value::Tag).ok_or("TAG_UNKNOWN"))
        }
        FieldType::List(item_type) => {
            if !matches!(node.value(), Some(Json::Array(_))) {
                return Err(one(mismatch(node, &field_type.expected())));
            }
            collect(node.items().iter().map(|item| read_value(item, item_type))).map(Value::List)
        }
        FieldType::Rec(fields) => read_record(node, fields).map(Value::Rec),
    }
}

/// Reads a number from its text: a JSON number, or a string that holds one.
pub(crate) fn read_decimal(node: &Node<'_>) -> Result<Decimal, Problem> {
    let (Some(Json::Number(text)) | Some(Json::String(text))) = node.value() else {
        return Err(mismatch(node, "a number"));
    };
    let expected = "a number of at most 28 digits and 18 decimals";
    text.parse().map_err(|error: crate::value::DecimalError| {
        Problem::new(error.code(), node.pointer(), expected, text.as_str())
    })
}

/// The same amount in the unit of the schema.
pub(crate) fn convert(node: &Node<'_>, quantity: &Quantity, unit: Unit) -> Result<Quantity, Problem> {
    quantity.convert(unit).map_err(|error| {
        let code =
            if error == crate::value::ArithmeticError::Overflow { "DEC_PRECISION" } else { error.code() };
        Problem::new(code, node.pointer(), format!("a quantity in {unit}"), quantity.to_string())
    })
}

pub(crate) fn mismatch(node: &Node<'_>, expected: &str) -> Problem {
    let found = node.value().map_or_else(|| "nothing".to_owned(), Json::excerpt);
    Problem::new("TYPE_MISMATCH", node.pointer(), expected, found)
}

fn read_quantity(node: &Node<'_>, unit: Unit) -> Result<Quantity, Problem> {
    let expected = format!("a quantity such as {{\"u\":\"{unit}\",\"v\":\"1.5\"}}");
    let members = node.members();
    if members.len() != 2 || members.iter().any(|(name, _)| !matches!(*name, "u" | "v")) {
        return Err(mismatch(node, &expected));
    }
    let written = node.at("/u");
    let text = written.text().ok_or_else(|| mismatch(&written, "a unit"))?;
    let found = text
        .parse::<Unit>()
        .map_err(|_| Problem::new("UNIT_UNKNOWN", written.pointer(), unit.symbol(), text))?;
    convert(node, &Quantity::new(read_decimal(&node.at("/v"))?, found), unit)
}

fn read_text(
    node: &Node<'_>,
    field_type: &FieldType,
    read: impl Fn(&str) -> Result<Value, &'static str>,
) -> Result<Value, Vec<Problem>> {
    let text = node.text().ok_or_else(|| vec![mismatch(node, &field_type.expected())])?;
    read(text)
        .map_err(|code| vec![Problem::new(code, node.pointer(), field_type.expected(), format!("{text:?}"))])
}

/// All values, or all problems.
fn collect(values: impl Iterator<Item = Result<Value, Vec<Problem>>>) -> Result<Vec<Value>, Vec<Problem>> {
    let (mut fine, mut problems) = (Vec::new(), Vec::new());
    for value in values {
        match value {
            Ok(value) => fine.push(value),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() { Ok(fine) } else { Err(problems) }
}
