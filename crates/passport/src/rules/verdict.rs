//! What a rule says about a passport.

use crate::value::Date;

/// What a rule says. Sorted by weight: of several, the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It holds.
    Pass,
    /// It is not about this battery.
    NotApplicable,
    /// It will be, from a day to come.
    NotYet,
    /// It does not quite hold.
    Warn,
    /// Something is missing that is needed to tell.
    Unknown,
    /// It does not hold.
    Fail,
}

/// A verdict with all that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Which.
    pub verdict: Verdict,
    /// Why, for machines: the code of the rule's `else`, or `DIVISION_BY_ZERO`, `EVAL_OVERFLOW`.
    pub code: Option<String>,
    /// Why, for people.
    pub message: Option<String>,
    /// The first day it will hold, for `NOT_YET`.
    pub from: Option<Date>,
    /// What is missing, sorted: for `UNKNOWN` what was needed, for `FAIL` and `WARN` what the
    /// check found absent.
    pub missing: Vec<String>,
}

impl Verdict {
    /// All of them, lightest first.
    pub const ALL: [Verdict; 6] = [
        Verdict::Pass,
        Verdict::NotApplicable,
        Verdict::NotYet,
        Verdict::Warn,
        Verdict::Unknown,
        Verdict::Fail,
    ];

    /// How it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Pass => "PASS",
            Verdict::NotApplicable => "NOT_APPLICABLE",
            Verdict::NotYet => "NOT_YET",
            Verdict::Warn => "WARN",
            Verdict::Unknown => "UNKNOWN",
            Verdict::Fail => "FAIL",
        }
    }

    /// The verdict of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == name)
    }

    /// Whether a passport cannot be compiled if a `must` rule says so.
    pub fn blocks(self) -> bool {
        matches!(self, Verdict::Fail | Verdict::Unknown)
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl Outcome {
    /// Nothing but a verdict.
    pub fn plain(verdict: Verdict) -> Self {
        Self { verdict, code: None, message: None, from: None, missing: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_weighed_as_the_design_says() {
        let mut verdicts = Verdict::ALL;
        verdicts.sort();
        let names: Vec<_> = verdicts.iter().rev().map(|verdict| verdict.as_str()).collect();
        assert_eq!(names, ["FAIL", "UNKNOWN", "WARN", "NOT_YET", "NOT_APPLICABLE", "PASS"]);
    }
}
