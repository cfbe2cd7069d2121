//! `bpc report`: what the log shows about many jobs.

mod completeness;

use crate::call::Call;
use crate::cli::ReportCommand;
use crate::error::{Exit, Failure};

pub async fn run(call: &Call<'_>, command: ReportCommand) -> Result<Exit, Failure> {
    let ReportCommand::Completeness { from, to, all_tenants } = command;
    completeness::run(call, from, to, all_tenants).await
}
