//! The arguments, and what `--help` says about them.

mod document;
mod jobs;
mod passport;
mod proof;
mod rules;
mod snapshot;
mod usage;
mod value;
mod verify;
mod webhook;

use std::path::PathBuf;
use std::time::Duration;

use bpc_core::Timestamp;
use clap::{Args, Parser, Subcommand};

use crate::output::ColorWhen;

pub use document::{AddArgs as DocumentAddArgs, DocumentCommand, FactsArgs, FactsCommand};
pub use jobs::{JobsCommand, ListArgs, PersonArgs};
pub use passport::{PassportCommand, ProductCommand};
pub use proof::{
    CheckArgs, CheckpointArgs, KeysCommand, LogArgs, ProveCommand, ReportCommand, SealArgs, WitnessCommand,
};
pub use rules::RulesCommand;
pub use snapshot::SnapshotCommand;
pub use usage::parse;
pub use verify::{ArchiveArgs, ExportCommand, ReplayArgs, VerifyArgs};
pub use webhook::{EndpointCommand, WebhookCommand};

/// The job engine that can prove what it did.
#[derive(Debug, Parser)]
#[command(name = "bpc", version, disable_help_subcommand = true, after_help = AFTER)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

const AFTER: &str = "\
First steps:
  bpc demo                                 a guided tour in a directory of its own
  bpc enqueue DRILL_NOOP && bpc worker --until-idle && bpc jobs list

Exit codes: 0 done, 1 findings or refused, 2 wrong use, bad configuration or no connection.";

#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// sqlite://FILE or postgres://USER@HOST/NAME [env: BPC_DATABASE_URL] [default: sqlite://bpc.db]
    #[arg(long, global = true, value_name = "URL")]
    pub database: Option<String>,
    /// Slug or id of the tenant [env: BPC_TENANT] [default: default]
    #[arg(long, global = true, value_name = "TENANT")]
    pub tenant: Option<String>,
    /// Print one JSON object per line
    #[arg(long, global = true)]
    pub json: bool,
    /// When to use colour
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        hide_possible_values = true
    )]
    pub color: ColorWhen,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Take a guided tour on a fresh SQLite file
    #[command(after_help = "Example:\n  bpc demo --directory tour")]
    Demo(DemoArgs),
    /// Make the schema, the default tenant and the log's key; safe to repeat
    #[command(after_help = "\
The private key stays in a file: FILE.key beside an SQLite database FILE, otherwise bpc-log.key in the
working directory.
It is never overwritten; only the public key goes into the log.

Example:
  bpc init --database sqlite://orders.db")]
    Init,
    /// Add or list tenants
    #[command(subcommand, after_help = "Example:\n  bpc tenant add acme --name \"Acme Batteries\"")]
    Tenant(TenantCommand),
    /// Run jobs until told to stop
    #[command(after_help = "\
SIGTERM or Ctrl-C stops it: running handlers may finish within the grace period, what is left is given
back without spending the attempt. A second signal ends it at once with code 130.

Settings by environment: BPC_WORKER_ID, BPC_JOBS_CONCURRENCY, BPC_JOBS_POLL_INTERVAL_MS,
BPC_JOBS_LEASE_SECONDS, BPC_JOBS_LEASE_RENEW_SECONDS, BPC_QUEUE_ENABLED, BPC_QUEUE_URL,
BPC_QUEUE_EXCHANGE, BPC_QUEUE_ROUTING_KEY, BPC_LOG_LEVEL, BPC_LOG_JSON.

Example:
  bpc worker --concurrency 16 --queues default,mail")]
    Worker(WorkerArgs),
    /// Enqueue a job, or many
    Enqueue(EnqueueArgs),
    /// List, show and command jobs
    #[command(subcommand, after_help = "Example:\n  bpc jobs list --status DEAD_LETTER")]
    Jobs(JobsCommand),
    /// Upload documents that facts are read from
    #[command(subcommand, after_help = "Example:\n  bpc document add battery.json --kind bom")]
    Document(DocumentCommand),
    /// List and show facts, down to the place in the document
    #[command(subcommand, after_help = "Example:\n  bpc facts list --type Battery")]
    Facts(FactsCommand),
    /// Choose, check and seal the facts of passports
    #[command(subcommand, after_help = "Example:\n  bpc snapshot create --document ID")]
    Snapshot(SnapshotCommand),
    /// Add, test and publish rule packages
    #[command(subcommand, after_help = "Example:\n  bpc rules add rules/eu-2023-1542/v2.0")]
    Rules(RulesCommand),
    /// Add products
    #[command(subcommand, after_help = "Example:\n  bpc product add SKU-1")]
    Product(ProductCommand),
    /// Compile, sign, show and check battery passports
    #[command(
        subcommand,
        after_help = "\
From a file to a passport in force; each ID is printed by the command before:
  bpc document add battery.json --kind bom
  bpc rules add rules/eu-2023-1542/v2.0
  bpc worker --until-idle
  bpc rules publish ID
  bpc snapshot create --document ID
  bpc snapshot build ID && bpc worker --until-idle && bpc snapshot seal ID
  bpc product add SKU-1
  bpc passport create --product SKU-1
  bpc passport compile ID --snapshot ID --rules ID && bpc worker --until-idle
  bpc passport list && bpc passport activate ID"
    )]
    Passport(PassportCommand),
    /// Tell others what happens, signed
    #[command(subcommand, after_help = "Example:\n  bpc webhook endpoint add https://example.com/hook")]
    Webhook(WebhookCommand),
    /// Check the whole log, and say which level of assurance held up to where
    #[command(after_help = "\
L0  bytes, columns, chain, dense versions, legal histories     rules out careless edits
L1  + order, tree, leaves, checkpoints, keys                   ... anything done without the log's key
L2  + checkpoints that you kept (--checkpoint)                 ... truncation, old backups, a stolen key
L3  + witnesses that signed (--witness)                        ... different histories for different people

A sealed log is checked at L1 unless more is asked for. Exits with 0 if everything held, with 1 if there are
findings, with 2 if it could not be checked.

Examples:
  bpc verify
  bpc verify --passports
  bpc verify --checkpoint kept.txt --projections --blobs --report report.html")]
    Verify(VerifyArgs),
    /// Say what the log shows about many jobs
    #[command(
        subcommand,
        after_help = "\
Example:
  bpc report completeness --from 2026-11-16T00:00:00Z --to 2026-11-17T00:00:00Z"
    )]
    Report(ReportCommand),
    /// Be a witness of other logs, or ask one
    #[command(
        subcommand,
        after_help = "\
Example:
  bpc witness ask http://127.0.0.1:7071 --key witness.example/w+cb1393dc+BIE5..."
    )]
    Witness(WitnessCommand),
    /// Write the sealed log into a directory of files
    #[command(after_help = "\
Segments of events, tiles, checkpoints, blobs and a manifest: everything that `bpc replay --archive` needs
when the database is gone. Called again, it goes on from where it ended.

Example:
  bpc archive --to archive")]
    Archive(ArchiveArgs),
    /// Export the log for other tools
    #[command(subcommand, after_help = "Example:\n  bpc export parquet --to parquet")]
    Export(ExportCommand),
    /// Read the log in its sealed order
    #[command(after_help = "\
Positions count over the whole log, all tenants together, unless --tenant names one. With --json each
line carries the event to the letter as it was hashed.

Examples:
  bpc log --from 100 --to 120
  bpc log --type DEAD_LETTERED --follow --json")]
    Log(LogArgs),
    /// Give the newest events their place in the sealed order, and sign
    #[command(after_help = "\
A worker does the same all the time. It takes the log's private key: FILE.key beside an SQLite
database FILE, otherwise bpc-log.key in the working directory.

Example:
  bpc seal --once")]
    Seal(SealArgs),
    /// Print the newest signed checkpoint of the log
    #[command(after_help = "\
Keep it where nobody who can write to the database can reach. With --since FILE it comes with the proof
that it continues the one in FILE; `bpc check` checks that.

Examples:
  bpc checkpoint > kept.txt
  bpc checkpoint --since kept.txt > since.txt")]
    Checkpoint(CheckpointArgs),
    /// List or change the keys that sign for the log
    #[command(subcommand, after_help = "Example:\n  bpc keys list")]
    Keys(KeysCommand),
    /// Write a proof that can be checked without the database
    #[command(
        subcommand,
        after_help = "\
Example:
  bpc prove job 0193a6b2-7c41-7e11-9d0c-2f6a1b8e4c55 -o job.proof"
    )]
    Prove(ProveCommand),
    /// Check a proof or checkpoint, without database and network
    #[command(after_help = "\
Exits with 0 if it holds, with 1 if it does not, with 2 if it could not be checked.

Examples:
  bpc check job.proof --key bpc-1a2b3c4d+5e6f7a8b+AY...
  bpc check since.txt --since kept.txt --key bpc-1a2b3c4d+5e6f7a8b+AY...")]
    Check(CheckArgs),
    /// Compute the views again from the log: to compare, to repair, or into a file
    #[command(after_help = "\
--check compares with the live views and exits with 1 if one says something else; --repair rewrites those
rows in one transaction; --into makes an SQLite file with every view as it is, or was, for any tool to open.

Examples:
  bpc replay --check
  bpc replay --into state.sqlite --as-of 2026-11-16T19:48:31Z
  bpc replay --into state.sqlite --archive archive --to 100000")]
    Replay(ReplayArgs),
    /// Measure this database, in a tenant of its own
    #[command(after_help = "\
It enqueues and runs jobs that do nothing, measures how soon an idle worker starts a job, and verifies.
What it writes stays in the log for ever, as everything does: prefer a database made for it.

With --passports it takes varied batteries from document to signed passport instead.

Examples:
  bpc bench --database sqlite://bench.db --jobs 20000
  bpc bench --database sqlite://bench.db --passports 500 --workers 2")]
    Bench(BenchArgs),
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Where to put the tour's files; must not exist, or be empty [default: bpc-demo-TIME]
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum TenantCommand {
    /// Add a tenant
    #[command(after_help = "Example:\n  bpc tenant add acme --name \"Acme Batteries\"")]
    Add {
        /// Short name: a-z, 0-9 and -, beginning with a letter; taken for ever
        slug: String,
        /// Name for people [default: the slug]
        #[arg(long)]
        name: Option<String>,
    },
    /// List all tenants
    #[command(after_help = "Example:\n  bpc tenant list")]
    List,
}

#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// Handlers that run at once [env: BPC_JOBS_CONCURRENCY] [default: 64]
    #[arg(long, value_name = "N", value_parser = value::positive)]
    pub concurrency: Option<usize>,
    /// Only these queues [default: all]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub queues: Option<Vec<String>>,
    /// Stop when nothing is due or running
    #[arg(long)]
    pub until_idle: bool,
    /// Run the jobs of every tenant
    #[arg(long)]
    pub all_tenants: bool,
    /// Most jobs leased or settled in one transaction
    #[arg(long, value_name = "N", default_value = "2000", value_parser = value::positive)]
    pub batch: usize,
    /// How long running handlers may take after a stop was asked for
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = value::span)]
    pub grace: Duration,
}

#[derive(Debug, Args)]
pub struct EnqueueArgs {
    /// Type of the job
    #[arg(value_name = "TYPE")]
    pub job_type: String,
    /// JSON text, @FILE, or - for stdin
    #[arg(long, value_name = "JSON", default_value = "{}", allow_hyphen_values = true)]
    pub payload: String,
    /// Idempotency key: the same key never makes a second job
    #[arg(long)]
    pub key: Option<String>,
    /// Queue to wait in [default: what the type says]
    #[arg(long)]
    pub queue: Option<String>,
    /// 0 (most urgent) to 3 [default: what the type says]
    #[arg(long)]
    pub priority: Option<u8>,
    /// Due after a while, such as 500ms, 10s, 5m, 2h or 1d
    #[arg(long, value_name = "TIME", value_parser = value::span, conflicts_with = "at")]
    pub delay: Option<Duration>,
    /// Due at a time, such as 2026-11-16T19:48:31Z
    #[arg(long, value_name = "TIME", value_parser = value::moment)]
    pub at: Option<Timestamp>,
    /// Attempts in all [default: what the type says]
    #[arg(long, value_name = "N")]
    pub max_attempts: Option<u32>,
    /// Enqueue so many of it
    #[arg(long, value_name = "N", default_value = "1", value_parser = value::positive)]
    pub count: usize,
}

#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Jobs to enqueue and run
    #[arg(long, value_name = "N", default_value = "100000", value_parser = value::positive)]
    pub jobs: usize,
    /// Jobs per transaction [default: 1000 enqueued, up to 2000 leased or settled]
    #[arg(long, value_name = "N", value_parser = value::positive)]
    pub batch: Option<usize>,
    /// Workers, each with connections of its own
    #[arg(long, value_name = "N", default_value = "1", value_parser = value::positive)]
    pub workers: usize,
    /// Handlers that run at once, per worker [env: BPC_JOBS_CONCURRENCY] [default: 64]
    #[arg(long, value_name = "N", value_parser = value::positive)]
    pub concurrency: Option<usize>,
    /// Size of each job's payload
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub payload_bytes: usize,
    /// Measure so many battery passports instead, from document to signed version
    #[arg(long, value_name = "N", value_parser = value::positive, conflicts_with_all = ["jobs", "payload_bytes"])]
    pub passports: Option<usize>,
}
