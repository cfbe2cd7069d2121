//! Looking something up in a table: each argument falls into a cell of its column, and the cells
//! together name a row.

use std::cmp::Ordering;

use super::program::{Lit, Table, TableColumn};

/// How many cells a column has.
pub(super) fn cells_of(column: &TableColumn) -> usize {
    match column {
        TableColumn::Bool => 2,
        TableColumn::Tags(count) => usize::from(*count),
        TableColumn::Integers(first, last) => (last - first + 1) as usize,
        TableColumn::Bounds(bounds) => bounds.len() * 2 + 1,
        TableColumn::Texts(texts) => texts.len() + 1,
    }
}

/// The cell that a value falls into; `None` if the value is not of the column's type.
pub(super) fn cell_of(column: &TableColumn, value: &Lit) -> Option<usize> {
    match (column, value) {
        (TableColumn::Bool, Lit::Bool(truth)) => Some(usize::from(*truth)),
        (TableColumn::Tags(_), Lit::Tag(tag)) => Some(usize::from(*tag)),
        (TableColumn::Integers(first, last), Lit::Int(number)) => {
            (first..=last).contains(&number).then(|| (number - first) as usize)
        }
        (TableColumn::Texts(texts), Lit::Text(text)) => Some(text_cell(texts, text)),
        (TableColumn::Bounds(bounds), value) => Some(bound_cell(bounds, |bound| compare_lits(bound, value))),
        _ => None,
    }
}

/// The cell of a text.
pub(super) fn text_cell(texts: &[String], text: &str) -> usize {
    texts.binary_search_by(|known| known.as_str().cmp(text)).unwrap_or(texts.len())
}

/// The cell among sorted bounds, told how each bound compares with the value.
pub(super) fn bound_cell(bounds: &[Lit], compare: impl Fn(&Lit) -> Ordering) -> usize {
    match bounds.binary_search_by(compare) {
        Ok(at) => at * 2 + 1,
        Err(at) => at * 2,
    }
}

/// Whether nothing can fall into a cell: there is no integer between 5 and 6.
pub(super) fn is_empty_cell(column: &TableColumn, cell: usize) -> bool {
    let TableColumn::Bounds(bounds) = column else { return false };
    if cell % 2 == 1 || cell == 0 {
        return false;
    }
    match (bounds.get(cell / 2 - 1), bounds.get(cell / 2)) {
        (Some(Lit::Int(before)), Some(Lit::Int(after))) => before + 1 == *after,
        (Some(Lit::Date(before)), Some(Lit::Date(after))) => before.plus_days(1) == Some(*after),
        (Some(Lit::Month(before)), Some(Lit::Month(after))) => {
            before.first_day().plus_days(31).map(|next| next.month()) == Some(*after)
        }
        _ => false,
    }
}

/// The row for a cell of each column; the number of rows stands for `otherwise`.
pub(super) fn row_at(table: &Table, cells: impl Iterator<Item = usize>) -> usize {
    let columns = table.columns.iter().zip(cells);
    let at = columns.fold(0, |at, (column, cell)| at * cells_of(column) + cell);
    table.cells[at] as usize
}

/// The order of two literals of one type; literals of different types are equal to nobody's harm,
/// since the checker never lets them meet.
pub(super) fn compare_lits(left: &Lit, right: &Lit) -> Ordering {
    match (left, right) {
        (Lit::Int(left), Lit::Int(right)) => left.cmp(right),
        (Lit::Dec(left), Lit::Dec(right)) => left.cmp(right),
        (Lit::Date(left), Lit::Date(right)) => left.cmp(right),
        (Lit::Month(left), Lit::Month(right)) => left.cmp(right),
        (Lit::Text(left), Lit::Text(right)) => left.cmp(right),
        (Lit::Tag(left), Lit::Tag(right)) => left.cmp(right),
        (Lit::Bool(left), Lit::Bool(right)) => left.cmp(right),
        _ => Ordering::Equal,
    }
}
