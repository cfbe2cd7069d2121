//! What happens to a snapshot.

use bpc_core::Hash;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::pack::document::FactName;
use crate::pack::event::hex_hash;

pub(in crate::pack) const STREAM: &str = "Snapshot";
pub(in crate::pack) const CREATED: &str = "SNAPSHOT_CREATED";
pub(in crate::pack) const ITEMS_ADDED: &str = "SNAPSHOT_ITEMS_ADDED";
pub(in crate::pack) const ITEMS_REMOVED: &str = "SNAPSHOT_ITEMS_REMOVED";
pub(in crate::pack) const READY: &str = "SNAPSHOT_READY";
pub(in crate::pack) const SEALED: &str = "SNAPSHOT_SEALED";
pub(in crate::pack) const ALL: [&str; 5] = [CREATED, ITEMS_ADDED, ITEMS_REMOVED, READY, SEALED];

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct Created {
    pub name: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct ItemsAdded {
    pub document_id: Uuid,
    pub facts: Vec<FactName>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct ItemsRemoved {
    pub facts: Vec<FactName>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct Ready {
    pub items: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct Sealed {
    /// SHA-256 of the canonical bytes, which are a blob.
    #[serde(with = "hex_hash")]
    pub snapshot_hash: Hash,
    /// The facts with their payloads, a blob.
    #[serde(with = "hex_hash")]
    pub facts: Hash,
    #[serde(with = "hex_hash")]
    pub salt_commit: Hash,
    /// The salt key, sealed by the secrets key; base64.
    pub salt: String,
}
