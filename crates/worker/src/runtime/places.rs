//! The places in which handlers run: as many as the worker may run at once, each taking one leased job
//! after the other. A task for every job would cost more than most of the rest of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::context::{Context, Stopping};
use crate::engine::{Attempt, LeasedJob};

use super::attempt;
use super::held::Held;
use super::line::Line;
use super::shared::Shared;

/// A leased job and what its handler will be told by.
type Waiting = (LeasedJob, Context);

pub(super) struct Places {
    shared: Arc<Shared>,
    line: Arc<Line<Waiting>>,
    finished: mpsc::Sender<Attempt>,
    stop: CancellationToken,
    /// Those that were needed so far.
    open: usize,
    tasks: TaskTracker,
}

impl Places {
    /// Places that hand what has finished to `finished`, and start nothing once `stop` is cancelled.
    pub(super) fn new(shared: Arc<Shared>, finished: mpsc::Sender<Attempt>, stop: CancellationToken) -> Self {
        Places { shared, line: Arc::new(Line::new()), finished, stop, open: 0, tasks: TaskTracker::new() }
    }

    /// Hold leased jobs and run them in this order, each as soon as it has a place. Their leases had not begun
    /// at `asked_at`.
    pub(super) fn start(&mut self, leased: Vec<LeasedJob>, asked_at: Instant) {
        let needed = self.shared.options.concurrency.min(self.open + leased.len());
        let shared = &self.shared;
        let waiting: Vec<Waiting> = leased
            .into_iter()
            .map(|leased| {
                let cx = Context::new(shared.engine.store.clone(), leased.leased_at);
                (leased, cx)
            })
            .collect();
        shared.held.insert(waiting.iter().map(|(leased, cx)| {
            let held = Held {
                fence: leased.job.lease().map(|lease| lease.fence).unwrap_or_default(),
                lease_id: leased.lease_id,
                since: asked_at,
                deadline: asked_at + shared.options.lease_ttl,
                cx: cx.clone(),
            };
            (leased.job.job_id, held)
        }));
        self.line.extend(waiting.into_iter());
        for _ in self.open..needed {
            let (shared, line) = (Arc::clone(&self.shared), Arc::clone(&self.line));
            self.tasks.spawn(run_all(shared, line, self.finished.clone(), self.stop.clone()));
        }
        self.open = self.open.max(needed);
    }

    /// Give back what has not started, let running handlers finish within the grace period, then give their
    /// jobs back, too.
    pub(super) async fn wind_down(self) {
        let Places { shared, line, finished, tasks, .. } = self;
        shared.winds_down.store(true, Ordering::Relaxed);
        let waiting = line.close();
        tasks.spawn(async move {
            for (leased, _) in waiting {
                let _ = finished.send(attempt::not_started(leased)).await;
            }
        });
        tasks.close();
        shared.held.ask_all_to_stop(Stopping::WorkerStops);
        if tokio::time::timeout(shared.options.grace, tasks.wait()).await.is_err() {
            tracing::warn!(jobs = shared.held.len(), "the grace period is over, giving jobs back");
            shared.held.abandon_all();
            tasks.wait().await;
        }
    }
}

/// One place.
async fn run_all(
    shared: Arc<Shared>,
    line: Arc<Line<Waiting>>,
    finished: mpsc::Sender<Attempt>,
    stop: CancellationToken,
) {
    while let Some((leased, cx)) = line.next().await {
        let attempt = if stop.is_cancelled() || cx.is_abandoned() {
            attempt::not_started(leased)
        } else {
            let began = Instant::now();
            let attempt = attempt::run(&shared.engine, leased, cx).await;
            shared.ran(began.elapsed());
            attempt
        };
        // The place is kept until the settler takes it: a settler that falls behind slows the handlers.
        let _ = finished.send(attempt).await;
    }
}
