//! Every event that somebody subscribed to gets a delivery, in the transaction that records it.

use std::pin::Pin;

use bpc_core::{Envelope, EventRecord, StreamId, TenantId, Version};
use bpc_eventstore::{Conn, StoreError, portable};
use bpc_worker::{Effects, Enqueue, Handler, Reaction};
use uuid::Uuid;

use crate::deliver::{DeliverWebhook, Payload};
use crate::events::{DELIVERY, ENDPOINT, REQUESTED, Requested, SUBSCRIPTION, draft};
use crate::subscription::EVERY;

pub(crate) struct Subscribers;

impl Reaction for Subscribers {
    fn react<'a>(
        &'a self,
        conn: &'a mut Conn<'_>,
        tenant: TenantId,
        events: &'a [EventRecord],
    ) -> Pin<Box<dyn Future<Output = Result<Effects, StoreError>> + Send + 'a>> {
        Box::pin(deliveries(conn, tenant, events))
    }
}

const SUBSCRIPTIONS: &str = "SELECT subscription_id, endpoint_id, event_type FROM webhook_subscriptions \
     WHERE tenant_id = $1 AND active = 1 ORDER BY subscription_id";

async fn deliveries(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    events: &[EventRecord],
) -> Result<Effects, StoreError> {
    // A delivery is no news to deliver, or there would be no end of it.
    let is_ours = |stream_type: &str| [ENDPOINT, SUBSCRIPTION, DELIVERY].contains(&stream_type);
    let news: Vec<&EventRecord> = events.iter().filter(|event| !is_ours(&event.stream_type)).collect();
    let mut effects = Effects::none();
    if news.is_empty() {
        return Ok(effects);
    }
    let subscriptions: Vec<(Uuid, Uuid, String)> = portable!(conn, c => {
        sqlx::query_as(SUBSCRIPTIONS).bind(tenant.0).fetch_all(&mut **c).await
    })?;
    for event in news {
        let wanted = |event_type: &str| event_type == EVERY || *event_type == *event.event_type;
        for (subscription_id, endpoint_id, _) in subscriptions.iter().filter(|it| wanted(&it.2)) {
            let event_id = Envelope::read(&event.event_bytes)?.event_id;
            let id = StreamId::derived("webhook-delivery", &format!("{subscription_id}/{event_id}"));
            let requested = Requested {
                endpoint_id: *endpoint_id,
                subscription_id: *subscription_id,
                event_id,
                event_type: event.event_type.to_string(),
                stream_id: event.stream_id,
                version: event.version,
            };
            let unwritable = |error: bpc_core::canonical::JsonError| StoreError::Damaged(error.to_string());
            let drafts = vec![draft(REQUESTED, &requested).map_err(unwritable)?];
            let job = Enqueue::new(DeliverWebhook::TYPE, &Payload { webhook_delivery_id: id.0 });
            let job = job.map_err(unwritable)?.key(DeliverWebhook::key(id.0, 1));
            effects = effects.emit(tenant, DELIVERY, id, Version::NONE, drafts).enqueue(job);
        }
    }
    Ok(effects)
}
