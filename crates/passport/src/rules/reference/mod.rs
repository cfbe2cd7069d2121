//! A second evaluator, slow and plain: rational numbers, nothing remembered, nothing shared.
//!
//! It is written from the meaning of the language and not from the fast evaluator, and judges what
//! that one finds: verdicts, attributes and trace hashes must be the same on every case.

mod number;
mod rules;
mod trace;
mod value;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use bpc_core::Hash;

use crate::facts::Fact;

use super::eval::{Context, EmissionState, Results};
use super::program::{Program, Step};
use super::verdict::Verdict;
use value::Found;

/// What the reference finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// For each rule: verdict, code, first day, what is missing, hash of the trace.
    pub rules: Vec<(Verdict, Option<String>, Option<String>, Vec<String>, Hash)>,
    /// For each attribute: what it is, and the hash of its trace.
    pub emissions: Vec<(String, Hash)>,
}

/// Evaluates a program the slow way.
pub fn judge(program: &Program, facts: &[Fact], context: Context<'_>) -> Judgement {
    let mut facts: Vec<&Fact> = facts.iter().collect();
    facts.sort_by_key(|fact| (fact.fact_type().name(), fact.key().to_owned()));
    let mut reference = Reference {
        program,
        facts,
        context,
        frames: Vec::new(),
        absent: BTreeSet::new(),
        emitted: BTreeMap::new(),
        said: BTreeMap::new(),
    };
    for step in &program.order {
        match step {
            Step::Emit(emit) => reference.emit(*emit),
            Step::Rule(rule) => reference.rule(*rule),
        }
    }
    Judgement {
        rules: reference.said.into_values().map(|said| said.judgement).collect(),
        emissions: reference
            .emitted
            .into_values()
            .map(|emitted| (emitted.text, emitted.found.hash))
            .collect(),
    }
}

/// Where the two evaluators disagree, if they do.
pub fn disagreement(program: &Program, results: &Results, judgement: &Judgement) -> Option<String> {
    for (result, (verdict, code, from, missing, hash)) in results.rules.iter().zip(&judgement.rules) {
        let outcome = &result.outcome;
        let same = outcome.verdict == *verdict
            && outcome.code == *code
            && outcome.from.map(|day| day.to_string()) == *from
            && outcome.missing == *missing;
        if !same {
            return Some(format!(
                "{}: {} {:?} {:?}, the reference says {verdict} {code:?} {missing:?}",
                result.rule, outcome.verdict, outcome.code, outcome.missing
            ));
        }
        if result.trace_hash != *hash {
            return Some(format!("{}: the traces differ", result.rule));
        }
    }
    for (emission, (text, hash)) in results.emissions.iter().zip(&judgement.emissions) {
        let found = state_text(&emission.state);
        if found != *text {
            return Some(format!("{}: {found}, the reference says {text}", emission.pointer));
        }
        if emission.trace_hash != *hash {
            return Some(format!("{}: the traces differ", emission.pointer));
        }
    }
    let counts = results.rules.len() == program.rules.len()
        && judgement.rules.len() == program.rules.len()
        && results.emissions.len() == program.emits.len()
        && judgement.emissions.len() == program.emits.len();
    if counts { None } else { Some("the evaluators did not judge the same rules and attributes".to_owned()) }
}

fn state_text(state: &EmissionState) -> String {
    match state {
        EmissionState::Shown(value) => format!("shown {}", value.as_str()),
        EmissionState::Held { value, from } => {
            format!("held {} {}", value.as_str(), from.map_or(String::new(), |day| day.to_string()))
        }
        EmissionState::Absent { missing, fault } => {
            format!("absent {} {}", missing.join(","), fault.unwrap_or(""))
        }
    }
}

struct Reference<'a> {
    program: &'a Program,
    facts: Vec<&'a Fact>,
    context: Context<'a>,
    frames: Vec<BTreeMap<u32, Found>>,
    absent: BTreeSet<String>,
    emitted: BTreeMap<usize, Emitted>,
    said: BTreeMap<usize, Said>,
}

struct Emitted {
    found: Found,
    shown: bool,
    text: String,
}

struct Said {
    judgement: (Verdict, Option<String>, Option<String>, Vec<String>, Hash),
}
