//! The job that costs nothing: counts itself, and notes how long it waited.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use bpc_worker::{Context, Effects, Handler, HandlerError, Job};

use crate::payload::{Payload, now};

static COUNT: AtomicU64 = AtomicU64::new(0);
static LATENCIES: Mutex<Vec<f64>> = Mutex::new(Vec::new());

/// Its handler.
pub struct Noop;

impl Handler for Noop {
    const TYPE: &'static str = "BENCH_NOOP";
    type Payload = Payload;

    async fn handle(&self, job: &Job<Payload>, _cx: &Context) -> Result<Effects, HandlerError> {
        if job.payload.t != 0 {
            let waited = now().saturating_sub(job.payload.t);
            LATENCIES.lock().expect("no panic while held").push(waited as f64 / 1e6);
        }
        COUNT.fetch_add(1, Ordering::Relaxed);
        Ok(Effects::none())
    }
}

/// Handlers run so far, by all workers of this process.
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// From the call of enqueue to the start of the handler, in milliseconds, of every job that carried its time.
pub fn latencies() -> Vec<f64> {
    LATENCIES.lock().expect("no panic while held").clone()
}
