//! Rules and attributes: from values to verdicts and emissions.

use bpc_core::CanonicalJson;

use crate::facts::FactType;
use crate::rules::program::{Bind, Program, Rule, Shown};
use crate::rules::syntax::ast::Many;
use crate::rules::verdict::{Outcome, Verdict};

use super::machine::{Emitted, Machine};
use super::presence::begins_with;
use super::probe::Probe;
use super::results::{Emission, EmissionState, RuleResult};
use super::trace::{NewValue, NodeKind, TraceId};
use super::value::{Item, Value, write_value};

/// What a rule says about one choice of facts.
struct Said {
    outcome: Outcome,
    witnesses: Vec<String>,
    trace: TraceId,
}

impl<'a, P: Probe> Machine<'a, P> {
    pub(super) fn emit(&mut self, index: usize) {
        let program: &'a Program = self.program;
        let emit = &program.emits[index];
        self.begin(emit.slots);
        let item = self.eval(emit.value);
        let (shown, from) = match emit.shown {
            Shown::Always => (true, None),
            Shown::From(day, _) => (self.context.as_of >= day, Some(day)),
            Shown::Undated => (false, None),
        };
        let json = |value: &Value<'a>| {
            let mut json = Vec::new();
            write_value(&program.enums, value, &emit.ty, &mut json);
            CanonicalJson::from_trusted(json)
        };
        let state = match &item.value {
            Value::None => EmissionState::Absent { missing: Vec::new(), fault: None },
            Value::Unknown(missing) => {
                EmissionState::Absent { missing: self.missing_paths(*missing), fault: None }
            }
            Value::Fault(fault) => EmissionState::Absent { missing: Vec::new(), fault: Some(fault.code()) },
            value if shown => EmissionState::Shown(json(value)),
            value => EmissionState::Held { value: json(value), from },
        };
        let step = self.step(NodeKind::Op, &emit.pointer, item.value, &emit.ty, &[item.trace]);
        let touched = std::mem::take(&mut self.touched);
        let emission = Emission {
            pointer: emit.pointer.clone(),
            dp: emit.dp,
            point: emit.point,
            state,
            inputs: touched.indexes(),
            trace: step.trace.0,
            trace_hash: self.trace.hash(step.trace),
        };
        self.emitted[index] = Some(Emitted { item: step, shown, touched, emission });
    }

    pub(super) fn rule(&mut self, index: usize) {
        let program: &'a Program = self.program;
        let rule = &program.rules[index];
        let before = self.cost;
        self.begin(rule.slots);
        let mut all = Vec::new();
        self.bind(rule, 0, &mut Vec::new(), &mut all);
        for said in &all {
            self.probe.verdict(index, said.outcome.verdict);
        }
        let said = match all.len() {
            0 => {
                self.probe.verdict(index, Verdict::NotApplicable);
                self.say(rule, Outcome::plain(Verdict::NotApplicable), &[])
            }
            1 => all.remove(0),
            _ => self.together(rule, all),
        };
        let touched = std::mem::take(&mut self.touched);
        self.verdicts[index] = Some(RuleResult {
            rule: rule.id.clone(),
            version: program.version.clone(),
            severity: rule.severity,
            cites: rule.cites.clone(),
            outcome: said.outcome,
            witnesses: said.witnesses,
            inputs: touched.indexes(),
            emits: rule.reads.clone(),
            cost: self.cost - before,
            trace: said.trace.0,
            trace_hash: self.trace.hash(said.trace),
        });
    }

    fn begin(&mut self, slots: u32) {
        self.enter(slots);
        self.touched = Default::default();
        self.absent.clear();
        self.witnesses.clear();
    }

    /// Chooses facts for the bindings from `at` on, and lets the rule say something for each choice.
    fn bind(&mut self, rule: &'a Rule, at: usize, chosen: &mut Vec<TraceId>, all: &mut Vec<Said>) {
        let Some(bind) = rule.bindings.get(at) else {
            let said = self.judge(rule, chosen);
            all.push(said);
            return;
        };
        let depth = chosen.len();
        let key = bind.by.map(|by| self.eval(by));
        if let Some(key) = &key {
            chosen.push(key.trace);
            if !matches!(key.value, Value::Text(_)) {
                let outcome = self.stuck_outcome(rule, &key.value);
                let said = self.say(rule, outcome, chosen);
                all.push(said);
                chosen.truncate(depth);
                return;
            }
        }
        let indexes: Vec<u32> = match &key {
            Some(Item { value: Value::Text(key), .. }) => self.indexed.by_segment(bind.fact, key),
            _ => self.indexed.of_type(bind.fact).to_vec(),
        };
        match bind.many {
            Many::Each if indexes.is_empty() => {
                let nothing = self.nothing_to_bind(rule, bind, key.as_ref(), chosen);
                all.extend(nothing);
            }
            Many::Each => {
                for index in indexes {
                    let fact = self.fact(index);
                    chosen.push(fact.trace);
                    self.set_slot(bind.slot, fact);
                    self.bind(rule, at + 1, chosen, all);
                    chosen.pop();
                }
            }
            Many::Opt => {
                // Keys that go on with a year or number: the latest counts.
                let item = match indexes.last() {
                    Some(index) => self.fact(*index),
                    None => self.fact_list(bind.fact, Vec::new()),
                };
                let value = if indexes.is_empty() { Value::None } else { item.value };
                chosen.push(item.trace);
                self.set_slot(bind.slot, Item { value, trace: item.trace });
                self.bind(rule, at + 1, chosen, all);
            }
            Many::List => {
                let list =
                    if key.is_some() { self.fact_list(bind.fact, indexes) } else { self.facts(bind.fact) };
                chosen.push(list.trace);
                self.set_slot(bind.slot, list);
                self.bind(rule, at + 1, chosen, all);
            }
        }
        chosen.truncate(depth);
    }

    /// A rule about facts of which there are none says nothing, unless one was pointed to, or it is
    /// the battery itself: then it cannot tell.
    fn nothing_to_bind(
        &mut self,
        rule: &'a Rule,
        bind: &Bind,
        key: Option<&Item<'a>>,
        chosen: &[TraceId],
    ) -> Option<Said> {
        let path = match key {
            Some(Item { value: Value::Text(key), .. }) => begins_with(bind.fact, key),
            _ if bind.fact == FactType::Battery => bind.fact.name().to_owned(),
            _ => return None,
        };
        let missing = self.missing(path);
        let outcome = self.stuck_outcome(rule, &Value::Unknown(missing));
        Some(self.say(rule, outcome, chosen))
    }

    fn judge(&mut self, rule: &'a Rule, chosen: &[TraceId]) -> Said {
        let mut traces = chosen.to_vec();
        for (condition, applies) in [(rule.filter, true), (rule.unless, false)] {
            let Some(condition) = condition else { continue };
            let item = self.eval(condition);
            traces.push(item.trace);
            match item.value {
                Value::Bool(truth) => {
                    self.probe.branch(condition, 100 + u32::from(truth));
                    if truth != applies {
                        return self.say(rule, Outcome::plain(Verdict::NotApplicable), &traces);
                    }
                }
                stuck => {
                    let outcome = self.stuck_outcome(rule, &stuck);
                    return self.say(rule, outcome, &traces);
                }
            }
        }
        if let Some(outcome) = self.not_yet(rule) {
            return self.say(rule, outcome, &traces);
        }
        for (slot, value) in &rule.lets {
            let item = self.eval(*value);
            self.set_slot(*slot, item);
        }
        self.absent.clear();
        self.witnesses.clear();
        let check = self.eval(rule.check);
        traces.push(check.trace);
        let outcome = match check.value {
            Value::Bool(true) => Outcome::plain(Verdict::Pass),
            Value::Bool(false) => {
                self.absent.sort();
                self.absent.dedup();
                let missing = match rule.otherwise.verdict {
                    Verdict::NotApplicable => Vec::new(),
                    _ => std::mem::take(&mut self.absent),
                };
                Outcome {
                    verdict: rule.otherwise.verdict,
                    code: rule.otherwise.code.clone(),
                    message: rule.otherwise.message.clone(),
                    from: None,
                    missing,
                }
            }
            stuck => self.stuck_outcome(rule, &stuck),
        };
        self.say(rule, outcome, &traces)
    }

    /// A rule that does not hold yet, whatever else is known.
    fn not_yet(&self, rule: &Rule) -> Option<Outcome> {
        let (from, _) = rule.from?;
        (self.context.as_of < from).then(|| Outcome { from: Some(from), ..Outcome::plain(Verdict::NotYet) })
    }

    fn stuck_outcome(&self, rule: &Rule, value: &Value<'a>) -> Outcome {
        if let Some(outcome) = self.not_yet(rule) {
            return outcome;
        }
        match value {
            Value::Fault(fault) => {
                Outcome { code: Some(fault.code().to_owned()), ..Outcome::plain(Verdict::Fail) }
            }
            Value::Unknown(missing) => {
                Outcome { missing: self.missing_paths(*missing), ..Outcome::plain(Verdict::Unknown) }
            }
            // The checker lets nothing else come here.
            _ => Outcome::plain(Verdict::Unknown),
        }
    }

    fn say(&mut self, rule: &Rule, outcome: Outcome, children: &[TraceId]) -> Said {
        let code = outcome.code.as_deref().unwrap_or("");
        let name = format!("{}\u{1f}{}\u{1f}{code}", rule.id, outcome.verdict);
        let trace = self.trace.add(NodeKind::Assert, &name, children, NewValue::Unsaid, true);
        let fails = matches!(outcome.verdict, Verdict::Fail | Verdict::Warn);
        let witnesses = if fails { std::mem::take(&mut self.witnesses) } else { Vec::new() };
        Said { outcome, witnesses, trace }
    }

    /// The weightiest of what was said, the first of equals; with all that is missing.
    fn together(&mut self, rule: &Rule, all: Vec<Said>) -> Said {
        let traces: Vec<TraceId> = all.iter().map(|said| said.trace).collect();
        let worst = all.iter().map(|said| said.outcome.verdict).max().unwrap_or(Verdict::Pass);
        let mut outcome: Option<Outcome> = None;
        let (mut missing, mut witnesses) = (Vec::new(), Vec::new());
        for said in all.into_iter().filter(|said| said.outcome.verdict == worst) {
            missing.extend(said.outcome.missing.iter().cloned());
            witnesses.extend(said.witnesses);
            outcome.get_or_insert(said.outcome);
        }
        missing.sort();
        missing.dedup();
        let outcome = Outcome { missing, ..outcome.unwrap_or_else(|| Outcome::plain(worst)) };
        let said = self.say(rule, outcome, &traces);
        Said { witnesses, ..said }
    }
}
