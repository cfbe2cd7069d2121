//! Rules and emitted attributes.

use crate::rules::source::Span;
use crate::rules::syntax::ast::{Binding, EmitItem, From, Let, Many, Otherwise, RuleItem, Severity};
use crate::rules::syntax::token::{Kind, Symbol};

use super::cursor::{Cursor, Parsed};
use super::exprs::expr;
use super::types::ty;

/// A rule, after the word `rule`.
pub(super) fn rule(input: &mut Cursor<'_>, start: Span) -> Parsed<RuleItem> {
    let id = input.expect_kind(Kind::RuleId, "a rule's name such as VOLT.ORDER")?;
    let severity = match input.peek().text {
        "must" => Severity::Must,
        "should" => Severity::Should,
        "info" => Severity::Info,
        _ => return input.fail("`must`, `should` or `info`"),
    };
    input.next();
    let cites = if input.is_word("cite") { cites(input)? } else { Vec::new() };
    let point = if input.eat_word("point") { Some(input.point()?) } else { None };
    input.expect_word("for")?;
    let mut bindings = vec![binding(input)?];
    while input.eat(Symbol::Comma) {
        bindings.push(binding(input)?);
    }
    let from = if input.eat_word("from") { Some(input.date()?) } else { None };
    let filter = if input.eat_word("where") { Some(expr(input)?) } else { None };
    let unless = if input.eat_word("unless") {
        let when = expr(input)?;
        let by = if input.is_word("cite") { self::cites(input)? } else { Vec::new() };
        Some((when, by))
    } else {
        None
    };
    input.expect(Symbol::OpenBrace)?;
    let mut lets = Vec::new();
    while input.eat_word("let") {
        lets.push(let_(input)?);
    }
    input.expect_word("check")?;
    let check = expr(input)?;
    let otherwise = if input.eat_word("else") {
        let word = input.name("a code such as E_MISSING, or a verdict")?;
        let (message, _) = input.quoted("a sentence in quotes")?;
        Some(Otherwise { word, message })
    } else {
        None
    };
    input.eat(Symbol::Semicolon);
    let end = input.expect(Symbol::CloseBrace)?;
    let span = start.to(end);
    Ok(RuleItem { id, severity, cites, point, bindings, from, filter, unless, lets, check, otherwise, span })
}

/// An emitted attribute, after the word `emit`.
pub(super) fn emit(input: &mut Cursor<'_>, start: Span) -> Parsed<EmitItem> {
    let pointer = input.expect_kind(Kind::Pointer, "a pointer such as /battery/category")?;
    input.expect(Symbol::Colon)?;
    let ty = ty(input)?;
    input.expect_word("dp")?;
    let dp = input.integer("the number of a data point")?;
    input.expect_word("point")?;
    let point = input.point()?;
    let from = if input.eat_word("from") {
        Some(if input.is_word("undated") {
            From::Undated(input.next().span)
        } else {
            From::Date(input.date()?)
        })
    } else {
        None
    };
    input.expect(Symbol::Assign)?;
    let value = expr(input)?;
    let end = input.expect(Symbol::Semicolon)?;
    Ok(EmitItem { pointer, ty, dp, point, from, value, span: start.to(end) })
}

fn cites(input: &mut Cursor<'_>) -> Parsed<Vec<String>> {
    input.expect_word("cite")?;
    let mut cites = vec![input.quoted("a law in quotes")?.0];
    while input.is(Symbol::Comma) && input.peek_second().kind == Kind::Text {
        input.next();
        cites.push(input.quoted("a law in quotes")?.0);
    }
    Ok(cites)
}

fn binding(input: &mut Cursor<'_>) -> Parsed<Binding> {
    let name = input.name("a variable")?;
    input.expect(Symbol::Colon)?;
    let word = input.name("a type of fact")?;
    let many = match word.text.as_str() {
        "Opt" => Many::Opt,
        "List" => Many::List,
        _ => Many::Each,
    };
    let fact = if many == Many::Each {
        word
    } else {
        input.expect(Symbol::OpenBracket)?;
        let fact = input.name("a type of fact")?;
        input.expect(Symbol::CloseBracket)?;
        fact
    };
    let by = if input.eat_word("by") {
        input.expect(Symbol::Open)?;
        let by = expr(input)?;
        input.expect(Symbol::Close)?;
        Some(by)
    } else {
        None
    };
    Ok(Binding { name, many, fact, by })
}

fn let_(input: &mut Cursor<'_>) -> Parsed<Let> {
    let name = input.name("a name")?;
    let ty = if input.eat(Symbol::Colon) { Some(ty(input)?) } else { None };
    input.expect(Symbol::Assign)?;
    let value = expr(input)?;
    input.expect(Symbol::Semicolon)?;
    Ok(Let { name, ty, value })
}
