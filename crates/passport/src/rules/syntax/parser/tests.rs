//! The tests of a package.

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::syntax::ast::Name;
use crate::rules::syntax::ast::tests::{
    Column, Example, Expect, Fixture, GenVar, Golden, Metamorphic, Property, Step, TableTest, Target, Tests,
};
use crate::rules::syntax::token::{Kind, Symbol};

use super::cursor::{Cursor, Parsed};
use super::exprs::expr;
use super::types::ty;

/// A test, after the word that says which kind it is.
pub(super) fn test(input: &mut Cursor<'_>, kind: &str, tests: &mut Tests) -> Parsed<()> {
    let name = input.name("the name of the test")?;
    match kind {
        "fixture" => {
            let using = using(input)?;
            let steps = steps(input)?;
            tests.fixtures.push(Fixture { name, using, steps });
        }
        "example" => {
            let using = using(input)?;
            let steps = steps(input)?;
            input.expect(Symbol::FatArrow)?;
            let mut expects = vec![expect(input)?];
            while input.eat(Symbol::Comma) {
                expects.push(expect(input)?);
            }
            input.expect(Symbol::Semicolon)?;
            tests.examples.push(Example { name, using, steps, expects });
        }
        "property" => {
            let property = property(input, name)?;
            tests.properties.push(property);
        }
        "metamorphic" => {
            input.expect(Symbol::Colon)?;
            let change = input.name("a change such as `permute_facts`")?;
            let args = if input.eat(Symbol::Open) {
                input.list(Symbol::Close, |input| input.name("a unit"))?
            } else {
                Vec::new()
            };
            input.expect(Symbol::FatArrow)?;
            input.expect_word("same")?;
            input.expect(Symbol::Semicolon)?;
            tests.metamorphics.push(Metamorphic { name, change, args });
        }
        _ => {
            let golden = golden(input, name)?;
            tests.goldens.push(golden);
        }
    }
    Ok(())
}

/// A table of cases, after the word `table`.
pub(super) fn table_test(input: &mut Cursor<'_>) -> Parsed<TableTest> {
    let name = input.name("the name of the test")?;
    input.expect_word("from")?;
    let from = match input.peek().kind {
        Kind::RuleId => input.expect_kind(Kind::RuleId, "a rule")?,
        _ => input.name("a rule, table or definition")?,
    };
    let using = using(input)?;
    input.expect_word("columns")?;
    input.expect(Symbol::Open)?;
    let columns = input.list(Symbol::Close, column)?;
    input.expect_word("rows")?;
    input.expect(Symbol::OpenBracket)?;
    let rows = input.list(Symbol::CloseBracket, |input| {
        let start = input.expect(Symbol::OpenBracket)?;
        let cells = input.list(Symbol::CloseBracket, expr)?;
        Ok((cells, start.to(input.last_span())))
    })?;
    input.expect(Symbol::Semicolon)?;
    for (cells, span) in &rows {
        if cells.len() != columns.len() {
            let wrong = Diagnostic::new(
                Code::RuleParseError,
                *span,
                format!("a row of {} cells for {} columns", cells.len(), columns.len()),
            );
            return input.report(wrong);
        }
    }
    Ok(TableTest { name, from, using, columns, rows })
}

fn column(input: &mut Cursor<'_>) -> Parsed<Column> {
    let name = input.name("a field such as Battery.mass, `as_of`, `expect` or `code`")?;
    if matches!(input.peek().kind, Kind::Text | Kind::Symbol(Symbol::Dot)) {
        return Ok(Column::Field(target(input, name)?));
    }
    Ok(match name.text.as_str() {
        "as_of" => Column::AsOf(name.span),
        "expect" => Column::Expect(name.span),
        "code" => Column::Code(name.span),
        _ => Column::Param(name),
    })
}

fn using(input: &mut Cursor<'_>) -> Parsed<Option<Name>> {
    if input.eat_word("using") { input.name("the name of a fixture").map(Some) } else { Ok(None) }
}

fn steps(input: &mut Cursor<'_>) -> Parsed<Vec<Step>> {
    input.expect(Symbol::OpenBrace)?;
    let mut steps = Vec::new();
    while !input.eat(Symbol::CloseBrace) {
        steps.push(step(input)?);
    }
    Ok(steps)
}

fn step(input: &mut Cursor<'_>) -> Parsed<Step> {
    let word = input.name("`fact`, `set`, `drop`, `remove`, `as_of` or `product`")?;
    let step = match word.text.as_str() {
        "product" => {
            let (sku, span) = input.quoted("a product in quotes")?;
            Step::Product(sku, span)
        }
        "as_of" => Step::AsOf(input.date()?),
        "fact" => {
            let fact = input.name("a type of fact")?;
            let (key, _) = input.quoted("the key of the fact in quotes")?;
            input.expect(Symbol::OpenBrace)?;
            let fields = input.list(Symbol::CloseBrace, |input| {
                let field = input.name("a field")?;
                input.expect(Symbol::Colon)?;
                Ok((field, expr(input)?))
            })?;
            Step::Fact { fact, key, fields, span: word.span.to(input.last_span()) }
        }
        "set" => {
            let fact = input.name("a type of fact")?;
            let target = target(input, fact)?;
            input.expect(Symbol::Assign)?;
            Step::Set(target, expr(input)?)
        }
        "drop" => {
            let fact = input.name("a type of fact")?;
            Step::Drop(target(input, fact)?)
        }
        "remove" => {
            let fact = input.name("a type of fact")?;
            Step::Remove { fact, key: key(input)? }
        }
        other => {
            let wrong =
                Diagnostic::new(Code::RuleParseError, word.span, format!("`{other}` is no step of a test"))
                    .did_you_mean(word.span, other, ["fact", "set", "drop", "remove", "as_of", "product"]);
            return input.report(wrong);
        }
    };
    input.expect(Symbol::Semicolon)?;
    Ok(step)
}

fn target(input: &mut Cursor<'_>, fact: Name) -> Parsed<Target> {
    let key = key(input)?;
    input.expect(Symbol::Dot)?;
    Ok(Target { fact, key, field: input.name("a field")? })
}

fn key(input: &mut Cursor<'_>) -> Parsed<Option<(String, crate::rules::source::Span)>> {
    if input.peek().kind == Kind::Text { input.quoted("a key").map(Some) } else { Ok(None) }
}

fn expect(input: &mut Cursor<'_>) -> Parsed<Expect> {
    input.expect_word("expect")?;
    if input.peek().kind == Kind::Pointer {
        let pointer = input.expect_kind(Kind::Pointer, "a pointer")?;
        if input.eat(Symbol::Equal) {
            return Ok(Expect::Value(pointer, expr(input)?));
        }
        if input.is_word("absent") || input.is_word("held") {
            return Ok(Expect::Absent(pointer, input.name("a word")?));
        }
        return input.fail("`== value`, `absent` or `held`");
    }
    let rule = input.expect_kind(Kind::RuleId, "a rule or a pointer")?;
    input.expect(Symbol::Equal)?;
    let verdict = input.name("a verdict")?;
    let code = if input.peek().kind == Kind::Name && !input.is_word("missing") {
        Some(input.name("a code")?)
    } else {
        None
    };
    let mut missing = Vec::new();
    while input.eat_word("missing") {
        missing.push(input.quoted("a path in quotes")?.0);
    }
    Ok(Expect::Rule { rule, verdict, code, missing })
}

fn property(input: &mut Cursor<'_>, name: Name) -> Parsed<Property> {
    input.expect_word("cases")?;
    input.expect(Symbol::Open)?;
    let cases = input.integer("how many cases")?;
    input.expect(Symbol::Close)?;
    let using = using(input)?;
    input.expect_word("gen")?;
    input.expect(Symbol::OpenBrace)?;
    let (mut vars, mut steps) = (Vec::new(), Vec::new());
    while !input.eat(Symbol::CloseBrace) {
        if input.peek_second().kind != Kind::Symbol(Symbol::Colon) {
            steps.push(step(input)?);
            continue;
        }
        let name = input.name("a variable")?;
        input.expect(Symbol::Colon)?;
        let ty = ty(input)?;
        let range = if input.eat_word("in") {
            let first = expr(input)?;
            input.expect(Symbol::Range)?;
            Some((first, expr(input)?))
        } else {
            None
        };
        input.expect(Symbol::Semicolon)?;
        vars.push(GenVar { name, ty, range });
    }
    input.expect(Symbol::FatArrow)?;
    let holds = expr(input)?;
    input.expect(Symbol::Semicolon)?;
    Ok(Property { name, cases, using, vars, steps, holds })
}

fn golden(input: &mut Cursor<'_>, name: Name) -> Parsed<Golden> {
    let file = input.quoted("the name of a file in quotes")?;
    input.expect(Symbol::FatArrow)?;
    let mut golden = Golden { name, file, payload_hash: None, proof_root: None };
    loop {
        let slot = if input.eat_word("payload_hash") {
            &mut golden.payload_hash
        } else if input.eat_word("proof_root") {
            &mut golden.proof_root
        } else {
            return input.fail("`payload_hash` or `proof_root`");
        };
        *slot = Some(input.quoted("64 hexadecimal digits in quotes")?.0);
        if !input.eat(Symbol::Comma) {
            break;
        }
    }
    input.expect(Symbol::Semicolon)?;
    Ok(golden)
}
