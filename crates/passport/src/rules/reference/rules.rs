//! Rules and attributes of the reference.

use std::collections::BTreeMap;

use bpc_core::Hash;

use crate::facts::FactType;
use crate::rules::program::{Rule, Shown};
use crate::rules::syntax::ast::Many;
use crate::rules::verdict::Verdict;

use super::trace::{ASSERT, OP, Says, hash};
use super::value::{Found, Value, json};
use super::walk::begins_with;
use super::{Emitted, Reference, Said};

impl Reference<'_> {
    pub(super) fn emit(&mut self, index: usize) {
        let emit = &self.program.emits[index];
        self.frames = vec![BTreeMap::new()];
        let found = self.eval(emit.value);
        let (shown, from) = match emit.shown {
            Shown::Always => (true, String::new()),
            Shown::From(day, _) => (self.context.as_of >= day, day.to_string()),
            Shown::Undated => (false, String::new()),
        };
        let text = match &found.value {
            Value::None => "absent  ".to_owned(),
            Value::Unknown(missing) => {
                format!("absent {} ", missing.iter().cloned().collect::<Vec<_>>().join(","))
            }
            Value::Fault(code) => format!("absent  {code}"),
            value => {
                let json = json(&self.program.enums, value, &emit.ty);
                if shown { format!("shown {json}") } else { format!("held {json} {from}") }
            }
        };
        let found = self.step(OP, &emit.pointer, found.value.clone(), &emit.ty, &[&found]);
        self.emitted.insert(index, Emitted { found, shown, text });
    }

    pub(super) fn rule(&mut self, index: usize) {
        let rule = &self.program.rules[index];
        self.frames = vec![BTreeMap::new()];
        let mut all: Vec<Said> = Vec::new();
        self.choose(rule, 0, &[], &mut all);
        let said = match all.as_slice() {
            [] => self.assert(rule, Verdict::NotApplicable, None, None, Vec::new(), &[]),
            [only] => only.clone(),
            several => {
                let worst = several.iter().map(|said| said.verdict).max().unwrap_or(Verdict::Pass);
                let worst: Vec<&Said> = several.iter().filter(|said| said.verdict == worst).collect();
                let mut missing: Vec<String> = worst.iter().flat_map(|said| said.missing.clone()).collect();
                missing.sort();
                missing.dedup();
                let first = worst[0].clone();
                let traces: Vec<Hash> = several.iter().map(|said| said.trace_hash).collect();
                self.assert(rule, first.verdict, first.code, first.from, missing, &traces)
            }
        };
        self.said.insert(index, said);
    }

    fn choose(&mut self, rule: &Rule, at: usize, before: &[Hash], all: &mut Vec<Said>) {
        let Some(bind) = rule.bindings.get(at) else {
            let judged = self.check(rule, before);
            all.push(judged);
            return;
        };
        let mut traces = before.to_vec();
        let key = bind.by.map(|by| self.eval(by));
        let mut segment = None;
        if let Some(key) = key {
            traces.push(key.hash);
            match key.value {
                Value::Text(text) => segment = Some(text),
                stuck => {
                    let judged = self.stuck(rule, &stuck, &traces);
                    all.push(judged);
                    return;
                }
            }
        }
        let indexes = match &segment {
            Some(segment) => self.by_segment(bind.fact, segment),
            None => self.of_type(bind.fact),
        };
        match bind.many {
            Many::Each => {
                for index in &indexes {
                    let fact = self.fact(*index);
                    self.set(bind.slot.0, fact.clone());
                    self.choose(rule, at + 1, &[&traces[..], &[fact.hash]].concat(), all);
                }
                let path = match (indexes.is_empty(), &segment) {
                    (true, Some(segment)) => begins_with(bind.fact, segment),
                    (true, None) if bind.fact == FactType::Battery => "Battery".to_owned(),
                    _ => return,
                };
                let judged = self.stuck(rule, &Value::Unknown([path].into()), &traces);
                all.push(judged);
            }
            Many::Opt => {
                let found = match indexes.last() {
                    Some(index) => self.fact(*index),
                    None => Found { value: Value::None, ..self.fact_list(bind.fact, Vec::new()) },
                };
                self.set(bind.slot.0, found.clone());
                self.choose(rule, at + 1, &[&traces[..], &[found.hash]].concat(), all);
            }
            Many::List => {
                let list = self.fact_list(bind.fact, indexes);
                self.set(bind.slot.0, list.clone());
                self.choose(rule, at + 1, &[&traces[..], &[list.hash]].concat(), all);
            }
        }
    }

    fn check(&mut self, rule: &Rule, before: &[Hash]) -> Said {
        let mut traces = before.to_vec();
        for (condition, applies) in [(rule.filter, true), (rule.unless, false)] {
            let Some(condition) = condition else { continue };
            let found = self.eval(condition);
            traces.push(found.hash);
            match found.value {
                Value::Bool(truth) if truth == applies => {}
                Value::Bool(_) => {
                    return self.assert(rule, Verdict::NotApplicable, None, None, Vec::new(), &traces);
                }
                stuck => return self.stuck(rule, &stuck, &traces),
            }
        }
        if let Some(from) = self.not_yet(rule) {
            return self.assert(rule, Verdict::NotYet, None, Some(from), Vec::new(), &traces);
        }
        for (slot, value) in &rule.lets {
            let found = self.eval(*value);
            self.set(slot.0, found);
        }
        self.absent.clear();
        let found = self.eval(rule.check);
        traces.push(found.hash);
        match found.value {
            Value::Bool(true) => self.assert(rule, Verdict::Pass, None, None, Vec::new(), &traces),
            Value::Bool(false) => {
                let says_missing = rule.otherwise.verdict != Verdict::NotApplicable;
                let missing = if says_missing { self.absent.iter().cloned().collect() } else { Vec::new() };
                self.assert(rule, rule.otherwise.verdict, rule.otherwise.code.clone(), None, missing, &traces)
            }
            stuck => self.stuck(rule, &stuck, &traces),
        }
    }

    fn not_yet(&self, rule: &Rule) -> Option<String> {
        rule.from.filter(|(from, _)| self.context.as_of < *from).map(|(from, _)| from.to_string())
    }

    fn stuck(&self, rule: &Rule, value: &Value, traces: &[Hash]) -> Said {
        match (self.not_yet(rule), value) {
            (Some(from), _) => self.assert(rule, Verdict::NotYet, None, Some(from), Vec::new(), traces),
            (None, Value::Fault(code)) => {
                self.assert(rule, Verdict::Fail, Some((*code).to_owned()), None, Vec::new(), traces)
            }
            (None, Value::Unknown(missing)) => {
                self.assert(rule, Verdict::Unknown, None, None, missing.iter().cloned().collect(), traces)
            }
            (None, _) => self.assert(rule, Verdict::Unknown, None, None, Vec::new(), traces),
        }
    }

    fn assert(
        &self,
        rule: &Rule,
        verdict: Verdict,
        code: Option<String>,
        from: Option<String>,
        missing: Vec<String>,
        traces: &[Hash],
    ) -> Said {
        let name = [rule.id.as_str(), verdict.as_str(), code.as_deref().unwrap_or("")].join("\u{1f}");
        Said { verdict, code, from, missing, trace_hash: hash(ASSERT, &name, traces, &Says::Nothing) }
    }
}
