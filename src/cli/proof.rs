//! The arguments of what seals, proves and reads the log.

use std::path::PathBuf;

use bpc_core::note::VerifierKey;
use bpc_core::{JobId, StreamId, Timestamp, Version};
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
    /// Make a new key that signs for the log from now on; the old one says so in the log
    #[command(after_help = "\
The new private key takes the place of the old one, which is kept beside it under another name. Workers that
run elsewhere with a copy of the old key file need the new one.

Example:
  bpc keys rotate")]
    Rotate,
    /// Go on under a new name with a log that lost what it had published
    #[command(after_help = "\
For a database that was restored from an older copy: what was signed for is gone, and nothing brings it back
silently. The first event of the new origin names the checkpoint that the old one does not honour any more,
and verify shows it for ever.

Example:
  bpc keys reopen --origin example.org/orders-2")]
    Reopen {
        /// The log's new name
        #[arg(long, value_name = "NAME")]
        origin: String,
        /// The newest known checkpoint of the old origin [default: what the key file's state remembers]
        #[arg(long, value_name = "FILE")]
        lost: Option<PathBuf>,
    },
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
        /// From an archive instead of the database
        #[arg(long, value_name = "DIR")]
        archive: Option<PathBuf>,
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
        /// From an archive instead of the database
        #[arg(long, value_name = "DIR")]
        archive: Option<PathBuf>,
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

#[derive(Debug, Subcommand)]
pub enum ReportCommand {
    /// Every job enqueued in a window, and whether it came to an end
    #[command(after_help = "\
Read from the sealed log, all of it, and checked against the newest signed checkpoint on the way: so it also
shows that no job of the window was left out, up to that checkpoint. Exits with 0 if every job came to an
end, with 1 if some did not or the log does not hold.

Example:
  bpc report completeness --from 2026-11-16T00:00:00Z --to 2026-11-17T00:00:00Z")]
    Completeness {
        /// Enqueued at or after
        #[arg(long, value_name = "TIME", value_parser = value::moment)]
        from: Timestamp,
        /// Enqueued before
        #[arg(long, value_name = "TIME", value_parser = value::moment)]
        to: Timestamp,
        /// Jobs of every tenant
        #[arg(long)]
        all_tenants: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum WitnessCommand {
    /// Run a witness: it signs checkpoints that continue what it signed before, and no others
    #[command(after_help = "\
C2SP tlog-witness: POST /add-checkpoint. The state file is what a witness is worth: it must never be lost or
set back, and no two witnesses may share one.

Example:
  bpc witness serve --listen 127.0.0.1:7071 --name witness.example/w --key witness.key --state witness.state \\
      --log bpc-1a2b3c4d+5e6f7a8b+AY...")]
    Serve {
        /// Address to listen on
        #[arg(long, value_name = "ADDR")]
        listen: std::net::SocketAddr,
        /// File with the witness's private key; made if it is missing and --name is given
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// Name of the witness, for a new key
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// File with what was signed last of each log; made if it is missing
        #[arg(long, value_name = "FILE")]
        state: PathBuf,
        /// Key of a log to witness; may be repeated
        #[arg(long = "log", value_name = "VKEY", required = true, value_parser = value::verifier_key)]
        logs: Vec<VerifierKey>,
    },
    /// Ask a witness to sign the newest checkpoint, and keep its signature with it
    #[command(after_help = "\
Example:
  bpc witness ask http://127.0.0.1:7071 --key witness.example/w+cb1393dc+BIE5...")]
    Ask {
        /// Where the witness is: http://HOST:PORT
        url: String,
        /// The witness's key
        #[arg(long, value_name = "VKEY", value_parser = value::verifier_key)]
        key: VerifierKey,
    },
}
