//! What happens to products, passports, their versions and signing keys.

use bpc_core::{Hash, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::pack::event::hex_hash;

pub(in crate::pack) const PRODUCT: &str = "Product";
pub(in crate::pack) const PRODUCT_ADDED: &str = "PRODUCT_ADDED";
pub(in crate::pack) const PASSPORT: &str = "Passport";
pub(in crate::pack) const CREATED: &str = "PASSPORT_CREATED";
pub(in crate::pack) const ACTIVE_VERSION_SET: &str = "ACTIVE_VERSION_SET";
pub(in crate::pack) const VERSION: &str = "PassportVersion";
pub(in crate::pack) const COMPILED: &str = "PASSPORT_COMPILED";
pub(in crate::pack) const SIGNED: &str = "PASSPORT_SIGNED";
pub(in crate::pack) const QR_GENERATED: &str = "QR_GENERATED";
pub(in crate::pack) const ACTIVATED: &str = "PASSPORT_ACTIVATED";
pub(in crate::pack) const SUPERSEDED: &str = "PASSPORT_SUPERSEDED";
pub(in crate::pack) const REVOKED: &str = "PASSPORT_REVOKED";
pub(in crate::pack) const SIGNING_KEY: &str = "SigningKey";
pub(in crate::pack) const KEY_ADDED: &str = "SIGNING_KEY_ADDED";

/// All of them, by stream.
pub(in crate::pack) const ALL: [(&str, &str); 10] = [
    (PRODUCT, PRODUCT_ADDED),
    (PASSPORT, CREATED),
    (PASSPORT, ACTIVE_VERSION_SET),
    (VERSION, COMPILED),
    (VERSION, SIGNED),
    (VERSION, QR_GENERATED),
    (VERSION, ACTIVATED),
    (VERSION, SUPERSEDED),
    (VERSION, REVOKED),
    (SIGNING_KEY, KEY_ADDED),
];

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct ProductAdded {
    pub sku: String,
    pub name: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct Created {
    pub product_id: Uuid,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct ActiveVersionSet {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Uuid>,
}

/// Everything that compiling again needs, and what came of it. Payload and receipt are blobs under their
/// hashes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct Compiled {
    pub passport_id: Uuid,
    pub product_id: Uuid,
    pub sku: String,
    pub snapshot_id: Uuid,
    pub rule_package_version_id: Uuid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior_version: Option<Uuid>,
    pub issued_at: Timestamp,
    pub as_of: String,
    pub build_id: String,
    pub signing_key_id: String,
    #[serde(with = "hex_hash")]
    pub payload_hash: Hash,
    /// The proof document, a blob.
    #[serde(with = "hex_hash")]
    pub proof: Hash,
    #[serde(with = "hex_hash")]
    pub proof_root: Hash,
    #[serde(with = "hex_hash")]
    pub receipt_hash: Hash,
    /// The attributes that everybody may see, a blob.
    #[serde(with = "hex_hash")]
    pub public: Hash,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct Signed {
    pub signing_key_id: String,
    pub public_key: String,
    /// Ed25519 over the receipt's hash, hex.
    pub signature: String,
    /// The Verifiable Credential with its proof, a blob.
    #[serde(with = "hex_hash")]
    pub credential: Hash,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct QrGenerated {
    pub text: String,
    #[serde(with = "hex_hash")]
    pub png: Hash,
    pub link: String,
    #[serde(with = "hex_hash")]
    pub link_png: Hash,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct Activated {
    pub passport_id: Uuid,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct Superseded {
    pub by: Uuid,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct Revoked {
    pub reason: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::pack) struct KeyAdded {
    pub signing_key_id: String,
    pub public_key: String,
}
