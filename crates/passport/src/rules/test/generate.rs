//! Cases that follow from the rules themselves.
//!
//! For every comparison the values at which it tips, one step before and one after; every tag of
//! every field that is looked at; every field there and missing; every fact there and missing; the
//! day before, of and after every day that is named; then pairs of these; then values at random.
//! They have no declared outcome: the reference evaluator judges them.

use std::collections::{BTreeMap, BTreeSet};

use bpc_core::Hash;

use crate::facts::{FactType, FieldType, Value as FactValue};
use crate::rules::eval::Results;
use crate::rules::eval::probe::{NoProbe, Probe};
use crate::rules::program::{Lit, NodeId, Op, Program, Step};
use crate::value::{Decimal, Quantity};

use super::draft::{Case, Draft};
use super::edit::Edit;
use super::harness::{evaluate, evaluate_some};
use super::properties::any_value;
use super::reads::{Reads, schema_field};
use super::seed::{Numbers, Seed};

/// How many cases of one change a rule gets at most, and how many of several changes.
const SINGLE_MAX: usize = 60;
const MIXED: usize = 20;

/// How often random changes are tried until enough of them are allowed and new.
const TRIES_MAX: usize = 400;

/// A generated case.
pub(super) struct Generated {
    /// The rule it is about.
    pub(super) rule: usize,
    /// What it starts from and what is changed.
    pub(super) about: String,
    /// The input.
    pub(super) case: Case,
}

/// Cases for all rules, none of them twice.
pub(super) fn generate(program: &Program, fixtures: &[(String, Draft)], seed: &Seed) -> Vec<Generated> {
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    let fixtures: Vec<Evaluated<'_>> =
        fixtures.iter().filter_map(|(name, draft)| Evaluated::new(program, name, draft)).collect();
    for rule in 0..program.rules.len() {
        let reads = Reads::of(program, &program.rules[rule]);
        let mut numbers = seed.case(rule as u64);
        let steps = program.with_needs([Step::Rule(rule)]);
        let bases = bases(&fixtures, rule);
        let mut edits: Vec<(usize, Edit)> = Vec::new();
        for (at, (_, base)) in bases.iter().enumerate() {
            edits.extend(boundaries(program, &steps, &reads, base).into_iter().map(|edit| (at, edit)));
            edits.extend(plain_edits(&reads, base, &mut numbers).into_iter().map(|edit| (at, edit)));
        }
        let mut add = |about: String, draft: &Draft, all: &mut Vec<Generated>| -> bool {
            match draft.case() {
                Ok(case) if seen.insert(case.hash) => {
                    all.push(Generated { rule, about, case });
                    true
                }
                _ => false,
            }
        };
        // The bases themselves, then changes one by one, spread evenly if there are too many.
        for (name, base) in &bases {
            add((*name).clone(), base, &mut all);
        }
        let stride = edits.len().div_ceil(SINGLE_MAX).max(1);
        for (at, edit) in edits.iter().step_by(stride) {
            let (name, base) = &bases[*at];
            let mut draft = (*base).clone();
            edit.apply(&mut draft);
            add(format!("{name}: {edit}"), &draft, &mut all);
        }
        let mut left = MIXED;
        for _ in 0..TRIES_MAX {
            if left == 0 || bases.is_empty() {
                break;
            }
            let (about, draft) = mixed(&bases, &edits, &reads, &mut numbers);
            left -= usize::from(add(about, &draft, &mut all));
        }
    }
    all
}

/// A fixture, and what rules say about it.
struct Evaluated<'f> {
    name: &'f String,
    draft: &'f Draft,
    results: Results,
}

impl<'f> Evaluated<'f> {
    fn new(program: &Program, name: &'f String, draft: &'f Draft) -> Option<Self> {
        let results = evaluate(program, &draft.case().ok()?, &mut NoProbe).ok()?;
        Some(Self { name, draft, results })
    }
}

/// The fixtures on which a rule says different things, those where it has most to say first.
fn bases<'f>(fixtures: &[Evaluated<'f>], rule: usize) -> Vec<(&'f String, &'f Draft)> {
    let mut by_trace: BTreeMap<Hash, (usize, &String, &Draft)> = BTreeMap::new();
    for (order, Evaluated { name, draft, results }) in fixtures.iter().enumerate() {
        let weight = usize::MAX - results.rules[rule].cost as usize;
        by_trace.entry(results.rules[rule].trace_hash).or_insert((weight.wrapping_add(order), name, draft));
    }
    let mut bases: Vec<_> = by_trace.into_values().collect();
    bases.sort_by(|left, right| left.0.cmp(&right.0).then(left.1.cmp(right.1)));
    bases.truncate(3);
    bases.into_iter().map(|(_, name, draft)| (name, draft)).collect()
}

/// Changes that need no evaluation to find.
fn plain_edits(reads: &Reads, base: &Draft, numbers: &mut Numbers) -> Vec<Edit> {
    let mut edits = Vec::new();
    for day in &reads.days {
        edits.extend([-1, 0, 1].into_iter().filter_map(|days| day.plus_days(days)).map(Edit::AsOf));
    }
    for (fact, name) in &reads.fields {
        let Some(field) = schema_field(*fact, name) else { continue };
        let Some((key, fields)) = first_fact(base, *fact) else { continue };
        let set = |value: FactValue| Edit::Set(*fact, key.clone(), field.name, value);
        match &field.field_type {
            FieldType::Tag(tags) => edits.extend(tags.tags.iter().map(|tag| set(FactValue::Tag(tag)))),
            FieldType::Bool => edits.extend([true, false].map(|truth| set(FactValue::Bool(truth)))),
            _ => {}
        }
        if field.required {
            continue;
        }
        if fields.contains_key(name) {
            edits.push(Edit::Drop(*fact, None, field.name));
            if base.facts.keys().filter(|(this, _)| this == fact).count() > 1 {
                edits.push(Edit::Drop(*fact, Some(key.clone()), field.name));
            }
        } else {
            edits.extend(any_value(&field.field_type, numbers).map(set));
        }
    }
    for fact in &reads.facts {
        if let Some((key, _)) = first_fact(base, *fact) {
            edits.push(Edit::Remove(*fact, None));
            edits.push(Edit::Remove(*fact, Some(key.clone())));
        }
    }
    edits
}

/// The values of fields at which comparisons tip, one step before and one after.
fn boundaries(program: &Program, steps: &[Step], reads: &Reads, base: &Draft) -> Vec<Edit> {
    let mut edits = Vec::new();
    let Some(compared) = compared(program, steps, base) else { return edits };
    for id in &reads.comparisons {
        let Some((left, right)) = compared.get(id) else { continue };
        let Op::Compare(_, left_node, right_node) = program.node(*id).op else { continue };
        let mut fields = Reads::under(program, left_node).fields;
        fields.extend(Reads::under(program, right_node).fields);
        for (fact, name) in fields {
            let Some(field) = schema_field(fact, name) else { continue };
            let Some((key, value)) = first_with(base, fact, name) else { continue };
            let set = |value: FactValue| Edit::Set(fact, key.clone(), field.name, value);
            match (value, left, right) {
                (FactValue::Date(_), Lit::Date(left), Lit::Date(right)) => {
                    let days =
                        [left, right].into_iter().flat_map(|day| [-1, 0, 1].map(|by| day.plus_days(by)));
                    edits.extend(days.flatten().map(|day| set(FactValue::Date(day))));
                }
                (FactValue::Month(_), Lit::Month(left), Lit::Month(right)) => {
                    let months = [left, right].into_iter().flat_map(|month| {
                        [-1, 0, 31].map(|by| month.first_day().plus_days(by).map(|day| day.month()))
                    });
                    edits.extend(months.flatten().map(|month| set(FactValue::Month(month))));
                }
                (value, ..) => {
                    let tipping = tips(program, steps, base, *id, (fact, &key, field.name), value);
                    edits
                        .extend(tipping.into_iter().filter_map(|number| with_number(value, number)).map(set));
                }
            }
        }
    }
    edits
}

/// The values of one number at which a comparison tips, found by going along the line through two
/// points; one step before and one after.
fn tips(
    program: &Program,
    steps: &[Step],
    base: &Draft,
    comparison: NodeId,
    (fact, key, field): (FactType, &str, &'static str),
    value: &FactValue,
) -> Vec<Decimal> {
    let Some(start) = number_of(value) else { return Vec::new() };
    let difference = |at: &Decimal| -> Option<Decimal> {
        let mut draft = base.clone();
        draft.facts.get_mut(&(fact, key.to_owned()))?.insert(field, with_number(value, at.clone())?);
        let compared = compared(program, steps, &draft)?;
        let (left, right) = compared.get(&comparison)?;
        number_of_lit(left)?.checked_sub(&number_of_lit(right)?).ok()
    };
    let step = match value {
        FactValue::Int(_) => Decimal::from(1),
        _ => Decimal::from_coefficient(1, 3).unwrap_or_else(|_| Decimal::from(1)),
    };
    let root = || -> Option<Decimal> {
        let away = start.checked_add(&Decimal::from(1)).ok()?;
        let (here, there) = (difference(&start)?, difference(&away)?);
        let slope = there.checked_sub(&here).ok()?;
        if slope.is_zero() {
            return None;
        }
        let decimals = if matches!(value, FactValue::Int(_)) { 0 } else { 6 };
        start.checked_sub(&here.div_half_even(&slope, decimals).ok()?).ok()
    };
    match root() {
        Some(root) => {
            let around = [root.checked_sub(&step), Ok(root.clone()), root.checked_add(&step)];
            around.into_iter().flatten().collect()
        }
        None => Vec::new(),
    }
}

/// Two or three changes at once, or values at random.
fn mixed(
    bases: &[(&String, &Draft)],
    edits: &[(usize, Edit)],
    reads: &Reads,
    numbers: &mut Numbers,
) -> (String, Draft) {
    let at = numbers.below(bases.len() as u64) as usize;
    let (name, base) = bases[at];
    let mut draft = base.clone();
    let mut about = vec![name.clone()];
    let own: Vec<&Edit> = edits.iter().filter(|(of, _)| *of == at).map(|(_, edit)| edit).collect();
    let fields: Vec<&(FactType, &'static str)> = reads.fields.iter().collect();
    for _ in 0..2 + numbers.below(2) {
        let edit = match numbers.below(4) {
            0 | 1 => numbers.choose(&own).map(|edit| (*edit).clone()),
            2 => random_value(&draft, &fields, numbers),
            _ => slip(&draft, &fields, numbers),
        };
        if let Some(edit) = edit {
            edit.apply(&mut draft);
            about.push(edit.to_string());
        }
    }
    (about.join("; "), draft)
}

fn random_value(draft: &Draft, fields: &[&(FactType, &'static str)], numbers: &mut Numbers) -> Option<Edit> {
    let (fact, name) = **numbers.choose(fields)?;
    let field = schema_field(fact, name)?;
    let (key, _) = first_fact(draft, fact)?;
    Some(Edit::Set(fact, key, field.name, any_value(&field.field_type, numbers)?))
}

/// What happens to real documents: a unit taken for another, a digit changed.
fn slip(draft: &Draft, fields: &[&(FactType, &'static str)], numbers: &mut Numbers) -> Option<Edit> {
    let (fact, name) = **numbers.choose(fields)?;
    let (key, value) = first_with(draft, fact, name)?;
    let number = number_of(value)?;
    let slipped = match numbers.below(4) {
        0 => number.checked_mul(&Decimal::from(1000)),
        1 => number.div_half_even(&Decimal::from(1000), 9),
        2 => number.checked_add(&Decimal::from(1)),
        _ => number.checked_mul(&Decimal::from_coefficient(101, 2).ok()?),
    };
    Some(Edit::Set(fact, key, name, with_number(value, slipped.ok()?)?))
}

/// What was compared on an input, for each comparison the first time.
fn compared(program: &Program, steps: &[Step], draft: &Draft) -> Option<BTreeMap<NodeId, (Lit, Lit)>> {
    let mut probe = Compared::default();
    evaluate_some(program, steps, &draft.case().ok()?, &mut probe).ok()?;
    Some(probe.0)
}

#[derive(Default)]
struct Compared(BTreeMap<NodeId, (Lit, Lit)>);

impl Probe for Compared {
    fn compared(&mut self, node: NodeId, left: &dyn Fn() -> Option<Lit>, right: &dyn Fn() -> Option<Lit>) {
        if let (false, Some(left), Some(right)) = (self.0.contains_key(&node), left(), right()) {
            self.0.insert(node, (left, right));
        }
    }
}

fn first_fact(draft: &Draft, fact: FactType) -> Option<(String, &crate::facts::Fields)> {
    draft.facts.iter().find(|((this, _), _)| *this == fact).map(|((_, key), fields)| (key.clone(), fields))
}

fn first_with<'d>(draft: &'d Draft, fact: FactType, field: &str) -> Option<(String, &'d FactValue)> {
    draft
        .facts
        .iter()
        .filter(|((this, _), _)| *this == fact)
        .find_map(|((_, key), fields)| fields.get(field).map(|value| (key.clone(), value)))
}

fn number_of(value: &FactValue) -> Option<Decimal> {
    match value {
        FactValue::Int(number) => Some(Decimal::from(*number)),
        FactValue::Dec(number) => Some(number.clone()),
        FactValue::Qty(quantity) => Some(quantity.value.clone()),
        _ => None,
    }
}

fn number_of_lit(lit: &Lit) -> Option<Decimal> {
    match lit {
        Lit::Int(number) => Some(Decimal::from(*number)),
        Lit::Dec(number) => Some(number.clone()),
        _ => None,
    }
}

fn with_number(like: &FactValue, number: Decimal) -> Option<FactValue> {
    match like {
        FactValue::Int(_) => number.to_i64().map(FactValue::Int),
        FactValue::Dec(_) => Some(FactValue::Dec(number)),
        FactValue::Qty(quantity) => Some(FactValue::Qty(Quantity::new(number, quantity.unit))),
        _ => None,
    }
}
