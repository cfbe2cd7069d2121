//! The arguments of `bpc jobs`.

use bpc_core::{JobId, Status, Timestamp};
use clap::{Args, Subcommand};

use super::value;

#[derive(Debug, Subcommand)]
pub enum JobsCommand {
    /// List jobs, newest first
    #[command(after_help = "Example:\n  bpc jobs list --status DEAD_LETTER --limit 20")]
    List(ListArgs),
    /// Show a job and everything that happened to it
    #[command(after_help = "Example:\n  bpc jobs show 0193a6b2-7c41-7e11-9d0c-2f6a1b8e4c55")]
    Show {
        /// The job
        #[arg(value_name = "ID", value_parser = value::job_id)]
        job_id: JobId,
    },
    /// Stop a job: at once while it waits, as soon as its handler looks while it runs
    #[command(after_help = "\
Example:
  bpc jobs cancel 0193a6b2-7c41-7e11-9d0c-2f6a1b8e4c55 --reason \"ordered twice\"")]
    Cancel {
        /// The job
        #[arg(value_name = "ID", value_parser = value::job_id)]
        job_id: JobId,
        /// Why
        #[arg(long, value_parser = value::reason)]
        reason: Option<String>,
    },
    /// Send a failed or dead-lettered job back into the queue
    #[command(after_help = "\
Its attempts begin again; its history stays, and so does the reason.

Example:
  bpc jobs replay 0193a6b2-7c41-7e11-9d0c-2f6a1b8e4c55 --reason \"the printer is back\"")]
    Replay(PersonArgs),
    /// Close a failed or dead-lettered job for good
    #[command(after_help = "\
Example:
  bpc jobs resolve 0193a6b2-7c41-7e11-9d0c-2f6a1b8e4c55 --reason \"refunded by hand\"")]
    Resolve(PersonArgs),
    /// Say which rule holds a job back, and until when
    #[command(after_help = "Example:\n  bpc jobs why 0193a6b2-7c41-7e11-9d0c-2f6a1b8e4c55")]
    Why {
        /// The job
        #[arg(value_name = "ID", value_parser = value::job_id)]
        job_id: JobId,
    },
    /// Count jobs by status, type and queue
    #[command(after_help = "Example:\n  bpc jobs stats --tenant acme")]
    Stats,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// QUEUED, RUNNING, SUCCEEDED, FAILED, CANCELLED or DEAD_LETTER
    #[arg(long, value_parser = value::status)]
    pub status: Option<Status>,
    /// Only this type
    #[arg(long = "type", value_name = "TYPE")]
    pub job_type: Option<String>,
    /// Only this queue
    #[arg(long)]
    pub queue: Option<String>,
    /// Enqueued at or after, such as 2026-11-16T19:48:31Z
    #[arg(long, value_name = "TIME", value_parser = value::moment)]
    pub from: Option<Timestamp>,
    /// Enqueued before
    #[arg(long, value_name = "TIME", value_parser = value::moment)]
    pub to: Option<Timestamp>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Jobs of every tenant
    #[arg(long)]
    pub all_tenants: bool,
}

#[derive(Debug, Args)]
pub struct PersonArgs {
    /// The job
    #[arg(value_name = "ID", value_parser = value::job_id)]
    pub job_id: JobId,
    /// Why; kept in the log
    #[arg(long, value_parser = value::reason)]
    pub reason: String,
}
