//! A worker with the log's key seals; one without does its jobs all the same.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use bpc_eventstore::seal::{KeyFile, newest_checkpoint, sealed_head, unsealed};
use bpc_eventstore::{Store, add_log_key, entropy};
use bpc_worker::WorkerOptions;

use crate::common::{Act, SOON, Scene, Working, options};

/// A key file in a directory of its own, gone with this value.
struct Key {
    directory: PathBuf,
    file: KeyFile,
}

impl Key {
    fn new() -> Self {
        let name: String = entropy().iter().map(|byte| format!("{byte:02x}")).collect();
        let directory = std::env::temp_dir().join(format!("bpc-worker-key-{name}"));
        std::fs::create_dir(&directory).unwrap();
        let file = KeyFile::at(directory.join("log.key"));
        Key { directory, file }
    }

    async fn of(store: &Store) -> Self {
        let key = Key::new();
        let secret = key.file.create().unwrap();
        add_log_key(store, &secret.origin(), secret.public_hex(), "user:test").await.unwrap();
        key
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn sealing(key: &Key, name: &str) -> WorkerOptions {
    WorkerOptions { seal_with: Some(key.file.clone()), ..options(name) }
}

async fn sealed_size(store: &Store) -> u64 {
    sealed_head(&mut store.begin_read().await.unwrap().conn()).await.unwrap().size
}

async fn signed_size(store: &Store) -> Option<u64> {
    let mut tx = store.begin_read().await.unwrap();
    newest_checkpoint(&mut tx.conn()).await.unwrap().map(|checkpoint| checkpoint.size)
}

bpc_testkit::on_both_databases! {
    async fn what_it_does_is_sealed_and_signed_soon(db) {
        let scene = Scene::ticking(&db).await;
        let store = &scene.engine.store;
        let key = Key::of(store).await;
        let working = Working::start(&scene.engine, sealing(&key, "w"));
        bpc_testkit::eventually(SOON, || async { signed_size(store).await == Some(2) }).await;
        let committed = Instant::now();
        scene.enqueue(Act::Nothing).await;
        bpc_testkit::eventually(SOON, || async { signed_size(store).await == Some(5) }).await;
        // Loose, because a machine under test may stand still; a second is what a quiet one keeps.
        assert!(committed.elapsed() < Duration::from_secs(10), "{:?}", committed.elapsed());
        working.stop().await;
        scene.assert_sound().await;
    }

    async fn it_leaves_nothing_unsealed_when_it_ends(db) {
        let scene = Scene::still(&db).await;
        let store = &scene.engine.store;
        let key = Key::of(store).await;
        for _ in 0..50 {
            scene.enqueue(Act::Nothing).await;
        }
        let until_idle = WorkerOptions { until_idle: true, ..sealing(&key, "w") };
        let working = Working::start(&scene.engine, until_idle);
        bpc_testkit::eventually(SOON, || async { working.has_ended() }).await;
        assert_eq!(working.stop().await.succeeded, 50);
        assert_eq!((unsealed(store).await.unwrap().events, sealed_size(store).await), (0, 152));
        assert_eq!(signed_size(store).await, Some(152));
        scene.assert_sound().await;
    }

    async fn several_workers_with_one_key_seal_in_turn(db) {
        let scene = Scene::still(&db).await;
        let store = &scene.engine.store;
        let key = Key::of(store).await;
        let elsewhere = scene.elsewhere().await;
        for _ in 0..200 {
            scene.enqueue(Act::Nothing).await;
        }
        let until_idle = |name| WorkerOptions { until_idle: true, ..sealing(&key, name) };
        let here = Working::start(&scene.engine, until_idle("here"));
        let there = Working::start(&elsewhere, until_idle("there"));
        bpc_testkit::eventually(SOON, || async { here.has_ended() && there.has_ended() }).await;
        assert_eq!(here.stop().await.succeeded + there.stop().await.succeeded, 200);
        assert_eq!((unsealed(store).await.unwrap().events, sealed_size(store).await), (0, 602));
        scene.assert_sound().await;
    }

    async fn without_the_key_jobs_are_done_and_nothing_is_sealed(db) {
        let scene = Scene::still(&db).await;
        let store = &scene.engine.store;
        let elsewhere = Key::new();
        scene.enqueue(Act::Nothing).await;
        let until_idle = WorkerOptions { until_idle: true, ..sealing(&elsewhere, "w") };
        let working = Working::start(&scene.engine, until_idle);
        bpc_testkit::eventually(SOON, || async { working.has_ended() }).await;
        assert_eq!(working.stop().await.succeeded, 1);
        assert_eq!((unsealed(store).await.unwrap().events, sealed_size(store).await), (4, 0));
    }
}
