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
    /// How often anybody said that a lane has work.
    told: u64,
    look_at: Instant,
}

/// A lane with due jobs.
#[derive(Debug)]
struct Ready {
    /// By priority, since when: what was due before is leased already.
    since: [Timestamp; 4],
    /// Which word of it was the last.
    told: u64,
}

impl ReadyLanes {
    /// Nothing known: look at once.
    pub(super) fn new(now: Instant) -> Self {
        ReadyLanes { ready: BTreeMap::new(), told: 0, look_at: now }
    }

    /// A hint says that this lane has work.
    pub(super) fn hint(&mut self, lane: Lane, options: &WorkerOptions) {
        if options.is_mine(&lane) {
            self.tell(lane);
        }
    }

    fn tell(&mut self, lane: Lane) {
        self.told += 1;
        self.ready.insert(lane, Ready { since: NOTHING_KNOWN, told: self.told });
    }

    /// Any lane may have work.
    pub(super) fn look_now(&mut self, now: Instant) {
        self.look_at = self.look_at.min(now);
    }

    /// When to look next, hints or not.
    pub(super) fn look_at(&self) -> Instant {
        self.look_at
    }

    /// What a look found. The next one is due when the next job is, or after the poll interval.
    pub(super) fn looked(&mut self, found: Vec<WaitingLane>, now: Instant, options: &WorkerOptions) {
        let mut wait = options.poll_interval;
        for waiting in found.into_iter().filter(|it| options.is_mine(&it.lane)) {
            if waiting.due_in.is_zero() {
                self.tell(waiting.lane);
            } else {
                // A moment late rather than a moment early and again.
                wait = wait.min(waiting.due_in + Duration::from_millis(1));
            }
        }
        self.look_at = now + wait;
    }

    /// The lanes to lease up to `room` jobs from.
    pub(super) fn plan(&self, room: usize) -> Plan {
        let room = |(lane, ready): (&Lane, &Ready)| LaneRoom { lane: lane.clone(), room, since: ready.since };
        Plan { lanes: self.ready.iter().map(room).collect(), told: self.told }
    }

    /// Leased by this plan, in the order of the queue and leaving none out: the next lease need not walk over
    /// these again, unless something was heard since, which may have been due before them.
    pub(super) fn leased(&mut self, plan: &Plan, jobs: impl Iterator<Item = (u8, Timestamp)>) {
        let [ready] = &mut self.ready.values_mut().collect::<Vec<_>>()[..] else {
            return;
        };
        if ready.told > plan.told {
            return;
        }
        for (priority, scheduled_at) in jobs {
            if let Some(since) = ready.since.get_mut(usize::from(priority)) {
                *since = scheduled_at.max(*since);
            }
        }
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
            self.look_now(now);
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
const NOTHING_KNOWN: [Timestamp; 4] = [Timestamp::from_micros(0); 4];

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
            lanes.looked(found, now, &options);
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
        lanes.looked(vec![waiting("a", 0)], now, &options);
        let plan = lanes.plan(10);
        lanes.exhausted(&plan, true, now);
        assert!(lanes.look_at() <= now);
    }

    #[test]
    fn a_lease_begins_where_the_last_one_ended_unless_something_was_heard_since() {
        let options = WorkerOptions::named("w");
        let mut lanes = ReadyLanes::new(Instant::now());
        let since = |lanes: &ReadyLanes| lanes.plan(1).lanes[0].since[2];
        lanes.hint(lane("a"), &options);
        let plan = lanes.plan(10);
        let at = Timestamp::from_micros;
        lanes.leased(&plan, [(2, at(7)), (2, at(5))].into_iter());
        assert_eq!(since(&lanes), at(7));
        lanes.hint(lane("a"), &options);
        lanes.leased(&plan, [(2, at(9))].into_iter());
        assert_eq!(since(&lanes), at(0));
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
