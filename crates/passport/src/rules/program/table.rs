//! Decision tables.

use crate::rules::source::Span;
use crate::rules::types::Type;

use super::node::{Compare, Lit};

/// A decision table. Its rows cover all arguments, and none twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub params: Vec<(String, Type)>,
    /// What a row says.
    pub result: Type,
    /// Its rows.
    pub rows: Vec<TableRow>,
    /// For arguments that no row matches.
    pub otherwise: Option<(Lit, Span)>,
    /// How arguments are sorted into cells, one for each column.
    pub columns: Vec<TableColumn>,
    /// The row for each combination of cells; the last column varies fastest. One past the last
    /// row is `otherwise`.
    pub cells: Vec<u32>,
    /// Where its name is written.
    pub span: Span,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// For each column, alternatives.
    pub tests: Vec<Vec<CellTest>>,
    /// What follows.
    pub value: Lit,
    /// Where the value is written.
    pub value_span: Span,
    /// Where the row is written.
    pub span: Span,
}

/// One alternative of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellTest {
    /// Matches all.
    Any,
    /// Matches one value.
    Is(Lit),
    /// Matches from the first to the second, both included.
    Within(Lit, Lit),
    /// Matches what compares so.
    Compare(Compare, Lit),
}

/// How the arguments of a column are sorted into cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableColumn {
    /// `false`, `true`.
    Bool,
    /// One cell for each tag, so many.
    Tags(u16),
    /// One cell for each integer, from the first to the second.
    Integers(i64, i64),
    /// Sorted bounds: cells are before the first, the first, between it and the second, and so on.
    Bounds(Vec<Lit>),
    /// One cell for each text, and one for all others.
    Texts(Vec<String>),
}
