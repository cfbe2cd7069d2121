//! What is sent.

use bpc_core::TenantId;
use bpc_eventstore::read_event;
use bpc_worker::{Store, StoreError};
use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use serde_json::value::RawValue;
use sha2::Sha256;

use crate::events::Requested;

/// The names are part of the contract.
#[derive(Serialize)]
struct Body<'a> {
    aggregate_id: String,
    aggregate_type: &'a str,
    event_id: String,
    event_type: &'a str,
    occurred_at: String,
    payload: &'a RawValue,
    tenant_id: String,
}

/// The event as JSON, keys in order: the same bytes for every attempt.
pub(crate) async fn body(
    store: &Store,
    tenant: TenantId,
    about: &Requested,
) -> Result<Option<Vec<u8>>, StoreError> {
    let mut tx = store.begin_read().await?;
    let stored = read_event(&mut tx.conn(), tenant, about.stream_id, about.version).await?;
    let Some(stored) = stored else { return Ok(None) };
    let event = stored.envelope()?;
    let damaged = || StoreError::Damaged(format!("payload of event {}", event.event_id));
    let body = Body {
        aggregate_id: event.stream_id.to_string(),
        aggregate_type: &event.stream_type,
        event_id: event.event_id.to_string(),
        event_type: &event.event_type,
        occurred_at: event.occurred_at.to_string(),
        payload: serde_json::from_slice(event.payload).map_err(|_| damaged())?,
        tenant_id: event.tenant_id.to_string(),
    };
    serde_json::to_vec(&body).map(Some).map_err(|_| damaged())
}

/// `sha256=` and the hex of HMAC-SHA256 over the body.
pub fn signature(secret: &[u8], body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a key of any length");
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}
