//! Tables: constants of them, and that their rows cover everything once.
//!
//! The values of each column fall into finitely many cells, since rows can only tell apart what
//! they name. Every combination of cells must be matched by exactly one row, or by `otherwise`.

use std::collections::BTreeSet;

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::program::{CellTest, Compare, Const, Def, Lit, Table, TableColumn, TableRow};
use crate::rules::source::Span;
use crate::rules::syntax::ast::{self, TableItem};
use crate::rules::table::{cell_of, cells_of, compare_lits, is_empty_cell};
use crate::rules::types::Type;

use super::Checker;
use super::scope::Scope;

/// The most combinations a table may tell apart.
const CELLS_MAX: usize = 1 << 20;

impl Checker<'_> {
    pub(super) fn consts(&mut self) -> Vec<Const> {
        let package = self.package;
        let mut consts = Vec::new();
        for item in &package.consts {
            let ty = self.written(&item.ty);
            let value = self.literal(&item.value, &ty).unwrap_or(Lit::None);
            consts.push(Const { name: item.name.text.clone(), ty, value, span: item.value.span });
        }
        consts
    }

    pub(super) fn defs(&mut self) -> Vec<Def> {
        let package = self.package;
        let mut defs = Vec::new();
        for item in &package.defs {
            self.scope = Scope::default();
            let mut params: Vec<(String, Type)> = Vec::new();
            for (index, param) in item.params.iter().enumerate() {
                if let Some(first) =
                    item.params[..index].iter().find(|first| first.name.text == param.name.text)
                {
                    self.wrong.push(super::names::twice(&param.name, first.name.span));
                }
                let ty = self.written(&param.ty);
                self.scope.add(&param.name.text, ty.clone());
                params.push((param.name.text.clone(), ty));
            }
            let result = self.written(&item.result);
            let body = self.expect(&item.body, &result);
            let slots = self.scope.slots();
            defs.push(Def {
                name: item.name.text.clone(),
                params,
                result,
                body,
                slots,
                span: item.name.span,
            });
        }
        defs
    }

    pub(super) fn tables(&mut self) -> Vec<Table> {
        let package = self.package;
        package.tables.iter().filter_map(|item| self.table(item)).collect()
    }

    fn table(&mut self, item: &TableItem) -> Option<Table> {
        let before = self.wrong.len();
        let mut params = Vec::new();
        for param in &item.params {
            let ty = self.written(&param.ty);
            if !matches!(ty.present(), Type::Wrong) && (!ty.is_scalar() || matches!(ty, Type::Opt(_))) {
                let message = format!("a column cannot hold {}", self.show(&ty));
                self.type_error(param.ty.span, message);
            }
            params.push((param.name.text.clone(), ty));
        }
        let result = self.written(&item.result);
        let rows: Vec<_> = item.rows.iter().filter_map(|row| self.row(row, &params, &result)).collect();
        let otherwise = match &item.otherwise {
            Some(value) => self.literal(value, &result).map(|lit| (lit, value.span)),
            None => None,
        };
        if self.wrong.len() > before {
            return None;
        }
        let mut table = Table {
            name: item.name.text.clone(),
            params,
            result,
            rows,
            otherwise,
            columns: Vec::new(),
            cells: Vec::new(),
            span: item.name.span,
        };
        match self.cover(&mut table) {
            Ok(()) => Some(table),
            Err(wrong) => {
                self.wrong.push(*wrong);
                None
            }
        }
    }

    fn row(&mut self, row: &ast::Row, params: &[(String, Type)], result: &Type) -> Option<TableRow> {
        if row.cells.len() != params.len() {
            let message =
                format!("a row of {} cells in a table of {} columns", row.cells.len(), params.len());
            self.type_error(row.span, message);
            return None;
        }
        let mut tests = Vec::new();
        for (cell, (_, ty)) in row.cells.iter().zip(params) {
            let mut alternatives = Vec::new();
            for test in &cell.alternatives {
                alternatives.push(match test {
                    ast::CellTest::Any => CellTest::Any,
                    ast::CellTest::Is(value) => CellTest::Is(self.literal(value, ty)?),
                    ast::CellTest::Within(first, last) => {
                        self.ordered(ty, cell.span)?;
                        let (first, last) = (self.literal(first, ty)?, self.literal(last, ty)?);
                        if compare_lits(&first, &last).is_gt() {
                            self.type_error(cell.span, "the range is empty");
                            return None;
                        }
                        CellTest::Within(first, last)
                    }
                    ast::CellTest::Compare(op, value) => {
                        self.ordered(ty, cell.span)?;
                        let compare = match op {
                            ast::Op::Less => Compare::Less,
                            ast::Op::AtMost => Compare::AtMost,
                            ast::Op::Greater => Compare::Greater,
                            _ => Compare::AtLeast,
                        };
                        CellTest::Compare(compare, self.literal(value, ty)?)
                    }
                });
            }
            tests.push(alternatives);
        }
        let value = self.literal(&row.value, result)?;
        Some(TableRow { tests, value, value_span: row.value.span, span: row.span })
    }

    fn ordered(&mut self, ty: &Type, span: Span) -> Option<()> {
        if ty.is_ordered() || *ty == Type::Wrong {
            return Some(());
        }
        let message = format!("{} has no order", self.show(ty));
        self.type_error(span, message);
        None
    }

    fn cover(&self, table: &mut Table) -> Result<(), Box<Diagnostic>> {
        table.columns = (0..table.params.len()).map(|index| self.column(table, index)).collect();
        let sizes: Vec<usize> = table.columns.iter().map(cells_of).collect();
        let total = sizes.iter().try_fold(1usize, |total, size| total.checked_mul(*size));
        let Some(total) = total.filter(|total| *total <= CELLS_MAX) else {
            let message = format!("the table tells apart more than {CELLS_MAX} combinations");
            let wrong = Diagnostic::new(Code::RuleTypeError, table.span, message);
            return Err(Box::new(wrong.help("split it into two tables, or use fewer columns")));
        };
        let matching: Vec<Vec<BTreeSet<usize>>> =
            table.rows.iter().map(|row| matching_cells(table, row)).collect();
        let none = table.rows.len() as u32;
        table.cells = Vec::with_capacity(total);
        let mut at = vec![0; sizes.len()];
        let mut gaps = Vec::new();
        for _ in 0..total {
            let empty = at.iter().zip(&table.columns).any(|(cell, column)| is_empty_cell(column, *cell));
            let mut found = (0..table.rows.len())
                .filter(|row| matching[*row].iter().zip(&at).all(|(cells, cell)| cells.contains(cell)));
            let (first, second) = if empty { (Some(0), None) } else { (found.next(), found.next()) };
            if let (Some(first), Some(second)) = (first, second) {
                let message = format!("two rows match {}", self.show_cells(table, &at));
                let wrong = Diagnostic::new(Code::RuleTableOverlap, table.rows[second].span, message);
                return Err(Box::new(wrong.label("this row").also(table.rows[first].span, "and this one")));
            }
            if first.is_none() && table.otherwise.is_none() {
                gaps.push(self.show_cells(table, &at));
            }
            table.cells.push(first.map_or(none, |row| row as u32));
            for (cell, size) in at.iter_mut().zip(&sizes).rev() {
                *cell += 1;
                if *cell < *size {
                    break;
                }
                *cell = 0;
            }
        }
        if gaps.is_empty() {
            return Ok(());
        }
        let more = if gaps.len() > 3 { format!(" and {} more", gaps.len() - 3) } else { String::new() };
        gaps.truncate(3);
        let message = format!("the table has no row for {}{more}", gaps.join(", "));
        let wrong = Diagnostic::new(Code::RuleTableGap, table.span, message);
        Err(Box::new(wrong.help("add rows, or `otherwise => ..;` for all the rest")))
    }

    fn column(&self, table: &Table, index: usize) -> TableColumn {
        match &table.params[index].1 {
            Type::Bool => TableColumn::Bool,
            Type::Enum(id) => TableColumn::Tags(self.enums().info(*id).tags.len() as u16),
            Type::Range(first, last) if last - first < 10_000 => TableColumn::Integers(*first, *last),
            Type::Text => {
                let mut texts: Vec<String> = named(table, index)
                    .filter_map(|lit| match lit {
                        Lit::Text(text) => Some(text.clone()),
                        _ => None,
                    })
                    .collect();
                texts.sort();
                texts.dedup();
                TableColumn::Texts(texts)
            }
            _ => {
                let mut bounds: Vec<Lit> = named(table, index).cloned().collect();
                bounds.sort_by(compare_lits);
                bounds.dedup();
                TableColumn::Bounds(bounds)
            }
        }
    }

    fn show_cells(&self, table: &Table, at: &[usize]) -> String {
        let cells = at.iter().enumerate().map(|(index, cell)| {
            let ty = &table.params[index].1;
            match &table.columns[index] {
                TableColumn::Bool => (*cell == 1).to_string(),
                TableColumn::Tags(_) => match ty {
                    Type::Enum(id) => self.enums().word(*id, *cell as u16).to_owned(),
                    _ => cell.to_string(),
                },
                TableColumn::Integers(first, _) => (first + *cell as i64).to_string(),
                TableColumn::Texts(texts) => {
                    texts.get(*cell).cloned().unwrap_or_else(|| "any other text".to_owned())
                }
                TableColumn::Bounds(bounds) => match (cell % 2, bounds.get(cell / 2)) {
                    (1, Some(bound)) => self.show_lit(bound, ty),
                    (_, Some(bound)) => format!("less than {}", self.show_lit(bound, ty)),
                    (_, None) => match bounds.last() {
                        Some(last) => format!("more than {}", self.show_lit(last, ty)),
                        None => "anything".to_owned(),
                    },
                },
            }
        });
        format!("({})", cells.collect::<Vec<_>>().join(", "))
    }

    fn show_lit(&self, lit: &Lit, ty: &Type) -> String {
        crate::rules::text::show_lit(self.enums(), lit, ty)
    }
}

/// All literals that a column names.
fn named(table: &Table, index: usize) -> impl Iterator<Item = &Lit> {
    table.rows.iter().flat_map(move |row| &row.tests[index]).flat_map(|test| match test {
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
