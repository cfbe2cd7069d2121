//! A sealer that is killed between any two steps leaves a log that verifies and goes on.

use std::time::Duration;

use bpc_eventstore::Store;
use bpc_eventstore::seal::{KeyState, SealError, SealOptions, Sealed, Sealer, sealed_head, unsealed};
use bpc_eventstore::verify::VerifyOptions;
use bpc_testkit::on_both_databases;

use crate::common::{append, cut_off, notes, stream};
use crate::scene::{log_of, report, secret};

fn sealer(store: &Store, state: &KeyState) -> Sealer {
    let options = SealOptions { heartbeat: Duration::ZERO, waits: true, ..SealOptions::default() };
    Sealer::new(store.clone(), secret(), state.clone(), options)
}

async fn assert_sound(store: &Store) -> u64 {
    let report = report(store, &VerifyOptions::default()).await;
    assert!(report.is_sound(), "{:#?}", report.findings);
    report.up_to_position
}

async fn size(store: &Store) -> u64 {
    sealed_head(&mut store.begin_read().await.unwrap().conn()).await.unwrap().size
}

on_both_databases! {
    async fn cut_off_after_any_step_the_log_is_sound_and_the_next_sealer_goes_on(db) {
        let store = log_of(&db, 300).await;
        let state = KeyState::memory();
        let (mut polls, mut version) = (0, 4);
        loop {
            append(&store, &[notes(stream("b"), version, 3)]).await.unwrap();
            version += 3;
            let mut killed = sealer(&store, &state);
            let ended: Option<Result<Sealed, SealError>> = cut_off(polls, killed.pass()).await;
            drop(killed);
            let covered = assert_sound(&store).await;
            let sealed = sealer(&store, &state).seal_all().await.unwrap();
            assert!(sealed.head.unwrap().size >= covered);
            assert_eq!(unsealed(&store).await.unwrap().events, 0);
            assert_eq!(assert_sound(&store).await, size(&store).await, "signed as far as sealed");
            if ended.is_some() {
                break;
            }
            polls += 1;
        }
        // How many steps there are depends on how often an answer is there before it is asked for: 7 to some twenty
        // on PostgreSQL were seen, fewer on SQLite.
        let steps = if store.kind() == "postgres" { 3 } else { 1 };
        assert!(polls > steps, "only {polls} steps were cut off");
    }

    async fn each_commit_fails_once_without_and_once_with_effect(db) {
        let store = log_of(&db, 300).await;
        let state = KeyState::memory();
        let mut version = 4;
        // A pass commits twice: what it seals, and the checkpoint.
        for (commits, is_persisted) in [(0, false), (0, true), (1, false), (1, true)] {
            append(&store, &[notes(stream("b"), version, 3)]).await.unwrap();
            version += 3;
            let mut failing = sealer(&store, &state);
            if is_persisted {
                store.fault.fail_but_persisted(commits);
            } else {
                store.fault.fail_not_persisted(commits);
            }
            let error = failing.pass().await.unwrap_err();
            assert!(error.is_retryable() && store.fault.is_spent(), "{error}");
            assert_sound(&store).await;
            // The same one goes on, not knowing what became of its commit.
            let sealed = failing.pass().await.unwrap();
            assert_eq!(sealed.head.unwrap().size, size(&store).await);
            assert_eq!(unsealed(&store).await.unwrap().events, 0);
            assert_eq!(assert_sound(&store).await, size(&store).await);
        }
    }
}
