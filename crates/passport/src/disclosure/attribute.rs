//! One attribute alone, with its way up to the signed root.

use bpc_core::{CanonicalJson, Hash};

use super::bundle::{SignedReceipt, attribute};
use super::error::DisclosureError;
use super::verify::{Receipt, hash, malformed, shown_attribute};
use crate::json::{Json, Node};
use crate::proof::{Leaf, Point, ProofTree, audit_path, path_root};

/// Proof that a passport version says one thing, which shows nothing else of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeProof(CanonicalJson);

/// What such a proof proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedAttribute {
    /// The passport version that the receipt names.
    pub passport_version: String,
    /// The section that the attribute is in.
    pub point: Point,
    /// Where in the payload.
    pub pointer: String,
    /// What it says.
    pub value: Json,
    /// The hash that was signed.
    pub receipt_hash: Hash,
}

impl AttributeProof {
    /// The proof for the attribute at that pointer; `None` if the passport has none there.
    #[must_use]
    pub fn new(pointer: &str, signed: &SignedReceipt, tree: &ProofTree) -> Option<Self> {
        let is_it = |leaf: &Leaf| {
            let object = Json::from_canonical(&leaf.object);
            Node::root(&object).at("/p").text() == Some(pointer)
        };
        let (point, index) = Point::ALL.into_iter().find_map(|point| {
            let index = tree.sections[point.index()].iter().position(is_it)?;
            Some((point, index))
        })?;
        let leaves = &tree.sections[point.index()];
        let hashes: Vec<Hash> = leaves.iter().map(|leaf| leaf.hash).collect();
        let path = audit_path(&hashes, index)?;
        let proof = Json::object([
            ("format", Json::text("BPC-ATTRIBUTE-1")),
            ("index", Json::number(index as u64)),
            ("leaf", attribute(&leaves[index])),
            ("path", Json::Array(path.iter().map(|hash| Json::text(hash.to_string())).collect())),
            ("point", Json::number(point.number().into())),
            ("public_key", Json::text(hex::encode(signed.public_key))),
            ("receipt", Json::from_canonical(&signed.receipt)),
            ("signature", Json::text(hex::encode(signed.signature))),
            ("size", Json::number(leaves.len() as u64)),
        ]);
        Some(Self(proof.canonical().expect("canonical parts make a canonical whole")))
    }

    /// The bytes to hand out.
    #[must_use]
    pub fn canonical(&self) -> &CanonicalJson {
        &self.0
    }
}

/// Checks the leaf, its path, the proof root, the receipt and its signature.
///
/// # Errors
///
/// The first thing that is not as it was signed.
pub fn verify_attribute(proof: &[u8], trusted_key: &[u8; 32]) -> Result<VerifiedAttribute, DisclosureError> {
    let json = Json::read(proof).map_err(|_| malformed("", "canonical JSON"))?;
    let node = Node::root(&json);
    if node.at("/format").text() != Some("BPC-ATTRIBUTE-1") {
        return Err(malformed("/format", "BPC-ATTRIBUTE-1"));
    }
    let receipt = Receipt::check(&node, trusted_key)?;
    let point =
        Point::from_number(count(&node.at("/point"))?).ok_or_else(|| malformed("/point", "1 to 4"))?;
    let (pointer, value, leaf) = shown_attribute(&node.at("/leaf"))?;
    let path: Vec<Hash> = node.at("/path").items().iter().map(hash).collect::<Result<_, _>>()?;
    let place =
        |name: &str| count(&node.member(name)).map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    match path_root(leaf, place("index")?, place("size")?, &path) {
        Some(root) if root == receipt.sections[point.index()] => Ok(VerifiedAttribute {
            passport_version: receipt.passport_version,
            point,
            pointer,
            value,
            receipt_hash: receipt.hash,
        }),
        _ => Err(DisclosureError::Section { point: point.number() }),
    }
}

fn count(node: &Node<'_>) -> Result<u64, DisclosureError> {
    match node.value() {
        Some(Json::Number(text)) => text.parse().map_err(|_| malformed(node.pointer(), "a count")),
        _ => Err(malformed(node.pointer(), "a count")),
    }
}
