//! A flag that is raised once and can be waited for.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Down until it is raised. Takes no memory of its own, unlike a `CancellationToken`: every job has two.
#[derive(Debug, Default)]
pub(crate) struct Flag {
    is_raised: AtomicBool,
    raised: Notify,
}

impl Flag {
    pub(crate) fn raise(&self) {
        self.is_raised.store(true, Ordering::Release);
        self.raised.notify_waiters();
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.is_raised.load(Ordering::Acquire)
    }

    /// Wait until it is raised.
    pub(crate) async fn raised(&self) {
        // Made before the flag is looked at: it hears of whatever happens from here on.
        let raised = self.raised.notified();
        if !self.is_raised() {
            raised.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn everybody_hears_of_it_before_and_after() {
        let flag = Arc::new(Flag::default());
        let waits = |flag: &Arc<Flag>| {
            let flag = Arc::clone(flag);
            tokio::spawn(async move { flag.raised().await })
        };
        let early = [waits(&flag), waits(&flag)];
        tokio::task::yield_now().await;
        assert!(!flag.is_raised());
        flag.raise();
        for waiting in early.into_iter().chain([waits(&flag)]) {
            waiting.await.expect("it ends");
        }
        assert!(flag.is_raised());
    }
}
