//! DRILL_EMITTED: the one domain event of this pack.

use bpc_core::JobId;
use bpc_core::canonical::{JsonError, to_canonical};
use bpc_worker::Draft;
use serde::{Deserialize, Serialize};

/// Type of the streams that drills write to.
pub const STREAM_TYPE: &str = "Drill";
/// Type of the event.
pub const EMITTED: &str = "DRILL_EMITTED";

/// Its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Emitted {
    /// Counts through the stream from 1, whichever job emits: a lost or doubled event shows as a gap
    /// or a repetition.
    pub number: u64,
    /// Who emitted it.
    pub job_id: JobId,
}

impl Emitted {
    /// The event to append.
    pub fn draft(&self) -> Result<Draft, JsonError> {
        Ok(Draft { event_type: EMITTED.into(), schema: 1, payload: to_canonical(self)? })
    }
}
