//! Values that tests write down: fields of facts, and expected attributes.

use std::collections::BTreeMap;

use crate::facts::{FactType, Field, FieldType, Fields, Value as FactValue};
use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::eval::write_lit;
use crate::rules::syntax::ast::{Expr, ExprKind, Name};
use crate::rules::types::Type;
use crate::value::Quantity;

use super::Checker;
use bpc_core::canonical::write_string;

impl Checker<'_> {
    pub(super) fn schema_field(&mut self, fact: FactType, name: &Name) -> Option<&'static Field> {
        let field = fact.schema().field(&name.text);
        if field.is_none() {
            self.no_field(fact, name);
        }
        field
    }

    /// The value of a field that an expression writes down.
    pub(super) fn fact_value(&mut self, expr: &Expr, field_type: &'static FieldType) -> Option<FactValue> {
        let span = expr.span;
        match (&expr.kind, field_type) {
            (ExprKind::Minus(inner), _) => match self.fact_value(inner, field_type)? {
                FactValue::Int(number) => Some(FactValue::Int(-number)),
                FactValue::Dec(number) => Some(FactValue::Dec(-&number)),
                FactValue::Qty(quantity) => {
                    Some(FactValue::Qty(Quantity::new(-&quantity.value, quantity.unit)))
                }
                _ => self.no_value(expr, field_type),
            },
            (ExprKind::Bool(truth), FieldType::Bool) => Some(FactValue::Bool(*truth)),
            (ExprKind::Number(text), FieldType::Int(..)) => self.integer(text, span).map(FactValue::Int),
            (ExprKind::Number(text), FieldType::Dec(_)) => self.decimal(text, span).map(FactValue::Dec),
            (ExprKind::Qty(text, unit), FieldType::Qty(wanted, _)) => {
                let (number, unit) = (self.decimal(text, span)?, self.unit(unit)?);
                match Quantity::new(number, unit).convert(*wanted) {
                    Ok(quantity) => Some(FactValue::Qty(quantity)),
                    Err(_) => {
                        let message =
                            format!("the field is kept in `{wanted}`, and `{unit}` is no such unit");
                        self.wrong.push(Diagnostic::new(Code::UnitMismatch, span, message));
                        None
                    }
                }
            }
            (ExprKind::Date(text), FieldType::Date) => {
                self.parsed(text, span, "day of the calendar").map(FactValue::Date)
            }
            (ExprKind::Month(text), FieldType::Month) => {
                self.parsed(text, span, "month").map(FactValue::Month)
            }
            (ExprKind::Text(text), FieldType::Text(_)) => Some(FactValue::Text(text.clone())),
            (ExprKind::None, FieldType::Tag(set)) if set.tag("none").is_some() => {
                set.tag("none").map(FactValue::Tag)
            }
            (ExprKind::Name(word) | ExprKind::Text(word), FieldType::Tag(set)) => match set.tag(word) {
                Some(tag) => Some(FactValue::Tag(tag)),
                None => {
                    let message = format!("{} has no value `{word}`", set.name);
                    let wrong = Diagnostic::new(Code::RuleNameUnknown, span, message);
                    self.wrong.push(wrong.did_you_mean(span, word, set.tags.iter().copied()));
                    None
                }
            },
            (ExprKind::List(items), FieldType::List(item_type)) => {
                let mut values = Vec::new();
                for item in items {
                    values.push(self.fact_value(item, item_type)?);
                }
                Some(FactValue::List(values))
            }
            (ExprKind::Record(parts), FieldType::Rec(fields)) => {
                let mut record: Fields = BTreeMap::new();
                for (name, value) in parts {
                    let Some(field) = fields.iter().find(|field| field.name == name.text) else {
                        let message = format!("the record has no field `{}`", name.text);
                        let wrong = Diagnostic::new(Code::RuleNameUnknown, name.span, message);
                        let known = fields.iter().map(|field| field.name);
                        self.wrong.push(wrong.did_you_mean(name.span, &name.text, known));
                        return None;
                    };
                    record.insert(field.name, self.fact_value(value, &field.field_type)?);
                }
                Some(FactValue::Rec(record))
            }
            _ => self.no_value(expr, field_type),
        }
    }

    fn no_value(&mut self, expr: &Expr, field_type: &FieldType) -> Option<FactValue> {
        self.type_error(expr.span, format!("expected {}", field_type.expected()));
        None
    }

    /// The canonical JSON of an expected attribute.
    pub(super) fn expected_json(&mut self, expr: &Expr, ty: &Type) -> Option<String> {
        let mut json = Vec::new();
        self.write_expected(expr, ty, &mut json)?;
        String::from_utf8(json).ok()
    }

    fn write_expected(&mut self, expr: &Expr, ty: &Type, out: &mut Vec<u8>) -> Option<()> {
        match (&expr.kind, ty.present()) {
            (ExprKind::List(items), Type::List(element)) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    self.write_expected(item, element, out)?;
                }
                out.push(b']');
            }
            (ExprKind::Record(parts), Type::Rec(fields)) => {
                if let Some((name, _)) =
                    parts.iter().find(|(name, _)| !fields.iter().any(|(field, _)| *field == name.text))
                {
                    self.type_error(name.span, format!("the attribute has no part `{}`", name.text));
                    return None;
                }
                out.push(b'{');
                let start = out.len();
                for (field, ty) in fields {
                    let Some((_, value)) = parts.iter().find(|(name, _)| name.text == *field) else {
                        continue;
                    };
                    if out.len() > start {
                        out.push(b',');
                    }
                    write_string(field, out);
                    out.push(b':');
                    self.write_expected(value, ty, out)?;
                }
                out.push(b'}');
            }
            (_, ty) => {
                let lit = self.literal(expr, ty)?;
                write_lit(&self.names.enums, &lit, ty, out);
            }
        }
        Some(())
    }
}
