//! Leaving a cohort: jobs to which something happens alone get rows of their own.

use std::collections::HashMap;
use std::sync::Arc;

use bpc_core::cohort::first_of_millisecond;
use bpc_core::job::Lease;
use bpc_core::{JobId, Members, StreamId, Timestamp};
use bpc_eventstore::StoreError;
use sqlx::{PgConnection, Row};

use crate::cohort::{HeldPiece, Piece, job_at};
use crate::postgres::{Due, compose};
use crate::write::JobWrites;

use super::{due_members, piece_of};

/// Those of these jobs that live in cohorts leave them. Their rows are locked. Answers with how many did.
///
/// A lease may be taking some of a piece out into another while we wait for its lock: the statement that waited does not see
/// the other yet, the next one does. From there a job can only leave, and whoever has it leave holds its row.
pub(crate) async fn leave_cohorts(conn: &mut PgConnection, jobs: &[JobId]) -> Result<usize, StoreError> {
    let mut left = 0;
    let mut wanted = places(conn, jobs).await?;
    for _ in 0..2 {
        if wanted.is_empty() {
            break;
        }
        let cohorts = column!(wanted, at => at.cohort_id.0);
        let rows =
            sqlx::query(include_str!("pieces_of_cohorts.sql")).bind(cohorts).fetch_all(&mut *conn).await?;
        let mut leaving = Leaving::default();
        for row in rows {
            let (piece, lease) = piece_of(&row)?;
            let is_member =
                |at: &EnqueuedAt| at.cohort_id == piece.cohort_id && piece.members.contains(at.place);
            let (members, others): (Vec<_>, Vec<_>) = wanted.into_iter().partition(is_member);
            wanted = others;
            leaving.leave(
                piece,
                lease.as_ref(),
                members.into_iter().map(|at| (at.place, at.job_id)).collect(),
            );
        }
        left += leaving.write(conn).await?;
    }
    Ok(left)
}

/// A job leaves whatever cohort it is in, live or finished. `false` if it is in none.
pub(crate) async fn leave_alone(conn: &mut PgConnection, job: JobId) -> Result<bool, StoreError> {
    if leave_cohorts(conn, &[job]).await? > 0 {
        return Ok(true);
    }
    let mut has_left = false;
    for at in places(conn, &[job]).await? {
        let (cohort, member) = (at.cohort_id.0, Members::only(at.place).0 as i64);
        // In a statement of its own: the next one sees what whoever held it has left.
        sqlx::query(include_str!("lock_finished.sql")).bind(cohort).bind(member).execute(&mut *conn).await?;
        let leave = sqlx::query(include_str!("leave_finished.sql"));
        has_left |=
            leave.bind(cohort).bind(member).bind(job.0).execute(&mut *conn).await?.rows_affected() > 0;
    }
    Ok(has_left)
}

/// All members of up to `limit` pieces whose lease has ended leave.
pub(crate) async fn leave_expired(
    conn: &mut PgConnection,
    now: Timestamp,
    limit: i64,
) -> Result<(), StoreError> {
    let expired = sqlx::query(include_str!("expired_pieces.sql"));
    let rows = expired.bind(now.as_micros()).bind(limit).fetch_all(&mut *conn).await?;
    let mut leaving = Leaving::default();
    for row in rows {
        let (piece, lease) = piece_of(&row)?;
        let stream_ids: Option<&[u8]> = row.try_get(12)?;
        leaving.leave_all(piece, lease.as_ref(), stream_ids.unwrap_or_default());
    }
    leaving.write(conn).await.map(drop)
}

/// All members of pieces that are due leave, so that each job can be looked at by itself.
pub(crate) async fn leave_due(conn: &mut PgConnection, due: Due<'_>) -> Result<(), StoreError> {
    let mut leaving = Leaving::default();
    for due in due_members(conn, due).await?.pieces {
        leaving.leave_all(due.piece, None, &due.stream_ids);
    }
    leaving.write(conn).await.map(drop)
}

/// Where a job was enqueued in a cohort.
struct EnqueuedAt {
    job_id: JobId,
    cohort_id: JobId,
    place: usize,
}

async fn places(conn: &mut PgConnection, jobs: &[JobId]) -> Result<Vec<EnqueuedAt>, StoreError> {
    let since = |job: &JobId| first_of_millisecond(StreamId(job.0)).0;
    let mut cohorts: Vec<Vec<u8>> = sqlx::query_scalar(include_str!("cohorts_of_jobs.sql"))
        .bind(column!(jobs, job => job.0))
        .bind(jobs.iter().map(since).collect::<Vec<_>>())
        .fetch_all(conn)
        .await?;
    cohorts.sort_unstable();
    cohorts.dedup();
    let by_id: HashMap<JobId, (JobId, usize)> = cohorts
        .iter()
        .flat_map(|ids| {
            let first = job_at(0, ids);
            (0..).map_while(move |place| Some((job_at(place, ids)?, (first?, place))))
        })
        .collect();
    let place = |job: &JobId| {
        let (cohort_id, place) = *by_id.get(job)?;
        Some(EnqueuedAt { job_id: *job, cohort_id, place })
    };
    Ok(jobs.iter().filter_map(place).collect())
}

/// Jobs on their way out, all in one statement.
#[derive(Default)]
struct Leaving {
    writes: JobWrites,
}

impl Leaving {
    fn leave(&mut self, piece: Piece, lease: Option<&Lease>, jobs: Vec<(usize, JobId)>) {
        let piece = Arc::new(piece);
        let mut held = HeldPiece::new(Arc::clone(&piece), piece.members);
        for (place, job_id) in jobs {
            held.leaving = held.leaving | Members::only(place);
            self.writes.insert_queue.push(piece.row(job_id, lease));
        }
        self.writes.cohorts.held.insert(piece.piece_id, held);
    }

    fn leave_all(&mut self, piece: Piece, lease: Option<&Lease>, stream_ids: &[u8]) {
        let jobs = piece.members.places().filter_map(|place| Some((place, job_at(place, stream_ids)?)));
        let jobs = jobs.collect();
        self.leave(piece, lease, jobs);
    }

    async fn write(self, conn: &mut PgConnection) -> Result<usize, StoreError> {
        let left = self.writes.insert_queue.len();
        if left > 0 {
            compose(&self.writes)?.execute(conn).await?;
        }
        Ok(left)
    }
}
