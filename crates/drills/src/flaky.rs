//! DRILL_FLAKY: fails a few times before it succeeds, to watch retries and dead letters.

use bpc_worker::{Context, Effects, Handler, HandlerError, Job};
use serde::{Deserialize, Serialize};

use crate::drill::Drill;

pub(crate) const DRILL: Drill = Drill {
    job_type: Flaky::TYPE,
    example: r#"{"fail_times":2}"#,
    does: "fails the first fail_times attempts with DRILL_FLAKY_FAILURE, then succeeds",
    register: |registry| {
        registry.job(Flaky);
    },
};

/// Fails at first.
#[derive(Clone, Copy, Debug)]
pub struct Flaky;

/// How often.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = r#"an object such as {"fail_times":2}"#)]
pub struct Payload {
    /// Attempts that fail. As many as the job has, or more, and it becomes a dead letter.
    pub fail_times: u32,
}

#[derive(Serialize)]
struct Recovered {
    attempt: u32,
}

impl Handler for Flaky {
    const TYPE: &'static str = "DRILL_FLAKY";
    type Payload = Payload;

    /// Judged by the number of the attempt alone, which begins again at 1 when a person replays the
    /// job: a replayed one fails as often as it did before.
    async fn handle(&self, job: &Job<Payload>, _cx: &Context) -> Result<Effects, HandlerError> {
        let fail_times = job.payload.fail_times;
        if job.attempt <= fail_times {
            let message = format!("attempt {} of {fail_times} that were asked to fail", job.attempt);
            return Err(HandlerError::retryable("DRILL_FLAKY_FAILURE", message));
        }
        Ok(Effects::none().result(&Recovered { attempt: job.attempt })?)
    }
}
