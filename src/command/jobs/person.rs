//! `bpc jobs cancel`, `replay` and `resolve`: what a person decides about a job.

use bpc_core::Status;
use bpc_core::job::Placement;
use bpc_worker::JobId;

use crate::call::Call;
use crate::cli::PersonArgs;
use crate::error::{Exit, Failure};

use super::{JobLine, refused};

pub async fn cancel(call: &Call<'_>, job_id: JobId, reason: Option<String>) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let job = call.engine(&store).cancel(tenant, &call.actor, job_id, reason).await;
    let job = JobLine::from(Placement::of(job.map_err(|error| refused(call, job_id, error))?));
    print(
        call,
        &job,
        match job.status {
            Status::Running => "will stop as soon as its handler looks",
            _ => "is cancelled",
        },
    )
}

pub async fn replay(call: &Call<'_>, args: PersonArgs) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let job = call.engine(&store).replay(tenant, &call.actor, args.job_id, args.reason).await;
    let job = JobLine::from(Placement::of(job.map_err(|error| refused(call, args.job_id, error))?));
    print(call, &job, "is back in the queue")
}

pub async fn resolve(call: &Call<'_>, args: PersonArgs) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let job = call.engine(&store).resolve(tenant, &call.actor, args.job_id, args.reason).await;
    let job = JobLine::from(Placement::of(job.map_err(|error| refused(call, args.job_id, error))?));
    print(call, &job, "is closed for good")
}

fn print(call: &Call<'_>, job: &JobLine, what: &str) -> Result<Exit, Failure> {
    call.output.result(job, |output| {
        output.line(format_args!("job {} {what}: {}", job.job_id, output.paint().status(job.status)));
    });
    Ok(Exit::Done)
}
