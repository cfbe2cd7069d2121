//! Arithmetic and its units.

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::program::{Arith, NodeId, Op};
use crate::rules::source::Span;
use crate::rules::syntax::ast::{self, Expr, ExprKind};
use crate::rules::types::Type;
use crate::value::MAX_DECIMALS;

use super::Checker;

impl Checker<'_> {
    pub(super) fn arith(&mut self, op: ast::Op, left: &Expr, right: &Expr, span: Span) -> NodeId {
        let (left, right) = (self.infer(left, None), self.infer(right, None));
        let Some((left_ty, right_ty)) = self.numbers(left, right, op.as_str(), span) else {
            return self.add(Op::Datapoints, Type::Wrong, span);
        };
        match op {
            ast::Op::Times => self.times(left, right, span),
            _ => {
                let arith = if op == ast::Op::Plus { Arith::Plus } else { Arith::Minus };
                let Some(common) = self.join(&left_ty, &right_ty) else {
                    return self.no_units(&left_ty, &right_ty, "add or subtract", span);
                };
                let common = if common.is_integer() { Type::Int } else { common };
                let (left, right) = (self.coerce(left, &common), self.coerce(right, &common));
                self.add(Op::Arith(arith, left, right), common, span)
            }
        }
    }

    fn times(&mut self, left: NodeId, right: NodeId, span: Span) -> NodeId {
        let (left_ty, right_ty) = (self.ty(left).clone(), self.ty(right).clone());
        let (left, right, ty) = match (&left_ty, &right_ty) {
            (Type::Qty(a), Type::Qty(b)) => {
                let Some(units) = a.product(*b) else {
                    return self.no_units(&left_ty, &right_ty, "multiply", span);
                };
                (
                    self.convert(left, *a, units.left),
                    self.convert(right, *b, units.right),
                    Type::Qty(units.result),
                )
            }
            (Type::Qty(_), _) => (left, self.coerce(right, &Type::Dec), left_ty),
            (_, Type::Qty(_)) => (self.coerce(left, &Type::Dec), right, right_ty),
            (a, b) if a.is_integer() && b.is_integer() => (left, right, Type::Int),
            _ => (self.coerce(left, &Type::Dec), self.coerce(right, &Type::Dec), Type::Dec),
        };
        self.add(Op::Arith(Arith::Times, left, right), ty, span)
    }

    /// `div(a, b, scale, HALF_EVEN)`
    pub(super) fn div(&mut self, args: &[Expr], span: Span) -> NodeId {
        let [above, below, scale, mode] = args else {
            return self.type_error(span, "write `div(a, b, scale, HALF_EVEN)`");
        };
        if !matches!(&mode.kind, ExprKind::Name(name) if name == "HALF_EVEN") {
            return self.type_error(mode.span, "the only way to round is HALF_EVEN");
        }
        let decimals = match &scale.kind {
            ExprKind::Number(text) => {
                text.parse::<u8>().ok().filter(|scale| usize::from(*scale) <= MAX_DECIMALS)
            }
            _ => None,
        };
        let Some(decimals) = decimals else {
            return self.type_error(scale.span, format!("the scale is a number from 0 to {MAX_DECIMALS}"));
        };
        let (above, below) = (self.infer(above, None), self.infer(below, None));
        let Some((above_ty, below_ty)) = self.numbers(above, below, "div", span) else {
            return self.add(Op::Datapoints, Type::Wrong, span);
        };
        let (above, below, ty) = match (&above_ty, &below_ty) {
            (Type::Qty(a), Type::Qty(b)) => match (a.finer(*b), a.quotient(*b)) {
                (Some(finer), _) => {
                    (self.convert(above, *a, finer), self.convert(below, *b, finer), Type::Dec)
                }
                (None, Some(units)) => (
                    self.convert(above, *a, units.left),
                    self.convert(below, *b, units.right),
                    Type::Qty(units.result),
                ),
                (None, None) => return self.no_units(&above_ty, &below_ty, "divide", span),
            },
            (Type::Qty(_), _) => (above, self.coerce(below, &Type::Dec), above_ty),
            (_, Type::Qty(_)) => return self.no_units(&above_ty, &below_ty, "divide", span),
            _ => (self.coerce(above, &Type::Dec), self.coerce(below, &Type::Dec), Type::Dec),
        };
        self.add(Op::Div(above, below, decimals), ty, span)
    }

    /// `ratio(a, b)`, in percent.
    pub(super) fn ratio(&mut self, args: &[Expr], span: Span) -> NodeId {
        let [above, below] = args else { return self.type_error(span, "write `ratio(part, whole)`") };
        let (above, below) = (self.infer(above, None), self.infer(below, None));
        let Some((above_ty, below_ty)) = self.numbers(above, below, "ratio", span) else {
            return self.add(Op::Datapoints, Type::Wrong, span);
        };
        let Some(common) = self.join(&above_ty, &below_ty) else {
            return self.no_units(&above_ty, &below_ty, "divide", span);
        };
        let common = if common.is_integer() { Type::Dec } else { common };
        let (above, below) = (self.coerce(above, &common), self.coerce(below, &common));
        self.add(Op::Ratio(above, below), Type::Qty(crate::value::Unit::Percent), span)
    }

    pub(super) fn negative(&mut self, inner: &Expr, want: Option<&Type>, span: Span) -> NodeId {
        let node = self.infer(inner, want);
        self.one_number(node, "-", span, Op::Neg)
    }

    pub(super) fn abs(&mut self, args: &[Expr], span: Span) -> NodeId {
        let [inner] = args else { return self.type_error(span, "write `abs(x)`") };
        let node = self.infer(inner, None);
        self.one_number(node, "abs", span, Op::Abs)
    }

    pub(super) fn pct_of(&mut self, text: &str, whole: &Expr, span: Span) -> NodeId {
        let Some(share) = self.decimal(text, span) else {
            return self.add(Op::Datapoints, Type::Wrong, span);
        };
        let node = self.infer(whole, None);
        let node = if self.ty(node).is_integer() { self.coerce(node, &Type::Dec) } else { node };
        self.one_number(node, "pct of", span, |node| Op::PctOf(share, node))
    }

    /// `convert(x, unit)`
    pub(super) fn convert_call(&mut self, args: &[Expr], span: Span) -> NodeId {
        let [value, unit] = args else { return self.type_error(span, "write `convert(x, unit)`") };
        let ExprKind::Name(unit_name) = &unit.kind else {
            return self.type_error(unit.span, "expected a unit");
        };
        let value = self.infer(value, None);
        let name = ast::Name { text: unit_name.clone(), span: unit.span };
        match (self.ty(value).clone(), self.unit(&name)) {
            (Type::Wrong, _) | (_, None) => self.add(Op::Datapoints, Type::Wrong, span),
            (Type::Qty(from), Some(to)) if from.dimension() == to.dimension() => {
                self.convert(value, from, to)
            }
            (Type::Qty(from), Some(to)) => {
                let message =
                    format!("`{from}` cannot be converted to `{to}`: they measure different things");
                self.wrong_node(Diagnostic::new(Code::UnitMismatch, span, message))
            }
            (other, _) => {
                let message = format!("expected a quantity, found {}", self.show(&other));
                self.type_error(span, message)
            }
        }
    }

    fn one_number(&mut self, node: NodeId, what: &str, span: Span, op: impl FnOnce(NodeId) -> Op) -> NodeId {
        match self.ty(node).clone() {
            Type::Wrong => node,
            Type::Range(..) => self.add(op(node), Type::Int, span),
            ty if ty.is_number() => self.add(op(node), ty, span),
            other => {
                let message = format!("`{what}` needs a number, found {}", self.show(&other));
                let wrong = Diagnostic::new(Code::RuleTypeError, self.span(node), message);
                self.wrong_node(match other {
                    Type::Opt(_) => wrong.help("ask `present(..)` before, or write `need` in front of it"),
                    _ => wrong,
                })
            }
        }
    }

    /// The types of two numbers; a diagnostic if one is none.
    fn numbers(&mut self, left: NodeId, right: NodeId, what: &str, span: Span) -> Option<(Type, Type)> {
        let (left_ty, right_ty) = (self.ty(left).clone(), self.ty(right).clone());
        if left_ty == Type::Wrong || right_ty == Type::Wrong {
            return None;
        }
        for (node, ty) in [(left, &left_ty), (right, &right_ty)] {
            if !ty.is_number() {
                let message = format!("`{what}` needs numbers, found {}", self.show(ty));
                let wrong =
                    Diagnostic::new(Code::RuleTypeError, self.span(node), message).also(span, "in this");
                self.wrong_node(match ty {
                    Type::Opt(_) => wrong.help("ask `present(..)` before, or write `need` in front of it"),
                    _ => wrong,
                });
                return None;
            }
        }
        Some((left_ty, right_ty))
    }

    fn no_units(&mut self, left: &Type, right: &Type, verb: &str, span: Span) -> NodeId {
        let message = format!("one cannot {verb} {} and {}", self.show(left), self.show(right));
        self.wrong_node(Diagnostic::new(Code::UnitMismatch, span, message))
    }
}
