//! Rules: what they are about, when, and what they say.

use crate::facts::FactType;
use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::program::{Bind, Otherwise, Rule};
use crate::rules::syntax::ast::{self, Many, RuleItem, Severity};
use crate::rules::types::Type;
use crate::rules::verdict::Verdict;

use super::Checker;
use super::names::twice;
use super::scope::Scope;

impl Checker<'_> {
    pub(super) fn rules(&mut self) -> Vec<Rule> {
        let mut items: Vec<&RuleItem> = self.package.rules.iter().collect();
        items.sort_by(|left, right| left.id.text.cmp(&right.id.text));
        for pair in items.windows(2) {
            if pair[0].id.text == pair[1].id.text {
                self.wrong.push(twice(&pair[1].id, pair[0].id.span));
            }
        }
        items.into_iter().map(|item| self.rule(item)).collect()
    }

    fn rule(&mut self, item: &RuleItem) -> Rule {
        self.scope = Scope::default();
        if item.severity == Severity::Must && item.cites.is_empty() {
            let message = format!("`{}` is a `must` and names no law", item.id.text);
            let wrong = Diagnostic::new(Code::RuleCiteMissing, item.id.span, message);
            self.wrong.push(wrong.help("write `cite \"Art. ..\"` after `must`"));
        }
        let bindings = item.bindings.iter().filter_map(|binding| self.binding(binding)).collect();
        let from = item.from.as_ref().and_then(|from| Some((self.date(from)?, from.span)));
        let filter = item.filter.as_ref().map(|filter| self.expect(filter, &Type::Bool));
        let learned = item.filter.as_ref().map_or(Vec::new(), |filter| self.learned(filter, true));
        self.scope.learn(learned);
        let unless = item.unless.as_ref().map(|(unless, _)| self.expect(unless, &Type::Bool));
        let learned = item.unless.as_ref().map_or(Vec::new(), |(unless, _)| self.learned(unless, false));
        self.scope.learn(learned);
        let mut lets = Vec::new();
        for one in &item.lets {
            let node = match &one.ty {
                Some(ty) => {
                    let ty = self.written(ty);
                    self.expect(&one.value, &ty)
                }
                None => self.infer(&one.value, None),
            };
            let ty = self.ty(node).clone();
            lets.push((self.scope.add(&one.name.text, ty), node));
        }
        let check = self.expect(&item.check, &Type::Bool);
        let otherwise = self.otherwise(item);
        Rule {
            id: item.id.text.clone(),
            severity: item.severity,
            cites: item.cites.clone(),
            point: item.point,
            bindings,
            from,
            filter,
            unless,
            unless_cites: item.unless.as_ref().map_or(Vec::new(), |(_, cites)| cites.clone()),
            lets,
            check,
            otherwise,
            slots: self.scope.slots(),
            reads: Vec::new(),
            cost_max: 0,
            possible: Vec::new(),
            span: item.id.span,
        }
    }

    fn binding(&mut self, binding: &ast::Binding) -> Option<Bind> {
        let fact = self.fact_type(&binding.fact)?;
        let by = binding.by.as_ref().map(|by| self.expect(by, &Type::Text));
        if let Some(earlier) = self.scope.find(&binding.name.text) {
            let message = format!("`{}` is bound twice", earlier.name);
            self.wrong.push(Diagnostic::new(Code::RuleDuplicate, binding.name.span, message));
        }
        if fact == FactType::Battery && binding.many != Many::Each {
            let wrong =
                Diagnostic::new(Code::RuleTypeError, binding.fact.span, "there is one Battery, the product");
            self.wrong.push(wrong.help("write `b: Battery`"));
        }
        let ty = match binding.many {
            Many::Each => Type::Fact(fact),
            Many::Opt => Type::Fact(fact).or_none(),
            Many::List => Type::List(Box::new(Type::Fact(fact))),
        };
        let slot = self.scope.add(&binding.name.text, ty);
        Some(Bind { slot, name: binding.name.text.clone(), fact, many: binding.many, by })
    }

    /// What a check that does not hold means: `E_` codes fail, `W_` codes warn.
    fn otherwise(&mut self, item: &RuleItem) -> Otherwise {
        let Some(written) = &item.otherwise else {
            let code = format!("E_{}", item.id.text.replace('.', "_"));
            return Otherwise { verdict: Verdict::Fail, code: Some(code), message: None };
        };
        let word = written.word.text.as_str();
        let message = Some(written.message.clone());
        let code = || Some(word.to_owned());
        match Verdict::named(word) {
            Some(verdict @ (Verdict::Fail | Verdict::Warn | Verdict::NotApplicable)) => {
                Otherwise { verdict, code: None, message }
            }
            Some(_) => {
                self.type_error(written.word.span, "a check can only end in FAIL, WARN or NOT_APPLICABLE");
                Otherwise { verdict: Verdict::Fail, code: None, message }
            }
            None if word.starts_with("E_") => Otherwise { verdict: Verdict::Fail, code: code(), message },
            None if word.starts_with("W_") => Otherwise { verdict: Verdict::Warn, code: code(), message },
            None => {
                let wrong = Diagnostic::new(
                    Code::RuleTypeError,
                    written.word.span,
                    "a code begins with `E_` or `W_`",
                );
                self.wrong
                    .push(wrong.help("`E_` fails, `W_` warns; FAIL, WARN and NOT_APPLICABLE are verdicts"));
                Otherwise { verdict: Verdict::Fail, code: code(), message }
            }
        }
    }
}
