//! What is no tampering raises no alarm where rows hold events of many jobs.

use std::time::Duration;

use bpc_core::{CanonicalJson, EventRecord};
use bpc_eventstore::Store;
use bpc_eventstore::seal::{KeyState, SealOptions, Sealer};
use bpc_eventstore::verify::{VerifyOptions, VerifyReport};
use bpc_testkit::TestDatabase;

use crate::alike::{Alike, write_cohorts, write_cohorts_on};
use crate::common::{append, notes, run_sql, stream};
use crate::scene::{log_of_cohorts, report, secret};

/// Events of [`log_of_cohorts`].
const SIZE: u64 = 26;

async fn sound(store: &Store) -> VerifyReport {
    let report = report(store, &VerifyOptions::default()).await;
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!(report.held, Some("L1"));
    report
}

fn sealer(store: &Store, batch_max: usize) -> Sealer {
    let options = SealOptions { batch_max, heartbeat: Duration::ZERO, waits: true, ..SealOptions::default() };
    Sealer::new(store.clone(), secret(), KeyState::memory(), options)
}

/// The rows of a cohort from beginning to end.
fn rows(cohort: u8, jobs: u8) -> [Vec<EventRecord>; 3] {
    let (mut alike, all) = (Alike::new(cohort, jobs), 0..usize::from(jobs));
    [alike.enqueue(&CanonicalJson::empty_object()), alike.lease(all.clone()), alike.succeed(all)]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_that_were_rolled_back() {
    let db = TestDatabase::postgres().await;
    let store = log_of_cohorts(&db).await;
    let mut sealer = sealer(&store, 1000);
    for round in 0..4 {
        let [enqueued, leased, succeeded] = rows(10 + round, 64);
        let mut undone = store.begin().await.unwrap();
        write_cohorts_on(&mut undone.conn(), &[&enqueued, &leased]).await;
        drop(undone);
        write_cohorts(&store, &[&enqueued]).await;
        sound(&store).await;
        sealer.pass().await.unwrap();
        // Room that was left is used by rows that come later.
        run_sql(&store, "VACUUM cohort_events").await.unwrap();
        write_cohorts(&store, &[&leased, &succeeded]).await;
        append(&store, &[notes(stream("a"), 3 + u32::from(round), 1)]).await.unwrap();
        sound(&store).await;
        sealer.pass().await.unwrap();
        sound(&store).await;
    }
    let report = sound(&store).await;
    assert_eq!((report.unsealed, report.up_to_position), (0, SIZE + 4 * (3 * 64 + 1)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_appear_behind_later_ones() {
    let db = TestDatabase::postgres().await;
    let store = log_of_cohorts(&db).await;
    let mut sealer = sealer(&store, 50);
    let ([one, ..], [other, ..]) = (rows(10, 64), rows(11, 64));
    let mut late = store.begin().await.unwrap();
    write_cohorts_on(&mut late.conn(), &[&one]).await;
    write_cohorts(&store, &[&other]).await;
    for _ in 0..3 {
        sealer.pass().await.unwrap();
        sound(&store).await;
    }
    assert_eq!(sound(&store).await.up_to_position, SIZE + 64);
    late.commit().await.unwrap();
    assert_eq!(sound(&store).await.unsealed, 64);
    let mut left = Vec::new();
    while left.last() != Some(&0) {
        sealer.pass().await.unwrap();
        left.push(sound(&store).await.unsealed);
        assert!(left.len() < 9, "{left:?}");
    }
    assert!(left.len() > 1, "not all in one pass: {left:?}");
    assert_eq!(sound(&store).await.up_to_position, SIZE + 128);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pass_that_ends_in_the_middle_of_a_row() {
    let db = TestDatabase::postgres().await;
    let store = log_of_cohorts(&db).await;
    let mut sealer = sealer(&store, 50);
    for cohort in 10..14 {
        write_cohorts(&store, &rows(cohort, 64).each_ref().map(Vec::as_slice)).await;
        append(&store, &[notes(stream(&cohort.to_string()), 0, 3)]).await.unwrap();
    }
    let events = SIZE + 4 * (3 * 64 + 3);
    let mut passes = 0;
    while sound(&store).await.unsealed > 0 {
        sealer.pass().await.unwrap();
        passes += 1;
        assert!(passes <= events / 50 + 3, "it goes on");
    }
    let report = sound(&store).await;
    assert_eq!((report.events, report.up_to_position), (events, events));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_and_a_sealer_at_work() {
    let db = TestDatabase::postgres().await;
    let store = log_of_cohorts(&db).await;
    let writers: Vec<_> = (1..4)
        .map(|writer: u8| {
            let store = store.clone();
            tokio::spawn(async move {
                for round in 0..10 {
                    for row in rows(writer * 50 + round, 20) {
                        write_cohorts(&store, &[&row]).await;
                        let some = notes(stream(&format!("{writer} {round} {}", row[0].version.0)), 0, 2);
                        append(&store, &[some]).await.unwrap();
                    }
                }
            })
        })
        .collect();
    let mut sealer = sealer(&store, 70);
    while !writers.iter().all(|writer| writer.is_finished()) {
        sealer.pass().await.unwrap();
        sound(&store).await;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    sealer.seal_all().await.unwrap();
    let report = sound(&store).await;
    let events = SIZE + 30 * 3 * 22;
    assert_eq!((report.unsealed, report.events, report.up_to_position), (0, events, events));
}
