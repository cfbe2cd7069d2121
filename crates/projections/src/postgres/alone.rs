//! One new job, by a statement of its own: what a caller waits for who enqueues one job after the other.

use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;

use crate::write::JobWrites;

/// The statement for these, if they are one new job and nothing else.
pub(crate) fn new_job(writes: &JobWrites) -> Option<Query<'_, Postgres, PgArguments>> {
    let ([event], [row]) = (&writes.events[..], &writes.insert_queue[..]) else {
        return None;
    };
    let is_all = writes.is_of_new_and_leased_jobs()
        && writes.lease.is_none()
        && writes.delete_leases.is_empty()
        && writes.wake.len() <= 1;
    if !is_all || event.stream_id != row.job_id.into() {
        return None;
    }
    let statement = sqlx::query(include_str!("alone/new_job.sql"))
        .bind(event.tenant_id.0)
        .bind(&*event.stream_type)
        .bind(event.stream_id.0)
        .bind(&*event.event_type)
        .bind(event.occurred_at.as_micros())
        .bind(&event.event_hash.0[..])
        .bind(&event.event_bytes[..])
        .bind(row.scheduled_at.as_micros())
        .bind(row.max_attempts as i32)
        .bind(i16::from(row.priority))
        .bind(&*row.job_type)
        .bind(&*row.queue)
        .bind(writes.wake.first().map(String::as_str));
    Some(statement)
}
