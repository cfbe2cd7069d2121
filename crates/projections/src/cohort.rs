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

#[cfg(test)]
mod tests {
    use bpc_core::canonical::canonicalize;
    use bpc_core::job::{Command, NewJob, Placement, Stamp, transition};
    use bpc_core::{Hash, StreamId};

    use super::*;

    const NOW: i64 = 1_700_000_000_000_000;

    /// A new job whose id ends in `number`, with its row and event.
    fn new_job(number: u8, queue: &str, payload_bytes: usize) -> (QueueRow, EventRecord) {
        let now = Timestamp::from_micros(NOW);
        let id = JobId::fresh(now, [0, 0, 0, 0, 0, 0, 0, 0, 0, number]);
        let mut entropy = || [7; 10];
        let mut stamp =
            Stamp { actor: "system", now, causation_id: None, correlation_id: None, entropy: &mut entropy };
        let new = NewJob {
            job_type: "T".to_owned(),
            queue: queue.to_owned(),
            priority: 2,
            max_attempts: 5,
            scheduled_at: None,
            idempotency_key: None,
            payload: canonicalize(format!("{{\"p\":\"{}\"}}", "x".repeat(payload_bytes)).as_bytes()).unwrap(),
        };
        let done = transition(TenantId::SYSTEM, id, None, Command::Enqueue(new), &mut stamp).unwrap();
        let Placement::Queue(row) = Placement::of(done.job) else { panic!("a new job waits") };
        (row, done.records.into_iter().next().unwrap())
    }

    /// Sizes of the cohorts, and how many rows and events are left.
    fn sizes(jobs: &[(QueueRow, EventRecord)]) -> (Vec<usize>, usize, usize) {
        let (rows, events): (Vec<_>, Vec<_>) = jobs.iter().cloned().unzip();
        let cohorts = NewCohorts::of(&rows, &events);
        for (piece, events) in cohorts.pieces.iter().zip(&cohorts.events) {
            assert_eq!(piece.members.len(), events.len());
            assert_eq!(StreamId::from(piece.cohort_id), events[0].stream_id);
        }
        (
            cohorts.events.iter().map(|it| it.len()).collect(),
            cohorts.other_rows.len(),
            cohorts.other_events.len(),
        )
    }

    fn jobs(numbers: impl Iterator<Item = u8>, queue: &str) -> Vec<(QueueRow, EventRecord)> {
        numbers.map(|number| new_job(number, queue, 8)).collect()
    }

    #[test]
    fn new_jobs_that_are_alike_become_cohorts() {
        assert_eq!(sizes(&jobs(0..3, "q")), (vec![], 3, 3), "too few");
        assert_eq!(sizes(&jobs(0..4, "q")), (vec![4], 0, 0));
        assert_eq!(sizes(&jobs(0..150, "q")), (vec![64, 64, 22], 0, 0));
        let two: Vec<_> = jobs(0..5, "a").into_iter().chain(jobs(5..12, "b")).collect();
        assert_eq!(sizes(&two), (vec![5, 7], 0, 0));
        let mixed: Vec<_> =
            jobs(0..2, "a").into_iter().chain(jobs(2..8, "b")).chain(jobs(8..9, "a")).collect();
        assert_eq!(sizes(&mixed), (vec![6], 3, 3));
        assert_eq!(sizes(&jobs((0..8).rev(), "q")), (vec![], 8, 8), "ids must ascend");
    }

    #[test]
    fn large_payloads_make_smaller_cohorts() {
        let large: Vec<_> = (0..12).map(|number| new_job(number, "q", BYTES_MAX / 6)).collect();
        let (cohorts, rows, events) = sizes(&large);
        assert_eq!((cohorts, rows, events), (vec![5, 5], 2, 2));
        let too_large: Vec<_> = (0..6).map(|number| new_job(number, "q", BYTES_MAX / 2)).collect();
        assert_eq!(sizes(&too_large), (vec![], 6, 6));
    }

    #[test]
    fn events_of_others_stay_where_they_are() {
        let (rows, mut events): (Vec<_>, Vec<_>) = jobs(0..10, "q").into_iter().unzip();
        let mut other = events[0].clone();
        other.stream_id = StreamId::derived("other", "one");
        events.insert(5, other);
        let cohorts = NewCohorts::of(&rows, &events);
        assert_eq!(cohorts.events.iter().map(|it| it.len()).collect::<Vec<_>>(), [5, 5]);
        assert_eq!((cohorts.other_rows.len(), cohorts.other_events.len()), (0, 1));
        // A row that has no event here, because its job left another cohort.
        let cohorts = NewCohorts::of(&rows, &[]);
        assert_eq!((cohorts.pieces.len(), cohorts.other_rows.len()), (0, 10));
    }

    #[test]
    fn members_leave_one_by_one_or_finish_together() {
        let (row, event) = new_job(1, "q", 8);
        let piece = Arc::new(super::piece(&row, 4));
        let member = |place| Member { piece: Arc::clone(&piece), place };
        let mut writes = CohortWrites::default();
        writes.hold(Arc::clone(&piece), Members(0b1101));
        let at = Timestamp::from_micros(NOW);
        writes.finish(&member(3), at, vec![EventRecord { event_hash: Hash::ZERO, ..event.clone() }]);
        writes.leave(&member(0));
        let held = &writes.held[&piece.piece_id];
        assert_eq!((held.rest(), held.finished, held.events.len()), (Members(0b0100), Members(0b1000), 1));
    }
}
