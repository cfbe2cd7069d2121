//! What happens to endpoints, subscriptions and deliveries.

use bpc_core::canonical::{JsonError, to_canonical};
use bpc_core::{Envelope, EventId, StreamId, Version};
use bpc_worker::{Draft, StoreError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub(crate) const ENDPOINT: &str = "WebhookEndpoint";
pub(crate) const ENDPOINT_ADDED: &str = "WEBHOOK_ENDPOINT_ADDED";
pub(crate) const ENDPOINT_DISABLED: &str = "WEBHOOK_ENDPOINT_DISABLED";
pub(crate) const SUBSCRIPTION: &str = "WebhookSubscription";
pub(crate) const SUBSCRIBED: &str = "WEBHOOK_SUBSCRIBED";
pub(crate) const UNSUBSCRIBED: &str = "WEBHOOK_UNSUBSCRIBED";
pub(crate) const DELIVERY: &str = "WebhookDelivery";
pub(crate) const REQUESTED: &str = "WEBHOOK_REQUESTED";
pub(crate) const REDELIVERY_REQUESTED: &str = "WEBHOOK_REDELIVERY_REQUESTED";
pub(crate) const DELIVERED: &str = "WEBHOOK_DELIVERED";
pub(crate) const FAILED: &str = "WEBHOOK_FAILED";

/// All of them, by stream.
pub(crate) const ALL: &[(&str, &str)] = &[
    (ENDPOINT, ENDPOINT_ADDED),
    (ENDPOINT, ENDPOINT_DISABLED),
    (SUBSCRIPTION, SUBSCRIBED),
    (SUBSCRIPTION, UNSUBSCRIBED),
    (DELIVERY, REQUESTED),
    (DELIVERY, REDELIVERY_REQUESTED),
    (DELIVERY, DELIVERED),
    (DELIVERY, FAILED),
];

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EndpointAdded {
    pub url: String,
    /// Sealed, base64.
    pub secret: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NewSubscription {
    pub endpoint_id: Uuid,
    pub event_type: String,
}

/// Nothing but that it happened.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Nothing {}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Requested {
    pub endpoint_id: Uuid,
    pub subscription_id: Uuid,
    pub event_id: EventId,
    pub event_type: String,
    pub stream_id: StreamId,
    pub version: Version,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Delivered {
    pub attempt: u32,
    pub http_status: u16,
    pub headers: Vec<(String, String)>,
    /// SHA-256 of what was kept of the answer's body, a blob.
    pub body_sha256: String,
    pub body_length: u64,
    /// There was more of headers or body than is kept.
    pub truncated: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Failed {
    pub attempt: u32,
    pub code: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
}

pub(crate) fn draft(event_type: &'static str, payload: &impl Serialize) -> Result<Draft, JsonError> {
    Ok(Draft { event_type: event_type.into(), schema: 1, payload: to_canonical(payload)? })
}

pub(crate) fn payload<T: DeserializeOwned>(event: &Envelope<'_>) -> Result<T, StoreError> {
    serde_json::from_slice(event.payload).map_err(|error| {
        let place = format!("{} in stream {} version {}", event.event_type, event.stream_id, event.version);
        StoreError::Damaged(format!("{place}: {error}"))
    })
}
