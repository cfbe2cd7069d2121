//! Everything that can be thrown away and rebuilt: the leasable queue, the job list, dead letters,
//! domain views; and the replay that rebuilds them. Imports `core` and `eventstore`.

mod calendar;
mod cohort;
mod columns;
mod completeness;
mod domain;
mod lanes;
mod leasing;
mod list;
mod postgres;
pub mod replay;
mod sqlite;
mod write;

pub use calendar::LeaseId;
pub use completeness::{Completeness, CompletenessError, Window, completeness};
pub use domain::{Projection, ViewTable};
pub use lanes::{Lane, LaneRoom, WaitingLane, waiting_lanes};
pub use leasing::{
    ExpectCohorts, Expired, HeldMembers, Leasable, Place, Taken, cancel_requests, expired_leases,
    finish_leases, held_leases, held_members, is_any_lease_over, leasable_jobs, leasable_jobs_alone,
    lease_jobs_alone, take_jobs,
};
pub use list::{
    JobFilter, JobLine, StatusCount, is_any_running, jobs_by_status, list_jobs, lock_job, running_jobs,
};
pub use write::{Finishing, JobWrites, finish_jobs_alone, write_jobs, write_jobs_alone, write_leases};
