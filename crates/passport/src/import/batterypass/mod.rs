//! The BatteryPass models: BatteryPass-Ready, the SAMM aspects, and GS1 source passports.

pub(super) mod gs1;
pub(super) mod ready;
pub(super) mod samm;
mod substances;

use super::draft::{Draft, Findings};
use super::shape::Shape;
use crate::facts::{FactType, Problem, Value};
use crate::json::Node;
use crate::value::is_gln;

/// A row of a mapping: the field, where the document has it, and in which shape.
pub(super) type Row = (&'static str, &'static str, Shape);

/// Reads the rows under `base` into the draft.
pub(super) fn take_rows(draft: &mut Draft, base: &Node<'_>, rows: &[Row]) {
    for (field, path, shape) in rows {
        draft.take(field, &base.at(path), *shape);
    }
}

/// The text at a node that a fact cannot be named without.
pub(super) fn needed<'a>(node: &Node<'a>, findings: &mut Findings) -> Option<&'a str> {
    let text = node.text().filter(|text| !text.trim().is_empty());
    if text.is_none() {
        let found = node.value().map_or("nothing", |value| value.kind());
        findings.problem(Problem::new("FIELD_MISSING", node.pointer(), "a text that names it", found));
    }
    text
}

/// A document that the passport links to, or a statement it makes in its place.
pub(super) fn document(
    sku: Option<&str>,
    kind: &'static str,
    title: &str,
    number: usize,
    node: &Node<'_>,
    findings: &mut Findings,
) {
    let Some(text) = node.text() else {
        if let Some(value) = node.value() {
            findings.problem(Problem::new("TYPE_MISMATCH", node.pointer(), "a link or a text", value.kind()));
        }
        return;
    };
    let is_link = text.starts_with("https://") || text.starts_with("http://");
    let mut draft = Draft::new(FactType::Document, node);
    draft.set("kind", Value::Tag(kind), node);
    draft.set("title", Value::Text(title.to_owned()), node);
    draft.take(if is_link { "url" } else { "text" }, node, Shape::Plain);
    draft.finish(&[sku, Some(kind), Some(&number.to_string())], findings);
}

/// A plant, named by GLN if its id is one.
fn facility(
    id: Option<&str>,
    operator: Option<&str>,
    place: &Node<'_>,
    country: (Option<&str>, &Node<'_>),
    findings: &mut Findings,
) {
    let mut draft = Draft::new(FactType::Facility, place);
    draft.take("place", place, Shape::Plain);
    if let (Some(code), node) = country {
        draft.set("country", Value::Text(code.to_owned()), node);
    }
    if let Some(operator) = operator {
        draft.set("operator_id", Value::Text(operator.to_owned()), place);
    }
    let scheme = if id.is_some_and(is_gln) { "gln" } else { "other" };
    draft.set("id_scheme", Value::Tag(scheme), place);
    draft.finish(&[id], findings);
}

/// What stands behind the last comma of an address: the country, where addresses end with one.
fn last_part(address: &str) -> &str {
    address.rsplit(',').next().unwrap_or("").trim()
}
