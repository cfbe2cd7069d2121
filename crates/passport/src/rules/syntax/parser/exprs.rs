//! Expressions.

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::syntax::ast::{Arm, Comp, CompKind, Expr, ExprKind, Op, Pattern, PatternKind};
use crate::rules::syntax::token::{Kind, Symbol};

use super::cursor::{Cursor, Parsed};

/// How many operands a chain such as `a + b + c` may have.
const CHAIN_MAX: usize = 64;

/// Words that cannot be a variable, so that a forgotten operand is noticed where it is missing.
const RESERVED: &[&str] = &[
    "and", "or", "implies", "not", "in", "if", "then", "else", "match", "where", "unless", "cite", "need",
    "of", "check", "let", "none", "true", "false",
];

pub(super) fn expr(input: &mut Cursor<'_>) -> Parsed<Expr> {
    input.nested(|input| {
        if input.is_word("if") {
            return if_(input);
        }
        if input.is_word("match") {
            return match_(input);
        }
        chain(input, &[("or", Op::Or)], implies)
    })
}

/// A literal, tag or `[..]` list of them, as constants and tables hold.
pub(super) fn literal_or_tag(input: &mut Cursor<'_>) -> Parsed<Expr> {
    let start = input.peek().span;
    if input.eat(Symbol::Minus) {
        let number = primary(input)?;
        let span = start.to(number.span);
        return Ok(Expr { kind: ExprKind::Minus(Box::new(number)), span });
    }
    let value = primary(input)?;
    let mut plain = &value;
    if let ExprKind::Field(base, _) = &value.kind {
        plain = base;
    }
    match &plain.kind {
        ExprKind::Call(..)
        | ExprKind::Comp(_)
        | ExprKind::PctOf(..)
        | ExprKind::Record(_)
        | ExprKind::Field(..) => {
            let wrong =
                Diagnostic::new(Code::RuleParseError, value.span, "only a literal or a tag can stand here");
            input.report(wrong)
        }
        _ => Ok(value),
    }
}

fn if_(input: &mut Cursor<'_>) -> Parsed<Expr> {
    let start = input.expect_word("if")?;
    let condition = expr(input)?;
    input.expect_word("then")?;
    let then = expr(input)?;
    input.expect_word("else")?;
    let otherwise = expr(input)?;
    let span = start.to(otherwise.span);
    Ok(Expr { kind: ExprKind::If(Box::new(condition), Box::new(then), Box::new(otherwise)), span })
}

fn match_(input: &mut Cursor<'_>) -> Parsed<Expr> {
    let start = input.expect_word("match")?;
    let value = expr(input)?;
    input.expect(Symbol::OpenBrace)?;
    let arms = input.list(Symbol::CloseBrace, |input| {
        let mut patterns = vec![pattern(input)?];
        while input.eat(Symbol::Bar) {
            patterns.push(pattern(input)?);
        }
        input.expect(Symbol::FatArrow)?;
        Ok(Arm { patterns, body: expr(input)? })
    })?;
    Ok(Expr { kind: ExprKind::Match(Box::new(value), arms), span: start.to(input.last_span()) })
}

fn pattern(input: &mut Cursor<'_>) -> Parsed<Pattern> {
    let start = input.peek().span;
    if input.peek().kind == Kind::Text {
        let (tag, span) = input.quoted("a tag")?;
        return Ok(Pattern { kind: PatternKind::Tag(tag), span });
    }
    let name = input.name("a tag, `some(x)`, `none` or `_`")?;
    let kind = match name.text.as_str() {
        "_" => PatternKind::Any,
        "none" => PatternKind::None,
        "some" if input.eat(Symbol::Open) => {
            let variable = input.name("a variable")?;
            input.expect(Symbol::Close)?;
            PatternKind::Some(variable)
        }
        _ => PatternKind::Tag(name.text),
    };
    Ok(Pattern { kind, span: start.to(input.last_span()) })
}

fn implies(input: &mut Cursor<'_>) -> Parsed<Expr> {
    let left = and(input)?;
    if !input.eat_word("implies") {
        return Ok(left);
    }
    let right = and(input)?;
    Ok(binary(Op::Implies, left, right))
}

fn and(input: &mut Cursor<'_>) -> Parsed<Expr> {
    chain(input, &[("and", Op::And)], compare)
}

fn compare(input: &mut Cursor<'_>) -> Parsed<Expr> {
    let left = sum(input)?;
    let Some(op) = comparison(input) else { return Ok(left) };
    input.next();
    let right = sum(input)?;
    if comparison(input).is_some() {
        let wrong = Diagnostic::new(Code::RuleParseError, input.peek().span, "comparisons do not chain")
            .help("write `a <= b and b <= c`");
        return input.report(wrong);
    }
    Ok(binary(op, left, right))
}

fn comparison(input: &Cursor<'_>) -> Option<Op> {
    Some(match input.peek().kind {
        Kind::Symbol(Symbol::Equal) => Op::Equal,
        Kind::Symbol(Symbol::NotEqual) => Op::NotEqual,
        Kind::Symbol(Symbol::Less) => Op::Less,
        Kind::Symbol(Symbol::AtMost) => Op::AtMost,
        Kind::Symbol(Symbol::Greater) => Op::Greater,
        Kind::Symbol(Symbol::AtLeast) => Op::AtLeast,
        Kind::Name if input.is_word("in") => Op::In,
        _ => return None,
    })
}

fn sum(input: &mut Cursor<'_>) -> Parsed<Expr> {
    chain(input, &[("+", Op::Plus), ("-", Op::Minus)], product)
}

fn product(input: &mut Cursor<'_>) -> Parsed<Expr> {
    chain(input, &[("*", Op::Times)], unary)
}

/// `a op b op c`, grouped to the left.
fn chain(
    input: &mut Cursor<'_>,
    ops: &[(&str, Op)],
    operand: fn(&mut Cursor<'_>) -> Parsed<Expr>,
) -> Parsed<Expr> {
    let mut left = operand(input)?;
    for _ in 0..CHAIN_MAX {
        let word = input.peek();
        let found = ops
            .iter()
            .find(|(text, _)| *text == word.text && matches!(word.kind, Kind::Name | Kind::Symbol(_)));
        let Some((_, op)) = found else { return Ok(left) };
        input.next();
        left = binary(*op, left, operand(input)?);
    }
    let wrong = Diagnostic::new(
        Code::RuleParseError,
        input.peek().span,
        format!("more than {CHAIN_MAX} operands in a row"),
    );
    input.report(wrong.help("give parts of it a name with `let` or `def`"))
}

fn binary(op: Op, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span }
}

fn unary(input: &mut Cursor<'_>) -> Parsed<Expr> {
    let start = input.peek().span;
    let wrap: fn(Box<Expr>) -> ExprKind = if input.eat_word("not") {
        ExprKind::Not
    } else if input.eat_word("need") {
        ExprKind::Need
    } else if input.eat(Symbol::Minus) {
        ExprKind::Minus
    } else {
        return primary(input);
    };
    let operand = input.nested(unary)?;
    let span = start.to(operand.span);
    Ok(Expr { kind: wrap(Box::new(operand)), span })
}

fn primary(input: &mut Cursor<'_>) -> Parsed<Expr> {
    let mut value = atom(input)?;
    while input.eat(Symbol::Dot) {
        let field = input.name("a field or tag")?;
        let span = value.span.to(field.span);
        value = Expr { kind: ExprKind::Field(Box::new(value), field), span };
    }
    Ok(value)
}

fn atom(input: &mut Cursor<'_>) -> Parsed<Expr> {
    let word = input.peek();
    let text = || word.text.to_owned();
    let kind = match word.kind {
        Kind::Number => return number(input),
        Kind::Date => ExprKind::Date(text()),
        Kind::Month => ExprKind::Month(text()),
        Kind::Text => ExprKind::Text(word.text[1..word.text.len() - 1].to_owned()),
        Kind::RuleId => ExprKind::Rule(text()),
        Kind::Pointer => ExprKind::Pointer(text()),
        Kind::Name => return name(input),
        Kind::Symbol(Symbol::Open) => {
            input.next();
            let inner = expr(input)?;
            let end = input.expect(Symbol::Close)?;
            return Ok(Expr { span: word.span.to(end), ..inner });
        }
        Kind::Symbol(Symbol::OpenBracket) => {
            input.next();
            ExprKind::List(input.list(Symbol::CloseBracket, expr)?)
        }
        Kind::Symbol(Symbol::OpenBrace) => {
            input.next();
            braced(input)?
        }
        _ => return input.fail("a value"),
    };
    if matches!(kind, ExprKind::List(_) | ExprKind::Record(_)) {
        return Ok(Expr { kind, span: word.span.to(input.last_span()) });
    }
    input.next();
    Ok(Expr { kind, span: word.span })
}

fn braced(input: &mut Cursor<'_>) -> Parsed<ExprKind> {
    if input.peek_second().kind != Kind::Symbol(Symbol::Colon) {
        return Ok(ExprKind::List(input.list(Symbol::CloseBrace, expr)?));
    }
    Ok(ExprKind::Record(input.list(Symbol::CloseBrace, |input| {
        let field = input.name("a field")?;
        input.expect(Symbol::Colon)?;
        Ok((field, expr(input)?))
    })?))
}

/// A number, a quantity or `5 pct of x`.
fn number(input: &mut Cursor<'_>) -> Parsed<Expr> {
    let word = input.next();
    let unit = input.peek();
    let text = word.text.to_owned();
    if unit.kind != Kind::Name || RESERVED.contains(&unit.text) {
        return Ok(Expr { kind: ExprKind::Number(text), span: word.span });
    }
    let unit = input.name("a unit")?;
    if unit.text == "pct" && input.eat_word("of") {
        let whole = input.nested(unary)?;
        let span = word.span.to(whole.span);
        return Ok(Expr { kind: ExprKind::PctOf(text, Box::new(whole)), span });
    }
    Ok(Expr { span: word.span.to(unit.span), kind: ExprKind::Qty(text, unit) })
}

/// A variable, tag, call or comprehension.
fn name(input: &mut Cursor<'_>) -> Parsed<Expr> {
    let word = input.peek();
    let kind = match word.text {
        "none" => ExprKind::None,
        "true" => ExprKind::Bool(true),
        "false" => ExprKind::Bool(false),
        "if" | "match" => {
            let wrong = Diagnostic::new(
                Code::RuleParseError,
                word.span,
                format!("put `{}` in parentheses to use it inside an expression", word.text),
            );
            return input.report(wrong);
        }
        reserved if RESERVED.contains(&reserved) => return input.fail("a value"),
        _ => ExprKind::Name(word.text.to_owned()),
    };
    let name = input.name("a name")?;
    if !input.is(Symbol::Open) || !matches!(kind, ExprKind::Name(_)) {
        return Ok(Expr { kind, span: name.span });
    }
    input.next();
    let is_comp = input.peek().kind == Kind::Name && input.peek_second().text == "in";
    let kind = match CompKind::named(&name.text).filter(|_| is_comp) {
        Some(kind) => comprehension(input, kind)?,
        None => ExprKind::Call(name.clone(), input.list(Symbol::Close, expr)?),
    };
    Ok(Expr { kind, span: name.span.to(input.last_span()) })
}

fn comprehension(input: &mut Cursor<'_>, kind: CompKind) -> Parsed<ExprKind> {
    let var = input.name("a variable")?;
    input.expect_word("in")?;
    let source = expr(input)?;
    let filter = if input.eat_word("where") { Some(expr(input)?) } else { None };
    let body = if input.eat(Symbol::Colon) { Some(expr(input)?) } else { None };
    input.expect(Symbol::Close)?;
    Ok(ExprKind::Comp(Box::new(Comp { kind, var, source, filter, body })))
}
