//! The arguments of what seals, proves and reads the log.

use std::path::PathBuf;

use bpc_core::note::VerifierKey;
use bpc_core::{JobId, StreamId, Version};
use clap::{Args, Subcommand};

use super::value;

#[derive(Debug, Args)]
pub struct SealArgs {
    /// Seal what is committed now, sign, and end
    #[arg(long, required = true)]
    pub once: bool,
}

#[derive(Debug, Args)]
pub struct CheckpointArgs {
    /// A checkpoint that was kept: prove that the newest one continues it
    #[arg(long, value_name = "FILE")]
    pub since: Option<PathBuf>,
    /// Write it there instead of printing it
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// List the keys that sign or signed for the log, oldest first
    #[command(after_help = "\
The line name+id+base64 is what `bpc check --key` and other tools for signed notes take. Hand it to
customers and auditors on a way that does not lead through this database.

Example:
  bpc keys list --json")]
    List,
}

#[derive(Debug, Subcommand)]
pub enum ProveCommand {
    /// Prove what happened to a job, from its first event on
    #[command(after_help = "\
The file holds the job's events, their places in the sealed log and a signed checkpoint. `bpc check`
needs it and the log's key, no database and no network.

Example:
  bpc prove job 0193a6b2-7c41-7e11-9d0c-2f6a1b8e4c55 -o job.proof")]
    Job {
        /// The job
        #[arg(value_name = "ID", value_parser = value::job_id)]
        job_id: JobId,
        /// Write it there instead of printing it
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Prove one event of any stream
    #[command(
        after_help = "Example:\n  bpc prove event 0193a6b2-7c41-7e11-9d0c-2f6a1b8e4c55 2 -o event.proof"
    )]
    Event {
        /// The stream; a job's has the job's id
        #[arg(value_name = "STREAM", value_parser = value::stream_id)]
        stream_id: StreamId,
        /// The event's version in it, from 1
        #[arg(value_name = "VERSION", value_parser = value::version)]
        version: Version,
        /// Write it there instead of printing it
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A proof file, a checkpoint, or what `bpc checkpoint --since` printed
    pub file: PathBuf,
    /// Key of the log, or of a witness, as `bpc keys list` shows it; may be repeated
    #[arg(long = "key", value_name = "VKEY", required = true, value_parser = value::verifier_key)]
    pub keys: Vec<VerifierKey>,
    /// The checkpoint that was kept, for what `bpc checkpoint --since` printed
    #[arg(long, value_name = "FILE")]
    pub since: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct LogArgs {
    /// From this position on
    #[arg(long, value_name = "P", default_value_t = 0)]
    pub from: u64,
    /// Up to, and without, this position
    #[arg(long, value_name = "P", conflicts_with = "follow")]
    pub to: Option<u64>,
    /// Only this stream
    #[arg(long, value_name = "STREAM", value_parser = value::stream_id)]
    pub stream: Option<StreamId>,
    /// Only events of this type, such as DEAD_LETTERED
    #[arg(long = "type", value_name = "TYPE")]
    pub event_type: Option<String>,
    /// Go on with what is sealed from now on, until Ctrl-C
    #[arg(long)]
    pub follow: bool,
}
