//! What is no tampering raises no alarm.

use std::time::Duration;

use bpc_eventstore::seal::{KeyState, LogSecret, SealOptions, Sealer, rotate_key};
use bpc_eventstore::verify::{KeptCheckpoint, VerifyOptions, VerifyReport};
use bpc_eventstore::{Store, append_to_streams};
use bpc_testkit::on_both_databases;

use crate::common::{CAUSE, append, connect, notes, run_sql, stream};
use crate::log::Log;
use crate::scene::{log_of, report, seal, secret};

const SIZE: u64 = 60;

async fn sound(store: &Store) -> VerifyReport {
    let report = report(store, &VerifyOptions::default()).await;
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!(report.held, Some("L1"));
    report
}

fn sealer(store: &Store, secret: LogSecret) -> Sealer {
    let options = SealOptions { heartbeat: Duration::ZERO, waits: true, ..SealOptions::default() };
    Sealer::new(store.clone(), secret, KeyState::memory(), options)
}

on_both_databases! {
    async fn transactions_that_were_rolled_back(db) {
        let store = log_of(&db, SIZE as usize).await;
        let mut sealer = sealer(&store, secret());
        for round in 0..4 {
            append(&store, &[notes(stream("a"), 77, 3)]).await.unwrap_err();
            let mut undone = store.begin().await.unwrap();
            append_to_streams(&mut undone.conn(), &[notes(stream("undone"), 0, 2)], CAUSE).await.unwrap();
            drop(undone);
            append(&store, &[notes(stream("a"), 3 + round, 1)]).await.unwrap();
            sound(&store).await;
            sealer.pass().await.unwrap();
            sound(&store).await;
        }
        assert_eq!(sound(&store).await.unsealed, 0);
    }

    async fn writers_and_a_sealer_at_work(db) {
        let store = log_of(&db, SIZE as usize).await;
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let store = store.clone();
                tokio::spawn(async move {
                    for round in 0..30 {
                        append(&store, &[notes(stream(&writer.to_string()), round * 3, 3)]).await.unwrap();
                    }
                })
            })
            .collect();
        let mut sealer = sealer(&store, secret());
        while !writers.iter().all(|writer| writer.is_finished()) {
            sealer.pass().await.unwrap();
            sound(&store).await;
        }
        for writer in writers {
            writer.await.unwrap();
        }
        for _ in 0..3 {
            sealer.pass().await.unwrap();
        }
        let report = sound(&store).await;
        assert_eq!((report.unsealed, report.up_to_position), (0, SIZE + 2 + 270));
    }

    async fn a_rotation_of_keys(db) {
        let store = log_of(&db, SIZE as usize).await;
        let kept = Log::load(&store).await.newest_note().to_string();
        let mut key = secret();
        for number in 20..23 {
            let next = LogSecret::new([number; 32]);
            rotate_key(&store, &key, &next, "user:ops").await.unwrap();
            sound(&store).await;
            key = next;
            append(&store, &[notes(stream(&number.to_string()), 0, 2)]).await.unwrap();
            sealer(&store, key.clone()).seal_all().await.unwrap();
            sound(&store).await;
        }
        let kept = KeptCheckpoint::parse(kept.as_bytes()).unwrap();
        let options = VerifyOptions { checkpoints: vec![kept], ..VerifyOptions::default() };
        assert_eq!(report(&store, &options).await.held, Some("L2"));
    }

    /// Of checkpoints only some are kept, by rule. None of the others is missed, and a kept copy of one is
    /// as good as any.
    async fn checkpoints_that_were_pruned(db) {
        let store = log_of(&db, SIZE as usize).await;
        let mut sealer = sealer(&store, secret());
        let mut notes_seen = Vec::new();
        for round in 0..6 {
            store.clock.advance(Duration::from_secs(20 * 60));
            append(&store, &[notes(stream("a"), 3 + round, 1)]).await.unwrap();
            notes_seen.push(sealer.pass().await.unwrap().checkpoint.unwrap());
        }
        let stored = Log::load(&store).await.checkpoints;
        assert!(stored.len() < notes_seen.len(), "{stored:?}");
        let kept = notes_seen.iter().map(|seen| KeptCheckpoint::parse(seen.note.as_bytes()).unwrap()).collect();
        let options = VerifyOptions { checkpoints: kept, ..VerifyOptions::default() };
        let report = report(&store, &options).await;
        assert!(report.is_sound(), "{:#?}", report.findings);
    }

    async fn a_clean_restart(db) {
        let store = log_of(&db, SIZE as usize).await;
        seal(&store).await;
        store.close().await;
        let store = connect(&db).await;
        store.clock.advance(Duration::from_secs(120));
        assert_eq!(sound(&store).await.up_to_position, SIZE + 2);
        append(&store, &[notes(stream("a"), 3, 1)]).await.unwrap();
        seal(&store).await;
        assert_eq!(sound(&store).await.up_to_position, SIZE + 3);
    }

    async fn a_log_that_is_not_sealed_yet(db) {
        let store = crate::common::empty_log(&db).await;
        append(&store, &[notes(stream("a"), 0, 3)]).await.unwrap();
        let report = report(&store, &VerifyOptions::default()).await;
        assert!(report.is_sound());
        assert_eq!((report.held, report.unsealed, report.up_to_position), (Some("L0"), 3, 0));
    }

    /// However little memory there is for streams that are open at once: the log is read again.
    async fn streams_that_do_not_fit(db) {
        let store = log_of(&db, SIZE as usize).await;
        let appends: Vec<_> = (0..5000).map(|number| notes(stream(&number.to_string()), 0, 1)).collect();
        append(&store, &appends).await.unwrap();
        let appends: Vec<_> = (0..5000).map(|number| notes(stream(&number.to_string()), 1, 1)).collect();
        append(&store, &appends).await.unwrap();
        seal(&store).await;
        let tight = VerifyOptions { live_bytes_max: Some(200 << 10), ..VerifyOptions::default() };
        let roomy = report(&store, &VerifyOptions::default()).await;
        let tight = report(&store, &tight).await;
        for report in [&roomy, &tight] {
            assert!(report.is_sound(), "{:#?}", report.findings);
            assert_eq!((report.events, report.streams, report.jobs), (SIZE + 2 + 10_000, 5007, 2));
        }
        // And what is wrong with one of them is found all the same.
        let lift = match store.kind() {
            "postgres" => "DROP TRIGGER events_append_only ON events",
            _ => "DROP TRIGGER events_refuse_update",
        };
        run_sql(&store, lift).await.unwrap();
        let last = "(SELECT max(id) FROM events)";
        run_sql(&store, &format!("UPDATE events SET occurred_at = occurred_at + 1 WHERE id = {last}")).await.unwrap();
        let tight = VerifyOptions { live_bytes_max: Some(200 << 10), ..VerifyOptions::default() };
        let found = report(&store, &tight).await;
        assert_eq!(found.findings.iter().map(|it| it.code).collect::<Vec<_>>(), ["COLUMN_MISMATCH"]);
        assert_eq!((found.events, found.streams), (SIZE + 2 + 10_000, 5007));
    }
}
