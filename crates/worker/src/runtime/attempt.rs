//! One attempt: start, decode, run, classify, hand over for settling.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use bpc_core::job::{ErrorInfo, Outcome};
use futures_util::{FutureExt, poll};
use tokio::runtime::Handle;
use tokio::task::JoinError;

use crate::context::{Context, Stopping};
use crate::effects::Effects;
use crate::engine::{Attempt, Engine, LeasedJob};
use crate::handler::{HandlerError, Job, RawJob};
use crate::policy::JobPolicy;
use crate::registry::JobType;

/// How a handler's run ended.
enum Ended {
    Returned(Result<Effects, HandlerError>),
    Panicked(String),
    /// The hard time limit was over before it returned.
    TimedOut(Duration),
    /// The worker did not wait for it: the lease is lost, or the grace period over.
    Abandoned,
}

/// Run a leased job and say what came of it.
pub(super) async fn run(engine: &Engine, leased: LeasedJob, cx: Context) -> Attempt {
    let (state, leased_at) = (leased.job, leased.leased_at);
    let job = Job {
        id: state.job_id,
        tenant_id: state.tenant_id,
        queue: state.queue.clone(),
        priority: state.priority,
        attempt: state.attempts,
        max_attempts: state.max_attempts,
        created_at: state.created_at,
        payload: leased.payload,
    };
    let started = Instant::now();
    let ended = match engine.registry.job_type(&state.job_type) {
        Some(job_type) => within_limits(job_type, job, &cx).await,
        // Leasing asks only for types with a handler.
        None => Ended::Abandoned,
    };
    let duration_ms = started.elapsed().as_millis() as u64;
    let (outcome, mut effects) = classify(engine, &state.job_type, ended, cx.stopping(), duration_ms);
    if let Outcome::Failed(failure) = &outcome {
        effects = cx.take_if_failed();
        tracing::warn!(
            job.id = %state.job_id,
            job.r#type = state.job_type,
            job.attempt = state.attempts,
            code = failure.error.code,
            retryable = failure.error.retryable,
            "attempt failed: {}",
            failure.error.message
        );
    }
    Attempt { leased: state, leased_at, place: leased.place, outcome, effects }
}

/// A job that was leased and not started, because the worker stopped or the lease was lost before.
pub(super) fn not_started(leased: LeasedJob) -> Attempt {
    let LeasedJob { job, leased_at, place, .. } = leased;
    Attempt { leased: job, leased_at, place, outcome: Outcome::Released, effects: Effects::none() }
}

async fn within_limits(job_type: &JobType, job: RawJob, cx: &Context) -> Ended {
    let (began, id) = (Instant::now(), job.id);
    let mut run = isolated(job_type, job, cx);
    // Many handlers have nothing to wait for: those need no timers.
    let ended = match poll!(&mut run) {
        Poll::Ready(ended) => ended,
        Poll::Pending => Box::pin(watched(&mut run, began, &job_type.policy, cx)).await,
    };
    // What a handler that nobody waits for leaves behind may panic, and must not take the place with it.
    if std::panic::catch_unwind(AssertUnwindSafe(|| drop(run))).is_err() {
        tracing::error!(job.id = %id, "a handler panicked while it was given up");
    }
    ended
}

/// Wait for a handler as long as its limits allow and somebody wants it.
async fn watched(run: &mut Running<'_>, began: Instant, policy: &JobPolicy, cx: &Context) -> Ended {
    let returned = async {
        let Some(soft_limit) = policy.soft_limit else {
            return run.await;
        };
        tokio::select! {
            biased;
            ended = &mut *run => ended,
            () = tokio::time::sleep_until((began + soft_limit).into()) => {
                cx.ask_to_stop(Stopping::SoftLimit);
                run.await
            }
        }
    };
    let hard_limited = async {
        match policy.hard_limit {
            None => returned.await,
            Some(limit) => {
                let in_time = tokio::time::timeout_at((began + limit).into(), returned).await;
                in_time.unwrap_or(Ended::TimedOut(limit))
            }
        }
    };
    tokio::select! {
        biased;
        ended = hard_limited => ended,
        () = cx.abandoned() => Ended::Abandoned,
    }
}

/// A handler at work, as small as a pointer: futures are moved about a lot before they rest.
type Running<'a> = Pin<Box<dyn Future<Output = Ended> + Send + 'a>>;

/// Run the handler so that its panic ends only this attempt. One that computes gets a thread for
/// itself; if nobody waits for it any more it runs to its end there, and what it brings is dropped.
fn isolated<'a>(job_type: &'a JobType, job: RawJob, cx: &'a Context) -> Running<'a> {
    if !job_type.policy.cpu_bound {
        let run = AssertUnwindSafe(job_type.handler.run(job, cx)).catch_unwind();
        return Box::pin(run.map(ended));
    }
    let (handler, cx, runtime) = (Arc::clone(&job_type.handler), cx.clone(), Handle::current());
    let thread = tokio::task::spawn_blocking(move || runtime.block_on(handler.run(job, &cx)));
    // Anything but a panic is a runtime that shuts down.
    let panic = |error: JoinError| -> Box<dyn Any + Send> {
        error.try_into_panic().unwrap_or_else(|error| Box::new(error.to_string()))
    };
    Box::pin(thread.map(move |returned| ended(returned.map_err(panic))))
}

fn ended(returned: Result<Result<Effects, HandlerError>, Box<dyn Any + Send>>) -> Ended {
    match returned {
        Ok(returned) => Ended::Returned(returned),
        Err(panic) => Ended::Panicked(message_of(&*panic)),
    }
}

fn classify(
    engine: &Engine,
    job_type: &str,
    ended: Ended,
    stopping: Option<Stopping>,
    duration_ms: u64,
) -> (Outcome, Effects) {
    let failed = |code: &str, message: String| {
        let error = ErrorInfo { code: code.to_owned(), message, retryable: true, detail: None };
        Outcome::Failed(engine.failure(job_type, error))
    };
    let outcome = match ended {
        Ended::Returned(Ok(mut effects)) => {
            let result = effects.result.take();
            return (Outcome::Succeeded { duration_ms, result, emitted: Vec::new() }, effects);
        }
        Ended::Returned(Err(HandlerError::Failed(error))) => Outcome::Failed(engine.failure(job_type, error)),
        Ended::Returned(Err(HandlerError::Snooze(delay))) => Outcome::Snoozed { delay },
        Ended::Returned(Err(HandlerError::Cancelled)) => match stopping {
            // It stopped because it was told to, but not because somebody cancelled the job.
            Some(Stopping::WorkerStops | Stopping::LeaseLost) => Outcome::Released,
            Some(Stopping::SoftLimit) => {
                failed("TIMEOUT", format!("it stopped at its soft time limit after {duration_ms} ms"))
            }
            Some(Stopping::Cancelled) | None => Outcome::Cancelled,
        },
        Ended::Panicked(message) => failed("PANIC", format!("the handler panicked: {message}")),
        Ended::TimedOut(limit) => {
            failed("TIMEOUT", format!("it ran longer than its time limit of {limit:?}"))
        }
        Ended::Abandoned => Outcome::Released,
    };
    (outcome, Effects::none())
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}
