//! Types as they are written.

use crate::facts::FactType;
use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::source::Span;
use crate::rules::syntax::ast;
use crate::rules::types::Type;
use crate::value::Unit;

use super::Checker;

impl Checker<'_> {
    /// What a written type means; [`Type::Wrong`] if nothing, with a diagnostic.
    pub(super) fn written(&mut self, written: &ast::Type) -> Type {
        match &written.kind {
            ast::TypeKind::Name(name) => self.named(name, written.span),
            ast::TypeKind::Field(fact, field) => {
                let Some(schema) = self.fact_type(fact).map(FactType::schema) else { return Type::Wrong };
                match schema.field(&field.text) {
                    Some(found) => self.enums().value_type(&found.field_type),
                    None => {
                        self.no_field(schema.fact_type, field);
                        Type::Wrong
                    }
                }
            }
            ast::TypeKind::Qty(unit) => self.unit(unit).map_or(Type::Wrong, Type::Qty),
            ast::TypeKind::Range(first, last) if first <= last => Type::Range(*first, *last),
            ast::TypeKind::Range(..) => {
                self.type_error(written.span, "the range is empty");
                Type::Wrong
            }
            ast::TypeKind::Opt(inner) => match self.written(inner) {
                Type::Opt(_) => {
                    self.type_error(written.span, "an `Opt` inside an `Opt` says nothing more");
                    Type::Wrong
                }
                inner => inner.or_none(),
            },
            ast::TypeKind::List(inner) => Type::List(Box::new(self.written(inner))),
            ast::TypeKind::Fact(fact) => self.fact_type(fact).map_or(Type::Wrong, Type::Fact),
            ast::TypeKind::Rec(fields) => self.record_type(fields),
        }
    }

    pub(super) fn fact_type(&mut self, name: &ast::Name) -> Option<FactType> {
        let found = FactType::from_name(&name.text);
        if found.is_none() {
            let message = format!("there is no type of fact `{}`", name.text);
            let known = FactType::ALL.iter().map(|fact| fact.name());
            let wrong = Diagnostic::new(Code::RuleNameUnknown, name.span, message);
            self.wrong.push(wrong.did_you_mean(name.span, &name.text, known));
        }
        found
    }

    pub(super) fn unit(&mut self, name: &ast::Name) -> Option<Unit> {
        let found = name.text.parse().ok();
        if found.is_none() {
            let wrong = Diagnostic::new(
                Code::RuleNameUnknown,
                name.span,
                format!("there is no unit `{}`", name.text),
            );
            let known = Unit::ALL.iter().map(|unit| unit.symbol());
            self.wrong.push(wrong.did_you_mean(name.span, &name.text, known));
        }
        found
    }

    pub(super) fn no_field(&mut self, fact: FactType, field: &ast::Name) {
        let known = fact.schema().fields.iter().map(|field| field.name);
        let message = format!("{fact} has no field `{}`", field.text);
        let wrong = Diagnostic::new(Code::RuleNameUnknown, field.span, message);
        self.wrong.push(wrong.did_you_mean(field.span, &field.text, known));
    }

    fn named(&mut self, name: &str, span: Span) -> Type {
        match name {
            "Bool" => return Type::Bool,
            "Int" => return Type::Int,
            "Dec" => return Type::Dec,
            "Date" => return Type::Date,
            "Month" => return Type::Month,
            "Text" => return Type::Text,
            "DataPoint" if self.names.datapoints > 0 => return Type::Range(1, self.names.datapoints),
            "DataPoint" => {
                let wrong =
                    Diagnostic::new(Code::RuleNameUnknown, span, "the package does not number data points");
                self.wrong_node(wrong.help("write `datapoints 1..71;`"));
                return Type::Wrong;
            }
            _ => {}
        }
        if let Some(fact) = FactType::from_name(name) {
            return Type::Fact(fact);
        }
        if let Some(id) = self.enums().find(name) {
            return Type::Enum(id);
        }
        if let Some(at) = self.package.types.iter().position(|item| item.name.text == name) {
            return self.alias(at, span);
        }
        let enums = self.enums().all().iter().map(|one| one.name.clone());
        let facts = FactType::ALL.iter().map(|fact| fact.name().to_owned());
        let plain = ["Bool", "Int", "Dec", "Date", "Month", "Text", "DataPoint"].map(str::to_owned);
        let known: Vec<String> = enums.chain(facts).chain(plain).collect();
        let wrong = Diagnostic::new(Code::RuleNameUnknown, span, format!("there is no type `{name}`"));
        self.wrong.push(wrong.did_you_mean(span, name, known.iter().map(String::as_str)));
        Type::Wrong
    }

    /// What a named type stands for. Types can only speak of types before them, so none is part of
    /// itself.
    fn alias(&mut self, at: usize, span: Span) -> Type {
        let types = &self.package.types;
        let speaking = types.iter().position(|item| contains(item.ty.span, span));
        if speaking.is_some_and(|speaking| speaking <= at) {
            let message = format!("`{}` is not known before it is defined", types[at].name.text);
            let wrong = Diagnostic::new(Code::RuleNameUnknown, span, message);
            self.wrong.push(wrong.also(types[at].name.span, "defined here"));
            return Type::Wrong;
        }
        self.written(&types[at].ty)
    }

    fn record_type(&mut self, fields: &[ast::Param]) -> Type {
        let mut parts: Vec<(String, Type)> = Vec::new();
        for field in fields {
            self.field_name(&field.name);
            if let Some(first) = fields.iter().find(|first| first.name.text == field.name.text)
                && first.name.span != field.name.span
            {
                self.wrong.push(super::names::twice(&field.name, first.name.span));
                continue;
            }
            let ty = self.written(&field.ty);
            parts.push((field.name.text.clone(), ty));
        }
        parts.sort_by(|left, right| left.0.cmp(&right.0));
        Type::Rec(parts)
    }

    /// Names of fields end up as keys of canonical JSON.
    pub(super) fn field_name(&mut self, name: &ast::Name) {
        let fine = name.text.starts_with(|first: char| first.is_ascii_lowercase())
            && name.text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !fine {
            self.type_error(name.span, "a field is named with small letters, digits and `_`");
        }
    }
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}
