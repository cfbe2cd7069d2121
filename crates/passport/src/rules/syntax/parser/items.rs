//! What stands at the top of a file: header, enumerations, constants, tables, definitions.

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::source::Span;
use crate::rules::syntax::ast::{
    Cell, CellTest, ConstItem, DefItem, EnumItem, Op, Package, Param, Row, TableItem, TypeItem,
};
use crate::rules::syntax::token::{Kind, Symbol};

use super::cursor::{Cursor, Failed, Parsed};
use super::exprs::{expr, literal_or_tag};
use super::types::ty;
use super::{rules, tests};

const ITEMS: &[&str] = &[
    "package",
    "include",
    "datapoints",
    "enum",
    "type",
    "const",
    "table",
    "def",
    "access",
    "rule",
    "emit",
    "fixture",
    "example",
    "property",
    "metamorphic",
    "golden",
];

/// Reads all items of a file into the package.
pub(super) fn items(input: &mut Cursor<'_>, package: &mut Package) {
    while input.peek().kind != Kind::End {
        let before = input.peek();
        if item(input, package).is_err() {
            if input.peek().span == before.span {
                input.next();
            }
            input.skip_to_line(ITEMS);
        }
    }
}

fn item(input: &mut Cursor<'_>, package: &mut Package) -> Parsed<()> {
    let first = input.peek();
    if first.kind != Kind::Name || !ITEMS.contains(&first.text) {
        let wrong = Diagnostic::new(
            Code::RuleParseError,
            first.span,
            format!("expected an item such as `rule` or `emit`, found `{}`", first.text),
        )
        .did_you_mean(first.span, first.text, ITEMS.iter().copied());
        return input.report(wrong);
    }
    input.next();
    match first.text {
        "package" => header(input, package, first.span),
        "include" => {
            input.quoted("the name of a file in quotes")?;
            input.expect(Symbol::Semicolon).map(drop)
        }
        "datapoints" => datapoints(input, package),
        "enum" => {
            let name = input.name("the name of the enumeration")?;
            input.expect(Symbol::OpenBrace)?;
            let tags = input.list(Symbol::CloseBrace, |input| input.name("a tag"))?;
            package.enums.push(EnumItem { name, tags });
            Ok(())
        }
        "type" => {
            let name = input.name("the name of the type")?;
            input.expect(Symbol::Assign)?;
            let ty = ty(input)?;
            input.expect(Symbol::Semicolon)?;
            package.types.push(TypeItem { name, ty });
            Ok(())
        }
        "const" => {
            let name = input.name("the name of the constant")?;
            input.expect(Symbol::Colon)?;
            let ty = ty(input)?;
            input.expect(Symbol::Assign)?;
            let value = literal_or_tag(input)?;
            input.expect(Symbol::Semicolon)?;
            package.consts.push(ConstItem { name, ty, value });
            Ok(())
        }
        "table" => match input.peek_second() {
            second if second.kind == Kind::Name && second.text == "from" => {
                package.tests.tables.push(tests::table_test(input)?);
                Ok(())
            }
            _ => {
                let table = table(input)?;
                package.tables.push(table);
                Ok(())
            }
        },
        "def" => {
            let name = input.name("the name of the definition")?;
            let params = params(input)?;
            input.expect(Symbol::Arrow)?;
            let result = ty(input)?;
            input.expect(Symbol::Assign)?;
            let body = expr(input)?;
            input.expect(Symbol::Semicolon)?;
            package.defs.push(DefItem { name, params, result, body });
            Ok(())
        }
        "rule" => {
            let rule = rules::rule(input, first.span)?;
            package.rules.push(rule);
            Ok(())
        }
        "emit" => {
            let emit = rules::emit(input, first.span)?;
            package.emits.push(emit);
            Ok(())
        }
        kind => tests::test(input, kind, &mut package.tests),
    }
}

fn header(input: &mut Cursor<'_>, package: &mut Package, start: Span) -> Parsed<()> {
    let name = input.name("the name of the package")?;
    input.expect_word("version")?;
    let version = input.expect_kind(Kind::Version, "a version such as 1.0.0")?;
    input.expect_word("effective")?;
    let effective = input.date()?;
    let until = if input.eat(Symbol::Range) { Some(input.date()?) } else { None };
    input.eat(Symbol::Semicolon);
    if !package.name.text.is_empty() {
        let wrong = Diagnostic::new(Code::RuleDuplicate, start.to(name.span), "the package has two headers")
            .also(package.name.span, "the first");
        return input.report(wrong);
    }
    (package.name, package.version, package.effective, package.until) = (name, version, effective, until);
    Ok(())
}

fn datapoints(input: &mut Cursor<'_>, package: &mut Package) -> Parsed<()> {
    let (first, start) = input.integer("`1`")?;
    input.expect(Symbol::Range)?;
    let (last, end) = input.integer("the highest data point number")?;
    input.expect(Symbol::Semicolon)?;
    let span = start.to(end);
    if first != 1 || !(1..=999).contains(&last) {
        return input.report(Diagnostic::new(
            Code::RuleParseError,
            span,
            "data points are numbered from 1 to at most 999",
        ));
    }
    if let Some((_, before)) = package.datapoints {
        let wrong = Diagnostic::new(Code::RuleDuplicate, span, "data points are numbered twice");
        return input.report(wrong.also(before, "first here"));
    }
    package.datapoints = Some((last, span));
    Ok(())
}

pub(super) fn params(input: &mut Cursor<'_>) -> Parsed<Vec<Param>> {
    input.expect(Symbol::Open)?;
    input.list(Symbol::Close, |input| {
        let name = input.name("the name of a parameter")?;
        input.expect(Symbol::Colon)?;
        Ok(Param { name, ty: ty(input)? })
    })
}

fn table(input: &mut Cursor<'_>) -> Parsed<TableItem> {
    let name = input.name("the name of the table")?;
    let params = params(input)?;
    input.expect(Symbol::Arrow)?;
    let result = ty(input)?;
    input.expect(Symbol::OpenBrace)?;
    let (mut rows, mut otherwise, mut failed) = (Vec::new(), None, false);
    while !input.eat(Symbol::CloseBrace) {
        if input.peek().kind == Kind::End {
            return input.fail("a row or `}`");
        }
        let read = if input.is_word("otherwise") {
            input.next();
            otherwise_row(input).map(|value| otherwise = Some(value))
        } else {
            row(input).map(|row| rows.push(row))
        };
        if read.is_err() {
            failed = true;
            input.skip_row();
        }
    }
    if failed { Err(Failed) } else { Ok(TableItem { name, params, result, rows, otherwise }) }
}

fn otherwise_row(input: &mut Cursor<'_>) -> Parsed<crate::rules::syntax::ast::Expr> {
    input.expect(Symbol::FatArrow)?;
    let value = literal_or_tag(input)?;
    input.expect(Symbol::Semicolon)?;
    Ok(value)
}

fn row(input: &mut Cursor<'_>) -> Parsed<Row> {
    let start = input.peek().span;
    let mut cells = vec![cell(input)?];
    while input.eat(Symbol::Comma) {
        cells.push(cell(input)?);
    }
    input.expect(Symbol::FatArrow)?;
    let value = literal_or_tag(input)?;
    let end = input.expect(Symbol::Semicolon)?;
    Ok(Row { cells, value, span: start.to(end) })
}

fn cell(input: &mut Cursor<'_>) -> Parsed<Cell> {
    let start = input.peek().span;
    let mut alternatives = vec![cell_test(input)?];
    while input.eat(Symbol::Bar) {
        alternatives.push(cell_test(input)?);
    }
    Ok(Cell { alternatives, span: start.to(input.last_span()) })
}

fn cell_test(input: &mut Cursor<'_>) -> Parsed<CellTest> {
    if input.eat_word("_") {
        return Ok(CellTest::Any);
    }
    let compare = match input.peek().kind {
        Kind::Symbol(Symbol::Less) => Some(Op::Less),
        Kind::Symbol(Symbol::AtMost) => Some(Op::AtMost),
        Kind::Symbol(Symbol::Greater) => Some(Op::Greater),
        Kind::Symbol(Symbol::AtLeast) => Some(Op::AtLeast),
        _ => None,
    };
    if let Some(op) = compare {
        input.next();
        return Ok(CellTest::Compare(op, literal_or_tag(input)?));
    }
    let first = literal_or_tag(input)?;
    if input.eat(Symbol::Range) {
        return Ok(CellTest::Within(first, literal_or_tag(input)?));
    }
    Ok(CellTest::Is(first))
}
