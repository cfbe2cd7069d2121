//! `bpc report completeness`.

use std::collections::BTreeMap;

use bpc_core::{Job, Timestamp};
use bpc_eventstore::seal::unsealed;
use bpc_projections::{Completeness, Window, completeness};
use serde::Serialize;

use crate::call::Call;
use crate::command::checkpoint::{newest, open};
use crate::error::{Exit, Failure};
use crate::output::{Output, Table, count, moment, per_second, span};
use crate::progress;

pub(super) async fn run(
    call: &Call<'_>,
    from: Timestamp,
    to: Timestamp,
    all_tenants: bool,
) -> Result<Exit, Failure> {
    if from >= to {
        return Err(Failure::usage("--from must be before --to"));
    }
    let store = call.open().await?;
    let tenant = if all_tenants { None } else { Some(call.tenant(&store).await?.tenant_id) };
    let (stored, keys) = newest(&mut store.begin_read().await?.conn()).await?;
    let checkpoint = open(&stored, &keys)?.checkpoint;
    let bar = progress::bar(call.output, "report", checkpoint.size);
    let window = Window { from, to, tenant };
    let read = completeness(&store, window, checkpoint.size, |events| bar.set_position(events)).await;
    bar.finish_and_clear();
    let read = read?;
    if read.root != checkpoint.root {
        let (size, signed, found) = (checkpoint.size, checkpoint.root, read.root);
        let problem = format!(
            "the first {size} events hash to {found}, the checkpoint signs {signed}: the log was changed; run `bpc verify`"
        );
        return Err(Failure::refused("ROOT_MISMATCH", problem));
    }
    let waiting = unsealed(&store).await?.events;
    let report = Report::of(window, &read, checkpoint.origin, waiting);
    call.output.result(&report, |output| print(output, &report, &read));
    Ok(if read.open.is_empty() { Exit::Done } else { Exit::Findings })
}

/// The names are part of the contract.
#[derive(Serialize)]
struct Report {
    from: String,
    to: String,
    origin: String,
    /// It speaks for positions below this, which the newest checkpoint signs.
    up_to_position: u64,
    root: String,
    /// Events that no seal covers: a job enqueued by one of them is not in here.
    unsealed: u64,
    jobs: u64,
    ended: BTreeMap<&'static str, u64>,
    open_total: u64,
    open: Vec<OpenJob>,
}

#[derive(Serialize)]
struct OpenJob {
    job_id: String,
    tenant_id: String,
    #[serde(rename = "type")]
    job_type: String,
    status: &'static str,
    attempts: u32,
    created_at: String,
    scheduled_at: String,
}

impl Report {
    fn of(window: Window, read: &Completeness, origin: String, unsealed: u64) -> Self {
        let ended: BTreeMap<&'static str, u64> =
            read.ended.iter().map(|(status, jobs)| (status.as_str(), *jobs)).collect();
        Report {
            from: window.from.to_string(),
            to: window.to.to_string(),
            origin,
            up_to_position: read.size,
            root: read.root.to_string(),
            unsealed,
            jobs: ended.values().sum::<u64>() + read.open.len() as u64,
            ended,
            open_total: read.open.len() as u64,
            open: read.open.iter().map(OpenJob::of).collect(),
        }
    }
}

impl OpenJob {
    fn of(job: &Job) -> Self {
        OpenJob {
            job_id: job.job_id.to_string(),
            tenant_id: job.tenant_id.to_string(),
            job_type: job.job_type.clone(),
            status: job.status().as_str(),
            attempts: job.attempts,
            created_at: job.created_at.to_string(),
            scheduled_at: job.scheduled_at.to_string(),
        }
    }
}

fn print(output: &Output, report: &Report, read: &Completeness) {
    let paint = output.paint();
    if !report.open.is_empty() {
        let mut table = Table::new(["JOB", "STATUS", "TYPE", ">TRIES", "CREATED", "DUE"]);
        for job in &read.open {
            table.row([
                job.job_id.to_string(),
                paint.status(job.status()),
                job.job_type.clone(),
                format!("{}/{}", job.attempts, job.max_attempts),
                moment(job.created_at),
                moment(job.scheduled_at),
            ]);
        }
        table.print(output);
        output.line("");
    }
    let mut table = Table::pairs();
    table.pair("window", format!("{} to {}", report.from, report.to));
    table.pair("jobs", format!("{} enqueued", count(report.jobs)));
    for (status, jobs) in &report.ended {
        table.pair("ended", format!("{} {status}", count(*jobs)));
    }
    table.pair(
        "open",
        match report.open_total {
            0 => paint.good("none: every one of them came to an end"),
            open => paint.bad(count(open)),
        },
    );
    table.pair(
        "up to",
        format!("position {} of {}, root {}", count(report.up_to_position), report.origin, report.root),
    );
    table.pair("unsealed", format!("{} events, of which this says nothing", count(report.unsealed)));
    let rate = per_second(read.size, read.elapsed) as u64;
    table.pair("took", format!("{}, {} events/s", span(read.elapsed), count(rate)));
    table.print(output);
}
