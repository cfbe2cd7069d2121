//! What names of a package stand for.

use std::collections::BTreeMap;

use crate::facts::FactType;
use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::source::Span;
use crate::rules::syntax::ast::{Name, Package};
use crate::rules::types::{Enum, Enums};

/// What a name of a package stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Global {
    Const(usize),
    Table(usize),
    Def(usize),
}

/// All names of a package.
pub(super) struct Names {
    pub(super) enums: Enums,
    pub(super) globals: BTreeMap<String, (Global, Span)>,
    pub(super) datapoints: i64,
}

/// Values that every package has.
pub(super) const VALUES: &[&str] = &["as_of", "product", "build_id", "datapoints"];

/// Functions that every package has.
pub(super) const FUNCTIONS: &[&str] = &[
    "abs",
    "ratio",
    "div",
    "convert",
    "present",
    "emitted",
    "payload",
    "verdict",
    "facts",
    "fact",
    "sku",
    "key",
    "contains_all",
    "month",
];

const TYPES: &[&str] = &[
    "Bool",
    "Int",
    "Dec",
    "Qty",
    "Date",
    "Month",
    "Text",
    "Opt",
    "List",
    "Rec",
    "Fact",
    "DataPoint",
    "Verdict",
];

impl Names {
    pub(super) fn collect(package: &Package, wrong: &mut Vec<Diagnostic>) -> Self {
        let mut names = Self {
            enums: Enums::known(),
            globals: BTreeMap::new(),
            datapoints: package.datapoints.map_or(0, |(last, _)| last),
        };
        names.own_enums(package, wrong);
        let consts = package.consts.iter().enumerate().map(|(index, one)| (&one.name, Global::Const(index)));
        let tables = package.tables.iter().enumerate().map(|(index, one)| (&one.name, Global::Table(index)));
        let defs = package.defs.iter().enumerate().map(|(index, one)| (&one.name, Global::Def(index)));
        for (name, global) in consts.chain(tables).chain(defs) {
            if VALUES.contains(&name.text.as_str()) || FUNCTIONS.contains(&name.text.as_str()) {
                let message = format!("`{}` is a name of the language", name.text);
                wrong.push(Diagnostic::new(Code::RuleDuplicate, name.span, message));
            } else if let Some((_, first)) = names.globals.get(&name.text) {
                wrong.push(twice(name, *first));
            } else {
                names.globals.insert(name.text.clone(), (global, name.span));
            }
        }
        names
    }

    fn own_enums(&mut self, package: &Package, wrong: &mut Vec<Diagnostic>) {
        let mut own: BTreeMap<&str, Span> = BTreeMap::new();
        for item in &package.enums {
            let name = &item.name;
            if let Some(first) = own.get(name.text.as_str()) {
                wrong.push(twice(name, *first));
                continue;
            }
            let taken = FactType::from_name(&name.text).is_some() || TYPES.contains(&name.text.as_str());
            if taken || self.enums.find(&name.text).is_some() {
                let message = format!("there is a type `{}` already", name.text);
                wrong.push(Diagnostic::new(Code::RuleDuplicate, name.span, message));
                continue;
            }
            own.insert(&name.text, name.span);
            for (index, tag) in item.tags.iter().enumerate() {
                if let Some(first) = item.tags[..index].iter().find(|before| before.text == tag.text) {
                    wrong.push(twice(tag, first.span));
                }
            }
            if item.tags.is_empty() {
                let message = format!("`{}` has no values", name.text);
                wrong.push(Diagnostic::new(Code::RuleTypeError, name.span, message));
            }
            let tags = item.tags.iter().map(|tag| tag.text.clone()).collect();
            self.enums.add(Enum { name: name.text.clone(), tags });
        }
        for item in &package.types {
            let taken =
                FactType::from_name(&item.name.text).is_some() || TYPES.contains(&item.name.text.as_str());
            let earlier = package.types.iter().find(|earlier| earlier.name.text == item.name.text);
            if taken || self.enums.find(&item.name.text).is_some() {
                let message = format!("there is a type `{}` already", item.name.text);
                wrong.push(Diagnostic::new(Code::RuleDuplicate, item.name.span, message));
            } else if let Some(first) = earlier.filter(|earlier| earlier.name.span != item.name.span) {
                wrong.push(twice(&item.name, first.name.span));
            }
        }
    }
}

/// `name` was defined before, at `first`.
pub(super) fn twice(name: &Name, first: Span) -> Diagnostic {
    Diagnostic::new(Code::RuleDuplicate, name.span, format!("`{}` is defined twice", name.text))
        .label("again here")
        .also(first, "first here")
        .help("rename one of them, or take one out")
}
