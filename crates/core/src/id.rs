//! Ids and versions as types of their own, so that none is passed for another.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::time::Timestamp;

macro_rules! uuid_newtype {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map($name)
            }
        }
    };
}

uuid_newtype! {
    /// The isolation scope of everything: every stream, job and view belongs to one tenant.
    TenantId
}
uuid_newtype! {
    /// One stream of events. Unique across tenants and stream types.
    StreamId
}
uuid_newtype! {
    /// One job; its stream has the same UUID.
    JobId
}
uuid_newtype! {
    /// One event, a UUIDv7 made from the time of the event and entropy from the caller.
    EventId
}

impl TenantId {
    /// The scope of events about the log itself (its keys), which no tenant owns.
    pub const SYSTEM: TenantId = TenantId(Uuid::nil());

    /// The tenant of that slug: derived, so that a slug can be taken only once and names the same
    /// tenant in every database.
    pub fn from_slug(slug: &str) -> Self {
        TenantId(derived("tenant", &[slug.as_bytes()]))
    }
}

impl JobId {
    /// A new job without an idempotency key.
    pub fn fresh(at: Timestamp, entropy: [u8; 10]) -> Self {
        JobId(uuid_v7(at, entropy))
    }

    /// The job of an idempotency key. Version 1 of this stream is the lock: whoever appends it
    /// first has enqueued the job, everyone else finds it there, for the life of the log.
    pub fn from_key(tenant: TenantId, job_type: &str, key: &str) -> Self {
        JobId(derived("job", &[tenant.0.as_bytes(), job_type.as_bytes(), key.as_bytes()]))
    }
}

impl EventId {
    /// A new event id.
    pub fn fresh(at: Timestamp, entropy: [u8; 10]) -> Self {
        EventId(uuid_v7(at, entropy))
    }
}

impl StreamId {
    /// A stream id derived from what it is about, for streams that exist once.
    pub fn derived(kind: &str, name: &str) -> Self {
        StreamId(derived(kind, &[name.as_bytes()]))
    }
}

impl From<JobId> for StreamId {
    fn from(id: JobId) -> Self {
        StreamId(id.0)
    }
}

impl From<TenantId> for StreamId {
    fn from(id: TenantId) -> Self {
        StreamId(id.0)
    }
}

/// Place of an event in its stream: 1, 2, 3 ... without gaps. Zero means "no event yet".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(pub u32);

impl Version {
    /// Before the first event.
    pub const NONE: Version = Version(0);

    /// The version that follows.
    pub fn next(self) -> Version {
        Version(self.0 + 1)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// RFC 9562 version 7: milliseconds, then entropy. The sub-millisecond part of the time is not
/// encoded; order within a stream is the version's business, not the id's.
fn uuid_v7(at: Timestamp, entropy: [u8; 10]) -> Uuid {
    let millis = (at.as_micros().max(0) / 1000) as u64;
    uuid::Builder::from_unix_timestamp_millis(millis, &entropy).into_uuid()
}

/// RFC 9562 version 8 over a SHA-256 of length-prefixed parts, so that no two lists of parts
/// spell the same bytes.
fn derived(kind: &str, parts: &[&[u8]]) -> Uuid {
    let mut hash = Sha256::new();
    for part in [&b"BPC-ID-1"[..], kind.as_bytes()].iter().chain(parts) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    uuid::Builder::from_custom_bytes(digest[..16].try_into().expect("16 of 32 bytes")).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_ids_are_a_contract() {
        // A change of this derivation would forget every idempotency key of every log.
        // To check by hand: SHA-256 over each part behind its length as 8 big-endian bytes, the parts
        // being BPC-ID-1, the kind and what follows below; of its first 16 bytes, the version bits
        // become 8 and the variant bits 10.
        let tenant = TenantId::from_slug("default");
        assert_eq!(tenant.to_string(), "a8980e3f-23a4-8e8b-b05c-8734a6337d35");
        assert_eq!(
            JobId::from_key(tenant, "COMPILE_PASSPORT", "order-4711").to_string(),
            "15d90376-4c09-8e1f-8380-a1566afc1752"
        );
        assert_eq!(StreamId::derived("log", "log").to_string(), "30eacfdf-0f8d-8fd4-ab1e-613be940b51e");
    }

    #[test]
    fn parts_cannot_be_shifted_between_type_and_key() {
        let tenant = TenantId::from_slug("default");
        assert_ne!(JobId::from_key(tenant, "AB", "C"), JobId::from_key(tenant, "A", "BC"));
    }
}
