//! The payload: each attribute at its pointer.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::error::CompileError;
use crate::json::Json;
use crate::proof::Attribute;

/// An object with each attribute at its pointer.
///
/// # Errors
///
/// If a pointer leads through the value of another.
pub(super) fn nested<'a>(attributes: impl IntoIterator<Item = &'a Attribute>) -> Result<Json, CompileError> {
    let mut tree = Tree::default();
    for attribute in attributes {
        tree.put(&attribute.pointer, Json::from_canonical(&attribute.value))?;
    }
    Ok(tree.into_json())
}

#[derive(Default)]
struct Tree {
    members: BTreeMap<String, Branch>,
}

enum Branch {
    Value(String, Json),
    Tree(Tree),
}

impl Tree {
    fn put(&mut self, pointer: &str, value: Json) -> Result<(), CompileError> {
        let conflict = |outer: &str, inner: &str| CompileError::Pointers {
            outer: outer.to_owned(),
            inner: inner.to_owned(),
        };
        let steps: Vec<String> =
            pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
        let Some((last, path)) = steps.split_last() else { return Err(conflict(pointer, pointer)) };
        let mut tree = self;
        for step in path {
            let branch = tree.members.entry(step.clone()).or_insert_with(|| Branch::Tree(Tree::default()));
            match branch {
                Branch::Tree(inner) => tree = inner,
                Branch::Value(outer, _) => return Err(conflict(outer, pointer)),
            }
        }
        match tree.members.entry(last.clone()) {
            Entry::Vacant(free) => drop(free.insert(Branch::Value(pointer.to_owned(), value))),
            Entry::Occupied(_) => return Err(conflict(pointer, pointer)),
        }
        Ok(())
    }

    fn into_json(self) -> Json {
        let member = |(name, branch)| match branch {
            Branch::Value(_, value) => (name, value),
            Branch::Tree(tree) => (name, tree.into_json()),
        };
        Json::Object(self.members.into_iter().map(member).collect())
    }
}
