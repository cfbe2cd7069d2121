//! The job views: a row follows its job's state, and lists show what they are asked for.

mod common;

use std::time::Duration;

use bpc_core::job::{Command, NewJob, Outcome, Placement};
use bpc_core::{JobId, Status, TenantId};
use bpc_projections::{
    JobFilter, JobLine, Lane, StatusCount, is_any_running, jobs_by_status, running_jobs, waiting_lanes,
};
use common::{House, failed, new_job, status, succeeded};

bpc_testkit::on_both_databases! {
    async fn a_jobs_row_follows_its_state_through_its_life(db) {
        let mut house = House::open(&db).await;
        let mut job = house.enqueue(house.acme, NewJob { max_attempts: 2, ..new_job() }).await;
        follows(&house, &job, Status::Queued).await;
        job = house.lease(job).await;
        follows(&house, &job, Status::Running).await;
        let fence = job.lease().unwrap().fence;
        house.pass(Duration::from_secs(30));
        job = house.step(job, Command::Renew { fence, ttl: Duration::from_secs(60) }).await;
        let progress = Command::Progress { fence, percent: 40, step: None, message: None };
        job = house.step(job, progress).await;
        follows(&house, &job, Status::Running).await;
        job = house.settle(job, failed(true)).await;
        follows(&house, &job, Status::Queued).await;
        house.pass(Duration::from_secs(5));
        job = house.lease(job).await;
        job = house.settle(job, failed(true)).await;
        follows(&house, &job, Status::DeadLetter).await;
        job = house.step(job, replay()).await;
        follows(&house, &job, Status::Queued).await;
        job = house.lease(job).await;
        job = house.step(job, Command::Cancel { reason: None }).await;
        follows(&house, &job, Status::Running).await;
        job = house.settle(job, failed(false)).await;
        follows(&house, &job, Status::Failed).await;
        job = house.step(job, Command::Resolve { actor: "user:ann".to_owned(), notes: "known".to_owned() }).await;
        follows(&house, &job, Status::Failed).await;
    }

    async fn each_way_to_end_has_its_row(db) {
        let mut house = House::open(&db).await;
        let cancelled = house.enqueue(house.acme, new_job()).await;
        let cancelled = house.step(cancelled, Command::Cancel { reason: None }).await;
        follows(&house, &cancelled, Status::Cancelled).await;
        for (outcome, status) in [
            (succeeded(), Status::Succeeded),
            (failed(false), Status::Failed),
            (Outcome::Cancelled, Status::Cancelled),
            (Outcome::Released, Status::Queued),
            (Outcome::Snoozed { delay: Duration::from_secs(9) }, Status::Queued),
        ] {
            let job = house.enqueue(house.acme, new_job()).await;
            let job = house.lease(job).await;
            let job = house.settle(job, outcome).await;
            follows(&house, &job, status).await;
        }
    }

    async fn an_expired_lease_puts_the_job_back(db) {
        let mut house = House::open(&db).await;
        let job = house.enqueue(house.acme, new_job()).await;
        let job = house.lease(job).await;
        house.pass(Duration::from_secs(61));
        let job = house.step(job, Command::Expire).await;
        follows(&house, &job, Status::Queued).await;
    }

    async fn the_list_shows_what_is_asked_for_newest_first(db) {
        let mut house = House::open(&db).await;
        let (acme, other) = (house.acme, house.other);
        let first = house.enqueue(acme, new_job()).await.job_id;
        house.pass(Duration::from_secs(1));
        let print = NewJob { job_type: "PRINT".to_owned(), queue: "paper".to_owned(), ..new_job() };
        let second = house.enqueue(acme, print).await;
        let second = house.lease(second).await.job_id;
        house.pass(Duration::from_secs(1));
        let third = house.enqueue(acme, new_job()).await;
        let third = house.lease(third).await;
        let third = house.settle(third, succeeded()).await.job_id;
        house.pass(Duration::from_secs(1));
        let foreign = house.enqueue(other, new_job()).await.job_id;
        let at = |seconds| Some(common::START.plus(Duration::from_secs(seconds)));
        let of = JobFilter { tenant: Some(acme), limit: 10, ..JobFilter::default() };

        for (filter, expected) in [
            (of.clone(), vec![third, second, first]),
            (JobFilter { tenant: None, ..of.clone() }, vec![foreign, third, second, first]),
            (JobFilter { tenant: Some(other), ..of.clone() }, vec![foreign]),
            (JobFilter { status: Some(Status::Queued), ..of.clone() }, vec![first]),
            (JobFilter { status: Some(Status::Running), ..of.clone() }, vec![second]),
            (JobFilter { status: Some(Status::Succeeded), ..of.clone() }, vec![third]),
            (JobFilter { status: Some(Status::Failed), ..of.clone() }, vec![]),
            (JobFilter { job_type: Some("PRINT".to_owned()), ..of.clone() }, vec![second]),
            (JobFilter { queue: Some("mail".to_owned()), ..of.clone() }, vec![third, first]),
            (JobFilter { from: at(1), ..of.clone() }, vec![third, second]),
            (JobFilter { to: at(1), ..of.clone() }, vec![first]),
            (JobFilter { from: at(1), to: at(2), ..of.clone() }, vec![second]),
            (JobFilter { limit: 2, ..of.clone() }, vec![third, second]),
            (
                JobFilter { job_type: Some("SEND".to_owned()), status: Some(Status::Queued), from: at(1), ..of.clone() },
                vec![],
            ),
        ] {
            let found: Vec<JobId> = house.list(filter.clone()).await.iter().map(id).collect();
            assert_eq!(found, expected, "{filter:?}");
        }
    }

    async fn jobs_enqueued_at_one_moment_are_cut_at_the_same_place_every_time(db) {
        let mut house = House::open(&db).await;
        let mut ids = Vec::new();
        for _ in 0..9 {
            ids.push(house.enqueue(house.acme, new_job()).await.job_id);
        }
        ids.sort();
        ids.reverse();
        let filter = JobFilter { tenant: Some(house.acme), limit: 4, ..JobFilter::default() };
        let found: Vec<JobId> = house.list(filter).await.iter().map(id).collect();
        assert_eq!(found, ids[..4]);
    }

    async fn counts_are_those_of_one_tenant(db) {
        let mut house = House::open(&db).await;
        let (acme, other) = (house.acme, house.other);
        for _ in 0..3 {
            house.enqueue(acme, new_job()).await;
        }
        let running = house.enqueue(acme, new_job()).await;
        house.lease(running).await;
        let dead = house.enqueue(other, NewJob { max_attempts: 1, ..new_job() }).await;
        let dead = house.lease(dead).await;
        house.settle(dead, failed(true)).await;
        let count = |status, jobs| {
            StatusCount { status, job_type: "SEND".to_owned(), queue: "mail".to_owned(), jobs }
        };
        assert_eq!(counts(&house, acme).await, [count(Status::Queued, 3), count(Status::Running, 1)]);
        assert_eq!(counts(&house, other).await, [count(Status::DeadLetter, 1)]);
        let mut tx = house.read().await;
        let running = running_jobs(&mut tx.conn()).await.unwrap();
        assert_eq!(running, [("mail".to_owned(), "SEND".to_owned(), 1)]);
        let is_acme = |lane: &Lane| lane.tenant_id == acme;
        assert!(is_any_running(&mut tx.conn(), is_acme).await.unwrap());
        assert!(!is_any_running(&mut tx.conn(), |lane| !is_acme(lane)).await.unwrap());
    }

    async fn every_lane_with_a_job_waiting_says_when_the_first_is_due(db) {
        let mut house = House::open(&db).await;
        let (acme, other) = (house.acme, house.other);
        assert_eq!(waiting(&house).await, []);
        let later = |seconds| Some(common::START.plus(Duration::from_secs(seconds)));
        let paper = || "paper".to_owned();
        house.enqueue(acme, NewJob { scheduled_at: later(40), priority: 0, ..new_job() }).await;
        house.enqueue(acme, NewJob { scheduled_at: later(20), priority: 3, ..new_job() }).await;
        house.enqueue(acme, NewJob { queue: paper(), ..new_job() }).await;
        house.enqueue(other, NewJob { scheduled_at: later(10), ..new_job() }).await;
        let running = house.enqueue(other, NewJob { queue: paper(), ..new_job() }).await;
        house.lease(running).await;
        house.pass(Duration::from_secs(5));
        let mut expected =
            vec![(acme, "mail".to_owned(), 15), (acme, paper(), 0), (other, "mail".to_owned(), 5)];
        expected.sort();
        assert_eq!(waiting(&house).await, expected);
    }
}

/// The row is the one of the state, and shows its status.
async fn follows(house: &House, job: &bpc_core::Job, expected: Status) {
    let row = house.row(job).await;
    assert_eq!(row, Placement::of(job.clone()));
    assert_eq!(status(&row), expected);
}

async fn counts(house: &House, tenant: TenantId) -> Vec<StatusCount> {
    jobs_by_status(&mut house.read().await.conn(), tenant).await.unwrap()
}

async fn waiting(house: &House) -> Vec<(TenantId, String, u64)> {
    let lanes = waiting_lanes(&mut house.read().await.conn(), &house.clock).await.unwrap();
    let mut lanes: Vec<_> =
        lanes.into_iter().map(|it| (it.lane.tenant_id, it.lane.queue, it.due_in.as_secs())).collect();
    lanes.sort();
    lanes
}

fn replay() -> Command {
    Command::Replay { actor: "user:ann".to_owned(), justification: "fixed".to_owned() }
}

fn id(line: &JobLine) -> JobId {
    match line {
        Placement::Queue(row) => row.job_id,
        Placement::Finished(row) => row.job_id,
    }
}
