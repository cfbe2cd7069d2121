//! Keys change hands, and logs change names.

use bpc_core::note::{Cosigner, SignedNote};
use bpc_eventstore::seal::{
    KeyState, Keyring, LogSecret, Sealed, Sealer, Standing, newest_checkpoint, reopen, rotate_key,
    sealed_head,
};
use bpc_eventstore::verify::{KeptCheckpoint, VerifyOptions, VerifyReport, verify};
use bpc_eventstore::{Store, log_keys};
use bpc_testkit::on_both_databases;

use crate::common::run_sql;

use super::log::{ORIGIN, keyed_log, note, options, seal, sealed_events, secret};

fn second() -> LogSecret {
    LogSecret::new([8; 32])
}

async fn seal_with(store: &Store, secret: LogSecret) -> Sealed {
    Sealer::new(store.clone(), secret, KeyState::memory(), options()).seal_all().await.unwrap()
}

async fn newest_note(store: &Store) -> String {
    let mut tx = store.begin_read().await.unwrap();
    newest_checkpoint(&mut tx.conn()).await.unwrap().expect("a checkpoint").note
}

fn kept(note: &str) -> KeptCheckpoint {
    KeptCheckpoint::parse(note.as_bytes()).unwrap()
}

async fn report(store: &Store, options: VerifyOptions) -> VerifyReport {
    verify(store, &options, |_| {}).await.unwrap()
}

async fn keyring(store: &Store) -> Keyring {
    Keyring::load(&mut store.begin_read().await.unwrap().conn()).await.unwrap()
}

/// A copy of everything about seals and events, to go back to.
async fn back_up(store: &Store) {
    for table in ["events", "log_state", "tiles", "log_order", "checkpoints", "late_events", "log_keys"] {
        run_sql(store, &format!("CREATE TABLE old_{table} AS SELECT * FROM {table}")).await.unwrap();
    }
}

async fn restore(store: &Store) {
    let triggers = match store.kind() {
        "postgres" => "DROP TRIGGER IF EXISTS events_append_only ON events",
        _ => "DROP TRIGGER IF EXISTS events_refuse_update; DROP TRIGGER IF EXISTS events_refuse_delete",
    };
    run_sql(store, triggers).await.unwrap();
    for table in ["events", "log_state", "tiles", "log_order", "checkpoints", "late_events", "log_keys"] {
        let overriding = if store.kind() == "postgres" { "OVERRIDING SYSTEM VALUE" } else { "" };
        let sql = format!("DELETE FROM {table}; INSERT INTO {table} {overriding} SELECT * FROM old_{table}");
        run_sql(store, &sql).await.unwrap();
    }
}

on_both_databases! {
    async fn a_rotation_is_an_event_and_the_new_key_signs_from_there_on(db) {
        let store = keyed_log(&db).await;
        note(&store, "a", 0, 3).await;
        seal(&store).await;
        let before = kept(&newest_note(&store).await);
        rotate_key(&store, &secret(), &second(), "user:ops").await.unwrap();
        note(&store, "a", 3, 2).await;
        let sealed = seal_with(&store, second()).await;
        assert_eq!(sealed.checkpoint.as_ref().unwrap().size, 7);
        let keyring = keyring(&store).await;
        assert_eq!(keyring.epochs.len(), 2);
        assert_eq!((keyring.epochs[1].first_size, &keyring.epochs[1].standing), (Some(5), &Standing::HandedOver));
        let listed: Vec<_> = log_keys(&store).await.unwrap().into_iter().map(|key| key.public_key).collect();
        assert_eq!(listed.len(), 2);
        let options = VerifyOptions { checkpoints: vec![before], ..VerifyOptions::default() };
        let report = report(&store, options).await;
        assert!(report.is_sound(), "{:#?}", report.findings);
        assert_eq!((report.held, report.up_to_position, report.unsealed), (Some("L2"), 7, 0));
    }

    async fn the_old_key_cannot_sign_any_more(db) {
        let store = keyed_log(&db).await;
        seal(&store).await;
        rotate_key(&store, &secret(), &second(), "user:ops").await.unwrap();
        // It may still seal its own hand-over, but not sign for it.
        let state = KeyState::memory();
        let mut old = Sealer::new(store.clone(), secret(), state, options());
        let error = old.pass().await.unwrap_err();
        assert_eq!(error.code(), "LOG_KEY_RETIRED", "{error}");
        assert_eq!(kept(&newest_note(&store).await).checkpoint.size, 1);
        assert_eq!(old.pass().await.unwrap_err().code(), "LOG_KEY_RETIRED");
        let error = rotate_key(&store, &secret(), &LogSecret::new([9; 32]), "user:ops").await.unwrap_err();
        assert_eq!(error.code(), "LOG_KEY_RETIRED");
        assert!(seal_with(&store, second()).await.checkpoint.is_some());
    }

    async fn a_key_that_nobody_handed_the_log_to_counts_for_nothing(db) {
        let store = keyed_log(&db).await;
        seal(&store).await;
        bpc_eventstore::add_log_key(&store, ORIGIN, second().public_hex(), "user:mallory").await.unwrap();
        let mut sealer = Sealer::new(store.clone(), second(), KeyState::memory(), options());
        assert_eq!(sealer.pass().await.unwrap_err().code(), "LOG_KEY_UNKNOWN");
        let error = rotate_key(&store, &second(), &LogSecret::new([9; 32]), "user:mallory").await.unwrap_err();
        assert_eq!(error.code(), "LOG_KEY_UNKNOWN");
        seal(&store).await;
        assert!(report(&store, VerifyOptions::default()).await.is_sound());
    }

    async fn a_log_that_lost_its_end_goes_on_under_a_new_name_that_says_so(db) {
        let store = keyed_log(&db).await;
        note(&store, "a", 0, 3).await;
        seal(&store).await;
        let early = newest_note(&store).await;
        back_up(&store).await;
        note(&store, "a", 3, 4).await;
        seal(&store).await;
        let lost = newest_note(&store).await;
        restore(&store).await;
        // A few events of the new life, not sealed yet.
        note(&store, "b", 0, 2).await;

        let error = reopen(&store, "example.com/two", &second(), Some(&secret()), &early, "user:ops").await.unwrap_err();
        assert_eq!(error.code(), "LOG_NOTHING_LOST");
        let error = reopen(&store, ORIGIN, &second(), Some(&secret()), &lost, "user:ops").await.unwrap_err();
        assert_eq!(error.code(), "LOG_ORIGIN_IN_USE");
        let error = reopen(&store, "x", &second(), Some(&secret()), "no note", "user:ops").await.unwrap_err();
        assert_eq!(error.code(), "CHECKPOINT_FOREIGN");
        reopen(&store, "example.com/two", &second(), Some(&secret()), &lost, "user:ops").await.unwrap();
        seal_with(&store, second()).await;

        let events = sealed_events(&store).await;
        assert_eq!(events.len(), 7);
        assert_eq!(events[4].event.event_type, "LOG_REOPENED", "the first event of the new origin");
        let sound = report(&store, VerifyOptions { checkpoints: vec![kept(&early)], ..VerifyOptions::default() }).await;
        assert!(sound.is_sound(), "{:#?}", sound.findings);
        assert_eq!(sound.origin.as_deref(), Some("example.com/two"));
        assert_eq!((sound.reopened.len(), sound.reopened[0].position, sound.reopened[0].is_vouched), (1, 4, true));
        assert_eq!(sound.reopened[0].checkpoint, lost);
        let options = VerifyOptions { checkpoints: vec![kept(&lost)], ..VerifyOptions::default() };
        let found = report(&store, options).await;
        assert_eq!(found.findings.iter().map(|it| (it.code, it.level)).collect::<Vec<_>>(), [("LOG_TRUNCATED", "L2")]);
        assert_eq!((found.held, found.findings[0].checkpoint), (Some("L1"), Some(8)));
    }

    async fn without_the_old_key_the_new_one_must_be_known_to_the_auditor(db) {
        let store = keyed_log(&db).await;
        seal(&store).await;
        let last = newest_note(&store).await;
        reopen(&store, "example.com/two", &second(), None, &last, "user:ops").await.unwrap();
        seal_with(&store, second()).await;
        let found = report(&store, VerifyOptions::default()).await;
        assert_eq!(found.findings.iter().map(|it| it.code).collect::<Vec<_>>(), ["KEY_NOT_VOUCHED"]);
        assert_eq!((found.findings[0].position, found.held), (Some(1), Some("L0")));
        let new = keyring(&store).await.epochs[1].verifiers().unwrap()[0].clone();
        let known = report(&store, VerifyOptions { keys: vec![new], ..VerifyOptions::default() }).await;
        assert!(known.is_sound(), "{:#?}", known.findings);
    }

    async fn witnesses_have_the_last_word(db) {
        let store = keyed_log(&db).await;
        note(&store, "a", 0, 3).await;
        seal(&store).await;
        let witness = Cosigner::new("witness.example/w", &[42; 32]).unwrap();
        let witnesses = vec![witness.verifier().clone()];
        let wanted = || VerifyOptions { witnesses: witnesses.clone(), ..VerifyOptions::default() };
        let missing = report(&store, wanted()).await;
        assert_eq!(missing.findings.iter().map(|it| (it.code, it.level)).collect::<Vec<_>>(), [("WITNESS_MISSING", "L3")]);
        // Whoever asked the witness adds its line to the note.
        let mut note_of_log = SignedNote::parse(newest_note(&store).await.as_bytes()).unwrap();
        note_of_log.signatures.push(witness.cosign(&note_of_log.text, 1_794_858_600));
        run_sql(&store, &format!("UPDATE checkpoints SET note = '{note_of_log}'")).await.unwrap();
        let held = report(&store, wanted()).await;
        assert!(held.is_sound(), "{:#?}", held.findings);
        let anchor = held.anchor.unwrap();
        assert_eq!((held.held, anchor.size), (Some("L3"), 4));
        // The log signs again, and keeps what the witness said.
        seal(&store).await;
        assert_eq!(report(&store, wanted()).await.held, Some("L3"));
        // A witness that saw another history.
        note(&store, "a", 3, 1).await;
        seal(&store).await;
        let other = bpc_core::note::Checkpoint::new(ORIGIN, 5, bpc_core::Hash([1; 32])).text();
        let split = SignedNote { signatures: vec![witness.cosign(&other, 1_794_858_700)], text: other };
        let split = KeptCheckpoint::parse(split.to_string().as_bytes()).unwrap();
        let found = report(&store, VerifyOptions { checkpoints: vec![split], ..wanted() }).await;
        assert!(found.findings.iter().any(|it| (it.code, it.level) == ("HISTORY_REWRITTEN", "L3")), "{:#?}", found.findings);
    }

    async fn an_auditor_who_knows_another_key_is_told(db) {
        let store = keyed_log(&db).await;
        seal(&store).await;
        let mut tx = store.begin_read().await.unwrap();
        assert_eq!(sealed_head(&mut tx.conn()).await.unwrap().size, 1);
        let [own, _] = keyring(&store).await.epochs[0].verifiers().unwrap();
        let known = report(&store, VerifyOptions { keys: vec![own], ..VerifyOptions::default() }).await;
        assert!(known.is_sound(), "{:#?}", known.findings);
        let other = Cosigner::new("witness.example/w", &[42; 32]).unwrap().verifier().clone();
        let unknown = report(&store, VerifyOptions { keys: vec![other], ..VerifyOptions::default() }).await;
        assert_eq!(unknown.findings.iter().map(|it| it.code).collect::<Vec<_>>(), ["KEY_NOT_KNOWN"]);
    }
}
