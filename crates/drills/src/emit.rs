//! DRILL_EMIT: writes domain events, to rehearse conflicts and measure commits.

use bpc_worker::{Context, Effects, Handler, HandlerError, Job, StreamId};
use serde::{Deserialize, Serialize};

use crate::check::within;
use crate::drill::Drill;
use crate::emitted::{Emitted, STREAM_TYPE};

pub(crate) const DRILL: Drill = Drill {
    job_type: Emit::TYPE,
    example: r#"{"events":3,"stream_id":"00000000-0000-8000-8000-000000000001"}"#,
    does: "emits 1 to 1000 DRILL_EMITTED events on that stream; jobs on one stream conflict and retry",
    register: |registry| {
        registry.job(Emit);
    },
};

const EVENTS_MAX: u64 = 1000;

/// Emits events.
#[derive(Clone, Copy, Debug)]
pub struct Emit;

/// Where and how many.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = r#"an object such as {"events":3,"stream_id":"UUID"}"#)]
pub struct Payload {
    /// The stream; it begins with the first job that writes to it.
    pub stream_id: StreamId,
    /// How many events.
    pub events: u64,
}

#[derive(Serialize)]
struct Written {
    events: u64,
    last_number: u64,
}

impl Handler for Emit {
    const TYPE: &'static str = "DRILL_EMIT";
    type Payload = Payload;

    /// Running it again decides again on the version that is there by then, so an attempt that was
    /// not settled leaves no gap and one that was is not repeated.
    async fn handle(&self, job: &Job<Payload>, cx: &Context) -> Result<Effects, HandlerError> {
        let Payload { stream_id, events } = job.payload;
        within("events", events, 1..=EVENTS_MAX)?;
        let version = cx.stream_version(stream_id).await?;
        let before = u64::from(version.0);
        let numbers = before + 1..=before + events;
        let drafts = numbers.map(|number| Emitted { number, job_id: job.id }.draft());
        let drafts = drafts.collect::<Result<_, _>>()?;
        Ok(Effects::none()
            .emit(job.tenant_id, STREAM_TYPE, stream_id, version, drafts)
            .result(&Written { events, last_number: before + events })?)
    }
}
