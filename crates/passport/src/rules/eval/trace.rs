//! How something was found: a graph of small steps, hashed from the bottom up.
//!
//! ```text
//! node = SHA-256(03 || kind || len16 name || name || count16 children || child hashes || value)
//! kind = 1 CONST, 2 FACT, 3 FIELD, 4 OP, 5 TABLE, 6 ASSERT
//! value = 00                    none: compound, or follows from values not everybody may see
//!       | 01 || canonical JSON  shown
//!       | 02 || 32 bytes        a salted hash that stands for it
//!       | 03                    unknown, something is missing
//!       | 04 || code            a calculation without a result
//! ```
//!
//! Lengths and counts are big-endian. Equal steps are one node, so the table of nodes stays small.

use std::collections::HashMap;
use std::hash::Hasher;
use std::ops::Range;

use bpc_core::Hash;
use sha2::{Digest, Sha256};

use super::mix::{Mix, Mixed};
use super::value::Item;

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A value of the package or of the evaluation.
    Const,
    /// A fact.
    Fact,
    /// A field of a fact.
    Field,
    /// A calculation.
    Op,
    /// A row of a table.
    Table,
    /// What a rule says.
    Assert,
}

/// What a step found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceValue<'t> {
    /// Not said: it is made of parts, or follows from values that not everybody may see.
    Unsaid,
    /// Canonical JSON.
    Shown(&'t str),
    /// A salted hash stands for it.
    Hidden(Hash),
    /// Something is missing.
    Unknown,
    /// The calculation has no result, for this reason.
    Fault(&'t str),
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceNode<'t> {
    /// What it is.
    pub kind: NodeKind,
    /// Its name: a field, an operator, a table and row, a rule.
    pub name: &'t str,
    /// The steps it rests on; each comes before it in the table.
    pub children: &'t [u32],
    /// What it found.
    pub value: TraceValue<'t>,
    /// Its hash.
    pub hash: Hash,
}

/// All steps of an evaluation.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    nodes: Vec<Stored>,
    /// The hash of each step. Hashes lie apart from nodes, which are then small: a usual trace stays in the
    /// processor's own memory.
    hashes: Vec<Hash>,
    /// Hashes that stand for values.
    hidden: Vec<Hash>,
    /// For each step, whether it shows nothing that not everybody may see.
    open: Vec<bool>,
    children: Vec<u32>,
    text: String,
    /// Steps by a quick hash of what they are; see [`Trace::add`].
    seen: HashMap<u64, u32, Mixed>,
    scratch: Vec<u8>,
    /// Nobody will ask how anything was found.
    off: bool,
}

/// Which step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TraceId(pub(super) u32);

/// The steps of a few items, without room of their own if they are few.
pub(super) enum Traces {
    Few([TraceId; 8], usize),
    Many(Vec<TraceId>),
}

impl Traces {
    pub(super) fn of(items: &[Item<'_>]) -> Self {
        let mut few = [TraceId(0); 8];
        if items.len() > few.len() {
            return Self::Many(items.iter().map(|item| item.trace).collect());
        }
        for (place, item) in few.iter_mut().zip(items) {
            *place = item.trace;
        }
        Self::Few(few, items.len())
    }

    pub(super) fn get(&self) -> &[TraceId] {
        match self {
            Self::Few(few, count) => &few[..*count],
            Self::Many(all) => all,
        }
    }
}

#[derive(Clone, Debug)]
struct Stored {
    kind: NodeKind,
    name: Range<u32>,
    children: Range<u32>,
    value: StoredValue,
}

#[derive(Clone, Debug)]
enum StoredValue {
    Unsaid,
    Shown(Range<u32>),
    /// Which of the hidden ones.
    Hidden(u32),
    Unknown,
    Fault(&'static str),
}

/// A step to be added.
pub(super) enum NewValue<'v> {
    Unsaid,
    Shown(&'v [u8]),
    Hidden(Hash),
    Unknown,
    Fault(&'static str),
}

impl NodeKind {
    /// How it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            NodeKind::Const => "CONST",
            NodeKind::Fact => "FACT",
            NodeKind::Field => "FIELD",
            NodeKind::Op => "OP",
            NodeKind::Table => "TABLE",
            NodeKind::Assert => "ASSERT",
        }
    }

    fn byte(self) -> u8 {
        match self {
            NodeKind::Const => 1,
            NodeKind::Fact => 2,
            NodeKind::Field => 3,
            NodeKind::Op => 4,
            NodeKind::Table => 5,
            NodeKind::Assert => 6,
        }
    }
}

impl Trace {
    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A step.
    ///
    /// # Panics
    ///
    /// If there is none of this number.
    pub fn node(&self, index: u32) -> TraceNode<'_> {
        let stored = &self.nodes[index as usize];
        TraceNode {
            kind: stored.kind,
            name: &self.text[span(&stored.name)],
            children: &self.children[span(&stored.children)],
            value: match &stored.value {
                StoredValue::Unsaid => TraceValue::Unsaid,
                StoredValue::Shown(text) => TraceValue::Shown(&self.text[span(text)]),
                StoredValue::Hidden(at) => TraceValue::Hidden(self.hidden[*at as usize]),
                StoredValue::Unknown => TraceValue::Unknown,
                StoredValue::Fault(code) => TraceValue::Fault(code),
            },
            hash: self.hashes[index as usize],
        }
    }

    /// All steps; each rests on earlier ones only.
    pub fn nodes(&self) -> impl Iterator<Item = TraceNode<'_>> {
        (0..self.nodes.len() as u32).map(|index| self.node(index))
    }

    /// The steps that one rests on, itself included, in the order of the table.
    pub fn under(&self, root: u32) -> Vec<u32> {
        let mut wanted = vec![false; root as usize + 1];
        wanted[root as usize] = true;
        for index in (0..=root).rev().filter(|index| self.nodes[*index as usize].children.start != u32::MAX) {
            if wanted[index as usize] {
                for child in self.node(index).children {
                    wanted[*child as usize] = true;
                }
            }
        }
        (0..=root).filter(|index| wanted[*index as usize]).collect()
    }

    /// An empty trace with room for about so many steps.
    pub(super) fn with_room(steps: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(steps),
            hashes: Vec::with_capacity(steps),
            open: Vec::with_capacity(steps),
            children: Vec::with_capacity(steps * 2),
            text: String::with_capacity(steps * 16),
            seen: HashMap::with_capacity_and_hasher(steps, Mixed::default()),
            ..Self::default()
        }
    }

    /// A trace that keeps nothing. Steps are most of the work of an evaluation, and tests that only
    /// look at verdicts run by the hundred thousand.
    pub(super) fn off() -> Self {
        Self { off: true, ..Self::default() }
    }

    pub(super) fn is_off(&self) -> bool {
        self.off
    }

    pub(super) fn is_open(&self, id: TraceId) -> bool {
        self.open[id.0 as usize]
    }

    /// The hash of a step; zeros if nothing is kept.
    pub(super) fn hash(&self, id: TraceId) -> Hash {
        if self.off { Hash::ZERO } else { self.hashes[id.0 as usize] }
    }

    /// Adds a step, or finds the equal one that is there.
    pub(super) fn add(
        &mut self,
        kind: NodeKind,
        name: &str,
        children: &[TraceId],
        value: NewValue<'_>,
        open: bool,
    ) -> TraceId {
        if self.off {
            return TraceId(0);
        }
        // Three of four steps are there already. SHA-256 is only for those that are not; where two
        // steps have one quick hash, the next number is tried.
        let mut quick = quick_hash(kind, name, children, &value);
        while let Some(known) = self.seen.get(&quick) {
            if self.is(*known, kind, name, children, &value) {
                return TraceId(*known);
            }
            quick = quick.wrapping_add(1);
        }
        let id = self.nodes.len() as u32;
        self.seen.insert(quick, id);
        let hash = self.hash_of(kind, name, children, &value);
        let value = match value {
            NewValue::Unsaid => StoredValue::Unsaid,
            NewValue::Shown(json) => {
                StoredValue::Shown(self.keep(std::str::from_utf8(json).unwrap_or("null")))
            }
            NewValue::Hidden(hash) => {
                self.hidden.push(hash);
                StoredValue::Hidden(self.hidden.len() as u32 - 1)
            }
            NewValue::Unknown => StoredValue::Unknown,
            NewValue::Fault(code) => StoredValue::Fault(code),
        };
        let name = self.keep(name);
        let first = self.children.len() as u32;
        self.children.extend(children.iter().map(|child| child.0));
        let children = first..self.children.len() as u32;
        self.nodes.push(Stored { kind, name, children, value });
        self.hashes.push(hash);
        self.open.push(open);
        TraceId(id)
    }

    /// Whether a step is this one. Steps are known by number, so equal children are equal numbers.
    fn is(&self, id: u32, kind: NodeKind, name: &str, children: &[TraceId], value: &NewValue<'_>) -> bool {
        let stored = &self.nodes[id as usize];
        let same_value = match (&stored.value, value) {
            (StoredValue::Unsaid, NewValue::Unsaid) | (StoredValue::Unknown, NewValue::Unknown) => true,
            (StoredValue::Shown(text), NewValue::Shown(json)) => self.text[span(text)].as_bytes() == *json,
            (StoredValue::Hidden(before), NewValue::Hidden(hash)) => self.hidden[*before as usize] == *hash,
            (StoredValue::Fault(before), NewValue::Fault(code)) => before == code,
            _ => false,
        };
        let known = &self.children[span(&stored.children)];
        same_value
            && stored.kind == kind
            && known.len() == children.len()
            && known.iter().zip(children).all(|(known, child)| *known == child.0)
            && &self.text[span(&stored.name)] == name
    }

    fn keep(&mut self, text: &str) -> Range<u32> {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        start..self.text.len() as u32
    }

    fn hash_of(&mut self, kind: NodeKind, name: &str, children: &[TraceId], value: &NewValue<'_>) -> Hash {
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        bytes.extend_from_slice(&[3, kind.byte()]);
        bytes.extend_from_slice(&(name.len() as u16).to_be_bytes());
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(&(children.len() as u16).to_be_bytes());
        for child in children {
            bytes.extend_from_slice(&self.hashes[child.0 as usize].0);
        }
        match value {
            NewValue::Unsaid => bytes.push(0),
            NewValue::Shown(json) => {
                bytes.push(1);
                bytes.extend_from_slice(json);
            }
            NewValue::Hidden(hash) => {
                bytes.push(2);
                bytes.extend_from_slice(&hash.0);
            }
            NewValue::Unknown => bytes.push(3),
            NewValue::Fault(code) => {
                bytes.push(4);
                bytes.extend_from_slice(code.as_bytes());
            }
        }
        let hash = Hash(Sha256::digest(&bytes).into());
        self.scratch = bytes;
        hash
    }
}

fn span(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// A hash of what a step is, for finding it again.
fn quick_hash(kind: NodeKind, name: &str, children: &[TraceId], value: &NewValue<'_>) -> u64 {
    let mut hasher = Mix::default();
    hasher.write_u8(kind.byte());
    hasher.write(name.as_bytes());
    for child in children {
        hasher.write_u32(child.0);
    }
    match value {
        NewValue::Unsaid => {}
        NewValue::Shown(json) => hasher.write(json),
        NewValue::Hidden(hash) => hasher.write(&hash.0[..8]),
        NewValue::Unknown => hasher.write_u8(3),
        NewValue::Fault(code) => hasher.write(code.as_bytes()),
    }
    hasher.finish()
}
