//! Checking a bundle with nothing but the issuer's public key.

use bpc_core::{CanonicalJson, Hash};

use super::error::DisclosureError;
use crate::hash::sha256;
use crate::json::{Json, Node};
use crate::proof::{Leaf, Point, Salt, Tag, proof_root, root};
use crate::receipt::{RECEIPT_FORMAT, key_id, verify as verify_signature};

/// What a bundle proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The passport version that the receipt names.
    pub passport_version: String,
    /// Sections that were shown whole.
    pub shown: Vec<Point>,
    /// Sections of which only the root was given: taken on the issuer's signature.
    pub taken_as_hash: Vec<Point>,
    /// The attributes that were shown: point, pointer, value.
    pub attributes: Vec<(Point, String, Json)>,
    /// The results that were shown.
    pub results: Vec<Json>,
    /// How many results were given as hashes only.
    pub results_hidden: usize,
    /// The hash that was signed.
    pub receipt_hash: Hash,
}

/// Checks leaves, sections, results, proof root, receipt and signature.
///
/// # Errors
///
/// The first thing that is not as it was signed.
pub fn verify(bundle: &[u8], trusted_key: &[u8; 32]) -> Result<Verified, DisclosureError> {
    let json = Json::read(bundle).map_err(|_| malformed("", "canonical JSON"))?;
    let node = Node::root(&json);
    if node.at("/format").text() != Some("BPC-DISCLOSURE-1") {
        return Err(malformed("/format", "BPC-DISCLOSURE-1"));
    }
    let receipt = Receipt::check(&node, trusted_key)?;
    let mut verified = Verified {
        passport_version: receipt.passport_version,
        shown: Vec::new(),
        taken_as_hash: Vec::new(),
        attributes: Vec::new(),
        results: Vec::new(),
        results_hidden: 0,
        receipt_hash: receipt.hash,
    };
    let sections = node.at("/sections");
    if sections.items().len() != Point::ALL.len() {
        return Err(malformed("/sections", "four sections"));
    }
    for (point, section) in Point::ALL.into_iter().zip(sections.items()) {
        let expected = receipt.sections[point.index()];
        if section.at("/leaves").is_present() {
            let attributes = shown_section(&section.at("/leaves"), point, &expected)?;
            verified.attributes.extend(attributes);
            verified.shown.push(point);
        } else if hash(&section.at("/root"))? == expected {
            verified.taken_as_hash.push(point);
        } else {
            return Err(DisclosureError::Section { point: point.number() });
        }
    }
    let mut hashes = Vec::new();
    for entry in node.at("/results").items() {
        if let Some(result) = entry.at("/r").value() {
            let object = canonical(&entry.at("/r"), result)?;
            hashes.push(Leaf::hash(Tag::Result, &salt(&entry.at("/s"))?, object.as_bytes()));
            verified.results.push(result.clone());
        } else {
            hashes.push(hash(&entry.at("/h"))?);
            verified.results_hidden += 1;
        }
    }
    if root(&hashes) == receipt.results { Ok(verified) } else { Err(DisclosureError::Results) }
}

/// What of a receipt the rest is checked against.
pub(super) struct Receipt {
    pub(super) passport_version: String,
    pub(super) hash: Hash,
    pub(super) results: Hash,
    pub(super) sections: [Hash; 4],
}

impl Receipt {
    /// Checks the roots in the receipt against its proof root, and the signature over all of it.
    pub(super) fn check(bundle: &Node<'_>, trusted_key: &[u8; 32]) -> Result<Self, DisclosureError> {
        let node = bundle.at("/receipt");
        let value = node.value().ok_or_else(|| malformed(node.pointer(), "a receipt"))?;
        if node.at("/receipt_version").text() != Some(RECEIPT_FORMAT) {
            return Err(malformed("/receipt/receipt_version", RECEIPT_FORMAT));
        }
        let receipt_hash = sha256(&[canonical(&node, value)?.as_bytes()]);
        let signature = bytes::<64>(&bundle.at("/signature"))?;
        let (found, trusted) = (text(&node.at("/signing_key_id"))?.to_owned(), key_id(trusted_key));
        if found != trusted {
            return Err(DisclosureError::Key { found, trusted });
        }
        verify_signature(&receipt_hash, trusted_key, &signature).map_err(|_| DisclosureError::Signature)?;
        let roots: Vec<Hash> =
            node.at("/section_roots").items().iter().map(hash).collect::<Result<_, _>>()?;
        let sections: [Hash; 4] =
            roots.try_into().map_err(|_| malformed("/receipt/section_roots", "four hashes"))?;
        let results = hash(&node.at("/results_root"))?;
        let expected = proof_root(&hash(&node.at("/facts_root"))?, &results, &sections);
        if hash(&node.at("/proof_root_hash"))? != expected {
            return Err(DisclosureError::ProofRoot);
        }
        let passport_version = text(&node.at("/passport_version_id"))?.to_owned();
        Ok(Self { passport_version, hash: receipt_hash, results, sections })
    }
}

fn shown_section(
    leaves: &Node<'_>,
    point: Point,
    expected: &Hash,
) -> Result<Vec<(Point, String, Json)>, DisclosureError> {
    let (mut hashes, mut attributes) = (Vec::new(), Vec::new());
    for leaf in leaves.items() {
        let (pointer, value, hash) = shown_attribute(&leaf)?;
        hashes.push(hash);
        attributes.push((point, pointer, value));
    }
    if root(&hashes) == *expected {
        Ok(attributes)
    } else {
        Err(DisclosureError::Section { point: point.number() })
    }
}

/// Pointer, value and leaf hash of `{"p","s","v"}`.
pub(super) fn shown_attribute(leaf: &Node<'_>) -> Result<(String, Json, Hash), DisclosureError> {
    let pointer = text(&leaf.at("/p"))?;
    let value = leaf.at("/v").value().ok_or_else(|| malformed(leaf.pointer(), "p, s and v"))?;
    let object = crate::proof::attribute_object(pointer, &canonical(&leaf.at("/v"), value)?);
    let hash = Leaf::hash(Tag::Attribute, &salt(&leaf.at("/s"))?, object.as_bytes());
    Ok((pointer.to_owned(), value.clone(), hash))
}

pub(super) fn malformed(pointer: &str, expected: &'static str) -> DisclosureError {
    DisclosureError::Malformed { pointer: pointer.to_owned(), expected }
}

pub(super) fn hash(node: &Node<'_>) -> Result<Hash, DisclosureError> {
    bytes::<32>(node).map(Hash)
}

fn salt(node: &Node<'_>) -> Result<Salt, DisclosureError> {
    bytes::<16>(node).map(Salt)
}

fn text<'a>(node: &Node<'a>) -> Result<&'a str, DisclosureError> {
    node.text().ok_or_else(|| malformed(node.pointer(), "a text"))
}

/// Bytes in lowercase hex, exactly so many.
fn bytes<const N: usize>(node: &Node<'_>) -> Result<[u8; N], DisclosureError> {
    let wrong = || malformed(node.pointer(), "lowercase hex of the right length");
    let bytes: [u8; N] =
        hex::decode(text(node)?).ok().and_then(|bytes| bytes.try_into().ok()).ok_or_else(wrong)?;
    if node.text() == Some(hex::encode(bytes).as_str()) { Ok(bytes) } else { Err(wrong()) }
}

fn canonical(node: &Node<'_>, value: &Json) -> Result<CanonicalJson, DisclosureError> {
    value.canonical().map_err(|_| malformed(node.pointer(), "canonical JSON without fractions"))
}
