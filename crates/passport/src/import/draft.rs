//! Facts under construction, and all that is found on the way.

use std::collections::{BTreeMap, BTreeSet};

use super::shape::Shape;
use super::{DocumentKind, MAX_PROBLEMS, SourcedFact};
use crate::facts::{Fact, FactType, Fields, Problem, Value};
use crate::json::Node;

/// What an importer has found so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    facts: Vec<SourcedFact>,
    problems: Vec<Problem>,
}

impl Findings {
    pub(super) fn problem(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    /// The facts sorted by type and key, or all problems sorted by place.
    pub(super) fn finish(mut self, kind: DocumentKind) -> Result<Vec<SourcedFact>, Vec<Problem>> {
        // A stable sort: of two facts of one name, the one further down is the one too many.
        self.facts.sort_by(|a, b| name(&a.fact).cmp(&name(&b.fact)));
        let mut facts: Vec<SourcedFact> = Vec::with_capacity(self.facts.len());
        for found in std::mem::take(&mut self.facts) {
            match facts.last() {
                Some(kept) if kept.fact == found.fact => {}
                Some(kept) if name(&kept.fact) == name(&found.fact) => {
                    let place = found.sources.values().next().cloned().unwrap_or_default();
                    self.problem(Problem::new(
                        "DUPLICATE_FACT",
                        place,
                        "one fact of this name",
                        found.fact.key(),
                    ));
                }
                _ => facts.push(found),
            }
        }
        self.facts = facts;
        if self.problems.is_empty() && self.facts.is_empty() {
            let expected = format!("something that a document of kind {kind} says");
            self.problems.push(Problem::new("NO_FACTS", "", expected, "nothing"));
        }
        if self.problems.is_empty() {
            return Ok(self.facts);
        }
        self.problems
            .sort_by(|a, b| (&a.pointer, a.code, &a.expected).cmp(&(&b.pointer, b.code, &b.expected)));
        self.problems.dedup();
        Err(self.problems)
    }
}

/// A fact whose fields are being read.
#[derive(Debug)]
pub(super) struct Draft {
    fact_type: FactType,
    fields: Fields,
    sources: BTreeMap<&'static str, String>,
    /// Fields that were there but could not be read: reported once, not also as missing.
    failed: BTreeSet<&'static str>,
    problems: Vec<Problem>,
    /// Where the fact as a whole stands.
    place: String,
}

impl Draft {
    pub(super) fn new(fact_type: FactType, place: &Node<'_>) -> Self {
        Self {
            fact_type,
            fields: Fields::new(),
            sources: BTreeMap::new(),
            failed: BTreeSet::new(),
            problems: Vec::new(),
            place: place.pointer().to_owned(),
        }
    }

    /// Reads a field, if there is anything at the node. If not, the place is remembered, so that a
    /// missing field is reported where it was looked for.
    pub(super) fn take(&mut self, field: &'static str, node: &Node<'_>, shape: Shape) -> &mut Self {
        let schema = self.fact_type.schema().field(field).expect("importers name fields of the schema");
        self.sources.insert(field, node.pointer().to_owned());
        if node.is_present() {
            match shape.read(node, &schema.field_type) {
                Ok(value) => drop(self.fields.insert(field, value)),
                Err(problems) => {
                    self.failed.insert(field);
                    self.problems.extend(problems);
                }
            }
        }
        self
    }

    /// Where these fields would be, should they be missing.
    pub(super) fn look(&mut self, fields: &[&'static str], node: &Node<'_>) {
        for field in fields {
            self.sources.insert(field, node.pointer().to_owned());
        }
    }

    /// Sets a field that follows from what stands at the node.
    pub(super) fn set(&mut self, field: &'static str, value: Value, node: &Node<'_>) -> &mut Self {
        self.sources.insert(field, node.pointer().to_owned());
        self.fields.insert(field, value);
        self
    }

    /// A problem with what would have become a field.
    pub(super) fn fail(&mut self, field: &'static str, problem: Problem) {
        self.failed.insert(field);
        self.problems.push(problem);
    }

    pub(super) fn field(&self, field: &str) -> Option<&Value> {
        self.fields.get(field)
    }

    /// The fact whose key has these segments. A segment that is `None` is something the document
    /// should have named; the caller has reported it, and no fact comes of the draft.
    pub(super) fn finish(self, segments: &[Option<&str>], findings: &mut Findings) {
        let schema = self.fact_type.schema();
        let known: Option<Vec<&str>> = segments.iter().copied().collect();
        let key = known.map(|segments| schema.key(&segments));
        let place = self.place.clone();
        self.complete(key, &place, findings);
    }

    /// The fact of a key that the document itself has at that place.
    pub(super) fn finish_with_key(self, key: &str, place: &Node<'_>, findings: &mut Findings) {
        self.complete(Some(key.to_owned()), place.pointer(), findings);
    }

    fn complete(self, key: Option<String>, key_place: &str, findings: &mut Findings) {
        let schema = self.fact_type.schema();
        let usable = self.problems.is_empty() && key.is_some();
        let key = key.unwrap_or_else(|| schema.key(&vec!["-"; schema.key_segments.len()]));
        for problem in self.problems {
            findings.problem(problem);
        }
        match Fact::new(self.fact_type, key, self.fields) {
            Ok(fact) if usable => {
                let mut sources = self.sources;
                sources.retain(|field, _| fact.field(field).is_some());
                findings.facts.push(SourcedFact { fact, sources });
            }
            Ok(_) => {}
            Err(problems) => {
                for mut problem in problems {
                    let (field, rest) = split(&problem.pointer);
                    if problem.code == "FIELD_MISSING" && self.failed.contains(field) {
                        continue;
                    }
                    problem.pointer = match self.sources.get(field) {
                        Some(source) => format!("{source}{rest}"),
                        None if matches!(problem.code, "KEY_INVALID" | "GLN_INVALID") => key_place.to_owned(),
                        None if field.is_empty() => self.place.clone(),
                        None => format!("{}/{field}{rest}", self.place),
                    };
                    findings.problem(problem);
                }
            }
        }
    }
}

fn name(fact: &Fact) -> (&'static str, &str) {
    (fact.fact_type().name(), fact.key())
}

/// The first step of a pointer, and the rest.
fn split(pointer: &str) -> (&str, &str) {
    let inner = pointer.strip_prefix('/').unwrap_or("");
    inner.find('/').map_or((inner, ""), |end| inner.split_at(end))
}
