//! Wake-up latency: a job type that notes when its handler starts.

use std::time::{Duration, Instant};

use bpc_core::TenantId;
use bpc_worker::{Context, Effects, Engine, Enqueue, Handler, HandlerError, Job, JobId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::error::Failure;

use super::QUEUE;

/// Measured jobs, after some that are not: the first ones open connections and prepare statements.
const SAMPLES: usize = 200;
const WARM_UP: usize = 10;
/// Longer than any poll interval that somebody would measure with.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between one job and the next, so that the last one is settled and the worker idle again.
const PAUSE: Duration = Duration::from_millis(10);

/// Where handlers say that they have started.
pub struct Started {
    sender: UnboundedSender<(JobId, Instant)>,
    receiver: UnboundedReceiver<(JobId, Instant)>,
}

/// Registered by the benchmark only: no other worker takes its jobs.
pub struct BenchLatency {
    sender: UnboundedSender<(JobId, Instant)>,
}

impl Default for Started {
    fn default() -> Self {
        let (sender, receiver) = unbounded_channel();
        Started { sender, receiver }
    }
}

impl Handler for BenchLatency {
    const TYPE: &'static str = "BENCH_LATENCY";
    type Payload = serde::de::IgnoredAny;

    async fn handle(&self, job: &Job<Self::Payload>, _cx: &Context) -> Result<Effects, HandlerError> {
        // Nobody listening means that the measurement is over.
        let _ = self.sender.send((job.id, Instant::now()));
        Ok(Effects::none())
    }
}

impl Started {
    /// The handler that reports here.
    pub fn handler(&self) -> BenchLatency {
        BenchLatency { sender: self.sender.clone() }
    }

    /// One job after another, each from the call of enqueue until its handler runs.
    pub async fn measure(
        mut self,
        engine: &Engine,
        tenant: TenantId,
        actor: &str,
    ) -> Result<Latencies, Failure> {
        let mut latencies = Vec::with_capacity(SAMPLES);
        for sample in 0..WARM_UP + SAMPLES {
            let job = Enqueue::from_json(BenchLatency::TYPE, b"{}")?.queue(QUEUE);
            let called = Instant::now();
            let enqueued = engine.enqueue(tenant, actor, job).await?;
            let latency = self.start_of(enqueued.job_id).await?.duration_since(called);
            if sample >= WARM_UP {
                latencies.push(latency);
            }
            tokio::time::sleep(PAUSE).await;
        }
        latencies.sort();
        Ok(Latencies(latencies))
    }

    async fn start_of(&mut self, wanted: JobId) -> Result<Instant, Failure> {
        let start = async {
            loop {
                match self.receiver.recv().await {
                    Some((job_id, at)) if job_id == wanted => return at,
                    Some(_) => {}
                    None => std::future::pending().await,
                }
            }
        };
        let late =
            |_| Failure::refused("BENCH_STUCK", format!("job {wanted} did not start within {PATIENCE:?}"));
        tokio::time::timeout(PATIENCE, start).await.map_err(late)
    }
}

/// Sorted.
pub struct Latencies(Vec<Duration>);

impl Latencies {
    /// The latency that so many percent of the jobs did not exceed, in milliseconds.
    pub fn percentile(&self, percent: usize) -> f64 {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        let millis = self.0.get(rank - 1).map_or(0.0, |latency| latency.as_secs_f64() * 1e3);
        (millis * 1000.0).round() / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let latencies = Latencies((1..=200).map(Duration::from_millis).collect());
        assert_eq!([50, 95, 99, 100].map(|it| latencies.percentile(it)), [100.0, 190.0, 198.0, 200.0]);
        assert_eq!(Latencies(Vec::new()).percentile(50), 0.0);
    }
}
