//! DRILL_NOOP: what the engine costs when the job costs nothing.

use bpc_worker::{Context, Effects, Handler, HandlerError, Job};
use serde::de::IgnoredAny;

use crate::drill::Drill;

pub(crate) const DRILL: Drill = Drill {
    job_type: Noop::TYPE,
    example: "{}",
    does: "does nothing and succeeds, whatever the payload",
    register: |registry| {
        registry.job(Noop);
    },
};

/// Does nothing.
#[derive(Clone, Copy, Debug)]
pub struct Noop;

impl Handler for Noop {
    const TYPE: &'static str = "DRILL_NOOP";
    /// Anything, so that measurements can choose how large jobs are.
    type Payload = IgnoredAny;

    async fn handle(&self, _job: &Job<IgnoredAny>, _cx: &Context) -> Result<Effects, HandlerError> {
        Ok(Effects::none())
    }
}
