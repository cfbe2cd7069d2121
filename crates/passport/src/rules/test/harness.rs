//! Running single cases.

use bpc_core::Hash;

use crate::facts::Fact;
use crate::hash::sha256;
use crate::rules::eval::probe::Probe;
use crate::rules::eval::{self, Answer, Context, EmissionState, EvalError, Found, Leaves, Results};
use crate::rules::program::{NodeId, Op, Program, Step};
use crate::rules::table::{cell_of, row_at};
use crate::rules::text::show_lit;
use crate::rules::types::Type;
use crate::rules::verdict::Verdict;
use crate::value::Date;

use super::declared::{Asked, Example, Expect, Lookup};
use super::draft::Case;

/// The build that tests pretend to be.
const BUILD: &str = "test";

/// Hashes for traces that nobody is shown, as those of tests. Nothing is salted.
pub(crate) struct PlainLeaves;

impl Leaves for PlainLeaves {
    fn fact(&self, fact: &Fact) -> Hash {
        sha256(&[fact.fact_type().name().as_bytes(), &[0x1f], fact.key().as_bytes(), &fact.payload_hash().0])
    }

    fn value(&self, fact: &Fact, field: &str, json: &str) -> Hash {
        sha256(&[fact.key().as_bytes(), &[0x1f], field.as_bytes(), &[0x1f], json.as_bytes()])
    }
}

pub(super) fn context(product: &str, as_of: Date) -> Context<'_> {
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

/// Evaluates some steps of a case, and remembers how each was taken.
pub(super) fn evaluate_traced<P: Probe>(
    program: &Program,
    steps: &[Step],
    case: &Case,
    probe: &mut P,
) -> Result<Found, EvalError> {
    eval::evaluate_traced(program, steps, &case.facts, context(&case.product, case.as_of), probe)
}

/// Evaluates some steps of a case.
pub(super) fn evaluate_some<P: Probe>(
    program: &Program,
    steps: &[Step],
    case: &Case,
    probe: &mut P,
) -> Result<Found, EvalError> {
    eval::evaluate_some(program, steps, &case.facts, context(&case.product, case.as_of), probe)
}

impl Example {
    /// The rules and attributes it is about.
    pub(super) fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        self.expects.iter().map(|expect| match expect {
            Expect::Rule { rule, .. } => Step::Rule(*rule),
            Expect::Shown(emit, _) | Expect::Absent(emit) | Expect::Held(emit) => Step::Emit(*emit),
        })
    }

    /// Whether a program gives what is expected; if not, what it gives instead.
    pub(super) fn judge<P: Probe>(
        &self,
        program: &Program,
        steps: &[Step],
        case: &Case,
        probe: &mut P,
    ) -> Result<(), Unexpected> {
        let found = evaluate_some(program, steps, case, probe)
            .map_err(|error| Unexpected { message: error.to_string(), said: Vec::new() })?;
        let mut unexpected: Option<Unexpected> = None;
        for expect in &self.expects {
            let Err((message, said)) = judge(program, expect, &found) else { continue };
            let unexpected = unexpected.get_or_insert(Unexpected { message, said: Vec::new() });
            unexpected.said.extend(said);
        }
        unexpected.map_or(Ok(()), Err)
    }
}

/// What a case gives instead of what was expected.
pub(super) struct Unexpected {
    /// The first difference.
    pub(super) message: String,
    /// Rules that say something else, and what they say.
    pub(super) said: Vec<(usize, Verdict)>,
}

type Difference = (String, Option<(usize, Verdict)>);

fn judge(program: &Program, expect: &Expect, found: &Found) -> Result<(), Difference> {
    let state = |emit: usize| found.emissions[emit].as_ref().map(|emission| &emission.state);
    let other = |emit: usize, expected: &str| {
        let found = state(emit).map_or("nothing".to_owned(), state_text);
        Err((format!("{}: expected {expected}, found {found}", program.emits[emit].pointer), None))
    };
    match expect {
        Expect::Rule { rule, verdict, code, missing } => {
            let Some(result) = &found.rules[*rule] else {
                return Err((format!("{} was not evaluated", program.rules[*rule].id), None));
            };
            let outcome = &result.outcome;
            let code_fits = code.is_none() || *code == outcome.code;
            let missing_fits = missing.iter().all(|path| outcome.missing.contains(path));
            if outcome.verdict == *verdict && code_fits && missing_fits {
                return Ok(());
            }
            let expected = said(*verdict, code.as_deref(), missing);
            let found = said(outcome.verdict, outcome.code.as_deref(), &outcome.missing);
            let differs = (outcome.verdict != *verdict).then_some((*rule, outcome.verdict));
            Err((format!("{}: expected {expected}, found {found}", result.rule), differs))
        }
        Expect::Shown(emit, json) => match state(*emit) {
            Some(EmissionState::Shown(value)) if value.as_str() == json => Ok(()),
            _ => other(*emit, json),
        },
        Expect::Absent(emit) => match state(*emit) {
            Some(EmissionState::Absent { .. }) => Ok(()),
            _ => other(*emit, "nothing"),
        },
        Expect::Held(emit) => match state(*emit) {
            Some(EmissionState::Held { .. }) => Ok(()),
            _ => other(*emit, "it to be held"),
        },
    }
}

impl Lookup {
    /// The facts it is asked on, and the steps it asks about.
    pub(super) fn about(&self, program: &Program) -> Result<(Case, Vec<Step>), String> {
        let case = match &self.input {
            Some(input) => input.case().map_err(|((fact, key), _)| format!("{fact} {key} is not allowed"))?,
            None => Case::new(String::new(), program.effective, Vec::new()),
        };
        let steps = match self.of {
            Asked::Table(_) => Vec::new(),
            Asked::Def(index) => asked_by(program, program.defs[index].body),
        };
        Ok((case, steps))
    }
}

/// What a lookup found, if it is not what was expected.
pub(super) fn look_up<P: Probe>(
    program: &Program,
    lookup: &Lookup,
    case: &Case,
    steps: &[Step],
    probe: &mut P,
) -> Result<(), String> {
    let (found, ty) = match lookup.of {
        Asked::Table(index) => {
            let table = &program.tables[index];
            let otherwise = || table.otherwise.as_ref().map(|(lit, _)| lit.clone());
            let row = table.rows.get(table_row(program, index, lookup));
            let found = row.map(|row| row.value.clone()).or_else(otherwise);
            (found.map_or(Answer::Compound, Answer::Value), &table.result)
        }
        Asked::Def(index) => {
            let def = &program.defs[index];
            let context = context(&case.product, case.as_of);
            let answer = eval::ask(program, steps, &case.facts, context, def, &lookup.args, probe);
            (answer.map_err(|error| error.to_string())?, &def.result)
        }
    };
    if found == Answer::Value(lookup.expect.clone()) {
        return Ok(());
    }
    let expected = show_lit(&program.enums, &lookup.expect, ty);
    Err(format!("expected {expected}, found {}", answer_text(program, &found, ty)))
}

/// The row that answers a lookup; one past the last is `otherwise`.
pub(super) fn table_row(program: &Program, table: usize, lookup: &Lookup) -> usize {
    let table = &program.tables[table];
    let cells = table.columns.iter().zip(&lookup.args);
    row_at(table, cells.map(|(column, arg)| cell_of(column, arg).unwrap_or(0)))
}

/// The steps that an expression asks about, with all that they ask about.
pub(super) fn asked_by(program: &Program, root: NodeId) -> Vec<Step> {
    let mut wanted = Vec::new();
    program.walk(root, &mut |_, node| match &node.op {
        Op::Payload(emit) => wanted.push(Step::Emit(*emit)),
        Op::VerdictOf(rule) => wanted.push(Step::Rule(*rule)),
        Op::HasValue(_) | Op::Emitted(_) => wanted.extend((0..program.emits.len()).map(Step::Emit)),
        _ => {}
    });
    program.with_needs(wanted)
}

fn said(verdict: Verdict, code: Option<&str>, missing: &[String]) -> String {
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
        Answer::Value(lit) => show_lit(&program.enums, lit, ty),
        Answer::Compound => "something else".to_owned(),
        Answer::Unknown(missing) => format!("UNKNOWN missing {}", missing.join(", ")),
        Answer::Fault(code) => (*code).to_owned(),
    }
}
