//! Small mistakes, made on purpose: tests that do not notice them do not test much.

use crate::rules::program::{
    CellTest, Compare, Lit, Logic, NodeId, Op, Program, Shown, Table, TableColumn, TableRow,
};
use crate::rules::source::Span;
use crate::rules::table::index;
use crate::rules::text::show_lit;
use crate::rules::types::{Enums, Type};
use crate::value::Decimal;

use super::coverage::reachable;

/// A mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mutant {
    /// What is done.
    pub(super) change: Mutation,
    /// Where it is written.
    pub(super) span: Span,
    /// What was there, and what is there instead.
    pub(super) what: String,
}

/// What is done to a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mutation {
    /// Another comparison.
    Compare(NodeId, Compare),
    /// One side stands for the whole.
    Drop(NodeId, NodeId),
    /// Another literal.
    Lit(NodeId, Lit),
    /// Another share in `5 pct of`.
    Share(NodeId, Decimal),
    /// Another value of a constant.
    Const(usize, Lit),
    /// Another value of a row; one past the last is `otherwise`.
    Row(usize, usize, Lit),
    /// Another bound in all cells of a column that have it.
    Bound {
        /// Which table.
        table: usize,
        /// Which column.
        column: usize,
        /// The bound.
        from: Lit,
        /// The other.
        to: Lit,
    },
    /// Another first day of a rule.
    RuleFrom(usize, i64),
    /// Another first day of an attribute.
    EmitFrom(usize, i64),
}

/// All mistakes that are made.
pub(super) fn mutants(program: &Program) -> Vec<Mutant> {
    let mut all = Vec::new();
    for id in reachable(program) {
        of_node(program, id, &mut all);
    }
    for (at, one) in program.consts.iter().enumerate() {
        for lit in shifted(&program.enums, &one.value, &one.ty) {
            let what = changed(program, &one.value, &lit, &one.ty);
            all.push(Mutant { change: Mutation::Const(at, lit), span: one.span, what });
        }
    }
    for table in 0..program.tables.len() {
        of_table(program, table, &mut all);
    }
    for (at, rule) in program.rules.iter().enumerate() {
        if let Some((day, span)) = rule.from {
            for days in [-1, 1] {
                let what = format!("`from {day}` a day {}", if days < 0 { "earlier" } else { "later" });
                all.push(Mutant { change: Mutation::RuleFrom(at, days), span, what });
            }
        }
    }
    for (at, emit) in program.emits.iter().enumerate() {
        if let Shown::From(day, span) = emit.shown {
            for days in [-1, 1] {
                let what = format!("`from {day}` a day {}", if days < 0 { "earlier" } else { "later" });
                all.push(Mutant { change: Mutation::EmitFrom(at, days), span, what });
            }
        }
    }
    all
}

impl Mutation {
    /// The program with the mistake; `None` if no such program could be written.
    pub(super) fn apply(&self, program: &Program) -> Option<Program> {
        let mut mutant = program.clone();
        match self {
            Mutation::Compare(id, compare) => {
                if let Op::Compare(was, ..) = &mut mutant.nodes[id.0 as usize].op {
                    *was = *compare;
                }
            }
            Mutation::Drop(id, keep) => mutant.nodes[id.0 as usize] = program.node(*keep).clone(),
            Mutation::Lit(id, lit) => mutant.nodes[id.0 as usize].op = Op::Lit(lit.clone()),
            Mutation::Share(id, share) => {
                if let Op::PctOf(was, _) = &mut mutant.nodes[id.0 as usize].op {
                    *was = share.clone();
                }
            }
            Mutation::Const(at, lit) => mutant.consts[*at].value = lit.clone(),
            Mutation::Row(table, row, lit) => {
                let table = &mut mutant.tables[*table];
                match table.rows.get_mut(*row) {
                    Some(row) => row.value = lit.clone(),
                    None => table.otherwise.as_mut()?.0 = lit.clone(),
                }
            }
            Mutation::Bound { table, column, from, to } => {
                let before = &program.tables[*table];
                let mut shifts = vec![(from.clone(), to.clone())];
                let mut after = with_bounds(before, *column, &shifts);
                // `..5` beside `6..` is one bound written twice.
                if index(&mut after, &program.enums).is_err() {
                    shifts.extend(beside(from, to));
                    after = with_bounds(before, *column, &shifts);
                    index(&mut after, &program.enums).ok()?;
                }
                mutant.tables[*table] = after;
            }
            Mutation::RuleFrom(at, days) => {
                let (day, _) = mutant.rules[*at].from.as_mut()?;
                *day = day.plus_days(*days)?;
            }
            Mutation::EmitFrom(at, days) => match &mut mutant.emits[*at].shown {
                Shown::From(day, _) => *day = day.plus_days(*days)?,
                _ => return None,
            },
        }
        Some(mutant)
    }
}

fn of_node(program: &Program, id: NodeId, all: &mut Vec<Mutant>) {
    let node = program.node(id);
    let mut push = |change: Mutation, what: String| all.push(Mutant { change, span: node.span, what });
    match &node.op {
        Op::Compare(compare, ..) => {
            let flipped = flipped(*compare);
            let what = format!("`{}` made `{}`", compare.as_str(), flipped.as_str());
            push(Mutation::Compare(id, flipped), what);
        }
        Op::Logic(logic, left, right) => {
            push(Mutation::Drop(id, *right), format!("left side of `{}` dropped", logic.as_str()));
            if *logic != Logic::Implies {
                push(Mutation::Drop(id, *left), format!("right side of `{}` dropped", logic.as_str()));
            }
        }
        Op::Lit(lit) => {
            for other in shifted(&program.enums, lit, &node.ty) {
                let what = changed(program, lit, &other, &node.ty);
                push(Mutation::Lit(id, other), what);
            }
        }
        Op::PctOf(share, _) => {
            for other in near(share) {
                let what = format!("`{share} pct of` made `{other} pct of`");
                push(Mutation::Share(id, other), what);
            }
        }
        _ => {}
    }
}

fn of_table(program: &Program, at: usize, all: &mut Vec<Mutant>) {
    let table = &program.tables[at];
    let rows = table.rows.iter().map(|row| (&row.value, row.value_span));
    let otherwise = table.otherwise.iter().map(|(value, span)| (value, *span));
    for (row, (value, span)) in rows.chain(otherwise).enumerate() {
        for other in shifted(&program.enums, value, &table.result) {
            let what = changed(program, value, &other, &table.result);
            all.push(Mutant { change: Mutation::Row(at, row, other), span, what });
        }
    }
    for (column, (_, ty)) in table.params.iter().enumerate() {
        let TableColumn::Bounds(bounds) = &table.columns[column] else { continue };
        for bound in bounds {
            for other in shifted(&program.enums, bound, ty) {
                let what = format!("bound {}", changed(program, bound, &other, ty));
                let change = Mutation::Bound { table: at, column, from: bound.clone(), to: other };
                let names = |row: &&TableRow| row.tests[column].iter().any(|test| has(test, bound));
                let span = table.rows.iter().find(names).map_or(table.span, |row| row.span);
                all.push(Mutant { change, span, what });
            }
        }
    }
}

fn flipped(compare: Compare) -> Compare {
    match compare {
        Compare::Equal => Compare::NotEqual,
        Compare::NotEqual => Compare::Equal,
        Compare::Less => Compare::AtMost,
        Compare::AtMost => Compare::Less,
        Compare::Greater => Compare::AtLeast,
        Compare::AtLeast => Compare::Greater,
    }
}

/// Literals that differ a little.
fn shifted(enums: &Enums, lit: &Lit, ty: &Type) -> Vec<Lit> {
    match (lit, ty.present()) {
        (Lit::Bool(truth), _) => vec![Lit::Bool(!truth)],
        (Lit::Int(number), Type::Range(first, last)) => [number - 1, number + 1]
            .into_iter()
            .filter(|n| (first..=last).contains(&n))
            .map(Lit::Int)
            .collect(),
        (Lit::Int(number), _) => vec![Lit::Int(number - 1), Lit::Int(number + 1)],
        (Lit::Dec(number), _) => near(number).into_iter().map(Lit::Dec).collect(),
        (Lit::Date(day), _) => {
            [-1, 1].into_iter().filter_map(|days| day.plus_days(days)).map(Lit::Date).collect()
        }
        (Lit::Month(month), _) => [-1, 31]
            .into_iter()
            .filter_map(|days| month.first_day().plus_days(days))
            .map(|day| Lit::Month(day.month()))
            .collect(),
        (Lit::Text(text), _) => vec![Lit::Text(format!("{text}?"))],
        (Lit::Tag(tag), Type::Enum(id)) => {
            let count = enums.info(*id).tags.len() as u16;
            if count > 1 { vec![Lit::Tag((tag + 1) % count)] } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

/// The numbers one unit in the last place away.
fn near(number: &Decimal) -> Vec<Decimal> {
    let (coefficient, decimals) = number.coefficient_and_decimals();
    [coefficient - 1, coefficient + 1]
        .into_iter()
        .filter_map(|coefficient| Decimal::from_coefficient(coefficient, decimals).ok())
        .collect()
}

fn changed(program: &Program, from: &Lit, to: &Lit, ty: &Type) -> String {
    format!("`{}` made `{}`", show_lit(&program.enums, from, ty), show_lit(&program.enums, to, ty))
}

fn with_bounds(table: &Table, column: usize, shifts: &[(Lit, Lit)]) -> Table {
    let mut table = table.clone();
    for row in &mut table.rows {
        for test in &mut row.tests[column] {
            shift_bound(test, shifts);
        }
    }
    table
}

/// The neighbours of a bound, shifted with it.
fn beside(from: &Lit, to: &Lit) -> Vec<(Lit, Lit)> {
    let near = |lit: &Lit, by: i64| match lit {
        Lit::Int(number) => Some(Lit::Int(number + by)),
        Lit::Date(day) => day.plus_days(by).map(Lit::Date),
        _ => None,
    };
    [-1, 1].into_iter().filter_map(|by| Some((near(from, by)?, near(to, by)?))).collect()
}

fn shift_bound(test: &mut CellTest, shifts: &[(Lit, Lit)]) {
    let shift = |lit: &mut Lit| {
        if let Some((_, to)) = shifts.iter().find(|(from, _)| from == lit) {
            *lit = to.clone();
        }
    };
    match test {
        CellTest::Any => {}
        CellTest::Is(lit) | CellTest::Compare(_, lit) => shift(lit),
        CellTest::Within(first, last) => {
            shift(first);
            shift(last);
        }
    }
}

fn has(test: &CellTest, bound: &Lit) -> bool {
    match test {
        CellTest::Any => false,
        CellTest::Is(lit) | CellTest::Compare(_, lit) => lit == bound,
        CellTest::Within(first, last) => first == bound || last == bound,
    }
}
