//! The webhook pack: any domain event of any pack to whoever subscribed to it, signed, at least once.
//! Imports `core`, `eventstore`, `projections`, `secrets` and `worker`; knows no other pack.
//!
//! A subscription joins an event type and an endpoint. Whenever such an event is recorded, the delivery and
//! its job are recorded in the same transaction, whoever emitted it. The job posts the event with an
//! HMAC of its bytes; a delivery has one id however often it is tried.

mod address;
mod body;
mod deliver;
mod delivery;
mod endpoint;
mod error;
mod events;
mod reaction;
mod read;
mod send;
mod settings;
mod subscription;
mod view;

pub use address::is_public;
pub use body::signature;
pub use deliver::DeliverWebhook;
pub use delivery::{Delivery, DeliveryStatus, delivery, redeliver};
pub use endpoint::{AddedEndpoint, add_endpoint, disable_endpoint};
pub use error::WebhookError;
pub use read::{DeliveryRow, EndpointRow, deliveries, endpoints};
pub use settings::Settings;
pub use subscription::{Subscribed, subscribe, unsubscribe};

use bpc_worker::Registry;

/// Register the whole pack.
pub fn register(registry: &mut Registry, settings: Settings) {
    events::ALL.iter().for_each(|(stream, event)| {
        registry.event(stream, event);
    });
    registry
        .job(DeliverWebhook::new(settings))
        .projection(view::Webhooks)
        .reaction(reaction::Subscribers)
        .blob(events::DELIVERED, "body_sha256");
}
