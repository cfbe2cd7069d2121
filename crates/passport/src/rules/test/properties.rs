//! Generated values: for properties, and for fields of facts.

use crate::facts::{Bound, FieldType, TextForm, Value as FactValue};
use crate::rules::eval::probe::Probe;
use crate::rules::eval::{self, Answer};
use crate::rules::program::{Lit, Program, Step};
use crate::rules::types::{Enums, Type};
use crate::value::{Date, Decimal, Quantity};

use super::declared::{Property, Var};
use super::draft::{Case, Draft};
use super::harness::context;
use super::seed::{Numbers, PROPERTIES, Seed};

/// A case of a property: the values it was made with, and the input.
pub(super) struct PropertyCase {
    pub(super) values: Vec<Lit>,
    pub(super) draft: Option<Draft>,
}

impl PropertyCase {
    /// Case `number` of the property at `index`. The first two cases are the ends of all ranges.
    pub(super) fn new(enums: &Enums, property: &Property, index: usize, number: u32, seed: &Seed) -> Self {
        let mut numbers = seed.case(PROPERTIES + ((index as u64) << 16) + u64::from(number));
        let values: Vec<Lit> =
            property.vars.iter().map(|var| value(enums, var, number, &mut numbers)).collect();
        let draft = property.input.as_ref().map(|input| {
            let mut draft = input.clone();
            for set in &property.sets {
                let field = set.fact.schema().field(set.field);
                set.apply(&mut draft, &|at| as_field(&values[at], &field?.field_type));
            }
            draft
        });
        Self { values, draft }
    }

    /// Its facts; `None` if schemas do not allow what was generated.
    pub(super) fn case(&self, day: Date) -> Option<Case> {
        match &self.draft {
            Some(draft) => draft.case().ok(),
            None => Some(Case::new(String::new(), day, Vec::new())),
        }
    }
}

/// Whether a property holds for a case; if not, in which way.
pub(super) fn holds<P: Probe>(
    program: &Program,
    property: &Property,
    steps: &[Step],
    case: &Case,
    values: &[Lit],
    probe: &mut P,
) -> Result<(), String> {
    let context = context(&case.product, case.as_of);
    let answer = eval::ask(program, steps, &case.facts, context, &property.holds, values, probe);
    match answer.map_err(|error| error.to_string())? {
        Answer::Value(Lit::Bool(true)) => Ok(()),
        Answer::Value(_) | Answer::Compound => Err("it does not hold".to_owned()),
        Answer::Unknown(missing) => Err(format!("it cannot be told, missing {}", missing.join(", "))),
        Answer::Fault(code) => Err(format!("it cannot be told: {code}")),
    }
}

fn value(enums: &Enums, var: &Var, number: u32, numbers: &mut Numbers) -> Lit {
    match (&var.ty, &var.range, number) {
        (_, Some((first, _)), 0) => first.clone(),
        (_, Some((_, last)), 1) => last.clone(),
        (Type::Enum(id), _, _) => Lit::Tag(numbers.below(enums.info(*id).tags.len() as u64) as u16),
        (Type::Bool, _, _) => Lit::Bool(numbers.below(2) == 1),
        (Type::Range(first, last), None, _) => {
            Lit::Int(first + numbers.below((last - first + 1) as u64) as i64)
        }
        (_, Some((Lit::Int(first), Lit::Int(last))), _) => {
            Lit::Int(first + numbers.below((last - first).max(0) as u64 + 1) as i64)
        }
        (_, Some((Lit::Dec(first), Lit::Dec(last))), _) => Lit::Dec(between(first, last, numbers)),
        (_, Some((Lit::Date(first), Lit::Date(last))), _) => {
            let mut day = *first;
            // Halving the way a few times needs no count of days.
            for _ in 0..20 {
                let step = numbers.below(400) as i64;
                day = day.plus_days(step).filter(|day| day <= last).unwrap_or(*first);
            }
            Lit::Date(day)
        }
        (_, Some((first, _)), _) => first.clone(),
        (_, None, _) => Lit::None,
    }
}

/// A number from the first to the last, with one decimal more than they have.
pub(super) fn between(first: &Decimal, last: &Decimal, numbers: &mut Numbers) -> Decimal {
    let (low, low_decimals) = first.coefficient_and_decimals();
    let (high, high_decimals) = last.coefficient_and_decimals();
    let decimals = (low_decimals.max(high_decimals) + 1).min(12);
    let scaled = |coefficient: i128, have: u8| {
        coefficient.checked_mul(10i128.pow(u32::from(decimals.saturating_sub(have))))
    };
    let (Some(low), Some(high)) = (scaled(low, low_decimals), scaled(high, high_decimals)) else {
        return first.clone();
    };
    let width = u64::try_from((high - low).max(0)).unwrap_or(u64::MAX - 1);
    let coefficient = low + i128::from(numbers.below(width.saturating_add(1).max(1)));
    Decimal::from_coefficient(coefficient, decimals).unwrap_or_else(|_| first.clone())
}

/// A literal as the value of a field.
pub(super) fn as_field(lit: &Lit, field_type: &'static FieldType) -> Option<FactValue> {
    Some(match (lit, field_type) {
        (Lit::Bool(truth), FieldType::Bool) => FactValue::Bool(*truth),
        (Lit::Int(number), FieldType::Int(..)) => FactValue::Int(*number),
        (Lit::Dec(number), FieldType::Dec(_)) => FactValue::Dec(number.clone()),
        (Lit::Dec(number), FieldType::Qty(unit, _)) => FactValue::Qty(Quantity::new(number.clone(), *unit)),
        (Lit::Date(date), FieldType::Date) => FactValue::Date(*date),
        (Lit::Month(month), FieldType::Month) => FactValue::Month(*month),
        (Lit::Text(text), FieldType::Text(_)) => FactValue::Text(text.clone()),
        (Lit::Tag(tag), FieldType::Tag(set)) => FactValue::Tag(set.tags.get(usize::from(*tag))?),
        _ => return None,
    })
}

/// A random value that a field allows.
pub(super) fn any_value(field_type: &'static FieldType, numbers: &mut Numbers) -> Option<FactValue> {
    Some(match field_type {
        FieldType::Bool => FactValue::Bool(numbers.below(2) == 1),
        FieldType::Int(first, last) => {
            let width = (last - first).unsigned_abs().min(10_000);
            FactValue::Int(first + numbers.below(width + 1) as i64)
        }
        FieldType::Dec(bound) => FactValue::Dec(any_number(*bound, numbers)),
        FieldType::Qty(unit, bound) => FactValue::Qty(Quantity::new(any_number(*bound, numbers), *unit)),
        FieldType::Date => FactValue::Date(any_day(numbers)?),
        FieldType::Month => FactValue::Month(any_day(numbers)?.month()),
        FieldType::Text(form) => FactValue::Text(any_text(*form, numbers).to_owned()),
        FieldType::Tag(set) => FactValue::Tag(numbers.choose(set.tags)?),
        FieldType::List(item) => {
            let count = numbers.below(3);
            FactValue::List((0..count).filter_map(|_| any_value(item, numbers)).collect())
        }
        FieldType::Rec(fields) => {
            let mut record = crate::facts::Fields::new();
            for field in fields.iter() {
                if field.required || numbers.below(2) == 1 {
                    record.insert(field.name, any_value(&field.field_type, numbers)?);
                }
            }
            FactValue::Rec(record)
        }
    })
}

fn any_number(bound: Bound, numbers: &mut Numbers) -> Decimal {
    let (first, last) = match bound {
        Bound::Any => (-1000, 1000),
        Bound::Positive => (1, 1000),
        Bound::NotNegative => (0, 1000),
        Bound::Within(first, last) => (first.max(-1000), last.min(1000)),
    };
    between(&Decimal::from(first), &Decimal::from(last), numbers)
}

fn any_day(numbers: &mut Numbers) -> Option<Date> {
    Date::new(2024, 1, 1)?.plus_days(numbers.below(5000) as i64)
}

/// Texts that have the form; few, so that equal ones come up.
fn any_text(form: TextForm, numbers: &mut Numbers) -> &'static str {
    let texts: &[&'static str] = match form {
        TextForm::Free => &["a", "b", "9521234000006"],
        TextForm::Url => &["https://example.com/a", "https://example.com/b"],
        TextForm::Cas => {
            &["7440-43-9", "7439-92-1", "7439-93-2", "7440-48-4", "7782-42-5", "7440-02-0", "96-49-1"]
        }
        TextForm::Ec => &["231-102-5", "202-510-0"],
        TextForm::Gtin => &["09521234010012"],
        TextForm::Country => &["DE", "FR"],
        TextForm::Language => &["de", "pt-BR"],
        TextForm::Sha256 => &["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
        TextForm::NotifiedBody => &["0123"],
        TextForm::HazardCode => &["H350", "EUH066"],
        // A form this list does not know yet has no generated texts; schemas refuse the case.
        #[allow(unreachable_patterns, reason = "forms may be added beside this file")]
        _ => &["a"],
    };
    numbers.choose(texts).copied().unwrap_or("a")
}
