//! Why a command of the pack was refused.

use bpc_core::canonical::JsonError;
use bpc_secrets::{KeySourceError, SealedError};
use bpc_worker::{EngineError, StoreError};
use uuid::Uuid;

/// A refused command; nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The engine failed or refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// No usable secrets key.
    #[error(transparent)]
    SecretsKey(#[from] KeySourceError),
    /// The key does not open the endpoint's secret.
    #[error(transparent)]
    Sealed(#[from] SealedError),
    /// Not an address that events may be sent to.
    #[error("{url:?} cannot be an endpoint: {problem}")]
    Url {
        /// As it was given.
        url: String,
        /// What is wrong and what to do.
        problem: &'static str,
    },
    /// An event type that nobody can emit.
    #[error("{0:?} is no event type: use one such as PASSPORT_SIGNED, or * for all")]
    EventType(String),
    /// No such endpoint.
    #[error("there is no endpoint {0}: see `bpc webhook endpoint list`")]
    EndpointNotFound(Uuid),
    /// No such subscription.
    #[error("there is no subscription {0}")]
    SubscriptionNotFound(Uuid),
    /// No such delivery.
    #[error("there is no delivery {0}: see `bpc webhook deliveries`")]
    DeliveryNotFound(Uuid),
    /// Only settled deliveries are sent again.
    #[error("delivery {0} is still on its way: see `bpc jobs list --type DELIVER_WEBHOOK`")]
    StillPending(Uuid),
}

impl WebhookError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            WebhookError::Engine(error) => error.code(),
            WebhookError::SecretsKey(error) => error.code(),
            WebhookError::Sealed(error) => error.code(),
            WebhookError::Url { .. } | WebhookError::EventType(_) => "VALIDATION_ERROR",
            WebhookError::EndpointNotFound(_) => "WEBHOOK_ENDPOINT_NOT_FOUND",
            WebhookError::SubscriptionNotFound(_) => "WEBHOOK_SUBSCRIPTION_NOT_FOUND",
            WebhookError::DeliveryNotFound(_) => "WEBHOOK_DELIVERY_NOT_FOUND",
            WebhookError::StillPending(_) => "WEBHOOK_DELIVERY_PENDING",
        }
    }

    /// May another attempt help?
    pub(crate) fn is_retryable(&self) -> bool {
        matches!(self, WebhookError::Engine(error) if error.is_retryable())
    }
}

impl From<StoreError> for WebhookError {
    fn from(error: StoreError) -> Self {
        WebhookError::Engine(error.into())
    }
}

impl From<JsonError> for WebhookError {
    fn from(error: JsonError) -> Self {
        WebhookError::Engine(error.into())
    }
}
