//! The arguments of `bpc webhook`.

use clap::Subcommand;
use uuid::Uuid;

use super::value;

#[derive(Debug, Subcommand)]
pub enum WebhookCommand {
    /// Add, list or disable endpoints
    #[command(subcommand, after_help = "Example:\n  bpc webhook endpoint add https://example.com/hook")]
    Endpoint(EndpointCommand),
    /// Send events of a type to an endpoint from now on
    #[command(after_help = "Example:\n  bpc webhook subscribe ENDPOINT --event PASSPORT_SIGNED")]
    Subscribe {
        /// The endpoint
        #[arg(value_name = "ENDPOINT", value_parser = value::uuid)]
        endpoint: Uuid,
        /// Type of the events, or * for all
        #[arg(long, value_name = "TYPE")]
        event: String,
    },
    /// Send no further events
    #[command(after_help = "Example:\n  bpc webhook unsubscribe SUBSCRIPTION")]
    Unsubscribe {
        /// The subscription
        #[arg(value_name = "SUBSCRIPTION", value_parser = value::uuid)]
        subscription: Uuid,
    },
    /// List deliveries, newest first
    #[command(after_help = "Example:\n  bpc webhook deliveries --limit 20")]
    Deliveries {
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
    /// Send a delivery again, under the same id
    #[command(after_help = "Example:\n  bpc webhook redeliver DELIVERY")]
    Redeliver {
        /// The delivery
        #[arg(value_name = "DELIVERY", value_parser = value::uuid)]
        delivery: Uuid,
    },
}

#[derive(Debug, Subcommand)]
pub enum EndpointCommand {
    /// Add an endpoint; prints the secret of its HMAC once
    #[command(after_help = "\
Each request carries X-BPC-Signature: sha256=HEX, the HMAC-SHA256 of its body under the secret.
Endpoints are https and public, unless BPC_WEBHOOK_ALLOW_HTTP or BPC_WEBHOOK_ALLOW_PRIVATE say otherwise.

Example:
  bpc webhook endpoint add https://example.com/hook")]
    Add {
        /// Where to
        url: String,
    },
    /// List endpoints and what they are subscribed to
    #[command(after_help = "Example:\n  bpc webhook endpoint list")]
    List,
    /// Send nothing to an endpoint any more
    #[command(after_help = "Example:\n  bpc webhook endpoint disable ENDPOINT")]
    Disable {
        /// The endpoint
        #[arg(value_name = "ENDPOINT", value_parser = value::uuid)]
        endpoint: Uuid,
    },
}
