//! What a condition tells about presence: after `present(b.rated_energy)`, `b.rated_energy` is a
//! value and not an `Opt`.

use crate::rules::syntax::ast::{Expr, ExprKind, Op};

use super::Checker;
use super::scope::Path;

impl Checker<'_> {
    /// What is present where the condition has this value.
    pub(super) fn learned(&self, condition: &Expr, holds: bool) -> Vec<Path> {
        match (&condition.kind, holds) {
            (ExprKind::Call(name, args), true) if name.text == "present" && args.len() == 1 => {
                self.path(&args[0]).into_iter().collect()
            }
            (ExprKind::Not(inner), _) => self.learned(inner, !holds),
            (ExprKind::Binary(Op::And, left, right), true)
            | (ExprKind::Binary(Op::Or, left, right), false) => {
                let mut both = self.learned(left, holds);
                both.extend(self.learned(right, holds));
                both
            }
            (ExprKind::Binary(Op::Implies, left, right), false) => {
                let mut both = self.learned(left, true);
                both.extend(self.learned(right, false));
                both
            }
            _ => Vec::new(),
        }
    }

    /// The path an expression is, if it is one.
    pub(super) fn path(&self, expr: &Expr) -> Option<Path> {
        match &expr.kind {
            ExprKind::Name(name) => match self.scope.find(name) {
                Some(variable) => Some(Path { root: Some(variable.slot), fields: Vec::new() }),
                None if name == "product" => Some(Path { root: None, fields: Vec::new() }),
                None => None,
            },
            ExprKind::Field(base, field) => {
                let mut path = self.path(base)?;
                path.fields.push(field.text.clone());
                Some(path)
            }
            _ => None,
        }
    }
}
