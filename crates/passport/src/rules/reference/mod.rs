//! A second evaluator, slow and plain: rational numbers, nothing that is calculated is remembered or
//! shared. Only what is read is: the hashes that stand for facts and fields.
//!
//! It is written from the meaning of the language and not from the fast evaluator, and judges what
//! that one finds: verdicts, attributes and trace hashes must be the same on every case.

mod number;
mod rules;
mod trace;
mod value;
mod walk;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use bpc_core::Hash;

use crate::facts::Fact;

use super::eval::{self, Context, EmissionState};
use super::program::{Program, Step};
use super::verdict::Verdict;
use trace::leaf;
use value::Found;

/// What the reference finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What rules say, by their index.
    pub rules: BTreeMap<usize, Said>,
    /// For attributes, by their index: what it is, and the hash of its trace.
    pub emissions: BTreeMap<usize, (String, Hash)>,
}

/// What a rule says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its verdict.
    pub verdict: Verdict,
    /// Its code.
    pub code: Option<String>,
    /// The first day it will hold.
    pub from: Option<String>,
    /// What is missing, sorted.
    pub missing: Vec<String>,
    /// The hash of its trace.
    pub trace_hash: Hash,
}

/// Evaluates some steps of a program the slow way. They must hold all they ask about, in order.
pub fn judge(program: &Program, steps: &[Step], facts: &[Fact], context: Context<'_>) -> Judgement {
    let mut facts: Vec<&Fact> = facts.iter().collect();
    facts.sort_by_key(|fact| (fact.fact_type().name(), fact.key().to_owned()));
    let mut reference = Reference {
        program,
        leaves: facts.iter().map(|fact| leaf(fact, &context)).collect(),
        fields: RefCell::default(),
        facts,
        context,
        frames: Vec::new(),
        absent: BTreeSet::new(),
        emitted: BTreeMap::new(),
        said: BTreeMap::new(),
    };
    for step in steps {
        match step {
            Step::Emit(emit) => reference.emit(*emit),
            Step::Rule(rule) => reference.rule(*rule),
        }
    }
    Judgement {
        rules: reference.said,
        emissions: reference
            .emitted
            .into_iter()
            .map(|(index, emitted)| (index, (emitted.text, emitted.found.hash)))
            .collect(),
    }
}

/// Where the two evaluators disagree, if they do. Both found something for the same rules and
/// attributes, or they disagree.
pub(super) fn disagreement(found: &eval::Found, judgement: &Judgement) -> Option<String> {
    for (index, result) in found.rules.iter().enumerate() {
        let said = judgement.rules.get(&index);
        let here = result.as_ref().map(|result| Said {
            verdict: result.outcome.verdict,
            code: result.outcome.code.clone(),
            from: result.outcome.from.map(|day| day.to_string()),
            missing: result.outcome.missing.clone(),
            trace_hash: result.trace_hash,
        });
        if here.as_ref() != said {
            let rule = result.as_ref().map_or("a rule", |result| result.rule.as_str());
            return Some(format!("{rule}: {here:?}, the reference says {said:?}"));
        }
    }
    for (index, emission) in found.emissions.iter().enumerate() {
        let said = judgement.emissions.get(&index);
        let here = emission.as_ref().map(|emission| (state_text(&emission.state), emission.trace_hash));
        if here.as_ref() != said {
            let pointer = emission.as_ref().map_or("an attribute", |emission| emission.pointer.as_str());
            return Some(format!("{pointer}: {here:?}, the reference says {said:?}"));
        }
    }
    None
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
    /// The hash of the step that reads each fact.
    leaves: Vec<Hash>,
    /// Fields that were read, by fact and name.
    fields: RefCell<BTreeMap<(usize, &'static str), Found>>,
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
