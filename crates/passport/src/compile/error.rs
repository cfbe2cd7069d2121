//! Why there is no passport.

use crate::rules::{EvalError, Results, Verdict};

/// Why a passport was not compiled. None of these goes away by trying again.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CompileError {
    /// `must` rules that fail, or that cannot be judged.
    #[error("{} must-rules keep the passport from being compiled, the first: {}", .rules.len(), .rules[0])]
    Blocked {
        /// Which, at least one.
        rules: Vec<BlockedRule>,
        /// All that was found.
        results: Box<Results>,
    },
    /// The rules could not be evaluated.
    #[error("the rules could not be evaluated")]
    Evaluate(#[from] EvalError),
    /// Two attributes of the rules do not fit into one payload.
    #[error("the rules emit {outer}, which is also a part of {inner}")]
    Pointers {
        /// The shorter pointer.
        outer: String,
        /// The longer one.
        inner: String,
    },
    /// The payload is too large.
    #[error("the payload has {found} bytes, at most {limit} are allowed", limit = super::MAX_PAYLOAD_BYTES)]
    PayloadTooLarge {
        /// How many it has.
        found: usize,
    },
    /// The proof document is too large.
    #[error("the proof has {found} bytes, at most {limit} are allowed", limit = super::MAX_PROOF_BYTES)]
    ProofTooLarge {
        /// How many it has.
        found: usize,
    },
    /// The receipt is too large.
    #[error("the receipt has {found} bytes, at most {limit} are allowed", limit = super::MAX_RECEIPT_BYTES)]
    ReceiptTooLarge {
        /// How many it has.
        found: usize,
    },
}

/// A rule that keeps a passport from being compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedRule {
    /// The rule.
    pub rule: String,
    /// What it says: FAIL or UNKNOWN.
    pub verdict: Verdict,
    /// Why, for machines.
    pub code: Option<String>,
    /// Why, for people.
    pub message: Option<String>,
    /// What is missing.
    pub missing: Vec<String>,
    /// The law.
    pub cites: Vec<String>,
}

impl std::fmt::Display for BlockedRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is {}", self.rule, self.verdict)?;
        if let Some(message) = &self.message {
            write!(f, ", {message}")?;
        }
        if !self.missing.is_empty() {
            write!(f, ", missing {}", self.missing.join(", "))?;
        }
        Ok(())
    }
}

impl CompileError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Blocked { .. } => "COMPILE_BLOCKED",
            Self::Evaluate(error) => error.code(),
            Self::Pointers { .. } => "RULE_TYPE_ERROR",
            Self::PayloadTooLarge { .. } => "PAYLOAD_TOO_LARGE",
            Self::ProofTooLarge { .. } => "PROOF_TOO_LARGE",
            Self::ReceiptTooLarge { .. } => "RECEIPT_TOO_LARGE",
        }
    }
}
