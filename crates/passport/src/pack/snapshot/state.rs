//! What a snapshot has come to.

use std::collections::BTreeMap;
use std::fmt;

use bpc_core::{Hash, StreamId, TenantId, Timestamp, Version};
use bpc_worker::Store;
use uuid::Uuid;

use super::events::{
    CREATED, Created, ITEMS_ADDED, ITEMS_REMOVED, ItemsAdded, ItemsRemoved, READY, SEALED, Sealed,
};
use crate::pack::PackError;
use crate::pack::document::FactName;
use crate::pack::event::{payload, stream};

/// How far a snapshot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotStatus {
    /// Facts can be added and removed.
    Building,
    /// Its facts are checked.
    Ready,
    /// Nobody can change it any more.
    Sealed,
}

impl SnapshotStatus {
    /// As events and views spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            SnapshotStatus::Building => "BUILDING",
            SnapshotStatus::Ready => "READY",
            SnapshotStatus::Sealed => "SEALED",
        }
    }
}

impl fmt::Display for SnapshotStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A snapshot, folded from its stream.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Its id, and that of its stream.
    pub id: Uuid,
    /// How many events that is.
    pub version: Version,
    /// What people call it.
    pub name: String,
    /// How far it is.
    pub status: SnapshotStatus,
    /// Since when.
    pub created_at: Timestamp,
    /// The facts, and a document that states each.
    pub(in crate::pack) items: BTreeMap<FactName, Uuid>,
    pub(in crate::pack) sealed: Option<Sealed>,
}

impl Snapshot {
    /// How many facts it holds.
    pub fn item_count(&self) -> usize {
        self.items.len()
    }

    /// Type, key, hash and document of its facts, in order.
    pub fn items(&self) -> impl Iterator<Item = (&str, &str, Hash, Uuid)> {
        self.items.iter().map(|(fact, document)| {
            (fact.fact_type.as_str(), fact.key.as_str(), fact.payload_hash, *document)
        })
    }

    /// The hash it was sealed under.
    pub fn hash(&self) -> Option<Hash> {
        self.sealed.as_ref().map(|sealed| sealed.snapshot_hash)
    }
}

/// A snapshot by id.
pub async fn snapshot(store: &Store, tenant: TenantId, id: Uuid) -> Result<Snapshot, PackError> {
    let (events, version) = stream(store, tenant, StreamId(id)).await?;
    let mut found = None;
    for event in &events {
        let envelope = event.envelope().map_err(bpc_worker::StoreError::from)?;
        match (&*envelope.event_type, &mut found) {
            (CREATED, None) => {
                let Created { name } = payload(&envelope)?;
                found = Some(Snapshot {
                    id,
                    version,
                    name,
                    status: SnapshotStatus::Building,
                    created_at: envelope.occurred_at,
                    items: BTreeMap::new(),
                    sealed: None,
                });
            }
            (ITEMS_ADDED, Some(snapshot)) => {
                let ItemsAdded { document_id, facts } = payload(&envelope)?;
                snapshot.items.extend(facts.into_iter().map(|fact| (fact, document_id)));
            }
            (ITEMS_REMOVED, Some(snapshot)) => {
                let ItemsRemoved { facts } = payload(&envelope)?;
                for fact in &facts {
                    snapshot.items.remove(fact);
                }
            }
            (READY, Some(snapshot)) => snapshot.status = SnapshotStatus::Ready,
            (SEALED, Some(snapshot)) => {
                snapshot.status = SnapshotStatus::Sealed;
                snapshot.sealed = Some(payload(&envelope)?);
            }
            _ => {}
        }
    }
    found.ok_or_else(|| {
        let message = format!("there is no snapshot {id}: see `bpc snapshot list`");
        PackError::refused("SNAPSHOT_NOT_FOUND", message)
    })
}
