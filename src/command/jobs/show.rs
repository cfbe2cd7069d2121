//! `bpc jobs show`: the state, and the events it was folded from.

use bpc_core::job::Placement;
use bpc_worker::{JobHistory, JobId, RecordedEvent};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::call::Call;
use crate::error::{Exit, Failure};
use crate::output::{Output, Table};

use super::{JobLine, not_found};

pub async fn run(call: &Call<'_>, job_id: JobId) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let history = call.engine(&store).history(tenant, job_id).await?;
    let JobHistory { job, events } = history.ok_or_else(|| not_found(call, job_id))?;
    let job = JobLine::from(Placement::of(job));
    let shown = Shown { job: &job, events: events.iter().map(EventLine::of).collect() };
    call.output.result(&shown, |output| {
        print_state(output, &job);
        output.line("");
        print_timeline(output, &events);
    });
    Ok(Exit::Done)
}

/// The names are part of the contract.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    job: &'a JobLine,
    events: Vec<EventLine<'a>>,
}

#[derive(Serialize)]
struct EventLine<'a> {
    version: u32,
    event_type: &'a str,
    occurred_at: String,
    actor: &'a str,
    event_hash: String,
    /// To the letter as it was hashed.
    payload: Option<&'a RawValue>,
}

impl<'a> EventLine<'a> {
    fn of(event: &'a RecordedEvent) -> Self {
        EventLine {
            version: event.version.0,
            event_type: &event.event_type,
            occurred_at: event.occurred_at.to_string(),
            actor: &event.actor,
            event_hash: event.event_hash.to_string(),
            payload: serde_json::from_str(&event.payload).ok(),
        }
    }
}

fn print_state(output: &Output, job: &JobLine) {
    let mut table = Table::pairs();
    table.pair("job", output.paint().heading(&job.job_id));
    table.pair("status", output.paint().status(job.status));
    table.pair("type", &job.job_type);
    table.pair("queue", format!("{}, priority {}", job.queue, job.priority));
    table.pair("attempts", format!("{} of {}", job.attempts, job.max_attempts));
    table.pair("created", &job.created_at);
    table.pair("due", &job.scheduled_at);
    let worker = job.worker_id.as_ref().zip(job.lease_expires_at.as_ref());
    let optional = [
        ("leased to", worker.map(|(worker, until)| format!("{worker} until {until}"))),
        ("progress", job.progress_percent.map(|percent| format!("{percent} %"))),
        ("cancel", job.cancel_requested.then(|| "requested".to_owned())),
        ("finished", job.finished_at.clone()),
        ("resolved", job.resolved.then(|| "by a person".to_owned())),
        ("error", job.error_code.clone().map(|code| described(&code, job.error_message.as_deref()))),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            table.pair(name, value);
        }
    }
    table.print(output);
}

fn described(code: &str, message: Option<&str>) -> String {
    message.map_or_else(|| code.to_owned(), |message| format!("{code}: {message}"))
}

/// What happened, one line per event.
pub fn print_timeline(output: &Output, events: &[RecordedEvent]) {
    let paint = output.paint();
    let mut table = Table::new([">#", "TIME", "EVENT", "HASH", "ACTOR", "WHAT"]);
    for event in events {
        table.row([
            event.version.to_string(),
            event.occurred_at.to_string()[11..23].to_owned(),
            event.event_type.clone(),
            paint.faint(&event.event_hash.to_string()[..12]),
            event.actor.clone(),
            paint.faint(shortened(&summary(&event.payload))),
        ]);
    }
    table.print(output);
}

/// The payload as `name value` pairs, without what the other columns or the state say already.
fn summary(payload: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(payload) else { return String::new() };
    let said = ["job_type", "queue", "priority", "max_attempts", "actor", "worker_id"];
    let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    let part = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name} {text}"),
        Value::Object(fields) if name == "error" => {
            let field = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
            format!("{}: {}", field("code"), field("message"))
        }
        Value::Array(items) => format!("{name} {}", items.len()),
        value => format!("{name} {value}"),
    };
    let told = fields.iter().filter(|(name, value)| !said.contains(&name.as_str()) && !is_empty(value));
    told.map(part).collect::<Vec<_>>().join(", ")
}

/// A timeline is for the eye; `--json` has everything.
fn shortened(text: &str) -> String {
    const WIDTH: usize = 72;
    if text.chars().count() <= WIDTH {
        return text.to_owned();
    }
    text.chars().take(WIDTH - 1).chain(['…']).collect()
}
