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

/// `LOG_KEY_ROTATED`: from the position of this event on, the log is signed by another key of the same
/// origin. The key before says so itself, by a signature over [`handover_text`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogKeyRotated {
    /// Always `ed25519`.
    pub algorithm: String,
    /// The log's name in checkpoints, as before.
    pub origin: String,
    /// Lowercase hex of the key that hands over.
    pub previous_key: String,
    /// Lowercase hex of the key that takes over.
    pub public_key: String,
    /// Lowercase hex of the signature by `previous_key`.
    pub signature: String,
}

/// `LOG_REOPENED`: a log that lost what it had published (a backup was restored, or the key is gone)
/// goes on under a new origin and key. This is the first event of the new origin: it stands at position
/// `size`, and names the checkpoint that the log under its old name will never honour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogReopened {
    /// Always `ed25519`.
    pub algorithm: String,
    /// The newest known checkpoint of the old origin, a signed note.
    pub checkpoint: String,
    /// The log's new name.
    pub origin: String,
    /// Lowercase hex of the key of the old origin, if it vouches for the new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_key: Option<String>,
    /// Lowercase hex of the key of the new origin.
    pub public_key: String,
    /// Lowercase hex of the root over what is left.
    pub root: String,
    /// Lowercase hex of the signature by `previous_key` over [`handover_text`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// How many sealed events are left.
    pub size: u64,
}

/// What a key signs when it hands over to another: a name for this kind of statement, the origin that
/// the new key will speak for, the old key and the new one, each on a line. No checkpoint can read
/// like this, because the second line of one is a number and the third 44 letters long.
pub fn handover_text(origin: &str, previous_key: &str, public_key: &str) -> String {
    format!("BPC-KEY-HANDOVER-1\n{origin}\n{previous_key}\n{public_key}\n")
}

/// Name of [`TenantAdded`] in the envelope.
pub const TENANT_ADDED: &str = "TENANT_ADDED";
/// Name of [`LogKeyAdded`] in the envelope.
pub const LOG_KEY_ADDED: &str = "LOG_KEY_ADDED";

/// Name of [`LogKeyRotated`] in the envelope.
pub const LOG_KEY_ROTATED: &str = "LOG_KEY_ROTATED";
/// Name of [`LogReopened`] in the envelope.
pub const LOG_REOPENED: &str = "LOG_REOPENED";

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

impl LogKeyRotated {
    /// The event to append.
    pub fn draft(&self) -> Draft {
        draft(LOG_KEY_ROTATED, self)
    }
}

impl LogReopened {
    /// The event to append.
    pub fn draft(&self) -> Draft {
        draft(LOG_REOPENED, self)
    }
}

fn draft(event_type: &'static str, payload: &impl Serialize) -> Draft {
    let payload = to_canonical(payload).expect("strings are canonical JSON");
    Draft { event_type: event_type.into(), schema: 1, payload }
}
