//! How jobs of a type are treated unless the job itself says otherwise.

use std::time::Duration;

use bpc_core::RetryPolicy;
use bpc_core::job::PRIORITY_NORMAL;
use bpc_core::retry::DEFAULT_MAX_ATTEMPTS;

/// The policy of a job type.
#[derive(Clone, Debug, PartialEq)]
pub struct JobPolicy {
    /// Queue it waits in.
    pub queue: String,
    /// 0 to 3, lower first.
    pub priority: u8,
    /// Attempts in all.
    pub max_attempts: u32,
    /// How retries are spaced.
    pub retry: RetryPolicy,
    /// After this long the handler is asked to stop.
    pub soft_limit: Option<Duration>,
    /// After this long the attempt fails with `TIMEOUT`.
    pub hard_limit: Option<Duration>,
    /// At most so many running at once, over all workers.
    pub concurrency_max: Option<u32>,
    /// The handler computes rather than waits: it runs off the async threads.
    pub cpu_bound: bool,
}

impl Default for JobPolicy {
    fn default() -> Self {
        JobPolicy {
            queue: "default".to_owned(),
            priority: PRIORITY_NORMAL,
            max_attempts: DEFAULT_MAX_ATTEMPTS,
            retry: RetryPolicy::default(),
            soft_limit: None,
            hard_limit: None,
            concurrency_max: None,
            cpu_bound: false,
        }
    }
}
