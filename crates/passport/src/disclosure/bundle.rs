//! A bundle for one role.

use std::collections::BTreeSet;

use bpc_core::CanonicalJson;

use super::role::Role;
use crate::facts::Access;
use crate::json::Json;
use crate::proof::{Leaf, Point, ProofTree};

/// A receipt and the signature over its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedReceipt {
    /// The receipt's bytes.
    pub receipt: CanonicalJson,
    /// Ed25519 over their SHA-256.
    pub signature: [u8; 64],
    /// The key that made it.
    pub public_key: [u8; 32],
}

/// What one role is shown of a passport version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle(CanonicalJson);

impl Bundle {
    /// The bundle for that role. `reads` says for each result of the tree, in its order, which
    /// values the rule read: a result is shown if the role may see all of them.
    ///
    /// # Panics
    ///
    /// If there are not as many `reads` as results.
    #[must_use]
    pub fn new(role: Role, signed: &SignedReceipt, tree: &ProofTree, reads: &[BTreeSet<Access>]) -> Self {
        assert_eq!(reads.len(), tree.results.len(), "one set of reads for each result");
        let sections = Point::ALL.map(|point| {
            let index = point.index();
            if role.may_see(point) {
                Json::object([("leaves", Json::Array(tree.sections[index].iter().map(attribute).collect()))])
            } else {
                Json::object([("root", Json::text(tree.roots.sections[index].to_string()))])
            }
        });
        let result = |(leaf, reads): (&Leaf, &BTreeSet<Access>)| {
            if reads.iter().all(|access| role.may_read(*access)) {
                Json::object([
                    ("r", Json::from_canonical(&leaf.object)),
                    ("s", Json::text(leaf.salt.to_string())),
                ])
            } else {
                Json::object([("h", Json::text(leaf.hash.to_string()))])
            }
        };
        let bundle = Json::object([
            ("format", Json::text("BPC-DISCLOSURE-1")),
            ("public_key", Json::text(hex::encode(signed.public_key))),
            ("receipt", Json::from_canonical(&signed.receipt)),
            ("results", Json::Array(tree.results.iter().zip(reads).map(result).collect())),
            ("role", Json::text(role.name())),
            ("sections", Json::Array(sections.into_iter().collect())),
            ("signature", Json::text(hex::encode(signed.signature))),
        ]);
        Self(bundle.canonical().expect("canonical parts make a canonical whole"))
    }

    /// The bytes to hand out.
    #[must_use]
    pub fn canonical(&self) -> &CanonicalJson {
        &self.0
    }
}

/// `{"p","s","v"}`: pointer, salt, value.
pub(super) fn attribute(leaf: &Leaf) -> Json {
    let mut object = Json::from_canonical(&leaf.object);
    if let Json::Object(members) = &mut object {
        members.insert("s".to_owned(), Json::text(leaf.salt.to_string()));
    }
    object
}
