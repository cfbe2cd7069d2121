//! `kill -9` in the middle of work.

use std::collections::BTreeMap;

use bpc_testkit::process::{Bpc, Signal};
use bpc_testkit::{eventually, on_both_databases};

use crate::harness::{self, PATIENCE, assert_never_busy, assert_sound, finish, impatient, initialised};
use crate::log::{Event, Log, count};

const STREAMS: usize = 12;
const EVENTS: i64 = 40;
const CHAINS: usize = 4;
const DEPTH: usize = 25;
const JOBS: usize = 100 + STREAMS + CHAINS * (DEPTH + 1);

on_both_databases! {
    /// What the dead worker held is done by others once its leases have ended: all of it, with every
    /// event and every follow-up job once.
    async fn the_jobs_of_a_killed_worker_are_finished_by_others_with_their_effects_once(db) {
        initialised(&db);
        let bpc = impatient(&db, 3);
        bpc.run(["enqueue", "DRILL_SLEEP", "--payload", r#"{"ms":2500}"#, "--count", "100"]).expect_success();
        let chain = format!(r#"{{"depth":{DEPTH}}}"#);
        bpc.run(["enqueue", "DRILL_CHAIN", "--payload", &chain, "--count", &CHAINS.to_string()])
            .expect_success();
        enqueue_emitters(&bpc);

        let log = Log::open(&db).await;
        let mut victim = bpc.spawn(["worker", "--concurrency", "200"]);
        let held = "SELECT count(*) FROM live_jobs WHERE running AND job_type = 'DRILL_SLEEP'";
        eventually(PATIENCE, || async { log.number(held).await == 100 }).await;
        victim.signal(Signal::Kill);
        victim.wait(PATIENCE).expect_code(137);
        assert_eq!(log.number(held).await, 100, "it died in the middle of them");

        let outputs = finish(harness::workers(&bpc, 2), PATIENCE);
        assert_never_busy(&outputs);
        let histories = log.events("Job").await;
        assert_eq!(histories.len(), JOBS);
        for (job, events) in &histories {
            assert_eq!(events.last().unwrap().event_type, "SUCCEEDED", "{job}: {events:?}");
            assert_eq!(count(events, "SUCCEEDED"), 1, "{job}: {events:?}");
        }
        let was_taken_over = |events: &&Vec<Event>| count(events, "LEASE_EXPIRED") > 0;
        assert!(histories.values().filter(was_taken_over).count() >= 100);
        assert_emitted_once(&log).await;
        assert_sound(&bpc);
    }

    /// Killed again and again at moments of its own choosing: between any two commits the log is sound.
    async fn a_worker_killed_at_any_moment_leaves_a_sound_log(db) {
        initialised(&db);
        let bpc = impatient(&db, 2);
        bpc.run(["enqueue", "DRILL_CHAIN", "--payload", r#"{"depth":99}"#]).expect_success();
        bpc.run(["enqueue", "DRILL_NOOP", "--count", "900"]).expect_success();
        let log = Log::open(&db).await;
        for goal in [1, 40, 80] {
            let before = log.count("SUCCEEDED").await;
            let mut victim = bpc.spawn(["worker", "--batch", "10", "--concurrency", "2"]);
            eventually(PATIENCE, || async { log.count("SUCCEEDED").await >= before + goal }).await;
            victim.signal(Signal::Kill);
            victim.wait(PATIENCE).expect_code(137);
            assert_sound(&bpc);
        }
        finish(harness::workers(&bpc, 1), PATIENCE);
        let histories = log.events("Job").await;
        assert_eq!(histories.len(), 1000, "each of a hundred links of the chain, once");
        assert!(histories.values().all(|events| count(events, "SUCCEEDED") == 1));
        assert_sound(&bpc);
    }
}

fn stream(number: usize) -> String {
    format!("00000000-0000-8000-8000-{number:012}")
}

fn enqueue_emitters(bpc: &Bpc) {
    let senders = (0..STREAMS).map(|number| {
        let payload = format!(r#"{{"events":{EVENTS},"stream_id":"{}"}}"#, stream(number));
        bpc.spawn(["enqueue", "DRILL_EMIT", "--payload", &payload])
    });
    finish(senders.collect(), PATIENCE);
}

async fn assert_emitted_once(log: &Log) {
    let streams: BTreeMap<String, Vec<Event>> = log.events("Drill").await;
    assert_eq!(streams.len(), STREAMS);
    for (stream, events) in &streams {
        let numbers: Vec<i64> = events.iter().filter_map(|event| event.payload["number"].as_i64()).collect();
        assert_eq!(numbers, (1..=EVENTS).collect::<Vec<_>>(), "{stream}");
    }
    let agreeing =
        format!("SELECT count(*) FROM drill_streams WHERE events = {EVENTS} AND last_number = {EVENTS}");
    assert_eq!(log.number(&agreeing).await, STREAMS as i64);
}
