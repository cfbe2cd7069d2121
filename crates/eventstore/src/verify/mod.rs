//! Level L0 of `verify`: every event's bytes, columns, chain, dense versions and legal history.
//!
//! One reader goes through the log by stream and version and cuts it into chunks; chunks are checked
//! on all cores at once and their findings gathered in order. A stream that goes on in the next chunk
//! hands its state over, so memory stays flat however long the log or any stream in it is.

mod cell;
mod chain;
mod chunk;
mod finding;
mod place;
mod row;
mod run;
mod scan;
mod stream;

use std::time::Duration;

use bpc_core::TenantId;
use serde::{Serialize, Serializer};

use crate::error::StoreError;
use crate::portable;
use crate::store::Store;

pub use finding::Finding;
pub use run::verify;

/// What to check and how much to say.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// Only events whose tenant column names this tenant; `None` is the whole log.
    pub tenant: Option<TenantId>,
    /// Keep at most so many findings; the others are only counted.
    pub findings_max: usize,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions { tenant: None, findings_max: 1000 }
    }
}

/// What was checked and what was found.
#[derive(Clone, Debug, Serialize)]
pub struct VerifyReport {
    /// The level that was checked.
    pub level: &'static str,
    /// Events read.
    pub events: u64,
    /// Streams they belong to.
    pub streams: u64,
    /// How many of the streams are jobs.
    pub jobs: u64,
    /// Events that no checkpoint covers: all of them, as long as the log is not sealed.
    pub unsealed: u64,
    /// How many findings there are, kept or not.
    pub findings_total: u64,
    /// The first of them, by stream and version.
    pub findings: Vec<Finding>,
    /// How long it took.
    #[serde(rename = "elapsed_ms", serialize_with = "millis")]
    pub elapsed: Duration,
}

impl VerifyReport {
    /// Is there nothing to report?
    pub fn is_sound(&self) -> bool {
        self.findings_total == 0
    }
}

/// About how many events there are, without counting them: for a progress bar. Ids that were given
/// out to transactions that did not commit are counted too.
pub async fn event_count_estimate(store: &Store) -> Result<u64, StoreError> {
    let sql = "SELECT COALESCE(max(id), 0) FROM events";
    let mut tx = store.begin_read().await?;
    let newest: i64 = portable!(tx.conn(), c => sqlx::query_scalar(sql).fetch_one(c).await)?;
    Ok(newest.max(0) as u64)
}

fn millis<S: Serializer>(elapsed: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(elapsed.as_millis() as u64)
}
