//! Whether the short way to lease is worth trying: on SQLite, leases that are computed before their transaction begins;
//! on PostgreSQL, jobs that are leased by the statement that finds them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the way is not tried after it failed.
const PAUSE: Duration = Duration::from_secs(5);

/// When the short way last failed: because another process works on the same file, or because of a damaged job, which
/// would be met again each time.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShortWay {
    failed_at: Arc<Mutex<Option<Instant>>>,
}

impl ShortWay {
    /// It failed just now.
    pub(crate) fn failed(&self) {
        *self.failed_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Has it not failed lately?
    pub(crate) fn is_open(&self) -> bool {
        let failed_at = *self.failed_at.lock().unwrap_or_else(PoisonError::into_inner);
        failed_at.is_none_or(|at| at.elapsed() >= PAUSE)
    }
}
