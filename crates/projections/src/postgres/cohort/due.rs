//! Members that are due.

use std::sync::Arc;

use bpc_core::{JobId, Members, TenantId, Timestamp, Version};
use bpc_eventstore::StoreError;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use crate::cohort::{Member, Piece, Taking, job_at};
use crate::leasing::{Leasable, Place, WaitingRow};
use crate::postgres::Due;

/// What is due of cohorts, locked.
#[derive(Debug, Default)]
pub(crate) struct DueMembers {
    pub(crate) now: Timestamp,
    /// So many jobs that have rows of their own come first or in between.
    pub(crate) singles: usize,
    /// Are there pieces at all? Others may have locked them.
    pub(crate) is_any_due: bool,
    /// Pieces, in the order in which they are to be leased.
    pub(crate) pieces: Vec<DuePiece>,
}

/// A piece with what its cohort was enqueued with.
#[derive(Debug)]
pub(crate) struct DuePiece {
    pub(crate) piece: Piece,
    pub(crate) stream_ids: Vec<u8>,
    pub(crate) event_lines: Vec<u8>,
}

/// Find and lock pieces that are due.
pub(crate) async fn due_members(conn: &mut PgConnection, due: Due<'_>) -> Result<DueMembers, StoreError> {
    let row = due.bind(include_str!("due_pieces.sql")).fetch_one(conn).await?;
    let now = Timestamp::from_micros(row.try_get(0)?);
    let singles = row.try_get::<i64, _>(1)? as usize;
    let is_any_due = row.try_get(2)?;
    let Some(piece_ids) = row.try_get::<Option<Vec<Uuid>>, _>(3)? else {
        return Ok(DueMembers { now, singles, is_any_due, pieces: Vec::new() });
    };
    let cohort_ids: Vec<Uuid> = row.try_get(4)?;
    let tenants: Vec<Uuid> = row.try_get(5)?;
    let created: Vec<i64> = row.try_get(6)?;
    let scheduled: Vec<i64> = row.try_get(7)?;
    let members: Vec<i64> = row.try_get(8)?;
    let max_attempts: Vec<i32> = row.try_get(9)?;
    let priorities: Vec<i16> = row.try_get(10)?;
    let job_types: Vec<String> = row.try_get(11)?;
    let queues: Vec<String> = row.try_get(12)?;
    let stream_ids: Vec<Vec<u8>> = row.try_get(13)?;
    let event_lines: Vec<Vec<u8>> = row.try_get(14)?;
    let texts = job_types.into_iter().zip(queues).zip(stream_ids.into_iter().zip(event_lines));
    let piece = |(n, ((job_type, queue), (stream_ids, event_lines)))| DuePiece {
        piece: Piece {
            piece_id: piece_ids[n],
            cohort_id: JobId(cohort_ids[n]),
            tenant_id: TenantId(tenants[n]),
            created_at: Timestamp::from_micros(created[n]),
            scheduled_at: Timestamp::from_micros(scheduled[n]),
            members: Members(members[n] as u64),
            max_attempts: max_attempts[n] as u32,
            priority: priorities[n] as u8,
            job_type,
            queue,
        },
        stream_ids,
        event_lines,
    };
    Ok(DueMembers { now, singles, is_any_due, pieces: texts.enumerate().map(piece).collect() })
}

impl DuePiece {
    /// Take the first `limit` members. `None` if the first event of one of them is damaged.
    pub(crate) fn take(&self, limit: usize) -> Option<(Taking, Vec<Leasable>)> {
        let leased = Arc::new(self.piece.part(self.piece.members.take(limit)));
        let rest = self.piece.members - leased.members;
        let mut jobs = Vec::with_capacity(leased.members.len());
        for (place, line) in self.event_lines.split(|byte| *byte == b'\n').enumerate() {
            if leased.members.contains(place) {
                let row = WaitingRow {
                    enqueued_bytes: line,
                    job_id: job_at(place, &self.stream_ids)?,
                    version: Version(1),
                    head_hash: None,
                    attempts: 0,
                    scheduled_at: leased.scheduled_at,
                    place: Place::Member(Member { piece: Arc::clone(&leased), place: place as u8 }),
                };
                jobs.push(row.into_leasable()?);
            }
        }
        (jobs.len() == leased.members.len())
            .then_some((Taking { waiting: self.piece.piece_id, rest, leased }, jobs))
    }
}
