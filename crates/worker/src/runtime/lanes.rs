//! Which lanes to lease from, and when to look again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bpc_core::Timestamp;
use bpc_projections::{Lane, LaneRoom, WaitingLane};

use super::WorkerOptions;

/// Lanes known to have due jobs, as far as hints and the last look tell.
#[derive(Debug)]
pub(super) struct ReadyLanes {
    ready: BTreeMap<Lane, Ready>,
    /// How far lanes were leased, those that rest now included.
    marks: BTreeMap<Lane, Mark>,
    /// How often anybody said that a lane has work.
    told: u64,
    look_at: Instant,
    /// How long the last look took, and until when there is no other.
    took: Duration,
    rests_until: Instant,
}

/// By priority, since when: what was due before is leased already.
type Mark = [Timestamp; 4];

/// A lane with due jobs.
#[derive(Debug)]
struct Ready {
    since: Mark,
    /// Which word of it was the last.
    told: u64,
    /// Which was the last that came from a look.
    looked: u64,
}

/// Jobs that somebody tells of were enqueued by a transaction that took no longer than this, or wait for the next
/// look. Finished jobs stay in the index until the server has cleaned up, and as long as anybody's old transaction
/// is open it does not: a lease that began at the beginning would walk over all of them.
const SLACK: Duration = Duration::from_secs(1);
/// More lanes than this are not remembered.
const MARKS_MAX: usize = 1024;
/// A look walks over all that is finished, too. One that takes longer than this, twice in a row, is followed by a rest
/// of so many times that, but no longer than a few seconds: what only looks find waits meanwhile.
const LONG_LOOK: Duration = Duration::from_millis(100);
const REST: u32 = 20;
const REST_MAX: Duration = Duration::from_secs(10);

impl ReadyLanes {
    /// Nothing known: look at once.
    pub(super) fn new(now: Instant) -> Self {
        ReadyLanes {
            ready: BTreeMap::new(),
            marks: BTreeMap::new(),
            told: 0,
            look_at: now,
            took: Duration::ZERO,
            rests_until: now,
        }
    }

    /// A hint says that this lane has work.
    pub(super) fn hint(&mut self, lane: Lane, options: &WorkerOptions) {
        if !options.is_mine(&lane) {
            return;
        }
        self.told += 1;
        let since = self.marks.get(&lane).map_or(NOTHING_KNOWN, |mark| before(*mark));
        let ready = self.ready.entry(lane).or_insert(Ready { since, told: 0, looked: 0 });
        ready.since = each(ready.since, since, Ord::min);
        ready.told = self.told;
    }

    /// Any lane may have work.
    pub(super) fn look_now(&mut self, now: Instant) {
        self.look_at = self.look_at.min(now);
        self.rests_until = self.rests_until.min(now);
    }

    /// When to look next, hints or not.
    pub(super) fn look_at(&self) -> Instant {
        self.look_at.max(self.rests_until)
    }

    /// What a look found that took so long. The next one is due when the next job is, or after the poll interval.
    pub(super) fn looked(
        &mut self,
        found: Vec<WaitingLane>,
        took: Duration,
        now: Instant,
        options: &WorkerOptions,
    ) {
        let mut wait = options.poll_interval;
        for waiting in found.into_iter().filter(|it| options.is_mine(&it.lane)) {
            if waiting.due_in.is_zero() {
                self.told += 1;
                let ready = Ready { since: NOTHING_KNOWN, told: self.told, looked: self.told };
                self.ready.insert(waiting.lane, ready);
            } else {
                // A moment late rather than a moment early and again.
                wait = wait.min(waiting.due_in + Duration::from_millis(1));
            }
        }
        self.look_at = now + wait;
        let usual = took.min(std::mem::replace(&mut self.took, took));
        let rest = if usual < LONG_LOOK { Duration::ZERO } else { (usual * REST).min(REST_MAX) };
        self.rests_until = now + rest;
    }

    /// The lanes to lease up to `room` jobs from.
    pub(super) fn plan(&self, room: usize) -> Plan {
        let room = |(lane, ready): (&Lane, &Ready)| LaneRoom { lane: lane.clone(), room, since: ready.since };
        Plan { lanes: self.ready.iter().map(room).collect(), told: self.told }
    }

    /// Leased by this plan, in the order of the queue and leaving none out: the next lease need not walk over
    /// these again, unless a look told since of what may have been due before them. What a hint told of is looked
    /// for a little before.
    pub(super) fn leased(&mut self, plan: &Plan, jobs: impl Iterator<Item = (u8, Timestamp)>) {
        let [planned] = &plan.lanes[..] else {
            return;
        };
        let ready = self.ready.get_mut(&planned.lane);
        if ready.as_ref().is_some_and(|ready| ready.looked > plan.told) {
            return;
        }
        let mut mark = planned.since;
        for (priority, scheduled_at) in jobs {
            if let Some(since) = mark.get_mut(usize::from(priority)) {
                *since = scheduled_at.max(*since);
            }
        }
        if let Some(ready) = ready {
            let known = if ready.told > plan.told { before(mark) } else { mark };
            // Of two leases under way the one that was asked for first may be answered last.
            ready.since = each(ready.since, known, Ord::max);
        }
        if self.marks.len() >= MARKS_MAX {
            self.marks.clear();
        }
        self.marks.insert(planned.lane.clone(), mark);
    }

    /// A lease from all of `plan` found fewer jobs than there was room for: they are empty now, but for
    /// what was heard since. A look tells only when the first job of a lane is due; once that is leased, only
    /// another tells of the next.
    pub(super) fn exhausted(&mut self, plan: &Plan, is_any_leased: bool, now: Instant) {
        for lane in &plan.lanes {
            if self.ready.get(&lane.lane).is_some_and(|ready| ready.told <= plan.told) {
                self.ready.remove(&lane.lane);
            }
        }
        if is_any_leased {
            self.look_at = self.look_at.min(now);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }
}

/// Lanes to lease from, and what had been heard of them by then.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) lanes: Vec<LaneRoom>,
    told: u64,
}

/// Anything may wait.
const NOTHING_KNOWN: Mark = [Timestamp::from_micros(0); 4];

fn each(a: Mark, b: Mark, choose: fn(Timestamp, Timestamp) -> Timestamp) -> Mark {
    std::array::from_fn(|priority| choose(a[priority], b[priority]))
}

fn before(mark: Mark) -> Mark {
    mark.map(|at| Timestamp::from_micros((at.as_micros() - SLACK.as_micros() as i64).max(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bpc_core::TenantId;

    fn lane(queue: &str) -> Lane {
        Lane { tenant_id: TenantId::from_slug("t"), queue: queue.to_owned() }
    }

    fn waiting(queue: &str, due_in_ms: u64) -> WaitingLane {
        WaitingLane { lane: lane(queue), due_in: Duration::from_millis(due_in_ms) }
    }

    fn queues(lanes: &ReadyLanes) -> Vec<String> {
        lanes.plan(1).lanes.into_iter().map(|it| it.lane.queue).collect()
    }

    #[test]
    fn a_look_finds_due_lanes_and_the_time_of_the_next_look() {
        let options = WorkerOptions::named("w");
        let now = Instant::now();
        for (found, ready, next_ms) in [
            (vec![], vec![], 1000),
            (vec![waiting("a", 0)], vec!["a"], 1000),
            (vec![waiting("a", 300), waiting("b", 0)], vec!["b"], 301),
            (vec![waiting("a", 5000)], vec![], 1000),
        ] {
            let mut lanes = ReadyLanes::new(now);
            lanes.looked(found, Duration::from_millis(1), now, &options);
            assert_eq!(queues(&lanes), ready);
            assert_eq!(lanes.look_at() - now, Duration::from_millis(next_ms));
        }
    }

    #[test]
    fn only_its_own_queues_and_tenants_count() {
        let mut options = WorkerOptions { queues: Some(vec!["a".to_owned()]), ..WorkerOptions::named("w") };
        let mut lanes = ReadyLanes::new(Instant::now());
        lanes.hint(lane("b"), &options);
        assert!(lanes.is_empty());
        lanes.hint(lane("a"), &options);
        assert_eq!(queues(&lanes), ["a"]);
        options.tenants = Some(vec![TenantId::from_slug("other")]);
        let mut lanes = ReadyLanes::new(Instant::now());
        lanes.hint(lane("a"), &options);
        assert!(lanes.is_empty());
    }

    #[test]
    fn a_lane_whose_due_jobs_are_leased_is_looked_at_again_for_those_due_next() {
        let options = WorkerOptions::named("w");
        let now = Instant::now();
        let mut lanes = ReadyLanes::new(now);
        lanes.looked(vec![waiting("a", 0)], Duration::ZERO, now, &options);
        let plan = lanes.plan(10);
        lanes.exhausted(&plan, true, now);
        assert!(lanes.look_at() <= now);
    }

    #[test]
    fn a_lease_begins_where_the_last_one_ended_or_a_little_before_if_something_was_heard_since() {
        let options = WorkerOptions::named("w");
        let now = Instant::now();
        let mut lanes = ReadyLanes::new(now);
        let since = |lanes: &ReadyLanes| lanes.plan(1).lanes[0].since[2];
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        lanes.hint(lane("a"), &options);
        assert_eq!(since(&lanes), at(0));
        let plan = lanes.plan(10);
        lanes.leased(&plan, [(2, at(7)), (2, at(5))].into_iter());
        assert_eq!(since(&lanes), at(7));
        for _ in 0..3 {
            lanes.hint(lane("a"), &options);
            assert_eq!(since(&lanes), at(6));
        }
        lanes.leased(&plan, [(2, at(9))].into_iter());
        assert_eq!(since(&lanes), at(8));
        // A lane that rests is remembered, and a look forgets.
        lanes.exhausted(&lanes.plan(10), false, now);
        lanes.hint(lane("a"), &options);
        assert_eq!(since(&lanes), at(8));
        let plan = lanes.plan(10);
        lanes.looked(vec![waiting("a", 0)], Duration::ZERO, now, &options);
        lanes.hint(lane("a"), &options);
        lanes.leased(&plan, [(2, at(20))].into_iter());
        assert_eq!(since(&lanes), at(0));
    }

    #[test]
    fn looks_that_take_long_are_rare_unless_something_happened() {
        let options = WorkerOptions::named("w");
        let now = Instant::now();
        let mut lanes = ReadyLanes::new(now);
        let look = |took_ms, lanes: &mut ReadyLanes| {
            lanes.looked(vec![waiting("a", 0)], Duration::from_millis(took_ms), now, &options);
            lanes.exhausted(&lanes.plan(1), true, now);
            lanes.look_at().saturating_duration_since(now)
        };
        assert_eq!(look(9_000, &mut lanes), Duration::ZERO, "once is chance");
        assert_eq!(look(300, &mut lanes), Duration::from_secs(6));
        assert_eq!(look(90, &mut lanes), Duration::ZERO);
        look(5_000, &mut lanes);
        assert_eq!(look(6_000, &mut lanes), REST_MAX);
        lanes.look_now(now);
        assert_eq!(lanes.look_at(), now);
    }

    #[test]
    fn what_is_heard_while_a_lease_is_under_way_is_not_forgotten() {
        let options = WorkerOptions::named("w");
        let mut lanes = ReadyLanes::new(Instant::now());
        lanes.hint(lane("a"), &options);
        let plan = lanes.plan(10);
        lanes.hint(lane("a"), &options);
        lanes.exhausted(&plan, false, Instant::now());
        assert_eq!(queues(&lanes), ["a"]);
    }

    #[test]
    fn an_exhausted_lane_rests_until_the_next_hint_or_look() {
        let options = WorkerOptions::named("w");
        let mut lanes = ReadyLanes::new(Instant::now());
        lanes.hint(lane("a"), &options);
        let plan = lanes.plan(10);
        lanes.exhausted(&plan, false, Instant::now());
        assert!(lanes.is_empty());
        lanes.hint(lane("a"), &options);
        assert!(!lanes.is_empty());
    }
}
