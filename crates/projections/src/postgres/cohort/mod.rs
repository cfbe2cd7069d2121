//! Cohorts in PostgreSQL: pieces of the queue that are leased, kept and finished as one row each.

mod due;
mod leave;

use std::collections::HashMap;
use std::sync::Arc;

use bpc_core::job::Lease;
use bpc_core::{JobId, Members, TenantId, Timestamp};
use bpc_eventstore::StoreError;
use bpc_eventstore::postgres::{Composed, append_cohorts};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use crate::cohort::{CohortWrites, HeldPiece, LEASED, Member, Piece};
use crate::list::Running;
use crate::postgres::delete_leases;
use crate::write::JobWrites;

pub(crate) use due::{DueMembers, due_members};
pub(crate) use leave::{leave_alone, leave_cohorts, leave_due, leave_expired};

/// Add what becomes of pieces to a statement.
pub(crate) fn write_pieces(
    cohorts: &CohortWrites,
    new: &[Arc<Piece>],
    statement: &mut Composed,
) -> Result<(), StoreError> {
    let inserted = cohorts.insert.iter().map(|(piece, lease)| (piece, lease.as_ref()));
    insert_pieces(new.iter().map(|piece| (piece, None)).chain(inserted).collect(), statement)?;
    if let Some(lease) = cohorts.leased_by.as_ref().filter(|_| !cohorts.lease.is_empty()) {
        statement.part(include_str!("lease_pieces.sql"), |args| {
            args.add(&cohorts.lease)?;
            args.add(&lease.worker_id)?;
            args.add(lease.expires_at.as_micros())
        })?;
    }
    let held = || cohorts.held.values().filter(|held| !held.leaving.is_empty());
    let kept = held().filter(|held| !held.rest().is_empty()).map(|held| (held.piece.piece_id, held.rest()));
    keep_members(kept.chain(cohorts.keep.iter().copied()).collect(), statement)?;
    let over: Vec<Uuid> =
        held().filter(|held| held.rest().is_empty()).map(|held| held.piece.piece_id).collect();
    if !over.is_empty() {
        statement.part(include_str!("delete_pieces.sql"), |args| args.add(over))?;
    }
    finish_members(held().filter(|held| !held.finished.is_empty()).collect(), statement)
}

/// What `writes` says of members that succeeded, as one statement that needs no transaction around it: it fails, by a
/// division by zero, unless this worker holds all of them as it leased them.
pub(crate) fn finish_alone(
    writes: &JobWrites,
    worker_id: &str,
    now: Option<Timestamp>,
) -> Result<Composed, StoreError> {
    let mut statement = Composed::default();
    let held: Vec<&HeldPiece> = writes.cohorts.held.values().collect();
    for part in [include_str!("finish_whole_pieces.sql"), include_str!("finish_parts_of_pieces.sql")] {
        statement.part(part, |args| {
            args.add(column!(held, held => held.piece.piece_id))?;
            args.add(column!(held, held => held.finished.0 as i64))?;
            args.add(worker_id)?;
            args.add(now.map(Timestamp::as_micros))
        })?;
    }
    append_cohorts(writes.cohorts.events(), &mut statement)?;
    finish_members(held, &mut statement)?;
    delete_leases(writes, &mut statement)?;
    let are_all = "SELECT 1 / ((SELECT count(*) FROM p1) + (SELECT count(*) FROM p2) = $1)::int";
    statement.select(are_all, |args| args.add(writes.cohorts.held.len() as i64))?;
    Ok(statement)
}

/// Did a statement of [`finish_alone`] fail because not all of them are held?
pub(crate) fn are_not_held(error: &StoreError) -> bool {
    const DIVISION_BY_ZERO: &str = "22012";
    let StoreError::Database(error) = error else {
        return false;
    };
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == DIVISION_BY_ZERO)
}

fn insert_pieces(
    rows: Vec<(&Arc<Piece>, Option<&Lease>)>,
    statement: &mut Composed,
) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    statement.part(include_str!("insert_pieces.sql"), |args| {
        args.add(column!(rows, row => row.0.piece_id))?;
        args.add(column!(rows, row => row.0.cohort_id.0))?;
        args.add(column!(rows, row => row.0.tenant_id.0))?;
        args.add(column!(rows, row => row.0.created_at.as_micros()))?;
        args.add(column!(rows, row => row.0.scheduled_at.as_micros()))?;
        args.add(column!(rows, row => row.1.map(|lease| lease.expires_at.as_micros())))?;
        args.add(column!(rows, row => row.0.members.0 as i64))?;
        args.add(column!(rows, row => row.0.max_attempts as i32))?;
        args.add(column!(rows, row => i16::from(row.0.priority)))?;
        args.add(column!(rows, row => &*row.0.job_type))?;
        args.add(column!(rows, row => &*row.0.queue))?;
        args.add(column!(rows, row => row.1.map(|lease| &*lease.worker_id)))
    })
}

fn keep_members(rows: Vec<(Uuid, Members)>, statement: &mut Composed) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    statement.part(include_str!("keep_members.sql"), |args| {
        args.add(column!(rows, row => row.0))?;
        args.add(column!(rows, row => row.1.0 as i64))
    })
}

fn finish_members(rows: Vec<&HeldPiece>, statement: &mut Composed) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    statement.part(include_str!("finish_members.sql"), |args| {
        args.add(column!(rows, row => row.piece.created_at.as_micros()))?;
        args.add(column!(rows, row => row.piece.scheduled_at.as_micros()))?;
        args.add(column!(rows, row => row.finished_at.as_micros()))?;
        args.add(column!(rows, row => row.finished.0 as i64))?;
        args.add(column!(rows, row => row.piece.tenant_id.0))?;
        args.add(column!(rows, row => row.piece.cohort_id.0))?;
        args.add(column!(rows, row => row.piece.max_attempts as i32))?;
        args.add(column!(rows, row => i16::from(row.piece.priority)))?;
        args.add(column!(rows, row => &*row.piece.job_type))?;
        args.add(column!(rows, row => &*row.piece.queue))
    })
}

/// Lock the pieces of these members that the worker holds. Answers with the time, and who is in each.
pub(crate) async fn held_pieces(
    conn: &mut PgConnection,
    now: Option<Timestamp>,
    worker_id: &str,
    members: impl Iterator<Item = &Member>,
) -> Result<(Timestamp, HashMap<Uuid, Members>), StoreError> {
    let mut pieces: Vec<Uuid> = members.map(|member| member.piece.piece_id).collect();
    pieces.sort_unstable();
    pieces.dedup();
    let (now, pieces, members): (i64, Option<Vec<Uuid>>, Option<Vec<i64>>) =
        sqlx::query_as(include_str!("held_pieces.sql"))
            .bind(now.map(Timestamp::as_micros))
            .bind(pieces)
            .bind(worker_id)
            .fetch_one(conn)
            .await?;
    let members = members.unwrap_or_default().into_iter().map(|members| Members(members as u64));
    Ok((Timestamp::from_micros(now), pieces.unwrap_or_default().into_iter().zip(members).collect()))
}

/// How many members of each lane and type run.
pub(crate) async fn running_members(conn: &mut PgConnection) -> Result<Vec<Running>, StoreError> {
    Ok(sqlx::query_as(include_str!("running_members.sql")).fetch_all(conn).await?)
}

/// A piece and its lease, from columns as `pieces_of_cohorts.sql` names them.
fn piece_of(row: &PgRow) -> Result<(Piece, Option<Lease>), sqlx::Error> {
    let piece = Piece {
        piece_id: row.try_get(0)?,
        cohort_id: JobId(row.try_get(1)?),
        tenant_id: TenantId(row.try_get(2)?),
        created_at: Timestamp::from_micros(row.try_get(3)?),
        scheduled_at: Timestamp::from_micros(row.try_get(4)?),
        members: Members(row.try_get::<i64, _>(5)? as u64),
        max_attempts: row.try_get::<i32, _>(6)? as u32,
        priority: row.try_get::<i16, _>(7)? as u8,
        job_type: row.try_get(8)?,
        queue: row.try_get(9)?,
    };
    let worker_id: Option<String> = row.try_get(10)?;
    let expires_at: Option<i64> = row.try_get(11)?;
    let lease = worker_id.zip(expires_at).map(|(worker_id, expires_at)| Lease {
        worker_id,
        fence: LEASED,
        expires_at: Timestamp::from_micros(expires_at),
        cancel_requested: false,
        progress: None,
    });
    Ok((piece, lease))
}
