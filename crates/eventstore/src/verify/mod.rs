//! `verify`: is the log what was written? Levels L0 to L3.
//!
//! Everything is read once, in the order in which it was written, and checked on all cores on little
//! memory ([`quick`]): bytes, columns, chain, dense versions, legal histories; and on the way, against the
//! sealed order and the tree ([`sealed`]). What the quick check does not like gets an exact look
//! ([`exact`]), which says what is wrong and where. Signatures come last.

mod blobs;
mod cohort;
mod exact;
mod finding;
mod lookup;
pub mod quick;
mod run;
mod sealed;
mod source;
mod written;

use std::time::Duration;

use bpc_core::TenantId;
use bpc_core::note::VerifierKey;
use serde::{Serialize, Serializer};

use crate::database::Conn;
use crate::error::StoreError;
use crate::store::Store;

pub use blobs::{BlobFinding, BlobReport, blob_count, check_blobs};
pub use finding::Finding;
pub use run::verify;
pub use sealed::KeptCheckpoint;

/// What to check and how much to say.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// Only events whose tenant column names this tenant, at level L0; `None` is the whole log.
    pub tenant: Option<TenantId>,
    /// Keep at most so many findings; the others are only counted.
    pub findings_max: usize,
    /// Keys of the log that the caller knows to be right. Without any, the log's first key is believed.
    pub keys: Vec<VerifierKey>,
    /// Checkpoints that the caller took away earlier: level L2.
    pub checkpoints: Vec<KeptCheckpoint>,
    /// Witnesses that must have signed: level L3.
    pub witnesses: Vec<VerifierKey>,
    /// Events that no checkpoint covers and that are older than this are a finding: the sealer stands still.
    pub unsealed_age_max: Option<Duration>,
    /// Memory for streams that are open at once; `None` is what keeps a run below 200 MB.
    pub live_bytes_max: Option<usize>,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions {
            tenant: None,
            findings_max: 1000,
            keys: Vec::new(),
            checkpoints: Vec::new(),
            witnesses: Vec::new(),
            unsealed_age_max: None,
            live_bytes_max: None,
        }
    }
}

/// What was checked and what was found.
#[derive(Clone, Debug, Serialize)]
pub struct VerifyReport {
    /// The highest level that was checked: L0 without seals, L1 with, L2 and L3 on request.
    pub level: &'static str,
    /// The highest level that held; `None` if not even L0 did.
    pub held: Option<&'static str>,
    /// Events read.
    pub events: u64,
    /// Streams they belong to.
    pub streams: u64,
    /// How many of the streams are jobs.
    pub jobs: u64,
    /// The log's name in checkpoints.
    pub origin: Option<String>,
    /// Events in the sealed order.
    pub sealed: u64,
    /// Positions below this are covered by a checkpoint that holds.
    pub up_to_position: u64,
    /// How old the newest checkpoint is.
    #[serde(rename = "checkpoint_age_ms", serialize_with = "maybe_millis")]
    pub checkpoint_age: Option<Duration>,
    /// Events that no checkpoint covers.
    pub unsealed: u64,
    /// How old the oldest of them is.
    #[serde(rename = "unsealed_age_ms", serialize_with = "maybe_millis")]
    pub unsealed_age: Option<Duration>,
    /// The newest proof from outside that holds: a kept checkpoint or the word of the witnesses.
    pub anchor: Option<Anchor>,
    /// Where the log lost what it had published and went on under a new name.
    pub reopened: Vec<Reopened>,
    /// How many findings there are, kept or not.
    pub findings_total: u64,
    /// The first of them: by stream and version, then by position.
    pub findings: Vec<Finding>,
    /// How long it took.
    #[serde(rename = "elapsed_ms", serialize_with = "millis")]
    pub elapsed: Duration,
}

/// Proof from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Anchor {
    /// Positions below this are covered.
    pub size: u64,
    /// How old it is, if it says when it was made.
    #[serde(rename = "age_ms", serialize_with = "maybe_millis")]
    pub age: Option<Duration>,
}

/// A new origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reopened {
    /// Where it begins.
    pub position: u64,
    /// Its name.
    pub origin: String,
    /// The checkpoint of the old origin that it does not honour.
    pub checkpoint: String,
    /// Did the old key vouch for it?
    pub is_vouched: bool,
}

impl VerifyReport {
    /// Is there nothing to report?
    pub fn is_sound(&self) -> bool {
        self.findings_total == 0
    }
}

/// About how many events there are, without counting them: for a progress bar.
pub async fn event_count_estimate(store: &Store) -> Result<u64, StoreError> {
    let mut tx = store.begin_read().await?;
    let estimate: i64 = match tx.conn() {
        Conn::Postgres(conn) => {
            sqlx::query_scalar(include_str!("../postgres/verify/estimate_events.sql")).fetch_one(conn).await?
        }
        // One more each; none is ever deleted.
        Conn::Sqlite(conn) => {
            sqlx::query_scalar("SELECT COALESCE(max(id), 0) FROM events").fetch_one(conn).await?
        }
    };
    Ok(estimate.max(0) as u64)
}

fn millis<S: Serializer>(elapsed: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(elapsed.as_millis() as u64)
}

fn maybe_millis<S: Serializer>(elapsed: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match elapsed {
        Some(elapsed) => millis(elapsed, serializer),
        None => serializer.serialize_none(),
    }
}
