//! Running a program over facts. Deterministic: the same facts in any order, the same day and the
//! same program give the same results, traces and cost on any machine.

mod comps;
mod facts;
mod logic;
mod machine;
mod mix;
mod numbers;
mod presence;
pub mod probe;
mod reading;
mod results;
mod rules;
mod touched;
pub mod trace;
mod value;

use bpc_core::Hash;

use crate::facts::{Fact, FactType};
use crate::value::Date;

use super::limits::FUEL;
use super::program::{Def, Lit, Program, Step};
use facts::Indexed;
use machine::Machine;
use probe::{NoProbe, Probe};

pub use results::{Emission, EmissionState, Results, RuleResult};
pub use trace::{NodeKind, Trace, TraceNode, TraceValue};
pub(super) use value::write_lit;

/// How many steps there is room for at first: a usual passport has about 1,900. Growing on the way was one
/// in twenty instructions of an evaluation.
const STEPS: usize = 2500;

/// What an evaluation is about, besides facts.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The SKU of the battery.
    pub product: &'a str,
    /// The day it is judged on.
    pub as_of: Date,
    /// The build that judges.
    pub build_id: &'a str,
    /// Hashes that stand for facts and values in traces.
    pub leaves: &'a dyn Leaves,
    /// What the evaluation may spend.
    pub fuel: u64,
}

/// Hashes that stand for facts, and for values that not everybody may see. They are salted, so
/// that nobody finds a value by trying all of them.
pub trait Leaves {
    /// The hash of a fact.
    fn fact(&self, fact: &Fact) -> Hash;

    /// The hash of a field's value, given as canonical JSON.
    fn value(&self, fact: &Fact, field: &str, json: &str) -> Hash;
}

/// Why there are no results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// It would cost more than allowed.
    #[error("evaluating the rules costs more than {fuel}; the battery has too many facts for these rules")]
    Fuel {
        /// What was allowed.
        fuel: u64,
    },
    /// There are more facts of a type than an evaluation takes in.
    #[error("{count} facts of type {fact_type} are more than {max}")]
    TooManyFacts {
        /// Which type.
        fact_type: FactType,
        /// How many there are.
        count: usize,
        /// How many there may be.
        max: u64,
    },
    /// Two facts have one name.
    #[error("there are two facts {fact_type} {key}")]
    Conflict {
        /// Their type.
        fact_type: FactType,
        /// Their key.
        key: String,
    },
}

/// What a definition says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A value.
    Value(Lit),
    /// A list, record or fact.
    Compound,
    /// These are missing.
    Unknown(Vec<String>),
    /// The calculation has no result, for this reason.
    Fault(&'static str),
}

impl EvalError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            EvalError::Fuel { .. } => "EVAL_FUEL_EXHAUSTED",
            EvalError::TooManyFacts { .. } => "EVAL_TOO_MANY_FACTS",
            EvalError::Conflict { .. } => "SNAPSHOT_CONFLICT",
        }
    }
}

impl<'a> Context<'a> {
    /// That product on that day, with the usual fuel.
    pub fn new(product: &'a str, as_of: Date, build_id: &'a str, leaves: &'a dyn Leaves) -> Self {
        Self { product, as_of, build_id, leaves, fuel: FUEL }
    }
}

/// Evaluates all attributes and rules of a program.
///
/// # Errors
///
/// If there are too many facts or it would cost too much. What rules find is a result, not an
/// error.
pub(super) fn evaluate(
    program: &Program,
    facts: &[Fact],
    context: Context<'_>,
) -> Result<Results, EvalError> {
    evaluate_with(program, facts, context, &mut NoProbe)
}

/// Evaluates, and tells a probe what happens on the way.
pub(super) fn evaluate_with<P: Probe>(
    program: &Program,
    facts: &[Fact],
    context: Context<'_>,
    probe: &mut P,
) -> Result<Results, EvalError> {
    let indexed = Indexed::new(facts, context.product)?;
    let mut machine = Machine::new(program, &indexed, context, Trace::with_room(STEPS), probe);
    machine.run(&program.order)?;
    Ok(machine.finish())
}

/// What some steps of an evaluation found; nothing for the others.
pub(super) struct Found {
    pub(super) rules: Vec<Option<RuleResult>>,
    pub(super) emissions: Vec<Option<Emission>>,
}

/// Evaluates only some steps, which must hold all they ask about, in order.
pub(super) fn evaluate_traced<P: Probe>(
    program: &Program,
    steps: &[Step],
    facts: &[Fact],
    context: Context<'_>,
    probe: &mut P,
) -> Result<Found, EvalError> {
    let indexed = Indexed::new(facts, context.product)?;
    let mut machine = Machine::new(program, &indexed, context, Trace::with_room(STEPS), probe);
    machine.run(steps)?;
    Ok(machine.finish_some())
}

/// Evaluates only some steps, without traces: the hashes of steps are zeros. For tests that look at
/// one rule and run by the thousand.
pub(super) fn evaluate_some<P: Probe>(
    program: &Program,
    steps: &[Step],
    facts: &[Fact],
    context: Context<'_>,
    probe: &mut P,
) -> Result<Found, EvalError> {
    let indexed = Indexed::new(facts, context.product)?;
    let mut machine = Machine::new(program, &indexed, context, Trace::off(), probe);
    machine.run(steps)?;
    Ok(machine.finish_some())
}

/// Evaluates some steps, and then a definition for some arguments.
pub(super) fn ask<P: Probe>(
    program: &Program,
    steps: &[Step],
    facts: &[Fact],
    context: Context<'_>,
    def: &Def,
    args: &[Lit],
    probe: &mut P,
) -> Result<Answer, EvalError> {
    let indexed = Indexed::new(facts, context.product)?;
    let mut machine = Machine::new(program, &indexed, context, Trace::off(), probe);
    machine.run(steps)?;
    Ok(machine.ask(def, args))
}
