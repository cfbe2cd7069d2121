//! A log with a key, and a sealer of it.

use std::time::Duration;

use bpc_eventstore::seal::{KeyState, LogSecret, SealOptions, Sealed, SealedEvent, Sealer, read_sealed};
use bpc_eventstore::{Store, add_log_key};
use bpc_testkit::TestDatabase;

use crate::common::{append, empty_log, notes, stream};

/// The name of the log in these tests.
pub const ORIGIN: &str = "example.com/log";

/// The key of these tests.
pub fn secret() -> LogSecret {
    LogSecret::new([7; 32])
}

/// An empty log but for its key.
pub async fn keyed_log(db: &TestDatabase) -> Store {
    let store = empty_log(db).await;
    add_log_key(&store, ORIGIN, secret().public_hex(), "user:ops").await.unwrap();
    store
}

/// Signs at every pass.
pub fn options() -> SealOptions {
    SealOptions {
        heartbeat: Duration::ZERO,
        sign_interval: Duration::ZERO,
        waits: true,
        ..SealOptions::default()
    }
}

/// A sealer with a memory of its own.
pub fn sealer(store: &Store) -> Sealer {
    Sealer::new(store.clone(), secret(), KeyState::memory(), options())
}

/// Seal everything.
pub async fn seal(store: &Store) -> Sealed {
    sealer(store).seal_all().await.expect("the log can be sealed")
}

/// Append so many notes to a stream that has some already.
pub async fn note(store: &Store, name: &str, expected: u32, count: usize) {
    append(store, &[notes(stream(name), expected, count)]).await.unwrap();
}

/// All that is sealed, in order.
pub async fn sealed_events(store: &Store) -> Vec<SealedEvent> {
    let mut tx = store.begin_read().await.unwrap();
    read_sealed(&mut tx.conn(), 0, usize::MAX).await.expect("the sealed order is readable")
}
