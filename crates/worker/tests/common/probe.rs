//! Handlers that do what their payload says, and note that they did.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bpc_worker::{
    Context, Effects, Enqueue, Handler, HandlerError, Job, JobId, JobPolicy, SqlValue, Stopping, StreamId,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::SOON;
use super::ledger::{LEDGER, MARK, entered, ledger_of};

/// What a probe is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case", deny_unknown_fields)]
pub enum Act {
    Nothing,
    /// Fail every time.
    Fail {
        retryable: bool,
    },
    /// Fail until this attempt.
    SucceedAt {
        attempt: u32,
    },
    /// Fail with this message.
    Say {
        message: String,
    },
    Panic,
    /// Run until [`Notes::let_go`]; stop early if asked to, and say why.
    Hold,
    /// Run until [`Notes::let_go`], whatever anybody asks.
    HoldDeaf,
    /// Take that long, deaf to everything.
    Take {
        ms: u64,
    },
    /// Occupy a thread until [`Notes::let_go`].
    Compute,
    Snooze {
        ms: u64,
    },
    /// Say these percentages, then hold.
    Progress {
        percents: Vec<u8>,
    },
    /// An event on the job's ledger, a row by SQL, a blob, and `follow_ups` further jobs.
    Everything {
        follow_ups: u32,
    },
    /// An event on a ledger that others write to as well.
    Enter {
        ledger: StreamId,
    },
}

/// What the probes of one scene did.
#[derive(Debug)]
pub struct Notes {
    runs: Mutex<HashMap<JobId, u32>>,
    stops: Mutex<HashMap<JobId, Option<Stopping>>>,
    order: Mutex<Vec<JobId>>,
    running: AtomicUsize,
    running_most: AtomicUsize,
    gate: Semaphore,
}

impl Default for Notes {
    fn default() -> Self {
        Notes {
            runs: Mutex::default(),
            stops: Mutex::default(),
            order: Mutex::default(),
            running: AtomicUsize::new(0),
            running_most: AtomicUsize::new(0),
            gate: Semaphore::new(0),
        }
    }
}

impl Notes {
    /// How often a job was run.
    pub fn runs(&self, job: JobId) -> u32 {
        self.runs.lock().unwrap().get(&job).copied().unwrap_or_default()
    }

    /// How many runs were begun in all.
    pub fn runs_in_all(&self) -> u32 {
        self.runs.lock().unwrap().values().sum()
    }

    /// Why a job was asked to stop, if it was.
    pub fn stop(&self, job: JobId) -> Option<Stopping> {
        self.stops.lock().unwrap().get(&job).copied().flatten()
    }

    /// The jobs in the order they were begun.
    pub fn order(&self) -> Vec<JobId> {
        self.order.lock().unwrap().clone()
    }

    /// How many run now.
    pub fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    /// How many ran at once at most.
    pub fn running_most(&self) -> usize {
        self.running_most.load(Ordering::SeqCst)
    }

    /// Let so many held probes end.
    pub fn let_go(&self, jobs: usize) {
        self.gate.add_permits(jobs);
    }

    /// Keep the thread busy until let through, or until a test that failed meanwhile may end.
    fn compute(&self) {
        let begun = Instant::now();
        while self.gate.try_acquire().map(|permit| permit.forget()).is_err() && begun.elapsed() < SOON {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn begin(&self, job: JobId) -> Running<'_> {
        *self.runs.lock().unwrap().entry(job).or_default() += 1;
        self.order.lock().unwrap().push(job);
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.running_most.fetch_max(running, Ordering::SeqCst);
        Running(self)
    }

    async fn let_through(&self) {
        self.gate.acquire().await.expect("the gate is never closed").forget();
    }
}

struct Running<'n>(&'n Notes);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

pub struct Probe {
    pub policy: JobPolicy,
    notes: Arc<Notes>,
}

impl Probe {
    pub fn new(notes: &Arc<Notes>) -> Self {
        Probe { policy: JobPolicy::default(), notes: Arc::clone(notes) }
    }
}

impl Handler for Probe {
    const TYPE: &'static str = "PROBE";
    type Payload = Act;

    fn policy(&self) -> JobPolicy {
        self.policy.clone()
    }

    async fn handle(&self, job: &Job<Act>, cx: &Context) -> Result<Effects, HandlerError> {
        act(&self.notes, job, cx).await
    }
}

/// The same under another name.
pub struct Second {
    notes: Arc<Notes>,
}

impl Second {
    pub fn new(notes: &Arc<Notes>) -> Self {
        Second { notes: Arc::clone(notes) }
    }
}

impl Handler for Second {
    const TYPE: &'static str = "SECOND";
    type Payload = Act;

    async fn handle(&self, job: &Job<Act>, cx: &Context) -> Result<Effects, HandlerError> {
        act(&self.notes, job, cx).await
    }
}

async fn act(notes: &Notes, job: &Job<Act>, cx: &Context) -> Result<Effects, HandlerError> {
    let _running = notes.begin(job.id);
    match &job.payload {
        Act::Nothing => {}
        Act::Fail { retryable: true } => return Err(HandlerError::retryable("PROBE_FAILED", "as asked")),
        Act::Fail { retryable: false } => return Err(HandlerError::permanent("PROBE_FAILED", "as asked")),
        Act::SucceedAt { attempt } if job.attempt < *attempt => {
            return Err(HandlerError::retryable("PROBE_FAILED", "not yet"));
        }
        Act::SucceedAt { .. } => {}
        Act::Say { message } => return Err(HandlerError::permanent("PROBE_FAILED", message)),
        Act::Panic => panic!("as asked"),
        Act::Hold => return hold(notes, job.id, cx).await,
        Act::HoldDeaf => notes.let_through().await,
        Act::Take { ms } => tokio::time::sleep(Duration::from_millis(*ms)).await,
        Act::Compute => notes.compute(),
        Act::Snooze { ms } if notes.runs(job.id) == 1 => {
            return Err(HandlerError::Snooze(Duration::from_millis(*ms)));
        }
        Act::Snooze { .. } => {}
        Act::Progress { percents } => {
            for percent in percents {
                cx.progress(*percent, Some("step"), None);
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            return hold(notes, job.id, cx).await;
        }
        Act::Everything { follow_ups } => return everything(job, *follow_ups),
        Act::Enter { ledger } => {
            let version = cx.stream_version(*ledger).await?;
            return Ok(Effects::none().emit(job.tenant_id, LEDGER, *ledger, version, vec![entered()]));
        }
    }
    Ok(Effects::none())
}

async fn hold(notes: &Notes, job: JobId, cx: &Context) -> Result<Effects, HandlerError> {
    tokio::select! {
        () = notes.let_through() => Ok(Effects::none()),
        why = cx.stopped() => {
            notes.stops.lock().unwrap().insert(job, why);
            Err(HandlerError::Cancelled)
        }
    }
}

fn everything(job: &Job<Act>, follow_ups: u32) -> Result<Effects, HandlerError> {
    let name = job.id.to_string();
    let (effects, _) = Effects::none().blob(name.clone().into_bytes());
    let ledger = ledger_of(job.id);
    let mut effects = effects
        .emit(job.tenant_id, LEDGER, ledger, bpc_worker::Version::NONE, vec![entered()])
        .sql(MARK, vec![SqlValue::Text(name)]);
    for _ in 0..follow_ups {
        let next = Enqueue::new("SECOND", &Act::Everything { follow_ups: follow_ups - 1 });
        effects = effects.enqueue(next.expect("an act is JSON"));
    }
    Ok(effects)
}
