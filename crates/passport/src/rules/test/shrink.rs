//! Making a failing input small: what can be left out is left out, what is left is made plain. Always
//! in the same order, so the same failure always shrinks to the same input.

use crate::facts::Value as FactValue;
use crate::value::{Decimal, Quantity};

use super::draft::Draft;

/// How many inputs are tried at most.
const TRIES_MAX: usize = 3000;

/// The smallest input found for which `fails` still holds.
pub(super) fn shrink(draft: &Draft, mut fails: impl FnMut(&Draft) -> bool) -> Draft {
    let mut best = draft.clone();
    let mut tries = 0;
    loop {
        let before = best.clone();
        let mut try_one = |best: &mut Draft, smaller: Draft| {
            tries += 1;
            if tries <= TRIES_MAX && smaller.case().is_ok() && fails(&smaller) {
                *best = smaller;
            }
        };
        for name in before.facts.keys() {
            let mut smaller = best.clone();
            smaller.facts.remove(name);
            try_one(&mut best, smaller);
        }
        for (name, fields) in &before.facts {
            for (field, value) in fields {
                if !best.facts.contains_key(name) {
                    continue;
                }
                let mut without = best.clone();
                let dropped = without.facts.get_mut(name).and_then(|fields| fields.remove(field)).is_some();
                if dropped {
                    try_one(&mut best, without);
                }
                for plainer in plainer(value) {
                    let current = best.facts.get(name).and_then(|fields| fields.get(field));
                    if current.is_none_or(|current| *current != *value) {
                        break;
                    }
                    let mut smaller = best.clone();
                    if let Some(fields) = smaller.facts.get_mut(name) {
                        fields.insert(field, plainer);
                    }
                    try_one(&mut best, smaller);
                }
            }
        }
        if best == before || tries > TRIES_MAX {
            return best;
        }
    }
}

/// Values that are plainer, plainest first.
fn plainer(value: &FactValue) -> Vec<FactValue> {
    match value {
        FactValue::Int(number) => {
            [0, 1].into_iter().filter(|plain| plain < number).map(FactValue::Int).collect()
        }
        FactValue::Dec(number) => plainer_number(number).into_iter().map(FactValue::Dec).collect(),
        FactValue::Qty(quantity) => plainer_number(&quantity.value)
            .into_iter()
            .map(|value| FactValue::Qty(Quantity::new(value, quantity.unit)))
            .collect(),
        FactValue::Text(text) if text.len() > 1 => vec![FactValue::Text("x".to_owned())],
        FactValue::List(items) if !items.is_empty() => vec![FactValue::List(Vec::new())],
        _ => Vec::new(),
    }
}

fn plainer_number(number: &Decimal) -> Vec<Decimal> {
    let (coefficient, decimals) = number.coefficient_and_decimals();
    let whole = coefficient / 10i128.pow(decimals.into());
    [0, 1, whole]
        .into_iter()
        .filter_map(|plain| Decimal::from_coefficient(plain, 0).ok())
        .filter(|plain| plain != number)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::FactType;

    #[test]
    fn shrinking_keeps_what_matters_and_is_always_the_same() {
        let mut draft = Draft {
            product: "a".to_owned(),
            as_of: "2027-01-01".parse().expect("a day"),
            facts: Default::default(),
        };
        for number in 0..5i64 {
            let share = Quantity::new(Decimal::from(number * 11), crate::value::Unit::Percent);
            let fields = [("share", FactValue::Qty(share)), ("materials", FactValue::List(Vec::new()))];
            draft.facts.insert((FactType::Renewable, format!("renewable:a/b/{number}")), fields.into());
        }
        let over_thirty = |draft: &Draft| {
            draft.facts.values().any(|fields| match &fields["share"] {
                FactValue::Qty(share) => share.value > Decimal::from(30),
                _ => false,
            })
        };
        let small = shrink(&draft, over_thirty);
        assert_eq!(small.facts.len(), 1);
        assert_eq!(small, shrink(&draft, over_thirty));
        assert!(small.facts.values().all(|fields| !fields.contains_key("materials")));
    }
}
