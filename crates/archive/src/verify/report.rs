//! What verify says about an archive. The serialised names are stable, and those of a report on a database.

use std::time::Duration;

use bpc_eventstore::verify::{Anchor, Reopened};
use serde::{Serialize, Serializer};

use super::finding::ArchiveFinding;

/// What was checked and what was found.
#[derive(Clone, Debug, Serialize)]
pub struct ArchiveVerifyReport {
    /// The highest level that was checked.
    pub level: &'static str,
    /// The highest level that held; `None` if not even L0 did.
    pub held: Option<&'static str>,
    /// Events the archive holds.
    pub events: u64,
    /// Streams they belong to.
    pub streams: u64,
    /// How many of the streams are jobs.
    pub jobs: u64,
    /// The log's name in checkpoints.
    pub origin: Option<String>,
    /// Events in the sealed order: all of them.
    pub sealed: u64,
    /// Positions below this are covered by a checkpoint that holds.
    pub up_to_position: u64,
    /// How old the newest checkpoint is, if it says when it was made.
    #[serde(rename = "checkpoint_age_ms", serialize_with = "maybe_millis")]
    pub checkpoint_age: Option<Duration>,
    /// Events that no checkpoint that holds covers.
    pub unsealed: u64,
    /// The newest proof from outside that holds: a kept checkpoint or the word of the witnesses.
    pub anchor: Option<Anchor>,
    /// Where the log lost what it had published and went on under a new name.
    pub reopened: Vec<Reopened>,
    /// How many blobs were read and are right, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blobs: Option<u64>,
    /// How many findings there are, kept or not.
    pub findings_total: u64,
    /// The first of them: about events, then files, then signatures.
    pub findings: Vec<ArchiveFinding>,
    /// How long it took.
    #[serde(rename = "elapsed_ms", serialize_with = "millis")]
    pub elapsed: Duration,
}

impl ArchiveVerifyReport {
    /// Is there nothing to report?
    pub fn is_sound(&self) -> bool {
        self.findings_total == 0
    }
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
