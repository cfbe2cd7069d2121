//! Events of the pack to and from their bytes.

use bpc_core::canonical::{JsonError, to_canonical};
use bpc_core::{Envelope, Hash, StreamId, TenantId, Version};
use bpc_eventstore::{StoredEvent, read_blob, read_stream};
use bpc_worker::{Draft, Store, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The event to append.
pub(super) fn draft(event_type: &'static str, payload: &impl Serialize) -> Result<Draft, JsonError> {
    Ok(Draft { event_type: event_type.into(), schema: 1, payload: to_canonical(payload)? })
}

/// What an event says.
pub(super) fn payload<T: DeserializeOwned>(event: &Envelope<'_>) -> Result<T, StoreError> {
    serde_json::from_slice(event.payload).map_err(|error| {
        let place = format!("{} in stream {} version {}", event.event_type, event.stream_id, event.version);
        StoreError::Damaged(format!("{place}: {error}"))
    })
}

/// The stream of a thing, and its version.
pub(super) async fn stream(
    store: &Store,
    tenant: TenantId,
    stream: StreamId,
) -> Result<(Vec<StoredEvent>, Version), StoreError> {
    let mut tx = store.begin_read().await?;
    let events = read_stream(&mut tx.conn(), tenant, stream).await?;
    let version = Version(events.len() as u32);
    Ok((events, version))
}

/// Bytes that an event speaks of: they must be there.
pub(super) async fn blob(store: &Store, hash: Hash) -> Result<Vec<u8>, StoreError> {
    let mut tx = store.begin_read().await?;
    let blob = read_blob(&mut tx.conn(), hash).await?;
    blob.map(|blob| blob.bytes).ok_or_else(|| StoreError::Damaged(format!("blob {hash} is missing")))
}

/// Hashes as lowercase hex in payloads.
pub(super) mod hex_hash {
    use bpc_core::Hash;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(in crate::pack) fn serialize<S: Serializer>(hash: &Hash, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(hash)
    }

    pub(in crate::pack) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Hash, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = hex::decode(&text).ok().and_then(|bytes| Hash::from_slice(&bytes));
        bytes.ok_or_else(|| D::Error::custom("expected 64 hex digits"))
    }
}
