//! One thing that is proved.

use bpc_core::{CanonicalJson, Hash};

use super::salt::{Salt, SaltKey};
use crate::hash::sha256;

/// What a leaf stands for. Part of its hash, so that none passes for another kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tag {
    /// A fact of the snapshot.
    Fact,
    /// The result of a rule.
    Result,
    /// An attribute of the passport.
    Attribute,
    /// A value that a trace does not show.
    Value,
}

impl Tag {
    /// `F`, `R`, `D` or `V`.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Tag::Fact => b'F',
            Tag::Result => b'R',
            Tag::Attribute => b'D',
            Tag::Value => b'V',
        }
    }
}

/// An object, its salt and the hash over both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// What is proved.
    pub object: CanonicalJson,
    /// What makes it unguessable.
    pub salt: Salt,
    /// What stands for it in the tree.
    pub hash: Hash,
}

impl Leaf {
    /// The leaf of that object; its name has these parts.
    pub(crate) fn new(key: &SaltKey, tag: Tag, name: &[&str], object: CanonicalJson) -> Self {
        let salt = key.salt(tag, name);
        let hash = Self::hash(tag, &salt, object.as_bytes());
        Self { object, salt, hash }
    }

    /// `SHA-256(00 || tag || salt || object)`.
    #[must_use]
    pub fn hash(tag: Tag, salt: &Salt, object: &[u8]) -> Hash {
        sha256(&[&[0, tag.byte()], &salt.0, object])
    }
}
