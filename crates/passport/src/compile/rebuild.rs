//! The tree of a stored passport version, from its documents and its salt key.

use std::collections::BTreeSet;

use bpc_core::{CanonicalJson, Hash};

use super::proof_document::roots;
use super::reads::access;
use crate::facts::{Access, FactId, FactType};
use crate::json::{Json, Node};
use crate::proof::{Attribute, Point, ProofTree, RuleResult, SaltKey};

/// What bundles are made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebuilt {
    /// The tree.
    pub tree: ProofTree,
    /// What each result's rule read, in the order of the tree.
    pub reads: Vec<BTreeSet<Access>>,
}

/// Why stored documents do not make the tree they were.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RebuildError {
    /// Not documents of this format.
    #[error("the stored proof or payload is malformed at {pointer}")]
    Malformed {
        /// Where.
        pointer: String,
    },
    /// Payload, proof and salt key do not belong together.
    #[error("payload, proof and salt key do not make the roots that the proof names")]
    Roots,
}

impl RebuildError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "REPLAY_MISMATCH"
    }
}

/// Rebuilds the tree; nothing is compiled.
///
/// # Errors
///
/// If the documents are malformed or do not belong together.
pub fn rebuild(payload: &[u8], proof: &[u8], salt_key: &SaltKey) -> Result<Rebuilt, RebuildError> {
    let read = |bytes: &[u8]| Json::read(bytes).map_err(|_| malformed(""));
    let (payload, proof) = (read(payload)?, read(proof)?);
    let (payload, proof) = (Node::root(&payload).at("/data"), Node::root(&proof));
    let facts = proof.at("/facts").items().iter().map(fact).collect::<Result<Vec<_>, _>>()?;
    let (mut results, mut reads) = (Vec::new(), Vec::new());
    for entry in proof.at("/results").items() {
        results.push(RuleResult { rule: text(&entry.at("/r/rule"))?, object: canonical(&entry.at("/r"))? });
        reads.push(entry.at("/reads").items().iter().map(read_access).collect::<Result<_, _>>()?);
    }
    let mut attributes = Vec::new();
    for (point, section) in Point::ALL.into_iter().zip(proof.at("/sections").items()) {
        for pointer in section.items() {
            let pointer = text(&pointer)?;
            let value = canonical(&payload.at(&pointer))?;
            attributes.push(Attribute { pointer, point, value });
        }
    }
    let version = text(&proof.at("/passport_version_id"))?;
    let tree = ProofTree::new(salt_key, &version, &facts, &results, &attributes);
    let same = proof.at("/roots").value() == Some(&roots(&tree.roots));
    if same { Ok(Rebuilt { tree, reads }) } else { Err(RebuildError::Roots) }
}

fn fact(entry: &Node<'_>) -> Result<FactId, RebuildError> {
    let fact_type = FactType::from_name(&text(&entry.at("/t"))?).ok_or_else(|| malformed(entry.pointer()))?;
    let hash = hex::decode(text(&entry.at("/h"))?).ok().and_then(|bytes| Hash::from_slice(&bytes));
    Ok(FactId {
        fact_type: fact_type.name(),
        key: text(&entry.at("/k"))?,
        schema_version: fact_type.schema().version,
        payload_hash: hash.ok_or_else(|| malformed(entry.pointer()))?,
    })
}

fn read_access(node: &Node<'_>) -> Result<Access, RebuildError> {
    match node.value() {
        Some(Json::Number(number)) => access(number).ok_or_else(|| malformed(node.pointer())),
        _ => Err(malformed(node.pointer())),
    }
}

fn text(node: &Node<'_>) -> Result<String, RebuildError> {
    node.text().map(str::to_owned).ok_or_else(|| malformed(node.pointer()))
}

fn canonical(node: &Node<'_>) -> Result<CanonicalJson, RebuildError> {
    let bytes = node.value().and_then(|value| value.canonical().ok());
    bytes.ok_or_else(|| malformed(node.pointer()))
}

fn malformed(pointer: &str) -> RebuildError {
    RebuildError::Malformed { pointer: pointer.to_owned() }
}
