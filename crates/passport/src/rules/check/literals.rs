//! Literals of a known type, as constants, tables and expressions hold them.

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::program::Lit;
use crate::rules::source::Span;
use crate::rules::syntax::ast::{Expr, ExprKind};
use crate::rules::types::{EnumId, Type};
use crate::value::{Decimal, Quantity};
use bpc_core::canonical::MAX_INTEGER;

use super::Checker;

impl Checker<'_> {
    /// The literal of this type that an expression is. A bare number counts as one of the unit,
    /// since tables name it once, at the top.
    pub(super) fn literal(&mut self, expr: &Expr, want: &Type) -> Option<Lit> {
        let span = expr.span;
        match (&expr.kind, want) {
            (_, Type::Wrong) => None,
            (ExprKind::None, Type::Opt(_)) => Some(Lit::None),
            (_, Type::Opt(inner)) => self.literal(expr, inner),
            // An enumeration may have a value of this name.
            (ExprKind::None, Type::Enum(id)) => self.tag(*id, "none", span),
            (ExprKind::Minus(inner), _) => match self.literal(inner, want)? {
                Lit::Int(number) => Some(Lit::Int(-number)),
                Lit::Dec(number) => Some(Lit::Dec(-&number)),
                _ => self.not_of_type(span, want),
            },
            (ExprKind::Bool(truth), Type::Bool) => Some(Lit::Bool(*truth)),
            (ExprKind::Number(text), Type::Int) => self.integer(text, span).map(Lit::Int),
            (ExprKind::Number(text), Type::Range(first, last)) => {
                let number = self.integer(text, span)?;
                if (first..=last).contains(&&number) {
                    return Some(Lit::Int(number));
                }
                self.type_error(span, format!("{number} is not in {first}..{last}"));
                None
            }
            (ExprKind::Number(text), Type::Dec | Type::Qty(_)) => self.decimal(text, span).map(Lit::Dec),
            (ExprKind::Qty(text, unit), Type::Qty(wanted)) => {
                let (number, written) = (self.decimal(text, span)?, self.unit(unit)?);
                match Quantity::new(number, written).convert(*wanted) {
                    Ok(converted) => Some(Lit::Dec(converted.value)),
                    Err(_) => {
                        let message = format!("`{written}` is no unit for {}", self.show(want));
                        self.wrong.push(Diagnostic::new(Code::UnitMismatch, span, message));
                        None
                    }
                }
            }
            (ExprKind::Date(text), Type::Date) => {
                self.parsed(text, span, "day of the calendar").map(Lit::Date)
            }
            (ExprKind::Month(text), Type::Month) => self.parsed(text, span, "month").map(Lit::Month),
            (ExprKind::Text(text), Type::Text) => Some(Lit::Text(text.clone())),
            (ExprKind::Text(word) | ExprKind::Name(word), Type::Enum(id)) => self.tag(*id, word, span),
            (ExprKind::Field(base, tag), Type::Enum(id)) if matches!(&base.kind, ExprKind::Name(name) if *name == self.enums().info(*id).name) => {
                self.tag(*id, &tag.text, tag.span)
            }
            _ => self.not_of_type(span, want),
        }
    }

    pub(super) fn integer(&mut self, text: &str, span: Span) -> Option<i64> {
        match text.parse::<i64>() {
            Ok(number) if number <= MAX_INTEGER => Some(number),
            _ if text.contains('.') => {
                let wrong = Diagnostic::new(Code::RuleTypeError, span, format!("`{text}` is no integer"));
                self.wrong.push(wrong.help("write a whole number here, or use the type `Dec`"));
                None
            }
            _ => {
                self.type_error(span, format!("integers go up to {MAX_INTEGER}"));
                None
            }
        }
    }

    pub(super) fn decimal(&mut self, text: &str, span: Span) -> Option<Decimal> {
        match text.parse::<Decimal>() {
            Ok(number) => Some(number),
            Err(refused) => {
                self.type_error(span, refused.to_string());
                None
            }
        }
    }

    pub(super) fn parsed<T: std::str::FromStr>(&mut self, text: &str, span: Span, what: &str) -> Option<T> {
        let parsed = text.parse().ok();
        if parsed.is_none() {
            let mut wrong = Diagnostic::new(Code::RuleTypeError, span, format!("`{text}` is no {what}"));
            if text.len() == "2027-02-18".len() {
                wrong = wrong.help(super::day_help(text));
            }
            self.wrong.push(wrong);
        }
        parsed
    }

    pub(super) fn tag(&mut self, id: EnumId, word: &str, span: Span) -> Option<Lit> {
        if let Some(tag) = self.enums().tag(id, word) {
            return Some(Lit::Tag(tag));
        }
        let info = self.enums().info(id);
        let message = format!("{} has no value `{word}`", info.name);
        let wrong = Diagnostic::new(Code::RuleNameUnknown, span, message)
            .help(format!("its values are {}", info.tags.join(", ")))
            .did_you_mean(span, word, info.tags.iter().map(String::as_str));
        self.wrong.push(wrong);
        None
    }

    fn not_of_type<T>(&mut self, span: Span, want: &Type) -> Option<T> {
        let message = format!("expected a literal of type {}", self.show(want));
        let written = match want.present() {
            Type::Qty(unit) => format!("16 {unit}"),
            Type::Text => "\"words\"".to_owned(),
            Type::Bool => "true".to_owned(),
            Type::Date => "2027-02-18".to_owned(),
            Type::Month => "2027-02".to_owned(),
            Type::Int | Type::Range(..) => "16".to_owned(),
            Type::Dec => "16.5".to_owned(),
            Type::Enum(id) => self.enums().info(*id).tags.first().cloned().unwrap_or_default(),
            _ => String::new(),
        };
        let mut wrong = Diagnostic::new(Code::RuleTypeError, span, message);
        if !written.is_empty() {
            wrong = wrong.help(format!("such a literal looks like `{written}`"));
        }
        self.wrong.push(wrong);
        None
    }
}
