//! What happens to a document.

use bpc_core::Hash;
use serde::{Deserialize, Serialize};

use crate::facts::Problem;
use crate::pack::event::hex_hash;

pub(in crate::pack) const STREAM: &str = "Document";
pub(in crate::pack) const UPLOADED: &str = "DOCUMENT_UPLOADED";
pub(in crate::pack) const PARSED: &str = "FACTS_PARSED";
pub(in crate::pack) const REJECTED: &str = "DOCUMENT_REJECTED";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct Uploaded {
    pub name: String,
    pub kind: String,
    pub format: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sku: Option<String>,
    #[serde(with = "hex_hash")]
    pub sha256: Hash,
    pub length: u64,
}

/// An event has a limited size and a document may state thousands of facts, so there may be several of
/// this, in one commit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct Parsed {
    pub format: String,
    pub part: u64,
    pub parts: u64,
    pub facts: Vec<FactName>,
    /// The blob with payloads and provenance of all facts of the document.
    #[serde(with = "hex_hash")]
    pub stated: Hash,
}

/// A fact by name and hash, as proofs spell it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::pack) struct FactName {
    #[serde(rename = "t")]
    pub fact_type: String,
    #[serde(rename = "k")]
    pub key: String,
    #[serde(rename = "s")]
    pub schema_version: u32,
    #[serde(rename = "h", with = "hex_hash")]
    pub payload_hash: Hash,
}

impl FactName {
    /// Roughly what it takes in an event.
    pub(in crate::pack) fn size(&self) -> usize {
        self.key.len() + self.fact_type.len() + 120
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct Rejected {
    pub problems_total: u64,
    /// The first of them; all are in the blob.
    pub problems: Vec<Located>,
    #[serde(with = "hex_hash")]
    pub report: Hash,
}

/// One problem of a document, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Located {
    /// The stable code.
    pub code: String,
    /// JSON pointer into the document; empty for all of it.
    pub pointer: String,
    /// What would have been accepted.
    pub expected: String,
    /// What stood there.
    pub found: String,
}

impl From<&Problem> for Located {
    fn from(problem: &Problem) -> Self {
        let Problem { code, pointer, expected, found } = problem;
        Located {
            code: (*code).to_owned(),
            pointer: pointer.clone(),
            expected: expected.clone(),
            found: found.clone(),
        }
    }
}
