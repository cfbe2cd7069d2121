//! DRILL_CHAIN: a job that enqueues the next, to rehearse follow-ups and measure their latency.

use bpc_worker::{Context, Effects, Enqueue, Handler, HandlerError, Job};
use serde::{Deserialize, Serialize};

use crate::check::within;
use crate::drill::Drill;

pub(crate) const DRILL: Drill = Drill {
    job_type: Chain::TYPE,
    example: r#"{"depth":3}"#,
    does: "enqueues another one with depth - 1 until depth is 0, at most 1000: depth + 1 jobs in all",
    register: |registry| {
        registry.job(Chain);
    },
};

const DEPTH_MAX: u64 = 1000;

/// Enqueues its successor.
#[derive(Clone, Copy, Debug)]
pub struct Chain;

/// How many are to follow.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = r#"an object such as {"depth":3}"#)]
pub struct Payload {
    /// Jobs after this one.
    pub depth: u64,
}

impl Handler for Chain {
    const TYPE: &'static str = "DRILL_CHAIN";
    type Payload = Payload;

    async fn handle(&self, job: &Job<Payload>, _cx: &Context) -> Result<Effects, HandlerError> {
        let depth = job.payload.depth;
        within("depth", depth, 0..=DEPTH_MAX)?;
        if depth == 0 {
            return Ok(Effects::none());
        }
        // The key comes from this job, not from the depth: however often an attempt runs, a job has
        // one successor, and two chains never share any.
        let next = Enqueue::new(Self::TYPE, &Payload { depth: depth - 1 })?;
        let next = next.key(format!("after:{}", job.id)).queue(&*job.queue).priority(job.priority);
        Ok(Effects::none().enqueue(next))
    }
}
