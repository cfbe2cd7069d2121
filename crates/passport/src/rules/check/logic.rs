//! `and`, `or`, comparisons, `match` and comprehensions.

use std::collections::BTreeSet;

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::program::{Compare, Logic, NodeId, Op, Slot};
use crate::rules::source::Span;
use crate::rules::syntax::ast::{self, Arm, Comp, CompKind, Expr, ExprKind, PatternKind};
use crate::rules::types::{EnumId, Type};
use crate::value::Unit;

use super::Checker;

impl Checker<'_> {
    pub(super) fn binary(&mut self, op: ast::Op, left: &Expr, right: &Expr, span: Span) -> NodeId {
        match op {
            ast::Op::And => self.both(Logic::And, left, right, true, span),
            ast::Op::Or => self.both(Logic::Or, left, right, false, span),
            ast::Op::Implies => self.both(Logic::Implies, left, right, true, span),
            ast::Op::Equal => self.compare(Compare::Equal, left, right, span),
            ast::Op::NotEqual => self.compare(Compare::NotEqual, left, right, span),
            ast::Op::Less => self.compare(Compare::Less, left, right, span),
            ast::Op::AtMost => self.compare(Compare::AtMost, left, right, span),
            ast::Op::Greater => self.compare(Compare::Greater, left, right, span),
            ast::Op::AtLeast => self.compare(Compare::AtLeast, left, right, span),
            ast::Op::In => self.in_(left, right, span),
            ast::Op::Plus | ast::Op::Minus | ast::Op::Times => self.arith(op, left, right, span),
        }
    }

    /// The right side is only looked at where the left has a certain value, so it may rely on it.
    fn both(&mut self, logic: Logic, left: &Expr, right: &Expr, relies_on: bool, span: Span) -> NodeId {
        let left_node = self.expect(left, &Type::Bool);
        let learned = self.learned(left, relies_on);
        let before = self.scope.learn(learned);
        let right_node = self.expect(right, &Type::Bool);
        self.scope.forget(before);
        self.add(Op::Logic(logic, left_node, right_node), Type::Bool, span)
    }

    fn compare(&mut self, compare: Compare, left: &Expr, right: &Expr, span: Span) -> NodeId {
        // A tag knows its enumeration only from the other side.
        let (left_node, right_node) = if self.is_bare_tag(left) && !self.is_bare_tag(right) {
            let right_node = self.infer(right, None);
            let hint = self.ty(right_node).clone();
            (self.infer(left, Some(&hint)), right_node)
        } else {
            let left_node = self.infer(left, None);
            let hint = self.ty(left_node).clone();
            (left_node, self.infer(right, Some(&hint)))
        };
        let (left_ty, right_ty) = (self.ty(left_node).clone(), self.ty(right_node).clone());
        if left_ty == Type::Wrong || right_ty == Type::Wrong {
            return self.add(Op::Compare(compare, left_node, right_node), Type::Bool, span);
        }
        for node in [left_node, right_node] {
            if let Type::Opt(inner) = self.ty(node).clone() {
                let message = format!("this {} may be missing and cannot be compared", self.show(&inner));
                let wrong = Diagnostic::new(Code::RuleTypeError, self.span(node), message);
                return self.wrong_node(
                    wrong.help("match it, ask `present(..)` before, or write `need` in front of it"),
                );
            }
        }
        let Some(common) = self.join(&left_ty, &right_ty) else {
            return self.not_comparable((left_node, &left_ty), (right_node, &right_ty), span);
        };
        let equality = matches!(compare, Compare::Equal | Compare::NotEqual);
        let comparable = common.is_ordered() || (equality && common.is_scalar());
        if !comparable {
            let message = format!("{} cannot be compared with `{}`", self.show(&common), compare.as_str());
            return self.type_error(span, message);
        }
        let left_node = self.coerce(left_node, &common);
        let right_node = self.coerce(right_node, &common);
        self.add(Op::Compare(compare, left_node, right_node), Type::Bool, span)
    }

    fn not_comparable(&mut self, left: (NodeId, &Type), right: (NodeId, &Type), span: Span) -> NodeId {
        let ((left_node, left), (right_node, right)) = (left, right);
        let units = matches!(left, Type::Qty(_)) || matches!(right, Type::Qty(_));
        let code = if units && left.is_number() && right.is_number() {
            Code::UnitMismatch
        } else {
            Code::RuleTypeError
        };
        let message = format!("{} cannot be compared with {}", self.show(left), self.show(right));
        let mut wrong = Diagnostic::new(code, span, message);
        for (node, ty) in [(left_node, left), (right_node, right)] {
            wrong = wrong.also(self.span(node), format!("this is {}", self.show(ty)));
        }
        let help = match (left, right) {
            (Type::Qty(unit), _) | (_, Type::Qty(unit)) if code == Code::UnitMismatch => {
                format!("{} compares with {}", self.show(&Type::Qty(*unit)), units_beside(*unit))
            }
            _ => "both sides must have one type".to_owned(),
        };
        self.wrong_node(wrong.help(help))
    }

    fn is_bare_tag(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => {
                self.scope.find(name).is_none()
                    && self.global(name).is_none()
                    && !super::names::VALUES.contains(&name.as_str())
            }
            _ => false,
        }
    }

    fn in_(&mut self, left: &Expr, right: &Expr, span: Span) -> NodeId {
        let left_node = self.infer(left, None);
        let element = self.ty(left_node).clone();
        if let Type::Opt(inner) = &element {
            let message = format!("this {} may be missing", self.show(inner));
            let wrong = Diagnostic::new(Code::RuleTypeError, left.span, message);
            return self.wrong_node(wrong.help("ask `present(..)` before, or write `need` in front of it"));
        }
        let list = self.infer(right, Some(&Type::List(Box::new(element.clone()))));
        match self.ty(list).clone() {
            Type::Wrong => list,
            Type::List(inner) => {
                let fits = |common: &Type| (*common == *inner || common.is_integer()) && common.is_scalar();
                let Some(common) = self.join(&element, &inner).filter(fits) else {
                    let message =
                        format!("a list of {} has no {} in it", self.show(&inner), self.show(&element));
                    return self.type_error(span, message);
                };
                let left_node = self.coerce(left_node, &common);
                self.add(Op::In(left_node, list), Type::Bool, span)
            }
            other => {
                let message = format!("expected a list, found {}", self.show(&other));
                self.type_error(right.span, message)
            }
        }
    }

    pub(super) fn match_(&mut self, value: &Expr, arms: &[Arm], want: Option<&Type>, span: Span) -> NodeId {
        let node = self.infer(value, None);
        match self.ty(node).clone() {
            Type::Opt(inner) => self.match_opt(node, *inner, arms, want, span),
            Type::Enum(id) => self.match_tag(node, id, arms, want, span),
            Type::Wrong => node,
            other => {
                let message =
                    format!("only an `Opt` or an enumeration can be matched, not {}", self.show(&other));
                self.type_error(value.span, message)
            }
        }
    }

    fn match_opt(
        &mut self,
        value: NodeId,
        inner: Type,
        arms: &[Arm],
        want: Option<&Type>,
        span: Span,
    ) -> NodeId {
        let (mut some, mut none): (Option<(Slot, NodeId)>, Option<NodeId>) = (None, None);
        for arm in arms {
            let pattern = &arm.patterns[0];
            if let Some(more) = arm.patterns.get(1) {
                return self.type_error(more.span, "an `Opt` is matched with one pattern in each arm");
            }
            let taken = match &pattern.kind {
                PatternKind::Some(name) => {
                    let depth = self.scope.depth();
                    let slot = self.scope.add(&name.text, inner.clone());
                    let body = self.infer(&arm.body, want);
                    self.scope.leave(depth);
                    some.replace((slot, body)).is_some()
                }
                PatternKind::None | PatternKind::Any => {
                    let hint = want.cloned().or_else(|| some.map(|(_, body)| self.ty(body).clone()));
                    let body = self.infer(&arm.body, hint.as_ref());
                    let taken = none.replace(body).is_some();
                    // `_` also stands for something, if nothing before it did.
                    if matches!(pattern.kind, PatternKind::Any) && some.is_none() {
                        let slot = self.scope.add("_", inner.clone());
                        some = Some((slot, body));
                    }
                    taken
                }
                PatternKind::Tag(tag) => {
                    let message = format!("`{tag}` is no pattern of an `Opt`");
                    return self.match_error(pattern.span, message, "its patterns are `some(x)` and `none`");
                }
            };
            if taken {
                return self.match_error(pattern.span, "this is matched before", "");
            }
        }
        match (some, none) {
            (Some((slot, some)), Some(none)) => {
                let arms = self.joined(vec![some, none], want, span);
                let ty = self.ty(arms[0]).clone();
                self.add(Op::MatchOpt(value, slot, arms[0], arms[1]), ty, span)
            }
            (None, _) => self.match_error(span, "`some(..)` is not matched", ""),
            (_, None) => self.match_error(span, "`none` is not matched", ""),
        }
    }

    fn match_tag(
        &mut self,
        value: NodeId,
        id: EnumId,
        arms: &[Arm],
        want: Option<&Type>,
        span: Span,
    ) -> NodeId {
        let tags = self.enums().info(id).tags.clone();
        let mut arm_of: Vec<Option<u16>> = vec![None; tags.len()];
        let mut bodies: Vec<NodeId> = Vec::new();
        for (index, arm) in arms.iter().enumerate() {
            for pattern in &arm.patterns {
                let fresh: BTreeSet<usize> = match &pattern.kind {
                    PatternKind::Any => (0..tags.len()).filter(|tag| arm_of[*tag].is_none()).collect(),
                    PatternKind::Tag(word) => match self.tag(id, word, pattern.span) {
                        Some(crate::rules::program::Lit::Tag(tag)) if arm_of[usize::from(tag)].is_none() => {
                            [usize::from(tag)].into()
                        }
                        Some(_) => BTreeSet::new(),
                        None => return self.add(Op::Datapoints, Type::Wrong, span),
                    },
                    PatternKind::None if tags.iter().any(|tag| tag == "none") => {
                        let tag = tags.iter().position(|tag| tag == "none").unwrap_or(0);
                        if arm_of[tag].is_none() { [tag].into() } else { BTreeSet::new() }
                    }
                    PatternKind::Some(_) | PatternKind::None => {
                        let message = format!("{} is no `Opt`", self.enums().info(id).name);
                        return self.match_error(pattern.span, message, "match its values");
                    }
                };
                if fresh.is_empty() {
                    return self.match_error(pattern.span, "this is matched before", "");
                }
                for tag in fresh {
                    arm_of[tag] = Some(index as u16);
                }
            }
            let hint = want.cloned().or_else(|| bodies.first().map(|body| self.ty(*body).clone()));
            let body = self.infer(&arm.body, hint.as_ref());
            bodies.push(body);
        }
        let missing: Vec<_> =
            tags.iter().zip(&arm_of).filter(|(_, arm)| arm.is_none()).map(|(tag, _)| tag.as_str()).collect();
        if !missing.is_empty() {
            let message = format!("not matched: {}", missing.join(", "));
            return self.match_error(span, message, "add arms for them, or `_ => ..`");
        }
        let bodies = self.joined(bodies, want, span);
        let ty = self.ty(bodies[0]).clone();
        self.add(Op::MatchTag(value, arm_of.into_iter().flatten().collect(), bodies), ty, span)
    }

    fn match_error(&mut self, span: Span, message: impl Into<String>, help: &str) -> NodeId {
        let wrong = Diagnostic::new(Code::RuleMatchNotExhaustive, span, message);
        self.wrong_node(if help.is_empty() { wrong } else { wrong.help(help) })
    }

    pub(super) fn comp(&mut self, comp: &Comp, want: Option<&Type>, span: Span) -> NodeId {
        let source = self.infer(&comp.source, None);
        let element = match self.ty(source).clone() {
            Type::List(element) => *element,
            Type::Wrong => Type::Wrong,
            other => {
                let message = format!("expected a list, found {}", self.show(&other));
                return self.type_error(comp.source.span, message);
            }
        };
        let depth = self.scope.depth();
        let slot = self.scope.add(&comp.var.text, element.clone());
        let filter = comp.filter.as_ref().map(|filter| self.expect(filter, &Type::Bool));
        let learned = comp.filter.as_ref().map_or(Vec::new(), |filter| self.learned(filter, true));
        let before = self.scope.learn(learned);
        let body = comp.body.as_ref().map(|body| self.comp_body(comp.kind, body, want));
        self.scope.forget(before);
        self.scope.leave(depth);
        let value = body.map_or(element, |body| self.ty(body).clone());
        let needs_body = matches!(
            comp.kind,
            CompKind::All | CompKind::Any | CompKind::Sum | CompKind::Min | CompKind::Max
        );
        let no_body = matches!(comp.kind, CompKind::Count | CompKind::First);
        if needs_body && body.is_none() && !value.is_number() {
            return self.type_error(span, format!("`{}` needs `: ..` after its list", comp.kind.as_str()));
        }
        if no_body && body.is_some() {
            return self.type_error(span, format!("`{}` has nothing after its list", comp.kind.as_str()));
        }
        let ty = match comp.kind {
            CompKind::All | CompKind::Any => Type::Bool,
            CompKind::Count => Type::Int,
            CompKind::List => Type::List(Box::new(value.clone())),
            CompKind::First => value.clone().or_none(),
            CompKind::Sum if value.is_number() || value == Type::Wrong => match value {
                Type::Range(..) => Type::Int,
                ref other => other.clone(),
            },
            CompKind::Min | CompKind::Max if value.is_ordered() || value == Type::Wrong => {
                value.clone().or_none()
            }
            _ => {
                let message = format!("`{}` of {} makes no sense", comp.kind.as_str(), self.show(&value));
                let wrong = Diagnostic::new(Code::RuleTypeError, span, message);
                return self.wrong_node(match value {
                    Type::Opt(_) => {
                        wrong.help("write `need` in front of what may be missing, or filter with `where`")
                    }
                    _ => wrong,
                });
            }
        };
        self.add(Op::Comp { kind: comp.kind, slot, source, filter, body }, ty, span)
    }

    fn comp_body(&mut self, kind: CompKind, body: &Expr, want: Option<&Type>) -> NodeId {
        match (kind, want) {
            (CompKind::All | CompKind::Any, _) => self.expect(body, &Type::Bool),
            (CompKind::List, Some(Type::List(element))) => self.expect(body, element),
            (_, want) => self.infer(body, want),
        }
    }
}

/// The units that a quantity can be compared with.
fn units_beside(unit: Unit) -> String {
    let units = Unit::ALL.iter().filter(|other| other.dimension() == unit.dimension());
    units.map(|unit| unit.symbol()).collect::<Vec<_>>().join(", ")
}
