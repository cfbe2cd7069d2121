//! Events about the log itself and its tenants.

use serde::{Deserialize, Serialize};

use crate::canonical::to_canonical;
use crate::envelope::Draft;

/// Stream type of tenants; the stream's id is the tenant's.
pub const TENANT: &str = "Tenant";
/// Stream type of the log's own events.
pub const LOG: &str = "Log";
/// Name that the log's own stream is derived from.
pub const LOG_STREAM: &str = "log";

/// `TENANT_ADDED`: a tenant exists from here on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TenantAdded {
    /// Short name used on the command line, unique for ever.
    pub slug: String,
    /// Name for people.
    pub name: String,
}

/// `LOG_KEY_ADDED`: checkpoints signed by this key speak for the log from here on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogKeyAdded {
    /// Always `ed25519`.
    pub algorithm: String,
    /// The log's name in checkpoints.
    pub origin: String,
    /// Lowercase hex of the 32-byte public key.
    pub public_key: String,
}

/// Name of [`TenantAdded`] in the envelope.
pub const TENANT_ADDED: &str = "TENANT_ADDED";
/// Name of [`LogKeyAdded`] in the envelope.
pub const LOG_KEY_ADDED: &str = "LOG_KEY_ADDED";

impl TenantAdded {
    /// The event to append.
    pub fn draft(&self) -> Draft {
        draft(TENANT_ADDED, self)
    }
}

impl LogKeyAdded {
    /// The event to append.
    pub fn draft(&self) -> Draft {
        draft(LOG_KEY_ADDED, self)
    }
}

fn draft(event_type: &'static str, payload: &impl Serialize) -> Draft {
    let payload = to_canonical(payload).expect("strings are canonical JSON");
    Draft { event_type: event_type.into(), schema: 1, payload }
}
