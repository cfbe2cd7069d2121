//! `bpc jobs list`.

use bpc_projections::{JobFilter, list_jobs};

use crate::call::Call;
use crate::cli::ListArgs;
use crate::error::{Exit, Failure};
use crate::output::Table;

use super::JobLine;

pub async fn run(call: &Call<'_>, args: ListArgs) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let tenant = if args.all_tenants { None } else { Some(call.tenant(&store).await?.tenant_id) };
    let ListArgs { status, job_type, queue, from, to, limit, .. } = args;
    let filter = JobFilter { tenant, status, job_type, queue, from, to, limit };
    let mut tx = store.begin_read().await?;
    let jobs: Vec<JobLine> =
        list_jobs(&mut tx.conn(), &filter).await?.into_iter().map(JobLine::from).collect();
    let mut table = Table::new(["JOB", "STATUS", "TYPE", "QUEUE", ">TRIES", "CREATED", "REMARK"]);
    for job in &jobs {
        call.output.result(job, |output| {
            table.row([
                job.job_id.clone(),
                output.paint().status(job.status),
                job.job_type.clone(),
                job.queue.clone(),
                format!("{}/{}", job.attempts, job.max_attempts),
                to_the_second(&job.created_at),
                remark(job),
            ]);
        });
    }
    if jobs.is_empty() {
        call.output.line("no jobs");
    } else {
        table.print(call.output);
    }
    if jobs.len() == limit as usize {
        call.output.remark(format_args!("These are the newest {limit}; --limit shows more."));
    }
    Ok(Exit::Done)
}

/// The one thing that is worth knowing besides the columns.
fn remark(job: &JobLine) -> String {
    match job {
        JobLine { resolved: true, .. } => "resolved by a person".to_owned(),
        JobLine { error_code: Some(code), .. } => code.clone(),
        JobLine { cancel_requested: true, .. } => "cancel requested".to_owned(),
        JobLine { progress_percent: Some(percent), .. } => format!("{percent} %"),
        JobLine { worker_id: Some(worker), .. } => worker.clone(),
        JobLine { finished_at: None, scheduled_at, created_at, .. } if scheduled_at > created_at => {
            format!("due {}", to_the_second(scheduled_at))
        }
        _ => String::new(),
    }
}

fn to_the_second(moment: &str) -> String {
    format!("{}Z", &moment[..19])
}
