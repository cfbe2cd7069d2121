//! Cohorts in the queue: jobs that were enqueued together, as long as the same happens to all of them.
//!
//! A job in a cohort waits as it was enqueued, or runs under its first lease; one that succeeds then leaves with others
//! that do. To which anything else happens, that leaves alone and has a row of its own from then on. So what a cohort's job
//! is follows from its piece, and all that is not written for many at once is written as if there were no cohorts.

use std::collections::HashMap;
use std::sync::Arc;

use bpc_core::cohort::may_follow;
use bpc_core::job::{Lease, QueueRow};
use bpc_core::{COHORT_MAX, EventRecord, JobId, Members, TenantId, Timestamp, Version};
use uuid::Uuid;

use crate::calendar::LeaseId;

/// Fewer jobs than this are no cohort: a row for many costs as much as a few rows for one.
const COHORT_MIN: usize = 4;

/// Most bytes of events in one row.
const BYTES_MAX: usize = 256 * 1024;

/// Version of every member that runs: it was enqueued, then leased.
pub(crate) const LEASED: Version = Version(2);

/// Some jobs of a cohort that wait or run together.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    pub(crate) piece_id: Uuid,
    /// The first job of the cohort, member or not.
    pub(crate) cohort_id: JobId,
    pub(crate) members: Members,
    pub(crate) tenant_id: TenantId,
    pub(crate) created_at: Timestamp,
    pub(crate) scheduled_at: Timestamp,
    pub(crate) max_attempts: u32,
    pub(crate) priority: u8,
    pub(crate) job_type: String,
    pub(crate) queue: String,
}

impl Piece {
    /// A piece of the same cohort with these members.
    pub(crate) fn part(&self, members: Members) -> Piece {
        let piece_id = if members == self.members { self.piece_id } else { fresh_id(self.created_at) };
        Piece { piece_id, members, ..self.clone() }
    }

    /// The row of a job that leaves.
    pub(crate) fn row(&self, job_id: JobId, lease: Option<&Lease>) -> QueueRow {
        QueueRow {
            job_id,
            tenant_id: self.tenant_id,
            job_type: self.job_type.clone(),
            queue: self.queue.clone(),
            priority: self.priority,
            max_attempts: self.max_attempts,
            attempts: u32::from(lease.is_some()),
            created_at: self.created_at,
            scheduled_at: self.scheduled_at,
            version: if lease.is_some() { LEASED } else { Version(1) },
            head_hash: None,
            running: lease.is_some(),
            worker_id: lease.map(|lease| lease.worker_id.clone()),
            fence: lease.map(|lease| lease.fence),
            lease_expires_at: lease.map(|lease| lease.expires_at),
            cancel_requested: false,
            progress_percent: None,
            progressed_at: None,
            error_code: None,
            error_message: None,
        }
    }
}

/// What a transaction writes about cohorts.
#[derive(Debug, Default)]
pub(crate) struct CohortWrites {
    /// Waiting pieces that are leased as they are.
    pub(crate) lease: Vec<Uuid>,
    /// Pieces that are new, with their lease if they run.
    pub(crate) insert: Vec<(Arc<Piece>, Option<Lease>)>,
    /// Pieces that some leave, and who stays.
    pub(crate) keep: Vec<(Uuid, Members)>,
    /// Whose lease the leased ones have.
    pub(crate) leased_by: Option<Lease>,
    /// Pieces that are locked, by id, and what becomes of their members.
    pub(crate) held: HashMap<Uuid, HeldPiece>,
}

/// A piece that is locked.
#[derive(Debug)]
pub(crate) struct HeldPiece {
    pub(crate) piece: Arc<Piece>,
    /// Members still in it.
    pub(crate) members: Members,
    /// Those that leave.
    pub(crate) leaving: Members,
    /// Those of them that are finished together, and when.
    pub(crate) finished: Members,
    pub(crate) finished_at: Timestamp,
    /// What happened to each of some members.
    pub(crate) events: Vec<EventRecord>,
}

impl HeldPiece {
    pub(crate) fn new(piece: Arc<Piece>, members: Members) -> Self {
        let (leaving, finished, finished_at) = Default::default();
        HeldPiece { piece, members, leaving, finished, finished_at, events: Vec::new() }
    }

    /// Members that stay.
    pub(crate) fn rest(&self) -> Members {
        self.members - self.leaving
    }
}

impl CohortWrites {
    pub(crate) fn is_empty(&self) -> bool {
        self.lease.is_empty() && self.insert.is_empty() && self.keep.is_empty() && self.held.is_empty()
    }

    /// What happened to members, by piece, in the order of their ids.
    pub(crate) fn events(&self) -> impl Iterator<Item = Vec<&EventRecord>> {
        self.held.values().map(|held| {
            let mut events: Vec<&EventRecord> = held.events.iter().collect();
            events.sort_unstable_by_key(|event| event.stream_id);
            events
        })
    }

    /// A piece that is locked, with who is in it.
    pub(crate) fn hold(&mut self, piece: Arc<Piece>, members: Members) {
        self.held.entry(piece.piece_id).or_insert_with(|| HeldPiece::new(piece, members));
    }

    /// Members of a waiting piece are leased.
    pub(crate) fn take(&mut self, taking: Taking, lease: &Lease) {
        let Taking { waiting, rest, leased } = taking;
        if rest.is_empty() {
            self.lease.push(waiting);
        } else {
            self.keep.push((waiting, rest));
            self.insert.push((Arc::clone(&leased), Some(lease.clone())));
        }
        self.leased_by.get_or_insert_with(|| lease.clone());
        let members = leased.members;
        self.hold(leased, members);
    }

    /// What happened to a member of a piece that is held.
    pub(crate) fn append(&mut self, member: &Member, events: Vec<EventRecord>) {
        if let Some(held) = self.held.get_mut(&member.piece.piece_id) {
            held.events.extend(events);
        }
    }

    /// A member of a piece that is held goes its own way.
    pub(crate) fn leave(&mut self, member: &Member) {
        if let Some(held) = self.held.get_mut(&member.piece.piece_id) {
            held.leaving = held.leaving | Members::only(member.place());
        }
    }

    /// A member of a piece that is held has succeeded.
    pub(crate) fn finish(&mut self, member: &Member, at: Timestamp, events: Vec<EventRecord>) {
        if let Some(held) = self.held.get_mut(&member.piece.piece_id) {
            let member = Members::only(member.place());
            held.leaving = held.leaving | member;
            held.finished = held.finished | member;
            held.finished_at = at;
            held.events.extend(events);
        }
    }
}

/// A job as a member of a piece.
#[derive(Clone, Debug)]
pub struct Member {
    pub(crate) piece: Arc<Piece>,
    pub(crate) place: u8,
}

impl Member {
    pub(crate) fn place(&self) -> usize {
        usize::from(self.place)
    }
}

/// A waiting piece, or the part of one that is leased.
#[derive(Debug)]
pub(crate) struct Taking {
    /// The row that waits.
    pub(crate) waiting: Uuid,
    /// Who stays there.
    pub(crate) rest: Members,
    /// Those that are leased.
    pub(crate) leased: Arc<Piece>,
}

/// New jobs as cohorts, each with its events, and which of the rows and events that leaves. A row's event is the next of its
/// stream; events of no row stay.
pub(crate) struct NewCohorts<'w> {
    pub(crate) pieces: Vec<Arc<Piece>>,
    pub(crate) events: Vec<&'w [EventRecord]>,
    pub(crate) other_rows: Vec<&'w QueueRow>,
    pub(crate) other_events: Vec<&'w EventRecord>,
}

impl<'w> NewCohorts<'w> {
    pub(crate) fn of(rows: &'w [QueueRow], events: &'w [EventRecord]) -> Self {
        let mut cohorts = NewCohorts {
            pieces: Vec::new(),
            events: Vec::new(),
            other_rows: Vec::new(),
            other_events: Vec::with_capacity(if rows.len() < COHORT_MIN { events.len() } else { 0 }),
        };
        let mut row = 0;
        let mut event = 0;
        while event < events.len() {
            let count = together(&rows[row..], &events[event..]);
            if count >= COHORT_MIN {
                cohorts.pieces.push(Arc::new(piece(&rows[row], count)));
                cohorts.events.push(&events[event..event + count]);
                row += count;
                event += count;
                continue;
            }
            // Too few: as they are, but not looked at again one by one.
            for _ in 0..count.max(1) {
                if rows.get(row).is_some_and(|row| events[event].stream_id == row.job_id.into()) {
                    cohorts.other_rows.push(&rows[row]);
                    row += 1;
                }
                cohorts.other_events.push(&events[event]);
                event += 1;
            }
        }
        cohorts.other_rows.extend(&rows[row..]);
        cohorts
    }
}

/// How many of the first rows and events may be one cohort.
fn together(rows: &[QueueRow], events: &[EventRecord]) -> usize {
    let mut bytes = 0;
    let mut count = 0;
    for (row, event) in rows.iter().zip(events).take(COHORT_MAX) {
        bytes += event.event_bytes.len() + 1;
        let is_first_event = event.stream_id == row.job_id.into() && event.version == Version(1);
        let follows = || {
            let before = &rows[count - 1];
            may_follow(before.job_id.into(), row.job_id.into())
                && event.occurred_at == events[0].occurred_at
                && is_alike(before, row)
        };
        if !is_first_event || row.version != Version(1) || bytes > BYTES_MAX || (count > 0 && !follows()) {
            break;
        }
        count += 1;
    }
    count
}

fn is_alike(a: &QueueRow, b: &QueueRow) -> bool {
    (a.tenant_id, a.created_at, a.scheduled_at, a.max_attempts, a.priority)
        == (b.tenant_id, b.created_at, b.scheduled_at, b.max_attempts, b.priority)
        && a.job_type == b.job_type
        && a.queue == b.queue
}

fn piece(first: &QueueRow, count: usize) -> Piece {
    Piece {
        piece_id: fresh_id(first.created_at),
        cohort_id: first.job_id,
        members: Members::first(count),
        tenant_id: first.tenant_id,
        created_at: first.created_at,
        scheduled_at: first.scheduled_at,
        max_attempts: first.max_attempts,
        priority: first.priority,
        job_type: first.job_type.clone(),
        queue: first.queue.clone(),
    }
}

fn fresh_id(at: Timestamp) -> Uuid {
    LeaseId::fresh(at).0
}

/// The job at a place of a cohort, whose ids these are, 16 bytes each.
pub(crate) fn job_at(place: usize, stream_ids: &[u8]) -> Option<JobId> {
    stream_ids.as_chunks::<16>().0.get(place).map(|id| JobId(Uuid::from_bytes(*id)))
}
