//! Leased jobs that wait for a place, and the places.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;

/// First come, first served.
pub(super) struct Line<T> {
    waiting: Mutex<VecDeque<T>>,
    /// As many permits as there are in line.
    arrived: Semaphore,
}

impl<T> Line<T> {
    pub(super) fn new() -> Self {
        Line { waiting: Mutex::default(), arrived: Semaphore::new(0) }
    }

    /// At the end of the line.
    pub(super) fn extend(&self, jobs: impl Iterator<Item = T>) {
        let mut waiting = self.lock();
        let before = waiting.len();
        waiting.extend(jobs);
        self.arrived.add_permits(waiting.len() - before);
    }

    /// The first in line, once there is one; `None` when the line is closed.
    pub(super) async fn next(&self) -> Option<T> {
        self.arrived.acquire().await.ok()?.forget();
        self.lock().pop_front()
    }

    /// Nobody is served any more. Returns those who still waited.
    pub(super) fn close(&self) -> VecDeque<T> {
        self.arrived.close();
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn all_are_served_in_order_until_the_line_is_closed() {
        let line = Arc::new(Line::new());
        let served = tokio::spawn({
            let line = Arc::clone(&line);
            async move { [line.next().await, line.next().await, line.next().await] }
        });
        tokio::task::yield_now().await;
        line.extend([1, 2].into_iter());
        line.extend([3, 4].into_iter());
        assert_eq!(served.await.expect("no panic"), [Some(1), Some(2), Some(3)]);
        let waits = tokio::spawn({
            let line = Arc::clone(&line);
            async move { [line.next().await, line.next().await] }
        });
        tokio::task::yield_now().await;
        assert!(line.close().is_empty());
        assert_eq!(waits.await.expect("no panic"), [Some(4), None]);
    }
}
