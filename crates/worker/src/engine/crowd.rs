//! Whether something gets in the way of the short way to lease: other processes that work on the same SQLite file,
//! or on PostgreSQL a job that cannot be leased.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long somebody who was met counts as being about.
const MEMORY: Duration = Duration::from_secs(5);

/// When somebody else was last met.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crowd {
    met_at: Arc<Mutex<Option<Instant>>>,
}

impl Crowd {
    /// Somebody got in the way just now.
    pub(crate) fn met(&self) {
        *self.met_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Did somebody lately?
    pub(crate) fn is_about(&self) -> bool {
        let met_at = *self.met_at.lock().unwrap_or_else(PoisonError::into_inner);
        met_at.is_some_and(|at| at.elapsed() < MEMORY)
    }
}
