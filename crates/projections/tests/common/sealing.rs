//! A log with a key, sealed when a test says so.

use std::time::Duration;

use bpc_eventstore::add_log_key;
use bpc_eventstore::seal::{KeyState, LogSecret, SealOptions, Sealer};

use super::House;

impl House {
    /// Seal everything; returns how many events that is.
    pub async fn seal(&self) -> u64 {
        let secret = LogSecret::new([7; 32]);
        add_log_key(&self.store, "example.com/log", secret.public_hex(), "system").await.unwrap();
        let (heartbeat, sign_interval) = (Duration::ZERO, Duration::ZERO);
        let options = SealOptions { heartbeat, sign_interval, waits: true, ..SealOptions::default() };
        let mut sealer = Sealer::new(self.store.clone(), secret, KeyState::memory(), options);
        sealer.seal_all().await.unwrap().head.expect("nobody else seals").size
    }
}
