//! DRILL_PANIC: takes down its attempt, or the whole worker with it.

use bpc_worker::{Context, Effects, Handler, HandlerError, Job};
use serde::Deserialize;

use crate::drill::Drill;

pub(crate) const DRILL: Drill = Drill {
    job_type: Panic::TYPE,
    example: r#"{"abort":false}"#,
    does: "panics, which fails the attempt; with abort it ends the whole worker process",
    register: |registry| {
        registry.job(Panic);
    },
};

/// Panics.
#[derive(Clone, Copy, Debug)]
pub struct Panic;

/// How badly.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = r#"an object such as {"abort":false}"#)]
pub struct Payload {
    /// End the process at once, so that nothing is settled or released: a poison job. Its attempts
    /// are counted when leased, so it runs out of them all the same.
    pub abort: bool,
}

impl Handler for Panic {
    const TYPE: &'static str = "DRILL_PANIC";
    type Payload = Payload;

    async fn handle(&self, job: &Job<Payload>, _cx: &Context) -> Result<Effects, HandlerError> {
        if job.payload.abort {
            std::process::abort();
        }
        panic!("it was asked to panic");
    }
}
