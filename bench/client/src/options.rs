//! What `BENCH_OPTS` can change. Without it everything is as an application gets it that asks for nothing.

use serde::Deserialize;

use crate::error::ClientError;

/// Settings of a run.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Workers in this process, each with a store and connections of its own, as if each ran on another machine.
    pub workers: Option<usize>,
    /// Handlers at once, per worker.
    pub concurrency: Option<usize>,
    /// Most connections in a worker's pool, besides those that it keeps for leasing, settling and sealing.
    pub pool: Option<u32>,
    /// Measure without sealing, to see what sealing costs.
    pub unsealed: bool,
}

impl Options {
    /// Those in the environment.
    pub fn from_env() -> Result<Self, ClientError> {
        match std::env::var("BENCH_OPTS") {
            Ok(text) if !text.trim().is_empty() => serde_json::from_str(&text).map_err(ClientError::Options),
            _ => Ok(Options::default()),
        }
    }
}
