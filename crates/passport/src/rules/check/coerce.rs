//! Where a value of one type stands for one of another: `T` for `Opt[T]`, an integer for a
//! decimal, one unit for another of its dimension. Never with loss.

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::program::{NodeId, Op};
use crate::rules::types::Type;
use crate::value::Unit;

use super::Checker;

impl Checker<'_> {
    /// The node as one of the wanted type.
    pub(super) fn coerce(&mut self, node: NodeId, want: &Type) -> NodeId {
        let have = self.ty(node).clone();
        let span = self.span(node);
        match (&have, want) {
            (Type::Wrong, _) | (_, Type::Wrong) => node,
            (have, want) if have == want => node,
            (Type::Range(..), Type::Int) => node,
            (Type::Range(a, b), Type::Range(c, d)) if c <= a && b <= d => node,
            (Type::Int | Type::Range(..), Type::Dec) => self.add(Op::ToDec(node), Type::Dec, span),
            (Type::Qty(from), Type::Qty(to)) if from.dimension() == to.dimension() => {
                self.convert(node, *from, *to)
            }
            (Type::Qty(from), Type::Qty(to)) => {
                let message = format!("`{from}` and `{to}` measure different things");
                self.wrong_node(Diagnostic::new(Code::UnitMismatch, span, message).label(format!(
                    "{:?}, expected {:?}",
                    from.dimension(),
                    to.dimension()
                )))
            }
            (Type::Opt(inner), _) if **inner == *want || self.fits(inner, want) => {
                let message =
                    format!("this may be missing: expected {}, found {}", self.show(want), self.show(&have));
                self.wrong_node(
                    Diagnostic::new(Code::RuleTypeError, span, message)
                        .help("match it, ask `present(..)` before, or write `need` in front of it"),
                )
            }
            (Type::Opt(_), Type::Opt(inner))
                if matches!(have.present(), Type::Wrong) || **inner == Type::Wrong =>
            {
                node
            }
            (have, Type::Opt(inner)) if !matches!(have, Type::Opt(_)) => {
                let value = self.coerce(node, inner);
                self.add(Op::Some(value), want.clone(), span)
            }
            (Type::List(a), Type::List(b)) if self.same(a, b) => node,
            (Type::Rec(_), Type::Rec(_)) => self.record_mismatch(node, want),
            _ => {
                let message = format!("expected {}, found {}", self.show(want), self.show(&have));
                let number_for_unit = have.is_number() && matches!(want, Type::Qty(_));
                let unit_for_number = matches!(have, Type::Qty(_)) && want.is_number();
                let code =
                    if number_for_unit || unit_for_number { Code::UnitMismatch } else { Code::RuleTypeError };
                let wrong = Diagnostic::new(code, span, message);
                self.wrong_node(match want {
                    Type::Qty(unit) if number_for_unit => wrong.help(format!("write the unit: `2 {unit}`")),
                    _ => wrong,
                })
            }
        }
    }

    pub(super) fn convert(&mut self, node: NodeId, from: Unit, to: Unit) -> NodeId {
        if from == to {
            return node;
        }
        let span = self.span(node);
        self.add(Op::Convert(node, from, to), Type::Qty(to), span)
    }

    /// The type that both can be, if there is one.
    pub(super) fn join(&self, left: &Type, right: &Type) -> Option<Type> {
        Some(match (left, right) {
            (Type::Wrong, other) | (other, Type::Wrong) => other.clone(),
            (left, right) if left == right => left.clone(),
            (Type::Range(a, b), Type::Range(c, d)) => Type::Range(*a.min(c), *b.max(d)),
            (left, right) if left.is_integer() && right.is_integer() => Type::Int,
            (Type::Dec, other) | (other, Type::Dec) if other.is_integer() => Type::Dec,
            (Type::Qty(left), Type::Qty(right)) => Type::Qty(left.finer(*right)?),
            (Type::Opt(left), Type::Opt(right)) => self.join(left, right)?.or_none(),
            (Type::Opt(inner), other) | (other, Type::Opt(inner)) => self.join(inner, other)?.or_none(),
            (Type::List(left), Type::List(right)) if self.same(left, right) => Type::List(left.clone()),
            _ => return None,
        })
    }

    /// Whether values of both types look the same when evaluated.
    fn same(&self, left: &Type, right: &Type) -> bool {
        left == right
            || *left == Type::Wrong
            || *right == Type::Wrong
            || (left.is_integer() && matches!(right, Type::Int))
    }

    /// Whether a value of one type would be accepted for the other.
    fn fits(&self, have: &Type, want: &Type) -> bool {
        match (have, want) {
            (Type::Qty(from), Type::Qty(to)) => from.dimension() == to.dimension(),
            (have, Type::Dec | Type::Int) if have.is_integer() => true,
            (Type::Wrong, _) => true,
            _ => false,
        }
    }

    fn record_mismatch(&mut self, node: NodeId, want: &Type) -> NodeId {
        let message = format!("expected {}, found {}", self.show(want), self.show(&self.ty(node).clone()));
        let span = self.span(node);
        self.type_error(span, message)
    }
}
