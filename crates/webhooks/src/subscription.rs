//! Subscriptions: which events go to which endpoint.

use bpc_core::{StreamId, TenantId, Version};
use bpc_eventstore::read_stream;
use bpc_worker::{Effects, Engine};
use uuid::Uuid;

use crate::endpoint::endpoint;
use crate::error::WebhookError;
use crate::events::{NewSubscription, Nothing, SUBSCRIBED, SUBSCRIPTION, UNSUBSCRIBED, draft};

/// Every event type.
pub(crate) const EVERY: &str = "*";

/// A subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscribed {
    /// Its id, which follows from endpoint and event type.
    pub id: Uuid,
    /// False if it was there already.
    pub created: bool,
}

/// Send events of a type, or of every type for `*`, to an endpoint from now on.
pub async fn subscribe(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    endpoint_id: Uuid,
    event_type: &str,
) -> Result<Subscribed, WebhookError> {
    let is_name = |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_';
    if event_type != EVERY && (event_type.is_empty() || !event_type.bytes().all(is_name)) {
        return Err(WebhookError::EventType(event_type.to_owned()));
    }
    let known = endpoint(&engine.store, tenant, endpoint_id).await?;
    known.filter(|endpoint| endpoint.is_active).ok_or(WebhookError::EndpointNotFound(endpoint_id))?;
    let id = StreamId::derived("webhook-subscription", &format!("{tenant}/{endpoint_id}/{event_type}"));
    let (version, is_active) = state(engine, tenant, id).await?;
    if is_active {
        return Ok(Subscribed { id: id.0, created: false });
    }
    let subscription = NewSubscription { endpoint_id, event_type: event_type.to_owned() };
    let drafts = vec![draft(SUBSCRIBED, &subscription)?];
    let effects = Effects::none().emit(tenant, SUBSCRIPTION, id, version, drafts);
    engine.perform(tenant, actor, &effects).await?;
    Ok(Subscribed { id: id.0, created: true })
}

/// Send no further events. What was recorded before is still delivered.
pub async fn unsubscribe(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    id: Uuid,
) -> Result<(), WebhookError> {
    let (version, is_active) = state(engine, tenant, StreamId(id)).await?;
    if version == Version::NONE {
        return Err(WebhookError::SubscriptionNotFound(id));
    }
    if is_active {
        let drafts = vec![draft(UNSUBSCRIBED, &Nothing {})?];
        let effects = Effects::none().emit(tenant, SUBSCRIPTION, StreamId(id), version, drafts);
        engine.perform(tenant, actor, &effects).await?;
    }
    Ok(())
}

/// Its version, and whether it holds.
async fn state(engine: &Engine, tenant: TenantId, id: StreamId) -> Result<(Version, bool), WebhookError> {
    let mut tx = engine.store.begin_read().await?;
    let events = read_stream(&mut tx.conn(), tenant, id).await?;
    let is_active = events.last().is_some_and(|event| event.event_type == SUBSCRIBED);
    Ok((Version(events.len() as u32), is_active))
}
