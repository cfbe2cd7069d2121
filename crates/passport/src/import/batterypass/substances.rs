//! Substances that a passport names in prose: `AcuteToxicity (CAS 21324-40-3); ...`.

use std::collections::BTreeMap;

use super::super::draft::{Draft, Findings};
use super::super::words::{HAZARD_CLASSES, ours};
use crate::facts::{FactType, Value};
use crate::json::Node;

/// What is said of one substance, and where.
#[derive(Default)]
struct Said<'a> {
    hazard: Option<(Option<&'static str>, &'a Node<'a>)>,
    critical: Option<&'a Node<'a>>,
}

/// The substances that two statements name by CAS number, one fact each. Statements without
/// numbers give no fact; their text is a field of the battery.
pub(super) fn declared<'a>(
    sku: Option<&str>,
    hazardous: &'a Node<'a>,
    critical: &'a Node<'a>,
    findings: &mut Findings,
) {
    let mut substances: BTreeMap<&str, Said<'_>> = BTreeMap::new();
    for sentence in hazardous.text().unwrap_or("").split(';') {
        let class = sentence.split('(').next().and_then(|word| ours(HAZARD_CLASSES, word.trim()));
        for number in numbers(sentence) {
            substances.entry(number).or_default().hazard = Some((class, hazardous));
        }
    }
    for number in numbers(critical.text().unwrap_or("")) {
        substances.entry(number).or_default().critical = Some(critical);
    }
    for (number, said) in substances {
        let place = said.critical.or(said.hazard.map(|(_, node)| node)).unwrap_or(hazardous);
        let mut draft = Draft::new(FactType::Material, place);
        draft.set("cas", Value::Text(number.to_owned()), place);
        draft.set("role", Value::Tag("other"), place);
        if let Some(node) = said.critical {
            draft.set("crm", Value::Bool(true), node);
        }
        if let Some((class, node)) = said.hazard {
            draft.set("hazard_class", Value::Tag(class.unwrap_or("other")), node);
        }
        draft.finish(&[sku, Some("battery"), Some(number)], findings);
    }
}

/// Everything in the text that looks like a CAS number: digits, two digits, one digit. Whether its
/// check digit is right is for the schema to say.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_ascii_digit() && letter != '-');
    words.filter(|word| {
        let mut parts = word.split('-');
        let mut width = || parts.next().map_or(0, str::len);
        let shape = (width(), width(), width());
        matches!(shape, (2..=7, 2, 1)) && parts.next().is_none()
    })
}
