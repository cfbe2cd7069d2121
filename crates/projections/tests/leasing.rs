//! Taking rows of the queue: which jobs, in which order, and never two takers of one.

mod common;

use std::collections::HashSet;
use std::time::Duration;

use bpc_core::job::{Command, NewJob};
use bpc_core::{CanonicalJson, Job, JobId, Version};
use bpc_eventstore::{Conn, Tx};
use bpc_projections::{
    JobWrites, LaneRoom, cancel_requests, expired_leases, held_leases, leasable_jobs, write_jobs,
};
use bpc_testkit::{TestDatabase, eventually};
use common::{House, START, new_job};

const TYPES: &[&str] = &["SEND", "PRINT"];

bpc_testkit::on_both_databases! {
    async fn jobs_are_taken_by_priority_then_due_time_over_all_lanes(db) {
        let mut house = House::open(&db).await;
        let mut expected = Vec::new();
        // Enqueued in an order that is neither that of priority nor that of due time nor that of lanes.
        for (priority, due, tenant, queue) in [
            (2, 3, house.acme, "mail"),
            (0, 9, house.other, "mail"),
            (2, 1, house.other, "paper"),
            (3, 0, house.acme, "mail"),
            (1, 5, house.acme, "paper"),
            (0, 4, house.acme, "paper"),
            (1, 2, house.other, "mail"),
            (2, 2, house.acme, "mail"),
        ] {
            let scheduled_at = Some(START.plus(Duration::from_secs(due)));
            let new = NewJob { priority, scheduled_at, queue: queue.to_owned(), ..new_job() };
            expected.push(((priority, due), house.enqueue(tenant, new).await.job_id));
        }
        expected.sort();
        let expected: Vec<JobId> = expected.into_iter().map(|(_, id)| id).collect();
        house.pass(Duration::from_secs(60));
        let lanes = every_lane(&house);
        assert_eq!(taken(&house, &lanes, TYPES, 100).await, expected);
        assert_eq!(taken(&house, &lanes, TYPES, 3).await, expected[..3]);
    }

    async fn a_job_of_the_future_is_not_taken_before_its_time(db) {
        let mut house = House::open(&db).await;
        let scheduled_at = Some(START.plus(Duration::from_secs(10)));
        let job = house.enqueue(house.acme, NewJob { scheduled_at, ..new_job() }).await;
        let lanes = every_lane(&house);
        house.pass(Duration::from_micros(9_999_999));
        assert_eq!(taken(&house, &lanes, TYPES, 10).await, []);
        house.pass(Duration::from_micros(1));
        assert_eq!(taken(&house, &lanes, TYPES, 10).await, [job.job_id]);
    }

    async fn only_types_and_lanes_that_are_asked_for_are_taken(db) {
        let mut house = House::open(&db).await;
        let send = house.enqueue(house.acme, new_job()).await.job_id;
        let print = house.enqueue(house.acme, NewJob { job_type: "PRINT".to_owned(), ..new_job() }).await.job_id;
        house.enqueue(house.other, new_job()).await;
        let mail = [house.lane(house.acme, "mail")];
        assert_eq!(taken(&house, &mail, &["PRINT"], 10).await, [print]);
        assert_eq!(taken(&house, &mail, &["SEND"], 10).await, [send]);
        assert_eq!(taken(&house, &mail, &[], 10).await, []);
        assert_eq!(taken(&house, &[], TYPES, 10).await, []);
        assert_eq!(taken(&house, &[house.lane(house.acme, "paper")], TYPES, 10).await, []);
    }

    async fn the_room_of_a_lane_is_respected_whatever_the_limit(db) {
        let mut house = House::open(&db).await;
        for priority in [1, 2, 2, 3] {
            house.enqueue(house.acme, NewJob { priority, ..new_job() }).await;
            house.enqueue(house.other, NewJob { priority, ..new_job() }).await;
        }
        let lane = |tenant, room| LaneRoom { room, ..house.lane(tenant, "mail") };
        for (acme, other, limit, jobs) in [(2, 3, 100, 5), (0, 1, 100, 1), (100, 100, 7, 7), (0, 0, 9, 0)] {
            let lanes = [lane(house.acme, acme), lane(house.other, other)];
            assert_eq!(taken(&house, &lanes, TYPES, limit).await.len(), jobs, "{acme} {other} {limit}");
        }
    }

    async fn a_running_job_is_not_taken_and_a_taken_one_brings_its_payload(db) {
        let mut house = House::open(&db).await;
        let payload = CanonicalJson::from_trusted(br#"{"to":"ann"}"#.to_vec());
        let job = house.enqueue(house.acme, NewJob { payload, ..new_job() }).await;
        let lanes = every_lane(&house);
        let mut tx = house.store.begin().await.unwrap();
        let found = leasable_jobs(&mut tx.conn(), &house.clock, &lanes, TYPES, 10).await.unwrap();
        assert_eq!(found.now, house.now());
        assert_eq!(found.rows[0].job, job);
        assert_eq!(found.rows[0].payload, br#"{"to":"ann"}"#);
        give_back(tx).await;
        house.lease(job).await;
        assert_eq!(taken(&house, &lanes, TYPES, 10).await, []);
    }

    async fn a_lease_is_found_by_its_fence_only(db) {
        let mut house = House::open(&db).await;
        let job = house.enqueue(house.acme, new_job()).await;
        let waiting = house.enqueue(house.acme, new_job()).await;
        let job = house.lease(job).await;
        let fence = job.lease().unwrap().fence;
        let mut tx = house.store.begin().await.unwrap();
        for (asked, expected) in [
            (vec![(job.job_id, fence)], vec![job.clone()]),
            (vec![(job.job_id, fence.next())], vec![]),
            (vec![(job.job_id, Version(1))], vec![]),
            (vec![(waiting.job_id, Version(1)), (job.job_id, fence)], vec![job.clone()]),
            (vec![], vec![]),
        ] {
            let held = held_leases(&mut tx.conn(), &house.clock, &asked).await.unwrap();
            assert_eq!(held.rows, expected, "{asked:?}");
        }
    }

    async fn leases_are_expired_from_their_last_moment_on_oldest_first(db) {
        let mut house = House::open(&db).await;
        let mut leased = Vec::new();
        for _ in 0..3 {
            let job = house.enqueue(house.acme, new_job()).await;
            leased.push(house.lease(job).await);
            house.pass(Duration::from_secs(10));
        }
        house.enqueue(house.acme, new_job()).await;
        house.pass(Duration::from_micros(29_999_999));
        assert_eq!(expired(&house, 10).await, []);
        house.pass(Duration::from_micros(1));
        assert_eq!(expired(&house, 10).await, leased[..1]);
        house.pass(Duration::from_secs(60));
        assert_eq!(expired(&house, 10).await, leased);
        assert_eq!(expired(&house, 2).await, leased[..2]);
    }

    async fn a_cancel_request_is_seen_for_that_job_only(db) {
        let mut house = House::open(&db).await;
        let (a, b) = (house.enqueue(house.acme, new_job()).await, house.enqueue(house.acme, new_job()).await);
        let (a, b) = (house.lease(a).await, house.lease(b).await);
        let a = house.step(a, Command::Cancel { reason: None }).await;
        let mut tx = house.read().await;
        assert_eq!(cancel_requests(&mut tx.conn(), &[a.job_id, b.job_id]).await.unwrap(), [a.job_id]);
        assert_eq!(cancel_requests(&mut tx.conn(), &[b.job_id]).await.unwrap(), []);
        assert_eq!(cancel_requests(&mut tx.conn(), &[]).await.unwrap(), []);
    }
}

/// On PostgreSQL the row is read as it is once the lock is had, but the rest of the statement sees the log
/// as it was before the wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_had_to_be_waited_for_comes_with_its_newest_head() {
    let db = TestDatabase::postgres().await;
    let mut house = House::open(&db).await;
    let job = house.enqueue(house.acme, new_job()).await;
    let job = house.lease(job).await;
    let fence = job.lease().unwrap().fence;
    let renew = Command::Renew { fence, ttl: Duration::from_secs(60) };
    let renewed = house.decide(job.tenant_id, job.job_id, Some(job.clone()), renew).unwrap();
    let mut writes = JobWrites::default();
    writes.change_live(renewed.job.clone(), renewed.records);

    let mut first = house.store.begin().await.unwrap();
    write_jobs(&mut first.conn(), &writes).await.unwrap();
    let (store, clock) = (house.store.clone(), house.clock.clone());
    let second = tokio::spawn(async move {
        let mut tx = store.begin().await.unwrap();
        held_leases(&mut tx.conn(), &clock, &[(job.job_id, fence)]).await.unwrap().rows
    });
    eventually(Duration::from_secs(30), || async {
        let mut tx = house.read().await;
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
            AND datname = current_database()";
        let Conn::Postgres(conn) = tx.conn() else { unreachable!("PostgreSQL was asked for") };
        sqlx::query_scalar::<_, i64>(waiting).fetch_one(conn).await.unwrap() == 1
    })
    .await;
    first.commit().await.unwrap();
    assert_eq!(second.await.unwrap(), [renewed.job]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_workers_on_postgres_skip_each_others_jobs() {
    let db = TestDatabase::postgres().await;
    let mut house = House::open(&db).await;
    for _ in 0..6 {
        house.enqueue(house.acme, new_job()).await;
    }
    let lanes = every_lane(&house);
    let (mut one, mut two) = (house.store.begin().await.unwrap(), house.store.begin().await.unwrap());
    let first = taken_in(&mut one, &house, &lanes, 4).await;
    let second = taken_in(&mut two, &house, &lanes, 4).await;
    assert_eq!((first.len(), second.len()), (4, 2));
    assert_eq!(first.iter().chain(&second).collect::<HashSet<_>>().len(), 6);
    give_back(one).await;
    // What the first gave back without leasing it can be taken again.
    let mut three = house.store.begin().await.unwrap();
    assert_eq!(taken_in(&mut three, &house, &lanes, 10).await.len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_reapers_on_postgres_skip_each_others_jobs() {
    let db = TestDatabase::postgres().await;
    let mut house = House::open(&db).await;
    for _ in 0..3 {
        let job = house.enqueue(house.acme, new_job()).await;
        house.lease(job).await;
    }
    house.pass(Duration::from_secs(61));
    let (mut one, mut two) = (house.store.begin().await.unwrap(), house.store.begin().await.unwrap());
    let first = expired_leases(&mut one.conn(), &house.clock, 2).await.unwrap();
    let second = expired_leases(&mut two.conn(), &house.clock, 10).await.unwrap();
    assert_eq!((first.taken.rows.len(), second.taken.rows.len()), (2, 1));
    assert!(!first.taken.rows.contains(&second.taken.rows[0]));
    // The second reaper has not seen the end of the first one's jobs, so it must not forget their leases.
    assert_eq!((first.over.len(), second.over.len()), (2, 0));
}

fn every_lane(house: &House) -> Vec<LaneRoom> {
    let tenants = [house.acme, house.other].into_iter();
    tenants.flat_map(|tenant| ["mail", "paper"].map(|queue| house.lane(tenant, queue))).collect()
}

/// The jobs that a worker would get, and gives back.
async fn taken(house: &House, lanes: &[LaneRoom], types: &[&str], limit: usize) -> Vec<JobId> {
    let mut tx = house.store.begin().await.unwrap();
    let found = leasable_jobs(&mut tx.conn(), &house.clock, lanes, types, limit).await.unwrap();
    give_back(tx).await;
    found.rows.into_iter().map(|row| row.job.job_id).collect()
}

async fn taken_in(tx: &mut Tx, house: &House, lanes: &[LaneRoom], limit: usize) -> Vec<JobId> {
    let found = leasable_jobs(&mut tx.conn(), &house.clock, lanes, TYPES, limit).await.unwrap();
    found.rows.into_iter().map(|row| row.job.job_id).collect()
}

async fn expired(house: &House, limit: u32) -> Vec<Job> {
    let mut tx = house.store.begin().await.unwrap();
    let found = expired_leases(&mut tx.conn(), &house.clock, limit).await.unwrap();
    give_back(tx).await;
    found.taken.rows
}

/// Unlock what was taken. A transaction that is dropped would unlock it too, but at a later moment.
async fn give_back(tx: Tx) {
    tx.commit().await.unwrap();
}
