//! One new job, by a statement of its own: what a caller waits for who enqueues one job after the other.

use bpc_core::job::QueueRow;
use bpc_core::{EventRecord, Version};
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;

use crate::write::JobWrites;

/// The statement for these, if they are one new job and nothing else.
pub(crate) fn new_job(writes: &JobWrites) -> Option<Query<'_, Postgres, PgArguments>> {
    let ([event], [row]) = (&writes.events[..], &writes.insert_queue[..]) else {
        return None;
    };
    if !is_all_of(writes) || !is_new(event, row) {
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

/// Is there nothing but new jobs and a hint?
fn is_all_of(writes: &JobWrites) -> bool {
    writes.wake.len() <= 1
        && writes.lease.is_none()
        && writes.lease_queue.is_empty()
        && writes.update_queue.is_empty()
        && writes.delete_queue.is_empty()
        && writes.insert_finished.is_empty()
        && writes.delete_finished.is_empty()
        && writes.delete_leases.is_empty()
}

/// Is the row what the statement makes of the event?
fn is_new(event: &EventRecord, row: &QueueRow) -> bool {
    let of_event = QueueRow {
        job_id: row.job_id,
        tenant_id: event.tenant_id,
        created_at: event.occurred_at,
        version: Version(1),
        head_hash: None,
        attempts: 0,
        running: false,
        worker_id: None,
        fence: None,
        lease_expires_at: None,
        cancel_requested: false,
        progress_percent: None,
        progressed_at: None,
        error_code: None,
        error_message: None,
        ..row.clone()
    };
    event.version == Version(1) && event.stream_id == row.job_id.into() && *row == of_event
}
