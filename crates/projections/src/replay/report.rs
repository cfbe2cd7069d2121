//! What a replay did and found. The serialised names are stable.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::drift::Drift;

/// How far a replay is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many events are read.
    Rebuilding {
        /// Events so far.
        events: u64,
    },
    /// So many rows of a view are compared.
    Comparing {
        /// The view.
        view: &'static str,
        /// Rows of this view so far.
        rows: u64,
    },
}

/// What was rebuilt.
#[derive(Clone, Debug, Serialize)]
pub struct RebuildReport {
    /// Events read.
    pub events: u64,
    /// Streams they belong to.
    pub streams: u64,
    /// How many of the streams are jobs.
    pub jobs: u64,
    /// How much of the log did not fit the views, kept or not.
    pub drift_total: u64,
    /// The first of it.
    pub drift: Vec<Drift>,
    /// How long it took.
    #[serde(rename = "elapsed_ms", serialize_with = "millis")]
    pub elapsed: Duration,
}

/// What was compared.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// Events read.
    pub events: u64,
    /// Streams they belong to.
    pub streams: u64,
    /// How many of the streams are jobs.
    pub jobs: u64,
    /// The views compared.
    pub views: Vec<&'static str>,
    /// Rows compared, over all views.
    pub rows: u64,
    /// How much drift there is, kept or not.
    pub drift_total: u64,
    /// The first of it: that of the log, then view by view in key order.
    pub drift: Vec<Drift>,
    /// How long it took.
    #[serde(rename = "elapsed_ms", serialize_with = "millis")]
    pub elapsed: Duration,
}

/// What was repaired.
#[derive(Clone, Debug, Serialize)]
pub struct RepairReport {
    /// Events read.
    pub events: u64,
    /// Streams they belong to.
    pub streams: u64,
    /// How many of the streams are jobs.
    pub jobs: u64,
    /// Rows compared, over all views.
    pub rows: u64,
    /// How many rows of which view were not what the log says, and are now.
    pub repaired: BTreeMap<&'static str, u64>,
    /// How much drift there was, kept or not.
    pub drift_total: u64,
    /// The first of it. What it says about `events` is still so: no view follows from those.
    pub drift: Vec<Drift>,
    /// How long it took.
    #[serde(rename = "elapsed_ms", serialize_with = "millis")]
    pub elapsed: Duration,
}

impl RebuildReport {
    /// Did every event find its place?
    pub fn is_clean(&self) -> bool {
        self.drift_total == 0
    }
}

impl CheckReport {
    /// Are the live views what the log says?
    pub fn is_clean(&self) -> bool {
        self.drift_total == 0
    }
}

fn millis<S: Serializer>(elapsed: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(elapsed.as_millis() as u64)
}
