//! Types of expressions. A wanted type travels inwards, so that tags, `none` and lists know what
//! they are; a found type travels outwards.

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::program::{Lit, NodeId, Op};
use crate::rules::source::Span;
use crate::rules::syntax::ast::{self, Expr, ExprKind, Name};
use crate::rules::types::{EnumId, Type};

use super::Checker;
use super::names::{FUNCTIONS, Global, VALUES};

impl Checker<'_> {
    /// An expression of exactly this type.
    pub(super) fn expect(&mut self, expr: &Expr, want: &Type) -> NodeId {
        let node = self.infer(expr, Some(want));
        self.coerce(node, want)
    }

    /// An expression of whatever type it is; `want` is a hint.
    pub(super) fn infer(&mut self, expr: &Expr, want: Option<&Type>) -> NodeId {
        let span = expr.span;
        let plain = want.map(Type::present);
        match &expr.kind {
            ExprKind::Number(text) => self.number(text, plain, span),
            ExprKind::Qty(text, unit) => {
                let (Some(number), Some(unit)) = (self.decimal(text, span), self.unit(unit)) else {
                    return self.add(Op::Datapoints, Type::Wrong, span);
                };
                self.add(Op::Lit(Lit::Dec(number)), Type::Qty(unit), span)
            }
            ExprKind::Date(_) => self.lit(expr, &Type::Date),
            ExprKind::Month(_) => self.lit(expr, &Type::Month),
            ExprKind::Text(_) => match plain {
                Some(want @ Type::Enum(_)) => self.lit(expr, want),
                _ => self.lit(expr, &Type::Text),
            },
            ExprKind::Bool(_) => self.lit(expr, &Type::Bool),
            ExprKind::None => match want {
                Some(want @ Type::Opt(_)) => self.add(Op::Lit(Lit::None), want.clone(), span),
                Some(Type::Wrong) => self.add(Op::Lit(Lit::None), Type::Wrong, span),
                Some(Type::Enum(id)) if self.enums().tag(*id, "none").is_some() => {
                    self.tag_node(*id, "none", span)
                }
                _ => self.type_error(span, "`none` of what cannot be told here"),
            },
            ExprKind::Name(name) => self.name(name, plain, span),
            ExprKind::Field(base, field) => self.field(expr, base, field),
            ExprKind::Call(name, args) => self.call(name, args, want, span),
            ExprKind::Rule(_) => self.type_error(span, "a rule can only be asked with `verdict(RULE)`"),
            ExprKind::Pointer(_) => {
                self.type_error(span, "a pointer can only be read with `payload(/pointer)`")
            }
            ExprKind::Not(inner) => {
                let inner = self.expect(inner, &Type::Bool);
                self.add(Op::Not(inner), Type::Bool, span)
            }
            ExprKind::Minus(inner) => self.negative(inner, want, span),
            ExprKind::Need(inner) => self.need(inner, want, span),
            ExprKind::PctOf(text, whole) => self.pct_of(text, whole, span),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, span),
            ExprKind::If(condition, then, otherwise) => self.if_(condition, then, otherwise, want, span),
            ExprKind::Match(value, arms) => self.match_(value, arms, want, span),
            ExprKind::List(elements) => self.list(elements, plain, span),
            ExprKind::Record(fields) => self.record(fields, plain, span),
            ExprKind::Comp(comp) => self.comp(comp, plain, span),
        }
    }

    fn lit(&mut self, expr: &Expr, ty: &Type) -> NodeId {
        match self.literal(expr, ty) {
            Some(lit) => self.add(Op::Lit(lit), ty.clone(), expr.span),
            None => self.add(Op::Datapoints, Type::Wrong, expr.span),
        }
    }

    fn number(&mut self, text: &str, want: Option<&Type>, span: Span) -> NodeId {
        let expr = Expr { kind: ExprKind::Number(text.to_owned()), span };
        match want {
            Some(want @ (Type::Dec | Type::Range(..))) => self.lit(&expr, want),
            _ if text.contains('.') => self.lit(&expr, &Type::Dec),
            _ => self.lit(&expr, &Type::Int),
        }
    }

    fn name(&mut self, name: &str, want: Option<&Type>, span: Span) -> NodeId {
        let variable = self.scope.find(name).map(|found| (found.slot, found.ty.clone()));
        if let Some(Type::Enum(id)) = want
            && self.enums().tag(*id, name).is_some()
        {
            if variable.as_ref().is_some_and(|(_, ty)| ty.present() == &Type::Enum(*id)) {
                let message =
                    format!("`{name}` is both a variable and a value of {}", self.enums().info(*id).name);
                return self.type_error(span, message);
            }
            return self.tag_node(*id, name, span);
        }
        if let Some((slot, ty)) = variable {
            let node = self.add(Op::Local(slot), ty, span);
            let expr = Expr { kind: ExprKind::Name(name.to_owned()), span };
            return self.narrowed(&expr, node);
        }
        match self.names.globals.get(name).map(|(global, _)| *global) {
            Some(Global::Const(index)) => {
                let ty = self.package.consts[index].ty.clone();
                let ty = self.written(&ty);
                return self.add(Op::Const(index), ty, span);
            }
            Some(Global::Def(index)) if self.package.defs[index].params.is_empty() => {
                let ty = self.package.defs[index].result.clone();
                let ty = self.written(&ty);
                return self.add(Op::Call(index, Vec::new()), ty, span);
            }
            Some(_) => return self.type_error(span, format!("`{name}` needs arguments")),
            None => {}
        }
        match name {
            "as_of" => self.add(Op::AsOf, Type::Date, span),
            "build_id" => self.add(Op::BuildId, Type::Text, span),
            "product" => self.add(Op::Product, Type::Fact(crate::facts::FactType::Battery), span),
            "datapoints" if self.names.datapoints > 0 => {
                let number = Type::Range(1, self.names.datapoints);
                self.add(Op::Datapoints, Type::List(Box::new(number)), span)
            }
            _ => self.unknown_name(name, want, span),
        }
    }

    fn unknown_name(&mut self, name: &str, want: Option<&Type>, span: Span) -> NodeId {
        let mut known: Vec<String> = self.scope.names().map(str::to_owned).collect();
        known.extend(self.names.globals.keys().cloned());
        known.extend(VALUES.iter().chain(FUNCTIONS).map(|name| (*name).to_owned()));
        let mut wrong = Diagnostic::new(Code::RuleNameUnknown, span, format!("`{name}` is not known here"));
        if let Some(Type::Enum(id)) = want {
            let info = self.enums().info(*id);
            known.extend(info.tags.iter().cloned());
            wrong = wrong.help(format!("values of {} are {}", info.name, info.tags.join(", ")));
        }
        if let Some((left, right)) = name.split_once('-') {
            wrong =
                wrong.help("a hyphen between letters belongs to the name; subtraction has spaces around it");
            return self.wrong_node(wrong.suggest(span, format!("{left} - {right}")));
        }
        let wrong = wrong.did_you_mean(span, name, known.iter().map(String::as_str));
        self.wrong_node(wrong)
    }

    pub(super) fn tag_node(&mut self, id: EnumId, word: &str, span: Span) -> NodeId {
        match self.tag(id, word, span) {
            Some(lit) => self.add(Op::Lit(lit), Type::Enum(id), span),
            None => self.add(Op::Datapoints, Type::Wrong, span),
        }
    }

    fn field(&mut self, whole: &Expr, base: &Expr, field: &Name) -> NodeId {
        if let ExprKind::Name(name) = &base.kind
            && self.scope.find(name).is_none()
            && let Some(id) = self.enums().find(name)
        {
            return self.tag_node(id, &field.text, field.span);
        }
        let from = self.infer(base, None);
        let found = match self.ty(from).clone() {
            Type::Wrong => return self.add(Op::Datapoints, Type::Wrong, whole.span),
            Type::Fact(fact) => match fact.schema().field(&field.text) {
                Some(found) => Some(self.enums().field_type(found)),
                None => {
                    self.no_field(fact, field);
                    None
                }
            },
            Type::Rec(fields) => {
                let found = fields.iter().find(|(name, _)| *name == field.text).map(|(_, ty)| ty.clone());
                if found.is_none() {
                    let message = format!("the record has no field `{}`", field.text);
                    let wrong = Diagnostic::new(Code::RuleNameUnknown, field.span, message);
                    let names = fields.iter().map(|(name, _)| name.as_str());
                    self.wrong.push(wrong.did_you_mean(field.span, &field.text, names));
                }
                found
            }
            Type::Opt(inner) => {
                let message = format!("this {} may be missing", self.show(&inner));
                let wrong = Diagnostic::new(Code::RuleTypeError, base.span, message);
                self.wrong.push(wrong.help("match it, ask `present(..)` before, or write `(need ..).field`"));
                None
            }
            other => {
                let message = format!("{} has no fields", self.show(&other));
                self.type_error(base.span, message);
                None
            }
        };
        match found {
            Some(ty) => {
                let node = self.add(Op::Field(from, field.text.clone()), ty, whole.span);
                self.narrowed(whole, node)
            }
            None => self.add(Op::Datapoints, Type::Wrong, whole.span),
        }
    }

    /// A value that a condition around it has found to be present is no `Opt`.
    fn narrowed(&mut self, expr: &Expr, node: NodeId) -> NodeId {
        let Type::Opt(inner) = self.ty(node).clone() else { return node };
        match self.path(expr) {
            Some(path) if self.scope.is_present(&path) => {
                let text = describe(expr);
                self.add(Op::Need(node, text), *inner, expr.span)
            }
            _ => node,
        }
    }

    fn need(&mut self, inner: &Expr, want: Option<&Type>, span: Span) -> NodeId {
        let hint = want.map(|want| want.clone().or_none());
        let node = self.infer(inner, hint.as_ref());
        match self.ty(node).clone() {
            Type::Opt(ty) => self.add(Op::Need(node, describe(inner)), *ty, span),
            Type::Wrong => node,
            other => {
                let message = format!("this {} is always there", self.show(&other));
                let wrong = Diagnostic::new(Code::RuleTypeError, span, message);
                self.wrong_node(wrong.help("leave `need` out"))
            }
        }
    }

    fn list(&mut self, elements: &[Expr], want: Option<&Type>, span: Span) -> NodeId {
        let mut element = match want {
            Some(Type::List(element)) => Some((**element).clone()),
            _ => None,
        };
        let fixed = element.is_some();
        let mut nodes = Vec::new();
        for one in elements {
            let node = self.infer(one, element.as_ref());
            let ty = self.ty(node).clone();
            element = match element {
                Some(element) if !fixed => Some(self.join(&element, &ty).unwrap_or(element)),
                Some(element) => Some(element),
                None => Some(ty),
            };
            nodes.push(node);
        }
        let Some(element) = element else {
            return self.type_error(span, "an empty list of what cannot be told here");
        };
        let nodes = nodes.into_iter().map(|node| self.coerce(node, &element)).collect();
        self.add(Op::List(nodes), Type::List(Box::new(element)), span)
    }

    fn record(&mut self, fields: &[(Name, Expr)], want: Option<&Type>, span: Span) -> NodeId {
        let wanted = match want {
            Some(Type::Rec(parts)) => parts.clone(),
            _ => Vec::new(),
        };
        let mut parts: Vec<(String, Type, NodeId)> = Vec::new();
        for (name, value) in fields {
            self.field_name(name);
            if parts.iter().any(|(before, ..)| *before == name.text) {
                let message = format!("the field `{}` is given twice", name.text);
                self.wrong.push(Diagnostic::new(Code::RuleDuplicate, name.span, message));
                continue;
            }
            let node = match wanted.iter().find(|(wanted, _)| *wanted == name.text) {
                Some((_, ty)) => self.expect(value, ty),
                None => self.infer(value, None),
            };
            parts.push((name.text.clone(), self.ty(node).clone(), node));
        }
        for (name, ty) in &wanted {
            if !parts.iter().any(|(given, ..)| given == name) && matches!(ty, Type::Opt(_)) {
                let node = self.add(Op::Lit(Lit::None), ty.clone(), span);
                parts.push((name.clone(), ty.clone(), node));
            }
        }
        parts.sort_by(|left, right| left.0.cmp(&right.0));
        let nodes = parts.iter().map(|(_, _, node)| *node).collect();
        let ty = Type::Rec(parts.into_iter().map(|(name, ty, _)| (name, ty)).collect());
        self.add(Op::Record(nodes), ty, span)
    }

    fn if_(
        &mut self,
        condition: &Expr,
        then: &Expr,
        otherwise: &Expr,
        want: Option<&Type>,
        span: Span,
    ) -> NodeId {
        let condition_node = self.expect(condition, &Type::Bool);
        let (holds, holds_not) = (self.learned(condition, true), self.learned(condition, false));
        let before = self.scope.learn(holds);
        let then = self.infer(then, want);
        self.scope.forget(before);
        let before = self.scope.learn(holds_not);
        let hint = want.cloned().unwrap_or_else(|| self.ty(then).clone());
        let otherwise = self.infer(otherwise, Some(&hint));
        self.scope.forget(before);
        let arms = self.joined(vec![then, otherwise], want, span);
        let ty = self.ty(arms[0]).clone();
        self.add(Op::If(condition_node, arms[0], arms[1]), ty, span)
    }

    /// Brings alternatives to one type.
    pub(super) fn joined(&mut self, nodes: Vec<NodeId>, want: Option<&Type>, span: Span) -> Vec<NodeId> {
        let mut common = self.ty(nodes[0]).clone();
        for node in &nodes[1..] {
            let ty = self.ty(*node).clone();
            match self.join(&common, &ty) {
                Some(joined) => common = joined,
                None => {
                    let message = format!(
                        "alternatives have different types: {} and {}",
                        self.show(&common),
                        self.show(&ty)
                    );
                    let also = self.span(nodes[0]);
                    let wrong = Diagnostic::new(Code::RuleTypeError, self.span(*node), message);
                    let wrong = if also == span { wrong } else { wrong.also(also, "the first is here") };
                    self.wrong_node(wrong);
                    common = Type::Wrong;
                }
            }
        }
        let common = match want {
            Some(want) if self.join(want, &common).as_ref() == Some(want) => want.clone(),
            _ => common,
        };
        nodes.into_iter().map(|node| self.coerce(node, &common)).collect()
    }

    pub(super) fn global(&self, name: &str) -> Option<Global> {
        self.names.globals.get(name).map(|(global, _)| *global)
    }
}

/// How an expression is named to people when its value is missing.
pub(super) fn describe(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Field(base, field) => format!("{}.{}", describe(base), field.text),
        ExprKind::Call(name, args) => {
            let args: Vec<_> = args.iter().map(describe).collect();
            format!("{}({})", name.text, args.join(", "))
        }
        ExprKind::Need(inner) => describe(inner),
        ExprKind::Text(text) | ExprKind::Pointer(text) | ExprKind::Number(text) => text.clone(),
        ExprKind::Comp(comp) => format!("{} {}", comp.kind.as_str(), describe(&comp.source)),
        _ => "a value".to_owned(),
    }
}

/// Names of a package that take arguments.
pub(super) fn callable(package: &ast::Package) -> impl Iterator<Item = &str> {
    let tables = package.tables.iter().map(|table| table.name.text.as_str());
    tables.chain(package.defs.iter().map(|def| def.name.text.as_str()))
}
