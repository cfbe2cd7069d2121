//! A snapshot that nobody can change any more.

use bpc_core::{CanonicalJson, Hash, TenantId};
use uuid::Uuid;

use super::items::{Item, SnapshotConflict, check_items};
use crate::facts::Fact;
use crate::hash::sha256;
use crate::json::Json;
use crate::proof::SaltKey;

/// Facts under one hash, with the key of their salts. Compiling takes nothing else about facts.
///
/// The canonical bytes are `{"format":"BPC-SNAPSHOT-1","items":[{"h","k","s","t"}..],"salt_commit",
/// "snapshot_id","tenant_id"}`, items in the order of proofs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSnapshot {
    snapshot_id: Uuid,
    facts: Vec<Fact>,
    salt_key: SaltKey,
    canonical: CanonicalJson,
    hash: Hash,
}

/// Why a stored snapshot was not what it was sealed as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReopenError {
    /// Its facts contradict each other.
    #[error("the snapshot's facts contradict each other")]
    Conflict(
        /// How.
        Vec<SnapshotConflict>,
    ),
    /// Facts, ids or salt key are not those it was sealed with.
    #[error(
        "facts, ids or salt key are not those that the snapshot {expected} was sealed with; they give {found}"
    )]
    Hash {
        /// The hash it was sealed under.
        expected: Hash,
        /// The hash of what was found.
        found: Hash,
    },
}

impl ReopenError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Conflict(_) => "SNAPSHOT_CONFLICT",
            Self::Hash { .. } => "REPLAY_MISMATCH",
        }
    }
}

impl SealedSnapshot {
    /// Seals these facts. The salt key is 32 fresh random bytes.
    ///
    /// # Errors
    ///
    /// All pairs of facts of one name that say different things.
    pub fn seal(
        tenant: TenantId,
        snapshot_id: Uuid,
        facts: impl IntoIterator<Item = Fact>,
        salt_key: SaltKey,
    ) -> Result<Self, Vec<SnapshotConflict>> {
        let mut facts: Vec<Fact> = facts.into_iter().collect();
        let items = check_items(facts.iter().map(Fact::id))?;
        facts.sort_by(|a, b| (a.fact_type().name(), a.key()).cmp(&(b.fact_type().name(), b.key())));
        facts.dedup();
        let canonical = canonical(tenant, snapshot_id, &items, &salt_key);
        let hash = sha256(&[canonical.as_bytes()]);
        Ok(Self { snapshot_id, facts, salt_key, canonical, hash })
    }

    /// The same snapshot from what was stored, checked against the hash it was sealed under.
    ///
    /// # Errors
    ///
    /// If facts, ids or salt key are not those of the hash.
    pub fn reopen(
        tenant: TenantId,
        snapshot_id: Uuid,
        facts: impl IntoIterator<Item = Fact>,
        salt_key: SaltKey,
        expected: Hash,
    ) -> Result<Self, ReopenError> {
        let snapshot = Self::seal(tenant, snapshot_id, facts, salt_key).map_err(ReopenError::Conflict)?;
        match snapshot.hash {
            found if found == expected => Ok(snapshot),
            found => Err(ReopenError::Hash { expected, found }),
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> Uuid {
        self.snapshot_id
    }

    /// The facts, sorted by type and key.
    #[must_use]
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// The key of all salts.
    #[must_use]
    pub fn salt_key(&self) -> &SaltKey {
        &self.salt_key
    }

    /// The bytes to store.
    #[must_use]
    pub fn canonical(&self) -> &CanonicalJson {
        &self.canonical
    }

    /// SHA-256 of the bytes.
    #[must_use]
    pub fn hash(&self) -> Hash {
        self.hash
    }
}

fn canonical(tenant: TenantId, snapshot_id: Uuid, items: &[Item], salt_key: &SaltKey) -> CanonicalJson {
    let item = |item: &Item| {
        Json::object([
            ("h", Json::text(item.payload_hash.to_string())),
            ("k", Json::text(item.key.as_str())),
            ("s", Json::number(item.schema_version.into())),
            ("t", Json::text(item.fact_type)),
        ])
    };
    let whole = Json::object([
        ("format", Json::text("BPC-SNAPSHOT-1")),
        ("items", Json::Array(items.iter().map(item).collect())),
        ("salt_commit", Json::text(salt_key.commitment().to_string())),
        ("snapshot_id", Json::text(snapshot_id.to_string())),
        ("tenant_id", Json::text(tenant.to_string())),
    ]);
    whole.canonical().expect("texts and small integers are canonical")
}
