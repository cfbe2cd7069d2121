//! Why a calculation has no result.

/// A calculation that has no exact value here. Never a panic: rules turn it into an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ArithmeticError {
    /// The exact result needs more than 28 digits or 18 decimals.
    #[error("the exact result needs more than 28 digits or 18 decimals")]
    Overflow,
    /// The divisor is zero.
    #[error("division by zero")]
    DivisionByZero,
    /// Two units that do not go together.
    #[error("the units do not go together")]
    UnitMismatch,
}

impl ArithmeticError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Overflow => "EVAL_OVERFLOW",
            Self::DivisionByZero => "DIVISION_BY_ZERO",
            Self::UnitMismatch => "UNIT_MISMATCH",
        }
    }
}
