//! Running cases.

use bpc_core::Hash;

use crate::facts::Fact;
use crate::hash::sha256;
use crate::rules::eval::probe::Probe;
use crate::rules::eval::{self, Answer, Context, EmissionState, EvalError, Leaves, Results};
use crate::rules::program::{Lit, Program};
use crate::rules::table::{cell_of, row_at};
use crate::rules::text::show_lit;
use crate::rules::types::Type;
use crate::value::Date;

use super::declared::{Asked, Example, Expect, Lookup};
use super::draft::Case;

/// The build that tests pretend to be.
const BUILD: &str = "test";

/// Hashes for traces of tests. Nothing is secret there, so nothing is salted.
pub(in crate::rules) struct PlainLeaves;

impl Leaves for PlainLeaves {
    fn fact(&self, fact: &Fact) -> Hash {
        sha256(&[fact.fact_type().name().as_bytes(), &[0x1f], fact.key().as_bytes(), &fact.payload_hash().0])
    }

    fn value(&self, fact: &Fact, field: &str, json: &str) -> Hash {
        sha256(&[fact.key().as_bytes(), &[0x1f], field.as_bytes(), &[0x1f], json.as_bytes()])
    }
}

pub(in crate::rules) fn context<'a>(product: &'a str, as_of: Date) -> Context<'a> {
    Context::new(product, as_of, BUILD, &PlainLeaves)
}

/// Evaluates a case.
pub(super) fn evaluate<P: Probe>(
    program: &Program,
    case: &Case,
    probe: &mut P,
) -> Result<Results, EvalError> {
    eval::evaluate_with(program, &case.facts, context(&case.product, case.as_of), probe)
}

/// Whether an example says what was expected; if not, what it says instead.
pub(super) fn judge(program: &Program, example: &Example, results: &Results) -> Result<(), String> {
    for expect in &example.expects {
        match expect {
            Expect::Rule { rule, verdict, code, missing } => {
                let result = &results.rules[*rule];
                let outcome = &result.outcome;
                let code_fits = code.is_none() || *code == outcome.code;
                let missing_fits = missing.iter().all(|path| outcome.missing.contains(path));
                if outcome.verdict != *verdict || !code_fits || !missing_fits {
                    let expected = said(&verdict.to_string(), code.as_deref(), missing);
                    let found = said(&outcome.verdict.to_string(), outcome.code.as_deref(), &outcome.missing);
                    return Err(format!("{}: expected {expected}, found {found}", result.rule));
                }
            }
            Expect::Shown(emit, json) => match &results.emissions[*emit].state {
                EmissionState::Shown(value) if value.as_str() == json => {}
                state => {
                    let pointer = &program.emits[*emit].pointer;
                    return Err(format!("{pointer}: expected {json}, found {}", state_text(state)));
                }
            },
            Expect::Absent(emit) => match &results.emissions[*emit].state {
                EmissionState::Absent { .. } => {}
                state => {
                    let pointer = &program.emits[*emit].pointer;
                    return Err(format!("{pointer}: expected nothing, found {}", state_text(state)));
                }
            },
            Expect::Held(emit) => match &results.emissions[*emit].state {
                EmissionState::Held { .. } => {}
                state => {
                    let pointer = &program.emits[*emit].pointer;
                    return Err(format!("{pointer}: expected it to be held, found {}", state_text(state)));
                }
            },
        }
    }
    Ok(())
}

/// What a lookup found, if it is not what was expected.
pub(super) fn look_up<P: Probe>(program: &Program, lookup: &Lookup, probe: &mut P) -> Result<(), String> {
    let (found, ty) = match lookup.of {
        Asked::Table(index) => {
            let table = &program.tables[index];
            let cells = table.columns.iter().zip(&lookup.args);
            let row = row_at(table, cells.map(|(column, arg)| cell_of(column, arg).unwrap_or(0)));
            let otherwise = || table.otherwise.as_ref().map(|(lit, _)| lit.clone());
            let found = table.rows.get(row).map(|row| row.value.clone()).or_else(otherwise);
            (found.map_or(Answer::Compound, Answer::Value), &table.result)
        }
        Asked::Def(index) => {
            let def = &program.defs[index];
            let case = match &lookup.input {
                Some(input) => {
                    input.case().map_err(|((fact, key), _)| format!("{fact} {key} is not allowed"))?
                }
                None => Case::new(String::new(), program.effective, Vec::new()),
            };
            let context = context(&case.product, case.as_of);
            let answer = eval::ask(program, &case.facts, context, def, &lookup.args, probe);
            (answer.map_err(|error| error.to_string())?, &def.result)
        }
    };
    if found == Answer::Value(lookup.expect.clone()) {
        return Ok(());
    }
    let expected = show_lit(&program.enums, &lookup.expect, ty);
    Err(format!("expected {expected}, found {}", answer_text(program, &found, ty)))
}

fn said(verdict: &str, code: Option<&str>, missing: &[String]) -> String {
    let code = code.map_or(String::new(), |code| format!(" {code}"));
    let missing = if missing.is_empty() { String::new() } else { format!(" missing {}", missing.join(", ")) };
    format!("{verdict}{code}{missing}")
}

fn state_text(state: &EmissionState) -> String {
    match state {
        EmissionState::Shown(value) => value.as_str().to_owned(),
        EmissionState::Held { value, from: Some(from) } => format!("{} held until {from}", value.as_str()),
        EmissionState::Held { value, from: None } => format!("{} held", value.as_str()),
        EmissionState::Absent { missing, .. } if missing.is_empty() => "nothing".to_owned(),
        EmissionState::Absent { missing, .. } => format!("nothing, missing {}", missing.join(", ")),
    }
}

fn answer_text(program: &Program, answer: &Answer, ty: &Type) -> String {
    match answer {
        Answer::Value(lit @ Lit::None) => show_lit(&program.enums, lit, ty),
        Answer::Value(lit) => show_lit(&program.enums, lit, ty),
        Answer::Compound => "something else".to_owned(),
        Answer::Unknown(missing) => format!("UNKNOWN missing {}", missing.join(", ")),
        Answer::Fault(code) => (*code).to_owned(),
    }
}
