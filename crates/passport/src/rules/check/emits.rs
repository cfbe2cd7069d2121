//! Emitted attributes: one pointer, one point of Annex XIII, one data point each.

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::program::{Emit, Shown};
use crate::rules::syntax::ast::{EmitItem, From};
use crate::rules::types::Type;

use super::Checker;
use super::scope::Scope;

impl Checker<'_> {
    pub(super) fn emits(&mut self) -> Vec<Emit> {
        let mut items: Vec<&EmitItem> = self.package.emits.iter().collect();
        items.sort_by(|left, right| left.pointer.text.cmp(&right.pointer.text));
        for (index, item) in items.iter().enumerate() {
            for before in &items[..index] {
                self.clash(before, item);
            }
        }
        items.into_iter().map(|item| self.emit(item)).collect()
    }

    fn clash(&mut self, before: &EmitItem, item: &EmitItem) {
        if before.pointer.text == item.pointer.text {
            let message = format!("`{}` is emitted twice", item.pointer.text);
            let wrong = Diagnostic::new(Code::RuleDuplicate, item.pointer.span, message)
                .label("again here")
                .also(before.pointer.span, "first here");
            self.wrong.push(wrong.help("one attribute has one pointer: give this one another, or join both"));
        } else if item.pointer.text.starts_with(&format!("{}/", before.pointer.text)) {
            let message = format!("`{}` lies inside `{}`", item.pointer.text, before.pointer.text);
            let wrong = Diagnostic::new(Code::RuleDuplicate, item.pointer.span, message);
            let wrong = wrong.also(before.pointer.span, "which is emitted here");
            self.wrong.push(wrong.help("make it part of that record, or give it a pointer beside it"));
        }
        if before.dp.0 == item.dp.0 {
            let message = format!("data point {} is emitted twice", item.dp.0);
            let wrong = Diagnostic::new(Code::RuleDuplicate, item.dp.1, message);
            self.wrong.push(wrong.also(before.dp.1, "first here").help("join them in one record"));
        }
    }

    fn emit(&mut self, item: &EmitItem) -> Emit {
        self.scope = Scope::default();
        let last = self.names.datapoints;
        if !(1..=last).contains(&item.dp.0) {
            let wrong = Diagnostic::new(
                Code::RuleTypeError,
                item.dp.1,
                format!("there is no data point {}", item.dp.0),
            );
            self.wrong.push(wrong.help(format!("`datapoints 1..{last};` says which there are")));
        }
        if !item.pointer.text[1..]
            .split('/')
            .all(|key| key.starts_with(|first: char| first.is_ascii_lowercase()))
        {
            self.type_error(item.pointer.span, "each part of a pointer begins with a small letter");
        }
        let ty = self.written(&item.ty);
        if matches!(ty, Type::Opt(_)) {
            let wrong = Diagnostic::new(
                Code::RuleTypeError,
                item.ty.span,
                "an attribute that is `none` is not emitted",
            );
            self.wrong.push(wrong.help("leave `Opt` out of its type"));
        }
        if !is_json(&ty) {
            let message = format!("{} has no form in a passport", self.show(&ty));
            self.type_error(item.ty.span, message);
        }
        let shown = match &item.from {
            None => Shown::Always,
            Some(From::Undated(_)) => Shown::Undated,
            Some(From::Date(date)) => {
                self.date(date).map_or(Shown::Always, |day| Shown::From(day, date.span))
            }
        };
        let value = self.expect(&item.value, &ty.clone().or_none());
        Emit {
            pointer: item.pointer.text.clone(),
            ty,
            dp: item.dp.0,
            point: item.point,
            shown,
            value,
            slots: self.scope.slots(),
            cost_max: 0,
            span: item.pointer.span,
        }
    }
}

/// Whether values of this type can be written to a passport.
fn is_json(ty: &Type) -> bool {
    match ty {
        Type::Fact(_) => false,
        Type::Opt(inner) | Type::List(inner) => is_json(inner),
        Type::Rec(fields) => fields.iter().all(|(_, ty)| is_json(ty)),
        _ => true,
    }
}
