//! What an evaluation found.

use bpc_core::canonical::{write_integer, write_string};
use bpc_core::{CanonicalJson, Hash};

use crate::rules::program::Program;
use crate::rules::syntax::ast::Severity;
use crate::rules::verdict::{Outcome, Verdict};
use crate::value::Date;

use super::trace::Trace;

/// What an evaluation found.
#[derive(Clone, Debug)]
pub struct Results {
    /// What rules say, sorted by rule.
    pub rules: Vec<RuleResult>,
    /// What the passport holds, sorted by pointer.
    pub emissions: Vec<Emission>,
    /// How all of it was found.
    pub trace: Trace,
    /// What it cost.
    pub cost: u64,
}

/// What a rule says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleResult {
    /// The rule.
    pub rule: String,
    /// The version of its package.
    pub version: String,
    /// How much it matters.
    pub severity: Severity,
    /// The law it follows from.
    pub cites: Vec<String>,
    /// What it says.
    pub outcome: Outcome,
    /// Elements of lists for which a check did not hold, for people.
    pub witnesses: Vec<String>,
    /// Places, among all facts sorted by type and key, of the facts it looked at.
    pub inputs: Vec<u32>,
    /// Pointers it looked at.
    pub emits: Vec<String>,
    /// What it cost.
    pub cost: u64,
    /// The step that says so.
    pub trace: u32,
    /// The hash of that step.
    pub trace_hash: Hash,
}

/// An attribute of the passport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emission {
    /// Where in the payload.
    pub pointer: String,
    /// Number of the data point.
    pub dp: i64,
    /// Annex XIII point, 1 to 4.
    pub point: u8,
    /// Whether it is there.
    pub state: EmissionState,
    /// Places of the facts it rests on.
    pub inputs: Vec<u32>,
    /// The step that found it.
    pub trace: u32,
    /// The hash of that step.
    pub trace_hash: Hash,
}

/// Whether an attribute is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmissionState {
    /// It is displayed.
    Shown(CanonicalJson),
    /// There is a value, not to be displayed before a day, or before a day is set.
    Held {
        /// The value.
        value: CanonicalJson,
        /// From when it is displayed.
        from: Option<Date>,
    },
    /// There is no value.
    Absent {
        /// What is missing, sorted.
        missing: Vec<String>,
        /// The calculation has no result, for this reason.
        fault: Option<&'static str>,
    },
}

impl Results {
    /// The weightiest verdict of all rules.
    pub fn verdict(&self) -> Verdict {
        self.rules.iter().map(|rule| rule.outcome.verdict).max().unwrap_or(Verdict::Pass)
    }

    /// The `must` rules that keep a passport from being compiled.
    pub fn blocking(&self) -> impl Iterator<Item = &RuleResult> {
        self.rules.iter().filter(|rule| rule.severity == Severity::Must && rule.outcome.verdict.blocks())
    }

    /// What a rule says.
    pub fn rule(&self, id: &str) -> Option<&RuleResult> {
        self.rules.iter().find(|rule| rule.rule == id)
    }

    /// What stands at a pointer.
    pub fn emission(&self, pointer: &str) -> Option<&Emission> {
        self.emissions.iter().find(|emission| emission.pointer == pointer)
    }

    /// How many rules came to each verdict, lightest first.
    pub fn verdict_counts(&self) -> [(Verdict, usize); 6] {
        Verdict::ALL.map(|verdict| {
            (verdict, self.rules.iter().filter(|rule| rule.outcome.verdict == verdict).count())
        })
    }
}

impl Emission {
    /// The value, if it is displayed.
    pub fn shown(&self) -> Option<&CanonicalJson> {
        match &self.state {
            EmissionState::Shown(value) => Some(value),
            _ => None,
        }
    }
}

impl RuleResult {
    /// The result as it is proved: `{cite, code, cost, emits, from, inputs, missing, rule, sev,
    /// trace_hash, verdict, ver}`; `code` and `from` only where there is one.
    pub fn object(&self) -> CanonicalJson {
        let mut out = Vec::with_capacity(256);
        let texts = |out: &mut Vec<u8>, texts: &[String]| {
            out.push(b'[');
            for (index, text) in texts.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(text, out);
            }
            out.push(b']');
        };
        out.extend_from_slice(b"{\"cite\":");
        texts(&mut out, &self.cites);
        if let Some(code) = &self.outcome.code {
            out.extend_from_slice(b",\"code\":");
            write_string(code, &mut out);
        }
        out.extend_from_slice(b",\"cost\":");
        write_integer(self.cost as i64, &mut out);
        out.extend_from_slice(b",\"emits\":");
        texts(&mut out, &self.emits);
        if let Some(from) = self.outcome.from {
            out.extend_from_slice(b",\"from\":");
            write_string(&from.to_string(), &mut out);
        }
        out.extend_from_slice(b",\"inputs\":[");
        for (index, input) in self.inputs.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_integer(i64::from(*input), &mut out);
        }
        out.extend_from_slice(b"],\"missing\":");
        texts(&mut out, &self.outcome.missing);
        out.extend_from_slice(b",\"rule\":");
        write_string(&self.rule, &mut out);
        out.extend_from_slice(b",\"sev\":");
        write_string(self.severity.as_str(), &mut out);
        out.extend_from_slice(b",\"trace_hash\":");
        write_string(&self.trace_hash.to_string(), &mut out);
        out.extend_from_slice(b",\"ver\":");
        write_string(&self.version, &mut out);
        out.extend_from_slice(b",\"verdict\":");
        write_string(self.outcome.verdict.as_str(), &mut out);
        out.push(b'}');
        CanonicalJson::from_trusted(out)
    }
}

/// Brings results of rules into the order of the program, which is by rule.
pub(super) fn in_order<T>(program: &Program, mut results: Vec<Option<T>>) -> Vec<T> {
    debug_assert_eq!(results.len(), program.rules.len());
    results.drain(..).flatten().collect()
}
