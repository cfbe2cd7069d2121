//! `bpc jobs stats`: how many jobs stand where.

use bpc_core::{Status, TenantId};
use bpc_eventstore::Store;
use bpc_projections::{StatusCount, jobs_by_status};
use serde::Serialize;

use crate::call::Call;
use crate::error::{Exit, Failure};
use crate::output::{Output, Table, count};

pub async fn run(call: &Call<'_>) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let counts = counts(&store, tenant).await?;
    let mut table = Table::new(["STATUS", "TYPE", "QUEUE", ">JOBS"]);
    for StatusCount { status, job_type, queue, jobs } in &counts {
        let line = CountLine { status: status.as_str(), job_type, queue, jobs: *jobs };
        call.output.result(&line, |output| {
            table.row([output.paint().status(*status), job_type.clone(), queue.clone(), count(*jobs)]);
        });
    }
    if counts.is_empty() {
        call.output.line("no jobs");
    } else {
        table.print(call.output);
    }
    Ok(Exit::Done)
}

/// The names are part of the contract.
#[derive(Serialize)]
struct CountLine<'a> {
    status: &'a str,
    #[serde(rename = "type")]
    job_type: &'a str,
    queue: &'a str,
    jobs: u64,
}

/// How many jobs of a tenant stand where.
pub async fn counts(store: &Store, tenant: TenantId) -> Result<Vec<StatusCount>, Failure> {
    let mut tx = store.begin_read().await?;
    Ok(jobs_by_status(&mut tx.conn(), tenant).await?)
}

/// One line per status that has jobs.
pub fn print_statuses(output: &Output, counts: &[StatusCount]) {
    let mut table = Table::new(["STATUS", ">JOBS", "TYPES"]);
    for status in Status::ALL {
        let of_status: Vec<&StatusCount> = counts.iter().filter(|it| it.status == status).collect();
        if of_status.is_empty() {
            continue;
        }
        let mut types: Vec<&str> = of_status.iter().map(|it| it.job_type.as_str()).collect();
        types.dedup();
        let jobs = of_status.iter().map(|it| it.jobs).sum();
        table.row([output.paint().status(status), count(jobs), types.join(", ")]);
    }
    table.print(output);
}
