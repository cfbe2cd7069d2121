//! Variables, and which values are known to be present.

use std::collections::BTreeSet;

use crate::rules::program::Slot;
use crate::rules::types::Type;

/// Variables of the rule, definition or attribute that is being checked.
#[derive(Default)]
pub(super) struct Scope {
    variables: Vec<Variable>,
    slots: u32,
    /// Paths that an enclosing condition has found to be present.
    present: BTreeSet<Path>,
}

pub(super) struct Variable {
    pub(super) name: String,
    pub(super) slot: Slot,
    pub(super) ty: Type,
}

/// A variable, or the product, and fields from there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Path {
    /// `None` is the product.
    pub(super) root: Option<Slot>,
    pub(super) fields: Vec<String>,
}

impl Scope {
    /// Adds a variable; it hides one of the same name.
    pub(super) fn add(&mut self, name: &str, ty: Type) -> Slot {
        let slot = Slot(self.slots);
        self.slots += 1;
        self.variables.push(Variable { name: name.to_owned(), slot, ty });
        slot
    }

    pub(super) fn find(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().rev().find(|variable| variable.name == name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|variable| variable.name.as_str())
    }

    /// How many variables there are now, to come back to with [`Scope::leave`].
    pub(super) fn depth(&self) -> usize {
        self.variables.len()
    }

    pub(super) fn leave(&mut self, depth: usize) {
        self.variables.truncate(depth);
    }

    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    pub(super) fn is_present(&self, path: &Path) -> bool {
        self.present.contains(path)
    }

    /// Learns that these are present, and gives what was known before.
    pub(super) fn learn(&mut self, paths: impl IntoIterator<Item = Path>) -> BTreeSet<Path> {
        let before = self.present.clone();
        self.present.extend(paths);
        before
    }

    pub(super) fn forget(&mut self, before: BTreeSet<Path>) {
        self.present = before;
    }
}
