//! Writing a package with other units.

use crate::rules::source::Span;
use crate::rules::syntax::ast::{CellTest, Expr, ExprKind, Package};
use crate::value::{Quantity, Unit};

/// Writes all literals of one unit in another; gives the places of those it changed.
pub(super) fn rescale(package: &mut Package, to: Unit, from: Unit) -> Vec<Span> {
    let mut changed = Vec::new();
    let mut visit = |expr: &mut Expr| literal(expr, to, from, &mut changed);
    for item in &mut package.consts {
        walk(&mut item.value, &mut visit);
    }
    for table in &mut package.tables {
        for row in &mut table.rows {
            for test in row.cells.iter_mut().flat_map(|cell| &mut cell.alternatives) {
                match test {
                    CellTest::Any => {}
                    CellTest::Is(one) | CellTest::Compare(_, one) => walk(one, &mut visit),
                    CellTest::Within(first, last) => {
                        walk(first, &mut visit);
                        walk(last, &mut visit);
                    }
                }
            }
            walk(&mut row.value, &mut visit);
        }
        table.otherwise.iter_mut().for_each(|value| walk(value, &mut visit));
    }
    for def in &mut package.defs {
        walk(&mut def.body, &mut visit);
    }
    for rule in &mut package.rules {
        rule.bindings.iter_mut().filter_map(|bind| bind.by.as_mut()).for_each(|by| walk(by, &mut visit));
        rule.filter.iter_mut().for_each(|filter| walk(filter, &mut visit));
        rule.unless.iter_mut().for_each(|(unless, _)| walk(unless, &mut visit));
        rule.lets.iter_mut().for_each(|one| walk(&mut one.value, &mut visit));
        walk(&mut rule.check, &mut visit);
    }
    for emit in &mut package.emits {
        walk(&mut emit.value, &mut visit);
    }
    changed
}

fn literal(expr: &mut Expr, to: Unit, from: Unit, changed: &mut Vec<Span>) {
    let ExprKind::Qty(number, unit) = &mut expr.kind else { return };
    if unit.text != from.symbol() {
        return;
    }
    let converted = number.parse().ok().and_then(|number| Quantity::new(number, from).convert(to).ok());
    if let Some(converted) = converted {
        *number = converted.value.to_string();
        unit.text = to.symbol().to_owned();
        changed.push(expr.span);
    }
}

fn walk(expr: &mut Expr, visit: &mut impl FnMut(&mut Expr)) {
    visit(expr);
    match &mut expr.kind {
        ExprKind::Field(inner, _)
        | ExprKind::Not(inner)
        | ExprKind::Minus(inner)
        | ExprKind::Need(inner)
        | ExprKind::PctOf(_, inner) => walk(inner, visit),
        ExprKind::Call(_, args) | ExprKind::List(args) => args.iter_mut().for_each(|arg| walk(arg, visit)),
        ExprKind::Record(fields) => fields.iter_mut().for_each(|(_, value)| walk(value, visit)),
        ExprKind::Binary(_, left, right) => {
            walk(left, visit);
            walk(right, visit);
        }
        ExprKind::If(condition, then, otherwise) => {
            walk(condition, visit);
            walk(then, visit);
            walk(otherwise, visit);
        }
        ExprKind::Match(value, arms) => {
            walk(value, visit);
            arms.iter_mut().for_each(|arm| walk(&mut arm.body, visit));
        }
        ExprKind::Comp(comp) => {
            walk(&mut comp.source, visit);
            comp.filter.iter_mut().chain(&mut comp.body).for_each(|part| walk(part, visit));
        }
        _ => {}
    }
}
