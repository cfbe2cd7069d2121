//! An input as a fixture would write it.

use crate::facts::Value as FactValue;

use super::draft::Draft;

/// The text of a draft, in the language of tests.
pub(super) fn show(draft: &Draft) -> String {
    let mut text = format!("product \"{}\"; as_of {};\n", draft.product, draft.as_of);
    for ((fact, key), fields) in &draft.facts {
        let fields: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}: {}", show_value(value))).collect();
        text.push_str(&format!("fact {fact} \"{key}\" {{ {} }};\n", fields.join(", ")));
    }
    text
}

pub(super) fn show_value(value: &FactValue) -> String {
    match value {
        FactValue::Bool(truth) => truth.to_string(),
        FactValue::Int(number) => number.to_string(),
        FactValue::Dec(number) => number.to_string(),
        FactValue::Qty(quantity) => quantity.to_string(),
        FactValue::Date(date) => date.to_string(),
        FactValue::Month(month) => month.to_string(),
        FactValue::Text(text) => format!("\"{text}\""),
        FactValue::Tag(tag) if tag.contains(' ') => format!("\"{tag}\""),
        FactValue::Tag(tag) => (*tag).to_owned(),
        FactValue::List(items) => {
            format!("[{}]", items.iter().map(show_value).collect::<Vec<_>>().join(", "))
        }
        FactValue::Rec(record) => {
            let parts: Vec<String> =
                record.iter().map(|(name, value)| format!("{name}: {}", show_value(value))).collect();
            format!("{{{}}}", parts.join(", "))
        }
    }
}
