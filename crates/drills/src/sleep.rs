//! DRILL_SLEEP: a job that takes its time, to be cancelled, interrupted and watched.

use std::time::{Duration, Instant};

use bpc_worker::{Context, Effects, Handler, HandlerError, Job, Stopping};
use serde::{Deserialize, Serialize};

use crate::check::within;
use crate::drill::Drill;

pub(crate) const DRILL: Drill = Drill {
    job_type: Sleep::TYPE,
    example: r#"{"ms":1000}"#,
    does: "sleeps for ms milliseconds, at most an hour, and says how far it is; can be cancelled",
    register: |registry| {
        registry.job(Sleep);
    },
};

/// One hour.
const MS_MAX: u64 = 60 * 60 * 1000;
/// How often it says how far it is; more is not recorded anyway.
const STEP: Duration = Duration::from_secs(1);

/// Sleeps.
#[derive(Clone, Copy, Debug)]
pub struct Sleep;

/// How long.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = r#"an object such as {"ms":1000}"#)]
pub struct Payload {
    /// Milliseconds.
    pub ms: u64,
}

#[derive(Serialize)]
struct Slept {
    slept_ms: u64,
}

impl Handler for Sleep {
    const TYPE: &'static str = "DRILL_SLEEP";
    type Payload = Payload;

    async fn handle(&self, job: &Job<Payload>, cx: &Context) -> Result<Effects, HandlerError> {
        let ms = job.payload.ms;
        within("ms", ms, 0..=MS_MAX)?;
        tokio::select! {
            () = sleep(Duration::from_millis(ms), cx) => {}
            reason = woken(cx) => return Err(reason),
        }
        Ok(Effects::none().result(&Slept { slept_ms: ms })?)
    }
}

async fn sleep(total: Duration, cx: &Context) {
    let start = Instant::now();
    let left = || total.saturating_sub(start.elapsed());
    // A sleep shorter than a step says nothing, so that measuring short jobs measures no progress.
    while left() > STEP {
        tokio::time::sleep(STEP).await;
        let percent = start.elapsed().as_secs_f64() / total.as_secs_f64() * 100.0;
        cx.progress(percent as u8, Some("sleeping"), None);
    }
    tokio::time::sleep(left()).await;
}

/// Why the sleep has to end early. Never returns while there is no reason.
async fn woken(cx: &Context) -> HandlerError {
    match cx.stopped().await {
        Some(Stopping::Cancelled) => HandlerError::Cancelled,
        // A sleep cannot be finished quickly. It is a timeout like the hard one, only politer.
        Some(Stopping::SoftLimit) => {
            HandlerError::retryable("TIMEOUT", "the soft time limit ended before the sleep did")
        }
        // Another worker may have the job by now. This answer will be refused, so nothing is gained by
        // sleeping on, and saying "done" would be a lie if it were not.
        Some(Stopping::LeaseLost) => HandlerError::retryable("LEASE_LOST", "the lease was lost in mid-sleep"),
        // It may well end within the grace period; if not, the worker gives the job back without
        // spending the attempt, which an error returned here would.
        Some(Stopping::WorkerStops) | None => std::future::pending().await,
    }
}
