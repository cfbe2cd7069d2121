//! Our own format: facts as their schemas name them.
//!
//! ```json
//! {"facts":[{"type":"Renewable","key":"renewable:SKU-1/PLANT-A/2024","fields":{"share":{"u":"pct","v":"3.2"}}}]}
//! ```

use super::Subject;
use super::draft::{Draft, Findings};
use super::shape::Shape;
use crate::facts::{FactType, Problem};
use crate::json::{Json, Node};

pub(super) fn import(root: &Node<'_>, subject: Subject<'_>, findings: &mut Findings) {
    for (name, member) in root.members() {
        if name != "facts" {
            findings.problem(Problem::new("FIELD_UNKNOWN", member.pointer(), "facts", name));
        }
    }
    let facts = root.at("/facts");
    if !matches!(facts.value(), Some(Json::Array(_))) {
        findings.problem(Problem::new(
            "TYPE_MISMATCH",
            facts.pointer(),
            "an array of facts",
            "another value",
        ));
    }
    for entry in facts.items() {
        if let Err(problem) = fact(&entry, subject, findings) {
            findings.problem(problem);
        }
    }
}

fn fact(entry: &Node<'_>, subject: Subject<'_>, findings: &mut Findings) -> Result<(), Problem> {
    for (name, member) in entry.members() {
        if !matches!(name, "type" | "key" | "fields") {
            findings.problem(Problem::new("FIELD_UNKNOWN", member.pointer(), "type, key, fields", name));
        }
    }
    let text = |name: &str| {
        let node = entry.member(name);
        let found = node.text();
        found.ok_or_else(|| Problem::new("FIELD_MISSING", node.pointer(), "a text", "none"))
    };
    let type_name = text("type")?;
    let fact_type = FactType::from_name(type_name).filter(|fact_type| subject.kind.holds(*fact_type));
    let fact_type = fact_type.ok_or_else(|| {
        let held: Vec<_> =
            FactType::ALL.iter().filter(|one| subject.kind.holds(**one)).map(|one| one.name()).collect();
        Problem::new(
            "FACT_TYPE_UNKNOWN",
            entry.at("/type").pointer(),
            format!("one of {}", held.join(", ")),
            type_name,
        )
    })?;
    let key = text("key")?;
    let fields = entry.at("/fields");
    let mut draft = Draft::new(fact_type, &fields);
    for (name, member) in fields.members() {
        match fact_type.schema().field(name) {
            Some(field) => drop(draft.take(field.name, &member, Shape::Plain)),
            None => findings.problem(Problem::new(
                "FIELD_UNKNOWN",
                member.pointer(),
                "a field of the schema",
                name,
            )),
        }
    }
    draft.finish_with_key(key, &entry.at("/key"), findings);
    Ok(())
}
