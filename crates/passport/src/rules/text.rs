//! Values as a person or canonical JSON writes them.

use super::program::{CellTest, Lit, Table, TableRow};
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

/// A row of a table: what it matches, and what it says.
pub(super) fn show_row(enums: &Enums, table: &Table, row: &TableRow) -> (String, String) {
    let columns = row.tests.iter().zip(&table.params).map(|(tests, (_, ty))| {
        let tests = tests.iter().map(|test| match test {
            CellTest::Any => "_".to_owned(),
            CellTest::Is(lit) => show_lit(enums, lit, ty),
            CellTest::Within(first, last) => {
                format!("{}..{}", show_lit(enums, first, ty), show_lit(enums, last, ty))
            }
            CellTest::Compare(compare, lit) => format!("{} {}", compare.as_str(), show_lit(enums, lit, ty)),
        });
        tests.collect::<Vec<_>>().join(" | ")
    });
    (columns.collect::<Vec<_>>().join(", "), show_lit(enums, &row.value, &table.result))
}
