//! Waiting longer and longer for something that may come back.

use std::time::Duration;

use bpc_eventstore::entropy;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// The next wait. Spread, so that many workers do not come back as one wave.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff { next: FIRST }
    }
}

impl Backoff {
    /// It works again.
    pub(crate) fn reset(&mut self) {
        self.next = FIRST;
    }

    /// Has it worked since the last wait? The first failure is worth a word, the others are not.
    pub(crate) fn is_first(&self) -> bool {
        self.next == FIRST
    }

    pub(crate) async fn wait(&mut self) {
        let [chance, ..] = entropy();
        let spread = self.next.mul_f64(0.75 + f64::from(chance) / 512.0);
        self.next = (self.next * 2).min(LONGEST);
        tokio::time::sleep(spread).await;
    }
}
