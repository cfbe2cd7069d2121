//! DELIVER_WEBHOOK: one event to one endpoint.

use std::sync::OnceLock;
use std::time::Duration;

use bpc_core::StreamId;
use bpc_worker::{Context, Effects, Handler, HandlerError, Job, JobPolicy};
use reqwest::Client;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::body::body;
use crate::delivery::{Delivery, DeliveryStatus, delivery};
use crate::endpoint::{check_url, endpoint};
use crate::error::WebhookError;
use crate::events::{DELIVERED, DELIVERY, Delivered, FAILED, Failed, draft};
use crate::send::{Answer, Message, client, refused, send};
use crate::settings::Settings;

/// Delivers events.
#[derive(Debug)]
pub struct DeliverWebhook {
    settings: Settings,
    client: OnceLock<Client>,
}

/// Which delivery.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// Its id.
    pub webhook_delivery_id: Uuid,
}

/// Beyond the limit of the request itself, for what is around it.
const MARGIN: Duration = Duration::from_secs(15);

impl DeliverWebhook {
    /// With these settings.
    pub fn new(settings: Settings) -> Self {
        DeliverWebhook { settings, client: OnceLock::new() }
    }

    /// The key of the job for the n-th request of a delivery.
    pub(crate) fn key(delivery: Uuid, request: u32) -> String {
        format!("deliver-{delivery}-{request}")
    }

    async fn attempt(
        &self,
        job: &Job<Payload>,
        cx: &Context,
        delivery: &Delivery,
    ) -> Result<Answer, HandlerError> {
        let about = &delivery.about;
        let failed = |message: &str| HandlerError::permanent("WEBHOOK_DELIVERY_FAILED", message);
        let endpoint = endpoint(cx.store(), job.tenant_id, about.endpoint_id).await?;
        let endpoint = endpoint.filter(|endpoint| endpoint.is_active);
        let endpoint = endpoint.ok_or_else(|| failed("the endpoint was disabled"))?;
        let url = check_url(&endpoint.url, &self.settings)?;
        let secret = endpoint.secret(about.endpoint_id, &self.settings)?;
        let body = body(cx.store(), job.tenant_id, about).await?;
        let body = body.ok_or_else(|| failed("the event is not in the log"))?;
        let (delivery_id, event_type) = (delivery.id, about.event_type.as_str());
        let message = Message { url, delivery_id, event_type, secret: &secret, body };
        let client = match self.client.get() {
            Some(client) => client,
            None => {
                let made = client(&self.settings).map_err(|error| failed(&error.to_string()))?;
                self.client.get_or_init(|| made)
            }
        };
        tokio::select! {
            answer = send(client, &self.settings, message) => answer,
            _ = cx.stopped() => Err(HandlerError::Cancelled),
        }
    }
}

impl Handler for DeliverWebhook {
    const TYPE: &'static str = "DELIVER_WEBHOOK";
    type Payload = Payload;

    fn policy(&self) -> JobPolicy {
        JobPolicy {
            queue: "webhooks".to_owned(),
            priority: 3,
            hard_limit: Some(self.settings.timeout + MARGIN),
            ..JobPolicy::default()
        }
    }

    /// The request may go out more than once, always under the same delivery id; what is recorded of it is
    /// recorded once.
    async fn handle(&self, job: &Job<Payload>, cx: &Context) -> Result<Effects, HandlerError> {
        let delivery = delivery(cx.store(), job.tenant_id, job.payload.webhook_delivery_id).await?;
        if delivery.status == DeliveryStatus::Delivered {
            return Ok(Effects::none());
        }
        let (answer, http_status) = match self.attempt(job, cx, &delivery).await {
            Ok(answer) if answer.status.is_success() => return delivered(job, &delivery, answer),
            Ok(answer) => (refused(answer.status), Some(answer.status.as_u16())),
            Err(error) => (error, None),
        };
        if let HandlerError::Failed(error) = &answer
            && (!error.retryable || job.attempt >= job.max_attempts)
        {
            let failed = Failed {
                attempt: job.attempt,
                code: error.code.clone(),
                message: error.message.clone(),
                http_status,
            };
            let drafts = vec![draft(FAILED, &failed)?];
            let stream = StreamId(delivery.id);
            cx.if_failed(Effects::none().emit(job.tenant_id, DELIVERY, stream, delivery.version, drafts));
        }
        Err(answer)
    }
}

fn delivered(job: &Job<Payload>, delivery: &Delivery, answer: Answer) -> Result<Effects, HandlerError> {
    let body_length = answer.body.len() as u64;
    let (effects, hash) = Effects::none().blob(answer.body);
    let delivered = Delivered {
        attempt: job.attempt,
        http_status: answer.status.as_u16(),
        headers: answer.headers,
        body_sha256: hash.to_string(),
        body_length,
        truncated: answer.truncated,
    };
    let drafts = vec![draft(DELIVERED, &delivered)?];
    Ok(effects.emit(job.tenant_id, DELIVERY, StreamId(delivery.id), delivery.version, drafts))
}

impl From<WebhookError> for HandlerError {
    fn from(error: WebhookError) -> Self {
        if error.is_retryable() {
            return HandlerError::retryable(error.code(), error.to_string());
        }
        let code = match error {
            // Whatever about the request itself is wrong has one name.
            WebhookError::Url { .. } | WebhookError::DeliveryNotFound(_) => "WEBHOOK_DELIVERY_FAILED",
            _ => error.code(),
        };
        HandlerError::permanent(code, error.to_string())
    }
}
