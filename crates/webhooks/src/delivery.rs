//! Deliveries: one event on its way to one endpoint.

use bpc_core::{StreamId, TenantId, Version};
use bpc_eventstore::read_stream;
use bpc_worker::{Effects, Engine, Enqueue, Handler, JobId, Store};
use uuid::Uuid;

use crate::deliver::{DeliverWebhook, Payload};
use crate::error::WebhookError;
use crate::events::{
    DELIVERED, DELIVERY, Delivered, FAILED, Failed, Nothing, REDELIVERY_REQUESTED, REQUESTED, Requested,
    draft, payload,
};

/// How far a delivery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryStatus {
    /// Its job waits, runs or will be tried again.
    Pending,
    /// The endpoint answered with 2xx.
    Delivered,
    /// It was refused, or all attempts are used up.
    Failed,
}

impl DeliveryStatus {
    /// As views and people spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            DeliveryStatus::Pending => "PENDING",
            DeliveryStatus::Delivered => "DELIVERED",
            DeliveryStatus::Failed => "FAILED",
        }
    }
}

/// A delivery, folded from its stream.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Its id, the same for every attempt.
    pub id: Uuid,
    /// How many events its stream has.
    pub version: Version,
    /// How far it is.
    pub status: DeliveryStatus,
    /// How often it was asked for.
    pub requests: u32,
    /// What the endpoint answered, if it did.
    pub http_status: Option<u16>,
    /// Why it failed.
    pub error: Option<(String, String)>,
    /// The headers that came with the answer, as far as they are kept.
    pub headers: Vec<(String, String)>,
    /// SHA-256 of the body that came with it, a blob.
    pub body_sha256: Option<String>,
    pub(crate) about: Requested,
}

/// A delivery by id.
pub async fn delivery(store: &Store, tenant: TenantId, id: Uuid) -> Result<Delivery, WebhookError> {
    let mut tx = store.begin_read().await?;
    let mut found: Option<Delivery> = None;
    for event in read_stream(&mut tx.conn(), tenant, StreamId(id)).await? {
        let envelope = event.envelope().map_err(bpc_worker::StoreError::from)?;
        if let (REQUESTED, None) = (&*envelope.event_type, &found) {
            found = Some(Delivery {
                id,
                version: Version::NONE,
                status: DeliveryStatus::Pending,
                requests: 1,
                http_status: None,
                error: None,
                headers: Vec::new(),
                body_sha256: None,
                about: payload(&envelope)?,
            });
        }
        let Some(delivery) = &mut found else { continue };
        delivery.version = envelope.version;
        match &*envelope.event_type {
            DELIVERED => {
                let delivered: Delivered = payload(&envelope)?;
                delivery.status = DeliveryStatus::Delivered;
                delivery.http_status = Some(delivered.http_status);
                delivery.error = None;
                delivery.headers = delivered.headers;
                delivery.body_sha256 = Some(delivered.body_sha256);
            }
            FAILED => {
                let failed: Failed = payload(&envelope)?;
                delivery.status = DeliveryStatus::Failed;
                delivery.http_status = failed.http_status;
                delivery.error = Some((failed.code, failed.message));
            }
            REDELIVERY_REQUESTED => {
                delivery.status = DeliveryStatus::Pending;
                delivery.requests += 1;
            }
            _ => {}
        }
    }
    found.ok_or(WebhookError::DeliveryNotFound(id))
}

/// Send a settled delivery again, under the same id.
pub async fn redeliver(
    engine: &Engine,
    tenant: TenantId,
    actor: &str,
    id: Uuid,
) -> Result<JobId, WebhookError> {
    let delivery = delivery(&engine.store, tenant, id).await?;
    if delivery.status == DeliveryStatus::Pending {
        return Err(WebhookError::StillPending(id));
    }
    let key = DeliverWebhook::key(id, delivery.requests + 1);
    let job = Enqueue::new(DeliverWebhook::TYPE, &Payload { webhook_delivery_id: id })?.key(key);
    let drafts = vec![draft(REDELIVERY_REQUESTED, &Nothing {})?];
    let effects = Effects::none().emit(tenant, DELIVERY, StreamId(id), delivery.version, drafts).enqueue(job);
    let jobs = engine.perform(tenant, actor, &effects).await?;
    Ok(jobs[0])
}
