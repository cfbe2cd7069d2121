//! Tables: constants of them, and that their rows cover everything once.
//!
//! The values of each column fall into finitely many cells, since rows can only tell apart what
//! they name. Every combination of cells must be matched by exactly one row, or by `otherwise`.

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::program::{CellTest, Compare, Const, Def, Lit, Table, TableColumn, TableRow};
use crate::rules::source::Span;
use crate::rules::syntax::ast::{self, TableItem};
use crate::rules::table::{CELLS_MAX, Uncovered, compare_lits, index};
use crate::rules::types::Type;

use super::Checker;
use super::scope::Scope;

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
        let wrong = match index(table, self.enums()) {
            Ok(()) => return Ok(()),
            Err(Uncovered::TooLarge) => {
                let message = format!("the table tells apart more than {CELLS_MAX} combinations");
                Diagnostic::new(Code::RuleTypeError, table.span, message)
                    .help("split it into two tables, or use fewer columns")
            }
            Err(Uncovered::Twice { first, second, at }) => {
                let message = format!("two rows match {}", self.show_cells(table, &at));
                Diagnostic::new(Code::RuleTableOverlap, table.rows[second].span, message)
                    .label("this row")
                    .also(table.rows[first].span, "and this one")
                    .help("rows must exclude each other: end one range where the other begins, or take the value out of one")
            }
            Err(Uncovered::Gaps { first, count }) => {
                let gaps: Vec<String> = first.iter().map(|at| self.show_cells(table, at)).collect();
                let more = if count > gaps.len() {
                    format!(" and {} more", count - gaps.len())
                } else {
                    String::new()
                };
                let message = format!("the table has no row for {}{more}", gaps.join(", "));
                Diagnostic::new(Code::RuleTableGap, table.span, message)
                    .help("add rows, or `otherwise => ..;` for all the rest")
            }
        };
        Err(Box::new(wrong))
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
