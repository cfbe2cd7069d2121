//! A program as canonical JSON, and its hash: `rules_hash = SHA-256(canonical(program))`.
//!
//! Says all that decides about results and nothing else: no comments, no places in the text, no
//! tests. Enumerations of fact schemas are named, not listed, so that a word added to a schema
//! does not change the hash of packages that never say it.

use std::collections::BTreeMap;

use bpc_core::canonical::to_canonical;
use bpc_core::{CanonicalJson, Hash};
use serde::{Serialize, Serializer};

use crate::hash::sha256;

use super::eval::write_lit;
use super::program::{CellTest, Emit, Lit, NodeId, Op, Program, Rule, Shown, Table};
use super::syntax::ast::Many;
use super::types::{Enums, Type};

/// The fields of an item, as canonical JSON by name.
pub(super) type Part = BTreeMap<&'static str, String>;

/// All items of a program by kind and name, to see what of two programs is not the same.
pub(super) fn parts(program: &Program) -> BTreeMap<(&'static str, String), Part> {
    let Json::Object(whole) = json(program) else { return BTreeMap::new() };
    let mut parts: BTreeMap<(&'static str, String), Part> = BTreeMap::new();
    let mut package = Part::new();
    for (name, value) in whole {
        let kind = match name {
            "consts" => "const",
            "defs" => "def",
            "emits" => "emit",
            "enums" => "enum",
            "rules" => "rule",
            "tables" => "table",
            _ => {
                package.insert(name, written(&value));
                continue;
            }
        };
        let Json::List(items) = value else { continue };
        for item in items {
            let Json::Object(fields) = item else { continue };
            let of = ["name", "pointer", "id"].into_iter().find_map(|key| match fields.get(key) {
                Some(Json::Text(name)) => Some(name.clone()),
                _ => None,
            });
            let fields = fields.iter().map(|(name, value)| (*name, written(value))).collect();
            parts.insert((kind, of.unwrap_or_default()), fields);
        }
    }
    parts.insert(("package", program.name.clone()), package);
    parts
}

/// The canonical form of a program.
pub(super) fn canonical(program: &Program) -> CanonicalJson {
    to_canonical(&json(program)).expect("texts, integers and short nesting are canonical")
}

fn written(json: &Json) -> String {
    to_canonical(json).map_or(String::new(), |text| text.as_str().to_owned())
}

fn json(program: &Program) -> Json {
    let known = Enums::known().all().len();
    let own = program.enums.all()[known..]
        .iter()
        .map(|one| object([("name", text(&one.name)), ("tags", list(one.tags.iter().map(text)))]));
    let consts = program.consts.iter().map(|one| {
        object([
            ("name", text(&one.name)),
            ("type", text(program.enums.show(&one.ty))),
            ("value", lit(program, &one.value, &one.ty)),
        ])
    });
    let defs = program.defs.iter().map(|def| {
        let mut nodes = Nodes::new(program);
        let body = nodes.add(def.body);
        object([
            ("body", body),
            ("name", text(&def.name)),
            ("nodes", nodes.list()),
            ("params", params(program, &def.params)),
            ("result", text(program.enums.show(&def.result))),
        ])
    });
    object([
        ("consts", list(consts)),
        ("datapoints", Json::Number(program.datapoints)),
        ("defs", list(defs)),
        ("effective", text(program.effective.to_string())),
        ("emits", list(program.emits.iter().map(|emit| emit_json(program, emit)))),
        ("enums", list(own)),
        ("format", text("BPC-RULES-1")),
        ("name", text(&program.name)),
        ("rules", list(program.rules.iter().map(|rule| rule_json(program, rule)))),
        ("tables", list(program.tables.iter().map(|table| table_json(program, table)))),
        ("until", program.until.map_or(Json::Null, |until| text(until.to_string()))),
        ("version", text(&program.version)),
    ])
}

/// The hash of a canonical program.
pub(super) fn rules_hash(canonical: &CanonicalJson) -> Hash {
    sha256(&[canonical.as_bytes()])
}

fn rule_json(program: &Program, rule: &Rule) -> Json {
    let mut nodes = Nodes::new(program);
    let bindings: Vec<Json> = rule
        .bindings
        .iter()
        .map(|bind| {
            let many = match bind.many {
                Many::Each => "each",
                Many::Opt => "opt",
                Many::List => "list",
            };
            object([
                ("by", bind.by.map_or(Json::Null, |by| nodes.add(by))),
                ("fact", text(bind.fact.name())),
                ("many", text(many)),
                ("slot", Json::Number(bind.slot.0.into())),
            ])
        })
        .collect();
    let filter = rule.filter.map_or(Json::Null, |node| nodes.add(node));
    let unless = rule.unless.map_or(Json::Null, |node| nodes.add(node));
    let lets: Vec<Json> = rule
        .lets
        .iter()
        .map(|(slot, node)| object([("node", nodes.add(*node)), ("slot", Json::Number(slot.0.into()))]))
        .collect();
    let check = nodes.add(rule.check);
    let some = |text: &Option<String>| text.as_ref().map_or(Json::Null, self::text);
    object([
        ("bind", Json::List(bindings)),
        ("check", check),
        ("cite", list(rule.cites.iter().map(text))),
        ("code", some(&rule.otherwise.code)),
        ("else", text(rule.otherwise.verdict.as_str())),
        ("filter", filter),
        ("from", rule.from.map_or(Json::Null, |(from, _)| text(from.to_string()))),
        ("id", text(&rule.id)),
        ("lets", Json::List(lets)),
        ("message", some(&rule.otherwise.message)),
        ("nodes", nodes.list()),
        ("point", rule.point.map_or(Json::Null, |point| Json::Number(point.into()))),
        ("sev", text(rule.severity.as_str())),
        ("unless", unless),
        ("unless_cite", list(rule.unless_cites.iter().map(text))),
    ])
}

fn emit_json(program: &Program, emit: &Emit) -> Json {
    let mut nodes = Nodes::new(program);
    let value = nodes.add(emit.value);
    let from = match emit.shown {
        Shown::Always => Json::Null,
        Shown::From(day, _) => text(day.to_string()),
        Shown::Undated => text("undated"),
    };
    object([
        ("dp", Json::Number(emit.dp)),
        ("from", from),
        ("nodes", nodes.list()),
        ("point", Json::Number(emit.point.into())),
        ("pointer", text(&emit.pointer)),
        ("type", text(program.enums.show(&emit.ty))),
        ("value", value),
    ])
}

fn table_json(program: &Program, table: &Table) -> Json {
    let rows = table.rows.iter().map(|row| {
        let columns = row.tests.iter().zip(&table.params).map(|(tests, (_, ty))| {
            list(tests.iter().map(|test| match test {
                CellTest::Any => list([]),
                CellTest::Is(value) => list([text("=="), lit(program, value, ty)]),
                CellTest::Within(first, last) => {
                    list([text(".."), lit(program, first, ty), lit(program, last, ty)])
                }
                CellTest::Compare(compare, value) => list([text(compare.as_str()), lit(program, value, ty)]),
            }))
        });
        object([("if", list(columns)), ("then", lit(program, &row.value, &table.result))])
    });
    object([
        ("name", text(&table.name)),
        (
            "otherwise",
            table
                .otherwise
                .as_ref()
                .map_or(Json::Null, |(value, _)| list([lit(program, value, &table.result)])),
        ),
        ("params", params(program, &table.params)),
        ("result", text(program.enums.show(&table.result))),
        ("rows", list(rows)),
    ])
}

fn params(program: &Program, params: &[(String, Type)]) -> Json {
    list(params.iter().map(|(name, ty)| list([text(name), text(program.enums.show(ty))])))
}

fn lit(program: &Program, lit: &Lit, ty: &Type) -> Json {
    let mut json = Vec::new();
    write_lit(&program.enums, lit, ty, &mut json);
    text(String::from_utf8_lossy(&json))
}

/// Nodes of one item, children before parents, named by their place. Flat, so that no expression
/// nests deeper than canonical JSON may.
struct Nodes<'p> {
    program: &'p Program,
    out: Vec<Json>,
}

impl<'p> Nodes<'p> {
    fn new(program: &'p Program) -> Self {
        Self { program, out: Vec::new() }
    }

    fn list(self) -> Json {
        Json::List(self.out)
    }

    /// Adds a node and all under it; gives its place.
    fn add(&mut self, id: NodeId) -> Json {
        let node = self.program.node(id);
        let mut children = Vec::new();
        node.op.children(&mut |child| children.push(child));
        let children: Vec<Json> = children.into_iter().map(|child| self.add(child)).collect();
        let mut fields =
            vec![("op", text(name(&node.op))), ("type", text(self.program.enums.show(&node.ty)))];
        if !children.is_empty() {
            fields.push(("args", Json::List(children)));
        }
        fields.extend(self.detail(&node.op, &node.ty).map(|detail| ("with", detail)));
        self.out.push(object(fields));
        Json::Number(self.out.len() as i64 - 1)
    }

    /// What an operation has besides operands.
    fn detail(&self, op: &Op, ty: &Type) -> Option<Json> {
        let program = self.program;
        let number = |number: u32| Json::Number(number.into());
        Some(match op {
            Op::Lit(value) => lit(program, value, ty),
            Op::Const(at) => text(&program.consts[*at].name),
            Op::Local(slot) | Op::MatchOpt(_, slot, ..) => number(slot.0),
            Op::Facts(fact) | Op::FactBy(fact, _) => text(fact.name()),
            Op::Field(_, name) | Op::Need(_, name) | Op::Present(_, name) => text(name),
            Op::Convert(_, from, to) => list([text(from.symbol()), text(to.symbol())]),
            Op::Logic(logic, ..) => text(logic.as_str()),
            Op::Compare(compare, ..) => text(compare.as_str()),
            Op::Arith(arith, ..) => text(arith.as_str()),
            Op::Div(_, _, scale) => number((*scale).into()),
            Op::PctOf(share, _) => text(share.to_string()),
            Op::MatchTag(value, arm_of, arms) => {
                let words = |arm: usize| {
                    let tags = (0..arm_of.len()).filter(move |tag| usize::from(arm_of[*tag]) == arm);
                    list(tags.map(|tag| match &program.node(*value).ty {
                        Type::Enum(id) => text(program.enums.word(*id, tag as u16)),
                        _ => Json::Number(tag as i64),
                    }))
                };
                // The last arm takes the rest.
                list((0..arms.len().saturating_sub(1)).map(words))
            }
            Op::Comp { kind, slot, filter, body, .. } => list([
                text(kind.as_str()),
                number(slot.0),
                Json::Number(filter.is_some().into()),
                Json::Number(body.is_some().into()),
            ]),
            Op::Call(def, _) => text(&program.defs[*def].name),
            Op::Table(table, _) => text(&program.tables[*table].name),
            Op::Payload(emit) => text(&program.emits[*emit].pointer),
            Op::VerdictOf(rule) => text(&program.rules[*rule].id),
            _ => return None,
        })
    }
}

fn name(op: &Op) -> &'static str {
    match op {
        Op::Lit(_) => "lit",
        Op::Const(_) => "const",
        Op::Local(_) => "local",
        Op::Product => "product",
        Op::AsOf => "as_of",
        Op::BuildId => "build_id",
        Op::Datapoints => "datapoints",
        Op::Facts(_) => "facts",
        Op::FactBy(..) => "fact",
        Op::Field(..) => "field",
        Op::Need(..) => "need",
        Op::Some(_) => "some",
        Op::ToDec(_) => "to_dec",
        Op::Convert(..) => "convert",
        Op::Not(_) => "not",
        Op::Neg(_) => "neg",
        Op::Abs(_) => "abs",
        Op::Logic(..) => "logic",
        Op::Compare(..) => "compare",
        Op::In(..) => "in",
        Op::Arith(..) => "arith",
        Op::Div(..) => "div",
        Op::Ratio(..) => "ratio",
        Op::PctOf(..) => "pct_of",
        Op::If(..) => "if",
        Op::MatchOpt(..) => "match_opt",
        Op::MatchTag(..) => "match_tag",
        Op::List(_) => "list",
        Op::Record(_) => "record",
        Op::Comp { .. } => "comp",
        Op::Call(..) => "call",
        Op::Table(..) => "table",
        Op::Present(..) => "present",
        Op::HasValue(_) => "has_value",
        Op::Emitted(_) => "emitted",
        Op::Payload(_) => "payload",
        Op::VerdictOf(_) => "verdict",
        Op::Sku(_) => "sku",
        Op::Key(_) => "key",
        Op::ContainsAll(..) => "contains_all",
        Op::MonthOf(_) => "month",
    }
}

enum Json {
    Null,
    Number(i64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<&'static str, Json>),
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Number(number) => serializer.serialize_i64(*number),
            Json::Text(text) => serializer.serialize_str(text),
            Json::List(items) => items.serialize(serializer),
            Json::Object(fields) => fields.serialize(serializer),
        }
    }
}

fn object(fields: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
    Json::Object(fields.into_iter().collect())
}

fn list(items: impl IntoIterator<Item = Json>) -> Json {
    Json::List(items.into_iter().collect())
}

fn text(text: impl AsRef<str>) -> Json {
    Json::Text(text.as_ref().to_owned())
}
