//! The payload: each attribute at its pointer.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use bpc_core::canonical::write_string;

use super::error::CompileError;
use crate::proof::Attribute;

/// Writes an object with each attribute at its pointer, canonically: names in pointers are ASCII, so
/// their order as texts is the one that canonical JSON asks for.
///
/// # Errors
///
/// If a pointer leads through the value of another.
pub(super) fn write_nested<'a>(
    attributes: impl IntoIterator<Item = &'a Attribute>,
    out: &mut Vec<u8>,
) -> Result<(), CompileError> {
    let mut tree = Tree::default();
    for attribute in attributes {
        tree.put(attribute)?;
    }
    tree.write(out);
    Ok(())
}

#[derive(Default)]
struct Tree<'a> {
    members: BTreeMap<String, Branch<'a>>,
}

enum Branch<'a> {
    Value(&'a Attribute),
    Tree(Tree<'a>),
}

impl<'a> Tree<'a> {
    fn put(&mut self, attribute: &'a Attribute) -> Result<(), CompileError> {
        let pointer = attribute.pointer.as_str();
        let conflict =
            |outer: &str| CompileError::Pointers { outer: outer.to_owned(), inner: pointer.to_owned() };
        let mut steps = pointer.split('/').skip(1).map(unescaped).peekable();
        let mut tree = self;
        while let Some(step) = steps.next() {
            let entry = tree.members.entry(step);
            if steps.peek().is_none() {
                return match entry {
                    Entry::Vacant(free) => {
                        free.insert(Branch::Value(attribute));
                        Ok(())
                    }
                    Entry::Occupied(_) => Err(conflict(pointer)),
                };
            }
            match entry.or_insert_with(|| Branch::Tree(Tree::default())) {
                Branch::Tree(inner) => tree = inner,
                Branch::Value(outer) => return Err(conflict(&outer.pointer)),
            }
        }
        Err(conflict(pointer))
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (index, (name, branch)) in self.members.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_string(name, out);
            out.push(b':');
            match branch {
                Branch::Value(attribute) => out.extend_from_slice(attribute.value.as_bytes()),
                Branch::Tree(tree) => tree.write(out),
            }
        }
        out.push(b'}');
    }
}

/// One step of a pointer as the name it stands for.
fn unescaped(step: &str) -> String {
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~") } else { step.to_owned() }
}
