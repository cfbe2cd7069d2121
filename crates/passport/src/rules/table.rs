//! Looking something up in a table: each argument falls into a cell of its column, and the cells
//! together name a row.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::program::{CellTest, Compare, Lit, Table, TableColumn, TableRow};
use super::types::{Enums, Type};

/// The most combinations a table may tell apart.
pub(super) const CELLS_MAX: usize = 1 << 20;

/// How many gaps are told.
const GAPS_TOLD: usize = 3;

/// Why a table cannot be looked up in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Uncovered {
    /// It tells apart too many combinations.
    TooLarge,
    /// Two rows match one combination of cells.
    Twice {
        /// The earlier row.
        first: usize,
        /// The later row.
        second: usize,
        /// A cell of each column.
        at: Vec<usize>,
    },
    /// No row matches some combinations.
    Gaps {
        /// The first of them.
        first: Vec<Vec<usize>>,
        /// How many there are.
        count: usize,
    },
}

/// Sorts the values of all columns into cells and finds the row of each combination. Every
/// combination must have exactly one, or `otherwise`.
pub(super) fn index(table: &mut Table, enums: &Enums) -> Result<(), Uncovered> {
    table.columns = (0..table.params.len()).map(|at| column(table, at, enums)).collect();
    let sizes: Vec<usize> = table.columns.iter().map(cells_of).collect();
    let total = sizes.iter().try_fold(1usize, |total, size| total.checked_mul(*size));
    let total = total.filter(|total| *total <= CELLS_MAX).ok_or(Uncovered::TooLarge)?;
    let matching: Vec<Vec<BTreeSet<usize>>> =
        table.rows.iter().map(|row| matching_cells(table, row)).collect();
    table.cells = Vec::with_capacity(total);
    let (mut at, mut gaps, mut count) = (vec![0; sizes.len()], Vec::new(), 0);
    for _ in 0..total {
        let empty = at.iter().zip(&table.columns).any(|(cell, column)| is_empty_cell(column, *cell));
        let mut found = (0..table.rows.len())
            .filter(|row| matching[*row].iter().zip(&at).all(|(cells, cell)| cells.contains(cell)));
        let (first, second) = if empty { (Some(0), None) } else { (found.next(), found.next()) };
        if let (Some(first), Some(second)) = (first, second) {
            return Err(Uncovered::Twice { first, second, at });
        }
        if first.is_none() && table.otherwise.is_none() {
            count += 1;
            if gaps.len() < GAPS_TOLD {
                gaps.push(at.clone());
            }
        }
        table.cells.push(first.unwrap_or(table.rows.len()) as u32);
        for (cell, size) in at.iter_mut().zip(&sizes).rev() {
            *cell += 1;
            if *cell < *size {
                break;
            }
            *cell = 0;
        }
    }
    if count == 0 { Ok(()) } else { Err(Uncovered::Gaps { first: gaps, count }) }
}

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

/// How the values of a column fall into cells: rows can only tell apart what they name.
fn column(table: &Table, at: usize, enums: &Enums) -> TableColumn {
    match &table.params[at].1 {
        Type::Bool => TableColumn::Bool,
        Type::Enum(id) => TableColumn::Tags(enums.info(*id).tags.len() as u16),
        Type::Range(first, last) if last - first < 10_000 => TableColumn::Integers(*first, *last),
        Type::Text => {
            let text = |lit: &Lit| match lit {
                Lit::Text(text) => Some(text.clone()),
                _ => None,
            };
            let texts: BTreeSet<String> = named(table, at).filter_map(text).collect();
            TableColumn::Texts(texts.into_iter().collect())
        }
        _ => {
            let mut bounds: Vec<Lit> = named(table, at).cloned().collect();
            bounds.sort_by(compare_lits);
            bounds.dedup();
            TableColumn::Bounds(bounds)
        }
    }
}

/// All literals that a column names.
fn named(table: &Table, at: usize) -> impl Iterator<Item = &Lit> {
    table.rows.iter().flat_map(move |row| &row.tests[at]).flat_map(|test| match test {
        CellTest::Any => Vec::new(),
        CellTest::Is(lit) | CellTest::Compare(_, lit) => vec![lit],
        CellTest::Within(first, last) => vec![first, last],
    })
}

/// The cells of each column that a row matches.
fn matching_cells(table: &Table, row: &TableRow) -> Vec<BTreeSet<usize>> {
    let columns = table.columns.iter().zip(&row.tests);
    columns
        .map(|(column, tests)| {
            let all = 0..cells_of(column);
            let cell = |lit: &Lit| cell_of(column, lit).unwrap_or(usize::MAX);
            let mut cells = BTreeSet::new();
            for test in tests {
                match test {
                    CellTest::Any => cells.extend(all.clone()),
                    CellTest::Is(lit) => cells.extend([cell(lit)]),
                    CellTest::Within(first, last) => cells.extend(cell(first)..=cell(last)),
                    CellTest::Compare(Compare::Less, lit) => cells.extend(0..cell(lit)),
                    CellTest::Compare(Compare::AtMost, lit) => cells.extend(0..=cell(lit)),
                    CellTest::Compare(Compare::Greater, lit) => cells.extend(cell(lit) + 1..all.end),
                    CellTest::Compare(_, lit) => cells.extend(cell(lit)..all.end),
                }
            }
            cells
        })
        .collect()
}
