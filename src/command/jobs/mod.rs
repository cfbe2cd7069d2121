//! `bpc jobs`: look at jobs, and command them.

mod line;
mod list;
mod person;
mod show;
mod stats;

use bpc_core::job::Refusal;
use bpc_worker::{Engine, EngineError, JobId};
use serde::Serialize;

use crate::call::Call;
use crate::cli::JobsCommand;
use crate::error::{Exit, Failure};
use crate::output::moment;

pub use line::JobLine;
pub use show::print_timeline;
pub use stats::{counts, print_statuses};

pub async fn run(call: &Call<'_>, command: JobsCommand) -> Result<Exit, Failure> {
    match command {
        JobsCommand::List(args) => list::run(call, args).await,
        JobsCommand::Show { job_id } => show::run(call, job_id).await,
        JobsCommand::Cancel { job_id, reason } => person::cancel(call, job_id, reason).await,
        JobsCommand::Replay(args) => person::replay(call, args).await,
        JobsCommand::Resolve(args) => person::resolve(call, args).await,
        JobsCommand::Why { job_id } => why(call, job_id).await,
        JobsCommand::Stats => stats::run(call).await,
    }
}

/// The names are part of the contract.
#[derive(Serialize)]
struct WhyLine<'a> {
    job_id: JobId,
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
}

async fn why(call: &Call<'_>, job_id: JobId) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let engine: Engine = call.engine(&store);
    let why = engine.why(tenant, job_id).await?.ok_or_else(|| not_found(call, job_id))?;
    let until = why.until.map(|until| until.to_string());
    let line = WhyLine { job_id, code: why.code, message: &why.message, until };
    call.output.result(&line, |output| {
        output.line(format_args!("{}: {}", output.paint().heading(why.code), why.message));
        if let Some(until) = why.until {
            output.line(output.paint().faint(format_args!("until {}", moment(until))));
        }
    });
    Ok(Exit::Done)
}

/// Whose job was looked for is the usual surprise.
pub fn not_found(call: &Call<'_>, job_id: JobId) -> Failure {
    let refusal = Refusal::NotFound;
    Failure::refused(refusal.code(), format!("tenant {} has no job {job_id}", call.tenant))
}

/// An error of a command on one job.
fn refused(call: &Call<'_>, job_id: JobId, error: EngineError) -> Failure {
    match error {
        EngineError::Refused(Refusal::NotFound) => not_found(call, job_id),
        error => error.into(),
    }
}
