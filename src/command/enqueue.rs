//! `bpc enqueue`: ask for jobs, and get a receipt for each.

use std::io::Read;
use std::time::Duration;

use bpc_worker::{Due, Engine, EngineError, Enqueue, Enqueued, TenantId, Trigger};
use serde::Serialize;

use crate::call::Call;
use crate::cli::EnqueueArgs;
use crate::error::{Exit, Failure};
use crate::output::{Output, count};
use crate::{packs, progress};

/// Jobs per transaction: beyond this a larger one gains little and holds the writer for longer.
const BATCH: usize = 1000;
/// How long a broker may keep the program from ending. The job is durable by then, and polling finds it.
const TRIGGER_MAX: Duration = Duration::from_secs(3);

pub async fn run(call: &Call<'_>, args: EnqueueArgs) -> Result<Exit, Failure> {
    if args.count > 1 && args.key.is_some() {
        return Err(Failure::usage("--key names one job, so it cannot be used with --count above 1"));
    }
    let number = args.count;
    // Refused before there is a database, so that a typing error does not make one.
    check_type(&args.job_type)?;
    let job = request(args)?;
    let store = call.open_or_create().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let trigger = call.settings.rabbit.clone().map(Trigger::start);
    let mut engine = call.engine(&store);
    if let Some(trigger) = &trigger {
        engine = engine.with_trigger(trigger.clone());
    }
    if number == 1 {
        let enqueued = engine.enqueue(tenant, &call.actor, job).await?;
        print(call.output, &enqueued);
    } else {
        many(call, &engine, tenant, job, number).await?;
    }
    if let Some(trigger) = trigger
        && tokio::time::timeout(TRIGGER_MAX, trigger.flush()).await.is_err()
    {
        tracing::warn!("the RabbitMQ trigger was not sent within {TRIGGER_MAX:?}, workers will poll");
    }
    Ok(Exit::Done)
}

async fn many(
    call: &Call<'_>,
    engine: &Engine,
    tenant: TenantId,
    job: Enqueue,
    number: usize,
) -> Result<(), Failure> {
    let bar = progress::bar(call.output, "enqueue", number as u64);
    let mut left = number;
    while left > 0 {
        let batch = left.min(BATCH);
        for outcome in engine.enqueue_all(tenant, &call.actor, vec![job.clone(); batch]).await? {
            // All rows are the same, so a refusal comes with the first one, before anything is written.
            let enqueued = outcome?;
            call.output.result(&Receipt::of(&enqueued), |_| {});
        }
        left -= batch;
        bar.inc(batch as u64);
    }
    bar.finish_and_clear();
    call.output.line(format_args!("enqueued {} jobs", count(number as u64)));
    Ok(())
}

fn request(args: EnqueueArgs) -> Result<Enqueue, Failure> {
    let payload = payload(&args.payload)?;
    let mut job = Enqueue::from_json(args.job_type, &payload)?.due(match (args.delay, args.at) {
        (Some(delay), _) => Due::After(delay),
        (None, Some(at)) => Due::At(at),
        (None, None) => Due::Now,
    });
    if let Some(key) = args.key {
        job = job.key(key);
    }
    if let Some(queue) = args.queue {
        job = job.queue(queue);
    }
    if let Some(priority) = args.priority {
        job = job.priority(priority);
    }
    if let Some(attempts) = args.max_attempts {
        job = job.max_attempts(attempts);
    }
    Ok(job)
}

/// JSON text, a file that holds it, or stdin.
fn payload(text: &str) -> Result<Vec<u8>, Failure> {
    let unreadable = |what: &str, error: std::io::Error| {
        Failure::wrong_use("INPUT_UNREADABLE", format!("the payload cannot be read from {what}: {error}"))
    };
    if text == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(|error| unreadable("stdin", error))?;
        return Ok(bytes);
    }
    match text.strip_prefix('@') {
        Some(file) => std::fs::read(file).map_err(|error| unreadable(file, error)),
        None => Ok(text.as_bytes().to_vec()),
    }
}

/// An unknown type is answered with the known ones.
fn check_type(name: &str) -> Result<(), Failure> {
    let registry = packs::names();
    if registry.job_type(name).is_some() {
        return Ok(());
    }
    let known = registry.type_names().collect::<Vec<_>>().join(", ");
    let code = EngineError::UnknownType(name.to_owned()).code();
    Err(Failure::refused(code, format!("job type {name:?} is not known here; the known ones are {known}")))
}

fn print(output: &Output, enqueued: &Enqueued) {
    output.result(&Receipt::of(enqueued), |output| {
        let paint = output.paint();
        let verb = if enqueued.created { "enqueued" } else { "exists already" };
        output.line(format_args!("job      {} {}", enqueued.job_id, paint.faint(verb)));
        output.line(format_args!("receipt  {}", enqueued.event_hash));
    });
}

/// The names are part of the contract.
#[derive(Serialize)]
struct Receipt {
    job_id: String,
    event_hash: String,
    created: bool,
}

impl Receipt {
    fn of(enqueued: &Enqueued) -> Self {
        let Enqueued { job_id, event_hash, created } = enqueued;
        Receipt { job_id: job_id.to_string(), event_hash: event_hash.to_string(), created: *created }
    }
}
