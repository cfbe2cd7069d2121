//! The life of a job: its events, the state they fold to, and the commands that may add to them.

mod command;
mod decide;
mod event;
mod fold;
mod row;
mod state;
mod transition;

pub use command::{Command, Failure, NewJob, Outcome, Settlement};
pub use decide::{PROGRESS_INTERVAL, Refusal, decide};
pub use event::{Emitted, ErrorInfo, JobEvent, JobEventError, SCHEMA, read_enqueued};
pub use fold::{FoldError, Occurrence, fold, fold_on, fold_stream};
pub use row::{FinishedRow, Placement, QueueRow};
pub use state::{Job, LastError, Lease, Phase, Progress, Status};
pub use transition::{Stamp, Transition, TransitionError, advance, transition};

/// Stream type of jobs.
pub const STREAM_TYPE: &str = "Job";
/// The lowest priority; 0 is the most urgent.
pub const PRIORITY_MAX: u8 = 3;
/// Priority of a job whose type does not say otherwise.
pub const PRIORITY_NORMAL: u8 = 2;
