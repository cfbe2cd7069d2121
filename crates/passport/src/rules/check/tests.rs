//! Tests: fixtures, examples, rows, properties, typed like everything else.

use crate::facts::{FactType, FieldType, Fields};
use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::program::{Def, Emit, Lit, Rule};
use crate::rules::source::Span;
use crate::rules::syntax::ast::tests as written;
use crate::rules::syntax::ast::{Expr, ExprKind, Name};
use crate::rules::test::declared::{
    Asked, Change, Example, Expect, Golden, Lookup, Metamorphic, Property, Set, SetTo, Tests, Var,
};
use crate::rules::test::draft::Draft;
use crate::rules::types::Type;
use crate::rules::verdict::Verdict;

use super::Checker;
use super::names::{Global, twice};
use super::scope::Scope;

/// What tests can speak of.
pub(super) struct Items<'i> {
    pub(super) rules: &'i [Rule],
    pub(super) emits: &'i [Emit],
}

impl Checker<'_> {
    pub(super) fn tests(&mut self, items: &Items<'_>) -> Tests {
        let package = self.package;
        let mut tests = Tests::default();
        self.fixtures(&package.tests.fixtures, &mut tests);
        for example in &package.tests.examples {
            let example = self.example(example, &tests, items);
            tests.examples.extend(example);
        }
        for table in &package.tests.tables {
            self.table_test(table, &mut tests, items);
        }
        for property in &package.tests.properties {
            let property = self.property(property, &tests);
            tests.properties.extend(property);
        }
        for metamorphic in &package.tests.metamorphics {
            let change = self.change(metamorphic);
            tests.metamorphics.extend(change.map(|change| Metamorphic {
                name: metamorphic.name.text.clone(),
                change,
                span: metamorphic.name.span,
            }));
        }
        tests.goldens = package.tests.goldens.iter().map(golden).collect();
        tests
    }

    fn fixtures(&mut self, fixtures: &[written::Fixture], tests: &mut Tests) {
        for (index, fixture) in fixtures.iter().enumerate() {
            if let Some(first) = fixtures[..index].iter().find(|first| first.name.text == fixture.name.text) {
                self.wrong.push(twice(&fixture.name, first.name.span));
                continue;
            }
            if let Some(draft) = self.started(fixture.using.as_ref(), tests, fixture.name.span)
                && let Some(draft) = self.stepped(draft, &fixture.steps, fixture.name.span)
            {
                tests.fixtures.push((fixture.name.text.clone(), draft));
            }
        }
    }

    /// What a test starts from: a fixture, or nothing at all on the first day of the package.
    fn started(&mut self, using: Option<&Name>, tests: &Tests, span: Span) -> Option<Draft> {
        let Some(name) = using else {
            let as_of = self.package.effective.text.parse().ok()?;
            return Some(Draft { product: String::new(), as_of, facts: Default::default() });
        };
        let found = tests.fixtures.iter().find(|(fixture, _)| *fixture == name.text);
        if found.is_none() {
            let message = format!("there is no fixture `{}` above this", name.text);
            let known = tests.fixtures.iter().map(|(name, _)| name.as_str());
            let wrong = Diagnostic::new(Code::RuleNameUnknown, name.span, message);
            self.wrong.push(wrong.also(span, "used here").did_you_mean(name.span, &name.text, known));
        }
        found.map(|(_, draft)| draft.clone())
    }

    fn stepped(&mut self, mut draft: Draft, steps: &[written::Step], span: Span) -> Option<Draft> {
        for step in steps {
            self.step(&mut draft, step)?;
        }
        match draft.case() {
            Ok(case) => {
                if draft.product.is_empty() {
                    let battery = case.facts.iter().find(|fact| fact.fact_type() == FactType::Battery);
                    draft.product = battery.and_then(|battery| battery.sku()).unwrap_or_default().to_owned();
                }
                Some(draft)
            }
            Err(((fact, key), problems)) => {
                let message = format!("{fact} {key} is not what its schema allows");
                let wrong = Diagnostic::new(Code::RuleTypeError, span, message);
                self.wrong
                    .push(problems.iter().fold(wrong, |wrong, problem| wrong.help(problem.to_string())));
                None
            }
        }
    }

    fn step(&mut self, draft: &mut Draft, step: &written::Step) -> Option<()> {
        match step {
            written::Step::Product(sku, _) => draft.product = sku.clone(),
            written::Step::AsOf(date) => draft.as_of = self.date(date)?,
            written::Step::Fact { fact, key, fields, .. } => {
                let fact = self.fact_type(fact)?;
                let mut values = Fields::new();
                for (name, value) in fields {
                    let field = self.schema_field(fact, name)?;
                    values.insert(field.name, self.fact_value(value, &field.field_type)?);
                }
                draft.facts.insert((fact, key.clone()), values);
            }
            written::Step::Set(target, value) => {
                let set = self.set(target, |checker, field_type| {
                    Some(SetTo::Value(checker.fact_value(value, field_type)?))
                })?;
                self.applied(draft, &set, target.fact.span)?;
            }
            written::Step::Drop(target) => {
                let set = self.set(target, |_, _| Some(SetTo::Nothing))?;
                self.applied(draft, &set, target.fact.span)?;
            }
            written::Step::Remove { fact, key } => {
                let fact_type = self.fact_type(fact)?;
                let before = draft.facts.len();
                let named = |this: &str| key.as_ref().is_none_or(|(key, _)| key == this);
                draft.facts.retain(|(this, key), _| *this != fact_type || !named(key));
                if draft.facts.len() == before {
                    self.type_error(fact.span, "there is no such fact to remove");
                    return None;
                }
            }
        }
        Some(())
    }

    pub(super) fn set(
        &mut self,
        target: &written::Target,
        to: impl FnOnce(&mut Self, &'static FieldType) -> Option<SetTo>,
    ) -> Option<Set> {
        let fact = self.fact_type(&target.fact)?;
        let field = self.schema_field(fact, &target.field)?;
        let to = to(self, &field.field_type)?;
        Some(Set { fact, key: target.key.as_ref().map(|(key, _)| key.clone()), field: field.name, to })
    }

    fn applied(&mut self, draft: &mut Draft, set: &Set, span: Span) -> Option<()> {
        if set.apply(draft, &|_| None) > 0 {
            return Some(());
        }
        self.type_error(span, format!("there is no {} to change", set.fact));
        None
    }

    fn example(&mut self, example: &written::Example, tests: &Tests, items: &Items<'_>) -> Option<Example> {
        let draft = self.started(example.using.as_ref(), tests, example.name.span)?;
        let input = self.stepped(draft, &example.steps, example.name.span)?;
        let mut expects = Vec::new();
        for expect in &example.expects {
            expects.push(self.expected(expect, items)?);
        }
        Some(Example { name: example.name.text.clone(), input, expects, span: example.name.span })
    }

    fn expected(&mut self, expect: &written::Expect, items: &Items<'_>) -> Option<Expect> {
        Some(match expect {
            written::Expect::Rule { rule, verdict, code, missing } => Expect::Rule {
                rule: self.rule_named(rule, items)?,
                verdict: self.verdict_named(&verdict.text, verdict.span)?,
                code: code.as_ref().map(|code| code.text.clone()),
                missing: missing.clone(),
            },
            written::Expect::Value(pointer, value) => {
                let emit = self.emit_named(pointer, items)?;
                let ty = items.emits[emit].ty.clone();
                Expect::Shown(emit, self.expected_json(value, &ty)?)
            }
            written::Expect::Absent(pointer, word) => {
                let emit = self.emit_named(pointer, items)?;
                if word.text == "held" { Expect::Held(emit) } else { Expect::Absent(emit) }
            }
        })
    }

    fn table_test(&mut self, test: &written::TableTest, tests: &mut Tests, items: &Items<'_>) {
        for (number, (cells, span)) in test.rows.iter().enumerate() {
            let name = format!("{}#{}", test.name.text, number + 1);
            if let Some(rule) = items.rules.iter().position(|rule| rule.id == test.from.text) {
                let example = self.rule_row(test, tests, rule, cells, name, *span);
                tests.examples.extend(example);
                continue;
            }
            let asked = match self.global(&test.from.text) {
                Some(Global::Table(index)) => Some(Asked::Table(index)),
                Some(Global::Def(index)) => Some(Asked::Def(index)),
                _ => None,
            };
            let Some(asked) = asked else {
                let message = format!("there is no rule, table or definition `{}`", test.from.text);
                self.wrong.push(Diagnostic::new(Code::RuleNameUnknown, test.from.span, message));
                return;
            };
            let lookup = self.lookup(test, tests, asked, cells, name, *span);
            tests.lookups.extend(lookup);
        }
    }

    fn rule_row(
        &mut self,
        test: &written::TableTest,
        tests: &Tests,
        rule: usize,
        cells: &[Expr],
        name: String,
        span: Span,
    ) -> Option<Example> {
        let mut draft = self.started(test.using.as_ref(), tests, test.name.span)?;
        let (mut verdict, mut code) = (None, None);
        for (column, cell) in test.columns.iter().zip(cells) {
            match column {
                written::Column::Field(target) => {
                    let set = if is_word(cell, "missing") {
                        self.set(target, |_, _| Some(SetTo::Nothing))?
                    } else {
                        self.set(target, |checker, field_type| {
                            Some(SetTo::Value(checker.fact_value(cell, field_type)?))
                        })?
                    };
                    self.applied(&mut draft, &set, target.fact.span)?;
                }
                written::Column::AsOf(_) => match self.literal(cell, &Type::Date)? {
                    Lit::Date(date) => draft.as_of = date,
                    _ => return None,
                },
                written::Column::Expect(_) => match &cell.kind {
                    ExprKind::Name(word) => verdict = Some(self.verdict_named(word, cell.span)?),
                    _ => drop(self.type_error(cell.span, "expected a verdict")),
                },
                written::Column::Code(_) => match &cell.kind {
                    ExprKind::Name(word) => code = Some(word.clone()),
                    _ => code = None,
                },
                written::Column::Param(name) => {
                    self.type_error(
                        name.span,
                        "a column about a rule is a field, `as_of`, `expect` or `code`",
                    );
                    return None;
                }
            }
        }
        let input = self.stepped(draft, &[], span)?;
        let Some(verdict) = verdict else {
            self.type_error(test.name.span, "the table has no column `expect`");
            return None;
        };
        Some(Example {
            name,
            input,
            expects: vec![Expect::Rule { rule, verdict, code, missing: Vec::new() }],
            span,
        })
    }

    fn lookup(
        &mut self,
        test: &written::TableTest,
        tests: &Tests,
        asked: Asked,
        cells: &[Expr],
        name: String,
        span: Span,
    ) -> Option<Lookup> {
        let package = self.package;
        let (params, result) = match asked {
            Asked::Table(index) => (&package.tables[index].params, &package.tables[index].result),
            Asked::Def(index) => (&package.defs[index].params, &package.defs[index].result),
        };
        let input = match &test.using {
            Some(_) => Some(self.started(test.using.as_ref(), tests, test.name.span)?),
            None => None,
        };
        let mut input = input;
        let mut args: Vec<Option<Lit>> = vec![None; params.len()];
        let mut expect = None;
        for (column, cell) in test.columns.iter().zip(cells) {
            match column {
                written::Column::Param(column) => {
                    let Some(at) = params.iter().position(|param| param.name.text == column.text) else {
                        let message = format!("`{}` has no parameter `{}`", test.from.text, column.text);
                        let wrong = Diagnostic::new(Code::RuleNameUnknown, column.span, message);
                        let known = params.iter().map(|param| param.name.text.as_str());
                        self.wrong.push(wrong.did_you_mean(column.span, &column.text, known));
                        return None;
                    };
                    let ty = self.written(&params[at].ty);
                    args[at] = Some(self.literal(cell, &ty)?);
                }
                written::Column::Expect(_) => {
                    let ty = self.written(result);
                    expect = Some(self.literal(cell, &ty)?);
                }
                written::Column::AsOf(_) => match (self.literal(cell, &Type::Date)?, &mut input) {
                    (Lit::Date(date), Some(input)) => input.as_of = date,
                    _ => drop(self.type_error(cell.span, "`as_of` needs `using` a fixture")),
                },
                written::Column::Field(target) => {
                    let set = if is_word(cell, "missing") {
                        self.set(target, |_, _| Some(SetTo::Nothing))?
                    } else {
                        self.set(target, |checker, field_type| {
                            Some(SetTo::Value(checker.fact_value(cell, field_type)?))
                        })?
                    };
                    match &mut input {
                        Some(input) => self.applied(input, &set, target.fact.span)?,
                        None => drop(self.type_error(target.fact.span, "a field needs `using` a fixture")),
                    }
                }
                written::Column::Code(at) => {
                    self.type_error(*at, "only rules have codes");
                    return None;
                }
            }
        }
        let args: Option<Vec<Lit>> = args.into_iter().collect();
        match (args, expect) {
            (Some(args), Some(expect)) => Some(Lookup { name, of: asked, args, expect, input, span }),
            _ => {
                self.type_error(test.name.span, "the table needs a column for each parameter, and `expect`");
                None
            }
        }
    }

    fn property(&mut self, property: &written::Property, tests: &Tests) -> Option<Property> {
        let (cases, span) = property.cases;
        if !(1..=10_000).contains(&cases) {
            self.type_error(span, "a property has 1 to 10000 cases");
            return None;
        }
        let input = match &property.using {
            Some(using) => Some(self.started(Some(using), tests, property.name.span)?),
            None => None,
        };
        self.scope = Scope::default();
        let (mut vars, mut params) = (Vec::new(), Vec::new());
        for var in &property.vars {
            let ty = self.written(&var.ty);
            let range = match &var.range {
                Some((first, last)) => Some((self.literal(first, &ty)?, self.literal(last, &ty)?)),
                None if matches!(ty, Type::Enum(_) | Type::Bool | Type::Range(..)) => None,
                None => {
                    let message = format!(
                        "say between which values: `{}: {} in .. .. ..`",
                        var.name.text,
                        self.show(&ty)
                    );
                    self.type_error(var.name.span, message);
                    return None;
                }
            };
            self.scope.add(&var.name.text, ty.clone());
            params.push((var.name.text.clone(), ty.clone()));
            vars.push(Var { name: var.name.text.clone(), ty, range });
        }
        let mut sets = Vec::new();
        for step in &property.steps {
            sets.push(self.property_step(step, &vars)?);
        }
        let body = self.expect(&property.holds, &Type::Bool);
        let (name, span) = (property.name.text.clone(), property.name.span);
        let holds =
            Def { name: name.clone(), params, result: Type::Bool, body, slots: self.scope.slots(), span };
        Some(Property { name, cases: cases as u32, input, vars, sets, holds, span })
    }

    fn property_step(&mut self, step: &written::Step, vars: &[Var]) -> Option<Set> {
        match step {
            written::Step::Set(target, Expr { kind: ExprKind::Name(name), span })
                if vars.iter().any(|var| var.name == *name) =>
            {
                let at = vars.iter().position(|var| var.name == *name)?;
                let set = self.set(target, |_, _| Some(SetTo::Var(at)))?;
                let field = set.fact.schema().field(set.field)?;
                let wanted = self.enums().value_type(&field.field_type);
                let fits = vars[at].ty == wanted || (vars[at].ty.is_integer() && wanted == Type::Int);
                if !fits {
                    let message =
                        format!("`{name}` is {}, the field {}", self.show(&vars[at].ty), self.show(&wanted));
                    self.type_error(*span, message);
                    return None;
                }
                Some(set)
            }
            written::Step::Set(target, value) => self.set(target, |checker, field_type| {
                Some(SetTo::Value(checker.fact_value(value, field_type)?))
            }),
            written::Step::Drop(target) => self.set(target, |_, _| Some(SetTo::Nothing)),
            written::Step::Fact { span, .. } | written::Step::Product(_, span) => {
                self.type_error(*span, "a property can only `set` and `drop` fields of its fixture");
                None
            }
            written::Step::AsOf(name) | written::Step::Remove { fact: name, .. } => {
                self.type_error(name.span, "a property can only `set` and `drop` fields of its fixture");
                None
            }
        }
    }

    fn change(&mut self, written: &written::Metamorphic) -> Option<Change> {
        match (written.change.text.as_str(), written.args.as_slice()) {
            ("permute_facts", []) => Some(Change::PermuteFacts),
            ("add_irrelevant", []) => Some(Change::AddIrrelevant),
            ("rescale", [to, from]) => {
                let (to_unit, from_unit) = (self.unit(to)?, self.unit(from)?);
                if to_unit.dimension() != from_unit.dimension() {
                    let message = format!("`{from_unit}` cannot be written in `{to_unit}`");
                    self.wrong.push(Diagnostic::new(Code::UnitMismatch, to.span, message));
                    return None;
                }
                Some(Change::Rescale(to_unit, from_unit))
            }
            (other, _) => {
                let message = format!("`{other}` is no change that tests know");
                let wrong = Diagnostic::new(Code::RuleNameUnknown, written.change.span, message)
                    .help("write `permute_facts`, `add_irrelevant` or `rescale(g, kg)`");
                self.wrong.push(wrong);
                None
            }
        }
    }

    fn rule_named(&mut self, name: &Name, items: &Items<'_>) -> Option<usize> {
        let found = items.rules.iter().position(|rule| rule.id == name.text);
        if found.is_none() {
            let wrong = Diagnostic::new(
                Code::RuleNameUnknown,
                name.span,
                format!("there is no rule `{}`", name.text),
            );
            let known = items.rules.iter().map(|rule| rule.id.as_str());
            self.wrong.push(wrong.did_you_mean(name.span, &name.text, known));
        }
        found
    }

    fn emit_named(&mut self, name: &Name, items: &Items<'_>) -> Option<usize> {
        let found = items.emits.iter().position(|emit| emit.pointer == name.text);
        if found.is_none() {
            let message = format!("nothing is emitted at `{}`", name.text);
            let wrong = Diagnostic::new(Code::RuleNameUnknown, name.span, message);
            let known = items.emits.iter().map(|emit| emit.pointer.as_str());
            self.wrong.push(wrong.did_you_mean(name.span, &name.text, known));
        }
        found
    }

    fn verdict_named(&mut self, word: &str, span: Span) -> Option<Verdict> {
        let found = Verdict::named(word);
        if found.is_none() {
            let wrong = Diagnostic::new(Code::RuleNameUnknown, span, format!("`{word}` is no verdict"));
            self.wrong.push(wrong.did_you_mean(span, word, Verdict::ALL.map(Verdict::as_str)));
        }
        found
    }
}

fn is_word(expr: &Expr, word: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(name) if name == word)
}

fn golden(written: &written::Golden) -> Golden {
    Golden {
        name: written.name.text.clone(),
        file: written.file.0.clone(),
        payload_hash: written.payload_hash.clone(),
        proof_root: written.proof_root.clone(),
        span: written.name.span,
    }
}
