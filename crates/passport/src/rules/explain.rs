//! A rule told to a person: what it says, when, on what it rests, what it can come to.

use std::collections::BTreeSet;
use std::fmt;

use super::checked::Checked;
use super::program::{Op, Program, Rule};
use super::source::Place;
use super::syntax::ast::{Many, Severity};
use super::types::Type;
use super::verdict::Verdict;

/// A rule told to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The rule.
    pub rule: String,
    /// How much it matters.
    pub severity: Severity,
    /// The law it follows from.
    pub cites: Vec<String>,
    /// Its text.
    pub text: String,
    /// Where it is written.
    pub place: Place,
    /// The facts it is about.
    pub about: Vec<String>,
    /// The first day it holds.
    pub from: Option<String>,
    /// Fields it looks at, itself and through definitions.
    pub fields: Vec<String>,
    /// Definitions and tables it uses.
    pub uses: Vec<String>,
    /// Attributes it looks at.
    pub attributes: Vec<String>,
    /// What it can come to, heaviest first.
    pub verdicts: Vec<Verdict>,
    /// What it says when its check does not hold: code and sentence.
    pub otherwise: (Option<String>, Option<String>),
    /// The most it can cost.
    pub cost_max: u64,
}

/// A rule told to a person; `None` if the package has no such rule.
pub fn explain(checked: &Checked, id: &str) -> Option<Explanation> {
    let program = checked.program();
    let rule = program.rule(id)?;
    let written = checked.package().rules.iter().find(|written| written.id.text == id)?;
    let (fields, uses) = rests_on(program, rule);
    let mut verdicts = rule.possible.clone();
    verdicts.reverse();
    Some(Explanation {
        rule: rule.id.clone(),
        severity: rule.severity,
        cites: rule.cites.clone(),
        text: checked.sources().text(written.span).to_owned(),
        place: checked.sources().place(written.span),
        about: rule.bindings.iter().map(about).collect(),
        from: rule.from.map(|(day, _)| day.to_string()),
        fields,
        uses,
        attributes: rule.reads.clone(),
        verdicts,
        otherwise: (rule.otherwise.code.clone(), rule.otherwise.message.clone()),
        cost_max: rule.cost_max,
    })
}

fn about(bind: &super::program::Bind) -> String {
    match bind.many {
        Many::Each => format!("each {}", bind.fact),
        Many::Opt => format!("the latest {}, if there is one", bind.fact),
        Many::List => format!("all {}", bind.fact),
    }
}

fn rests_on(program: &Program, rule: &Rule) -> (Vec<String>, Vec<String>) {
    let (mut fields, mut uses) = (BTreeSet::new(), BTreeSet::new());
    for root in rule.roots() {
        program.walk(root, &mut |_, node| match &node.op {
            Op::Field(base, name) => {
                if let Type::Fact(fact) = program.node(*base).ty.present() {
                    fields.insert(format!("{fact}.{name}"));
                }
            }
            Op::Call(def, _) => drop(uses.insert(program.defs[*def].name.clone())),
            Op::Table(table, _) => drop(uses.insert(format!("table {}", program.tables[*table].name))),
            Op::Const(at) => drop(uses.insert(format!("const {}", program.consts[*at].name))),
            Op::VerdictOf(other) => drop(uses.insert(format!("rule {}", program.rules[*other].id))),
            _ => {}
        });
    }
    (fields.into_iter().collect(), uses.into_iter().collect())
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let matters = match self.severity {
            Severity::Must => "must: a passport that fails it is not compiled",
            Severity::Should => "should: a passport that fails it says so",
            Severity::Info => "info",
        };
        writeln!(f, "{} ({matters})", self.rule)?;
        let mut line = |name: &str, text: String| {
            if text.is_empty() { Ok(()) } else { writeln!(f, "  {name:<10} {text}") }
        };
        line("law", self.cites.join("; "))?;
        line("about", self.about.join(", "))?;
        line("from", self.from.clone().unwrap_or_default())?;
        line("reads", self.fields.join(", "))?;
        line("uses", self.uses.join(", "))?;
        let attributes = match self.attributes.len() {
            0..=6 => self.attributes.join(", "),
            count => format!("{count} attributes"),
        };
        line("payload", attributes)?;
        line(
            "verdicts",
            self.verdicts.iter().map(|verdict| verdict.as_str()).collect::<Vec<_>>().join(", "),
        )?;
        let (code, message) = &self.otherwise;
        let words: Vec<&str> = [code, message].into_iter().flatten().map(String::as_str).collect();
        line("if not", words.join(": "))?;
        line("cost", format!("at most {}", self.cost_max))?;
        line("written", self.place.to_string())?;
        writeln!(f)?;
        self.text.lines().try_for_each(|text| writeln!(f, "  {text}"))
    }
}
