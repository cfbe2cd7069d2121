//! Types as they are written.

use crate::rules::syntax::ast::{Param, Type, TypeKind};
use crate::rules::syntax::token::Symbol;

use super::cursor::{Cursor, Parsed};

pub(super) fn ty(input: &mut Cursor<'_>) -> Parsed<Type> {
    input.nested(|input| {
        let name = input.name("a type")?;
        let kind = match name.text.as_str() {
            "Qty" => {
                input.expect(Symbol::OpenBracket)?;
                let unit = input.name("a unit")?;
                input.expect(Symbol::CloseBracket)?;
                TypeKind::Qty(unit)
            }
            "Int" if input.eat(Symbol::OpenBracket) => {
                let (first, _) = input.integer("the least value")?;
                input.expect(Symbol::Range)?;
                let (last, _) = input.integer("the greatest value")?;
                input.expect(Symbol::CloseBracket)?;
                TypeKind::Range(first, last)
            }
            "Opt" => TypeKind::Opt(Box::new(bracketed(input)?)),
            "List" => TypeKind::List(Box::new(bracketed(input)?)),
            "Fact" => {
                input.expect(Symbol::OpenBracket)?;
                let fact = input.name("a type of fact")?;
                input.expect(Symbol::CloseBracket)?;
                TypeKind::Fact(fact)
            }
            "Rec" => {
                input.expect(Symbol::OpenBrace)?;
                TypeKind::Rec(input.list(Symbol::CloseBrace, |input| {
                    let name = input.name("a field")?;
                    input.expect(Symbol::Colon)?;
                    Ok(Param { name, ty: ty(input)? })
                })?)
            }
            _ if input.eat(Symbol::Dot) => TypeKind::Field(name.clone(), input.name("a field")?),
            _ => TypeKind::Name(name.text.clone()),
        };
        Ok(Type { kind, span: name.span.to(input.last_span()) })
    })
}

fn bracketed(input: &mut Cursor<'_>) -> Parsed<Type> {
    input.expect(Symbol::OpenBracket)?;
    let inner = ty(input)?;
    input.expect(Symbol::CloseBracket)?;
    Ok(inner)
}
