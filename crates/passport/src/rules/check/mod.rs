//! From a tree to a program: names, types, units, totality, order, cost.

mod builtins;
mod coerce;
mod cost;
mod emits;
mod exprs;
mod literals;
mod logic;
mod names;
mod narrow;
mod numbers;
mod order;
mod possible;
mod rules;
mod scope;
mod tables;
mod tests;
mod types;
mod values;

use crate::value::Date;

use super::diagnostic::{Code, Diagnostic, Diagnostics};
use super::program::{Node, NodeId, Op, Program};
use super::source::Span;
use super::syntax::ast::{Name, Package};
use super::test::declared::Tests;
use super::types::{Enums, Type};
use names::Names;
use scope::Scope;

/// Checks a package and turns it into a program.
///
/// # Errors
///
/// All that is wrong, in the order of the text; warnings among it.
pub(super) fn program(package: &Package) -> Result<(Program, Tests, Diagnostics), Diagnostics> {
    let mut wrong = Vec::new();
    let names = Names::collect(package, &mut wrong);
    let mut checker = Checker { package, names, nodes: Vec::new(), scope: Scope::default(), wrong };
    let consts = checker.consts();
    let tables = checker.tables();
    let defs = checker.defs();
    let rules = checker.rules();
    let emits = checker.emits();
    let tests = checker.tests(&tests::Items { rules: &rules, emits: &emits });
    let (effective, until) = checker.effective();
    let Checker { names, nodes, mut wrong, .. } = checker;
    if !wrong.is_empty() {
        return Err(Diagnostics(wrong).sorted());
    }
    let mut program = Program {
        name: package.name.text.clone(),
        version: package.version.text.clone(),
        effective,
        until,
        datapoints: names.datapoints,
        enums: names.enums,
        nodes,
        consts,
        tables,
        defs,
        rules,
        emits,
        order: Vec::new(),
        needs: Vec::new(),
    };
    order::order(&mut program, &mut wrong);
    if !wrong.is_empty() {
        return Err(Diagnostics(wrong).sorted());
    }
    possible::possible(&mut program);
    cost::bound(&mut program, &mut wrong);
    Ok((program, tests, Diagnostics(wrong).sorted()))
}

/// What is known while a package is checked.
struct Checker<'p> {
    package: &'p Package,
    names: Names,
    nodes: Vec<Node>,
    scope: Scope,
    wrong: Vec<Diagnostic>,
}

impl Checker<'_> {
    fn add(&mut self, op: Op, ty: Type, span: Span) -> NodeId {
        self.nodes.push(Node { op, ty, span });
        NodeId(self.nodes.len() as u32 - 1)
    }

    fn ty(&self, node: NodeId) -> &Type {
        &self.nodes[node.0 as usize].ty
    }

    fn span(&self, node: NodeId) -> Span {
        self.nodes[node.0 as usize].span
    }

    fn enums(&self) -> &Enums {
        &self.names.enums
    }

    fn show(&self, ty: &Type) -> String {
        self.enums().show(ty)
    }

    /// Notes what is wrong and gives a node that fits everywhere.
    fn wrong_node(&mut self, wrong: Diagnostic) -> NodeId {
        let span = wrong.span;
        self.wrong.push(wrong);
        self.add(Op::Datapoints, Type::Wrong, span)
    }

    fn type_error(&mut self, span: Span, message: impl Into<String>) -> NodeId {
        self.wrong_node(Diagnostic::new(Code::RuleTypeError, span, message))
    }

    fn date(&mut self, written: &Name) -> Option<Date> {
        match written.text.parse() {
            Ok(date) => Some(date),
            Err(_) => {
                let message = format!("`{}` is no day of the calendar", written.text);
                let wrong = Diagnostic::new(Code::RuleTypeError, written.span, message);
                self.wrong.push(wrong.help(day_help(&written.text)));
                None
            }
        }
    }

    fn effective(&mut self) -> (Date, Option<Date>) {
        let package = self.package;
        let until = package.until.as_ref().and_then(|until| self.date(until));
        match self.date(&package.effective) {
            Some(from) => {
                if until.is_some_and(|until| until < from) {
                    let span = package.effective.span;
                    self.wrong.push(Diagnostic::new(
                        Code::RuleTypeError,
                        span,
                        "the package ends before it begins",
                    ));
                }
                (from, until)
            }
            // The diagnostic of `date` keeps this from ever being used.
            None => (Date::new(1, 1, 1).expect("the first day"), until),
        }
    }
}

/// What to write instead of a day that is none.
pub(super) fn day_help(text: &str) -> String {
    let how = "days are written YYYY-MM-DD";
    let first: Option<Date> = text.get(..8).and_then(|month| format!("{month}01").parse().ok());
    match first.and_then(last_of_month) {
        Some(last) => format!("{how}; the last day of that month is {last}"),
        None => how.to_owned(),
    }
}

fn last_of_month(first: Date) -> Option<Date> {
    (27..31).rev().find_map(|days| first.plus_days(days).filter(|day| day.month() == first.month()))
}
