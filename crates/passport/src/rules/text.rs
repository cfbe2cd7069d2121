//! Values as a person or canonical JSON writes them.

use super::program::Lit;
use super::types::{Enums, Type};

/// A literal as it would be written in the language.
pub(super) fn show_lit(enums: &Enums, lit: &Lit, ty: &Type) -> String {
    match (lit, ty.present()) {
        (Lit::Bool(truth), _) => truth.to_string(),
        (Lit::Int(number), _) => number.to_string(),
        (Lit::Dec(number), Type::Qty(unit)) => format!("{number} {unit}"),
        (Lit::Dec(number), _) => number.to_string(),
        (Lit::Date(date), _) => date.to_string(),
        (Lit::Month(month), _) => month.to_string(),
        (Lit::Text(text), _) => format!("\"{text}\""),
        (Lit::Tag(tag), Type::Enum(id)) => enums.word(*id, *tag).to_owned(),
        (Lit::Tag(tag), _) => tag.to_string(),
        (Lit::None, _) => "none".to_owned(),
    }
}
