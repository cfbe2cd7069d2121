//! Signing: over what is committed, never less than before, never by another key.

use std::time::Duration;

use bpc_core::note::{Cosigner, SignatureKind, SignedNote, VerifierKey, open_checkpoint};
use bpc_eventstore::seal::{
    KeyFile, KeyState, LogSecret, SealOptions, Sealer, StoredCheckpoint, checkpoint_at, keep_cosignatures,
    newest_checkpoint, sealed_head,
};
use bpc_eventstore::{Store, portable};
use bpc_testkit::{eventually, on_both_databases};

use crate::common::{NOW, empty_log, number, run_sql};

use super::log::{ORIGIN, keyed_log, note, options, seal, sealer, secret};

async fn newest(store: &Store) -> Option<StoredCheckpoint> {
    let mut tx = store.begin_read().await.unwrap();
    newest_checkpoint(&mut tx.conn()).await.unwrap()
}

fn keys() -> [VerifierKey; 2] {
    let public = hex::decode(secret().public_hex()).unwrap().try_into().unwrap();
    [SignatureKind::Ed25519, SignatureKind::Cosignature]
        .map(|kind| VerifierKey::new(ORIGIN, kind, &public).unwrap())
}

/// Until somebody does; on SQLite nobody sees it, and whoever comes second has to wait anyway.
async fn waits_for_a_lock(store: &Store) {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    if store.kind() == "postgres" {
        eventually(Duration::from_secs(60), || async { number(store, sql).await > 0 }).await;
    }
}

on_both_databases! {
    async fn a_pass_publishes_a_signed_checkpoint_of_size_and_root(db) {
        let store = keyed_log(&db).await;
        note(&store, "a", 0, 3).await;
        let sealed = seal(&store).await;
        let checkpoint = sealed.checkpoint.unwrap();
        assert_eq!(newest(&store).await.as_ref(), Some(&checkpoint));
        assert_eq!((checkpoint.size, checkpoint.made_at), (4, NOW));
        let keys = keys();
        let opened = open_checkpoint(checkpoint.note.as_bytes(), &keys).unwrap();
        let head = sealed.head.unwrap();
        assert_eq!((&*opened.checkpoint.origin, opened.checkpoint.size), (ORIGIN, 4));
        assert_eq!(opened.checkpoint.root, head.root);
        let at = opened.witnesses[0].at.unwrap();
        assert_eq!(at, NOW.as_micros() as u64 / 1_000_000, "the log says when, too");
    }

    async fn an_unchanged_log_is_signed_again_at_a_heartbeat_only(db) {
        let store = keyed_log(&db).await;
        let beat = Duration::from_secs(60);
        let options = SealOptions { heartbeat: beat, ..options() };
        let state = KeyState::memory();
        // Each pass by a new one: what counts is what is published.
        let sealer = || Sealer::new(store.clone(), secret(), state.clone(), options.clone());
        assert!(sealer().pass().await.unwrap().checkpoint.is_some());
        store.clock.advance(beat - Duration::from_micros(1));
        assert_eq!(sealer().pass().await.unwrap().checkpoint, None);
        store.clock.advance(Duration::from_micros(1));
        let again = sealer().pass().await.unwrap().checkpoint.unwrap();
        assert_eq!((again.size, again.made_at), (1, NOW.plus(beat)));
        assert_eq!(number(&store, "SELECT count(*) FROM checkpoints").await, 1);
    }

    async fn of_each_minute_the_last_checkpoint_is_kept(db) {
        let store = keyed_log(&db).await;
        let mut sealer = sealer(&store);
        // NOW is 31 seconds past the minute.
        for (round, seconds) in [(0, 0), (1, 10), (2, 10), (3, 10), (4, 10), (5, 60)] {
            store.clock.advance(Duration::from_secs(seconds));
            note(&store, "a", round, 1).await;
            sealer.pass().await.unwrap();
        }
        assert_eq!(number(&store, "SELECT count(*) FROM checkpoints").await, 3);
        assert_eq!(number(&store, "SELECT min(size) FROM checkpoints").await, 4);
    }

    async fn a_checkpoint_that_others_signed_stays(db) {
        let store = keyed_log(&db).await;
        let mut sealer = sealer(&store);
        let signed = sealer.pass().await.unwrap().checkpoint.unwrap();
        let witness = Cosigner::new("witness.example/w", &[42; 32]).unwrap();
        let text = SignedNote::parse(signed.note.as_bytes()).unwrap().text;
        keep_cosignatures(&store, &signed, &[witness.cosign(&text, 1_794_858_600)]).await.unwrap();
        for (round, seconds) in [(0, 1), (1, 3600), (2, 3600)] {
            store.clock.advance(Duration::from_secs(seconds));
            note(&store, "a", round, 1).await;
            sealer.pass().await.unwrap();
        }
        let mut tx = store.begin_read().await.unwrap();
        let stored = checkpoint_at(&mut tx.conn(), 1).await.unwrap().expect("it is kept");
        assert!(stored.note.contains("witness.example/w"));
    }

    /// The log signs anew at the very moment a witness answers.
    async fn a_witness_that_answers_meanwhile_is_not_overwritten(db) {
        let store = keyed_log(&db).await;
        let mut sealer = sealer(&store);
        let signed = sealer.pass().await.unwrap().checkpoint.unwrap();
        let text = SignedNote::parse(signed.note.as_bytes()).unwrap().text;
        let line = Cosigner::new("witness.example/w", &[42; 32]).unwrap().cosign(&text, 1_794_858_600).to_string();
        store.clock.advance(Duration::from_secs(120));

        // The answer is written and not committed when the sealer comes.
        let mut answer = store.begin().await.unwrap();
        let note = format!("{}{line}\n", signed.note);
        let sql = "UPDATE checkpoints SET note = $1 WHERE size = $2";
        portable!(answer.conn(), c => {
            sqlx::query(sql).bind(&note).bind(signed.size as i64).execute(&mut *c).await.map(drop)
        })
        .unwrap();
        let heartbeat = tokio::spawn(async move { sealer.pass().await });
        waits_for_a_lock(&store).await;
        answer.commit().await.unwrap();
        let renewed = heartbeat.await.unwrap().unwrap().checkpoint.expect("it is time to sign again");
        assert_ne!(renewed.note, note, "signed anew");
        let mut tx = store.begin_read().await.unwrap();
        let stored = checkpoint_at(&mut tx.conn(), signed.size).await.unwrap().unwrap();
        assert_eq!(stored.note, renewed.note);
        assert!(stored.note.contains(&line), "{}", stored.note);
    }

    async fn a_clock_that_went_back_is_refused_and_nothing_is_lost(db) {
        let store = keyed_log(&db).await;
        store.clock.advance(Duration::from_secs(10));
        let state = KeyState::memory();
        Sealer::new(store.clone(), secret(), state.clone(), options()).pass().await.unwrap();
        let earlier = Store { clock: bpc_eventstore::Clock::manual(NOW), ..store.clone() };
        note(&store, "a", 0, 1).await;
        let mut sealer = Sealer::new(earlier.clone(), secret(), state, options());
        let error = sealer.pass().await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), ("CLOCK_WENT_BACK", true));
        earlier.clock.advance(Duration::from_secs(10));
        assert_eq!(sealer.pass().await.unwrap().checkpoint.unwrap().size, 2, "as soon as the clock is right");
    }

    async fn only_the_logs_own_key_seals(db) {
        let store = empty_log(&db).await;
        note(&store, "a", 0, 1).await;
        let error = sealer(&store).pass().await.unwrap_err();
        assert_eq!(error.code(), "LOG_KEY_MISSING");
        bpc_eventstore::add_log_key(&store, ORIGIN, secret().public_hex(), "system").await.unwrap();
        let other = LogSecret::new([8; 32]);
        let mut foreign = Sealer::new(store.clone(), other, KeyState::memory(), options());
        assert_eq!(foreign.pass().await.unwrap_err().code(), "LOG_KEY_UNKNOWN");
        let mut tx = store.begin_read().await.unwrap();
        assert_eq!(sealed_head(&mut tx.conn()).await.unwrap().size, 0, "nothing is sealed without it");
    }

    async fn a_key_that_signed_more_refuses_an_older_copy(db) {
        let store = keyed_log(&db).await;
        let file = KeyFile::at(std::env::temp_dir().join(format!("{}.key", hex::encode(bpc_eventstore::entropy()))));
        let state = KeyState::File(file.state_path());
        let sealer = || Sealer::new(store.clone(), secret(), state.clone(), options());
        note(&store, "a", 0, 3).await;
        sealer().pass().await.unwrap();
        let copy = ["log_state", "tiles", "log_order", "checkpoints"];
        for table in copy {
            run_sql(&store, &format!("CREATE TABLE old_{table} AS SELECT * FROM {table}")).await.unwrap();
        }
        note(&store, "a", 3, 3).await;
        sealer().pass().await.unwrap();
        for table in copy {
            let restore = format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM old_{table}");
            run_sql(&store, &restore).await.unwrap();
        }
        let error = sealer().pass().await.unwrap_err();
        assert_eq!(error.code(), "LOG_ROLLED_BACK", "{error}");
        assert_eq!(sealer().check().await.unwrap_err().code(), "LOG_ROLLED_BACK");
        let mut tx = store.begin_read().await.unwrap();
        assert_eq!(sealed_head(&mut tx.conn()).await.unwrap().size, 4, "nothing is repaired silently");
        for path in [file.state_path(), file.state_path().with_extension("state.lock")] {
            let _ = std::fs::remove_file(path);
        }
    }

    async fn a_log_of_the_same_size_with_another_history_is_refused(db) {
        let store = keyed_log(&db).await;
        note(&store, "a", 0, 3).await;
        let state = KeyState::memory();
        let sealer = |store: &Store| Sealer::new(store.clone(), secret(), state.clone(), options());
        sealer(&store).pass().await.unwrap();
        let other_db = match db.kind() {
            bpc_testkit::DatabaseKind::Postgres => bpc_testkit::TestDatabase::postgres().await,
            bpc_testkit::DatabaseKind::Sqlite => bpc_testkit::TestDatabase::sqlite(),
        };
        let other = keyed_log(&other_db).await;
        for expected in 0..4 {
            note(&other, "b", expected, 1).await;
        }
        let error = sealer(&other).pass().await.unwrap_err();
        assert_eq!(error.code(), "LOG_ROLLED_BACK", "before anything is sealed");
        // As if it had been sealed without asking.
        let mut blind = Sealer::new(other.clone(), secret(), KeyState::memory(), options());
        blind.pass().await.unwrap();
        assert_eq!(sealer(&other).pass().await.unwrap_err().code(), "LOG_FORKED");
    }
}
