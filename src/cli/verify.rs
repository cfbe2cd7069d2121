//! The arguments of what checks, keeps and rebuilds.

use std::path::PathBuf;
use std::time::Duration;

use bpc_core::Timestamp;
use bpc_core::note::VerifierKey;
use clap::{Args, Subcommand};

use super::value;

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// A checkpoint that you kept; may be repeated
    #[arg(long = "checkpoint", value_name = "FILE")]
    pub checkpoints: Vec<PathBuf>,
    /// A key of the log that you were given on another way; may be repeated [default: believe the log's first]
    #[arg(long = "key", value_name = "VKEY", value_parser = value::verifier_key)]
    pub keys: Vec<VerifierKey>,
    /// A witness that must have signed; may be repeated
    #[arg(long = "witness", value_name = "VKEY", value_parser = value::verifier_key)]
    pub witnesses: Vec<VerifierKey>,
    /// Check an archive instead of the database
    #[arg(long, value_name = "DIR", conflicts_with_all = ["passports", "projections", "unsealed_max"])]
    pub archive: Option<PathBuf>,
    /// Hash every blob again, and look for every blob that an event names
    #[arg(long)]
    pub blobs: bool,
    /// Compare the live views with a replay of the log
    #[arg(long)]
    pub projections: bool,
    /// Compile every passport version again and compare payload, proof, receipt and signatures
    #[arg(long)]
    pub passports: bool,
    /// Events that wait longer than this for their seal are a finding, such as 10s
    #[arg(long, value_name = "TIME", value_parser = value::span)]
    pub unsealed_max: Option<Duration>,
    /// Also write what was found as a page for people who read rather than run
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ArchiveArgs {
    /// The directory; it is made, or gone on with
    #[arg(long, value_name = "DIR")]
    pub to: PathBuf,
}

#[derive(Debug, Subcommand)]
pub enum ExportCommand {
    /// Every sealed event as a row of Parquet files, for pandas, DuckDB and Polars
    #[command(after_help = "\
Example:
  bpc export parquet --to parquet
  python3 -c \"import pandas; print(pandas.read_parquet('parquet'))\"")]
    Parquet {
        /// The directory
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
        /// From an archive instead of the database
        #[arg(long, value_name = "DIR")]
        archive: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// Only compare, change nothing
    #[arg(long, required_unless_present_any = ["repair", "into"], conflicts_with_all = ["repair", "into"])]
    pub check: bool,
    /// Rewrite live rows that are not what the log says
    #[arg(long, conflicts_with = "into")]
    pub repair: bool,
    /// Make this SQLite file, with every view
    #[arg(long, value_name = "FILE")]
    pub into: Option<PathBuf>,
    /// As things stood at a time, such as 2026-11-16T19:48:31Z
    #[arg(long, value_name = "TIME", value_parser = value::moment, requires = "into", conflicts_with = "to")]
    pub as_of: Option<Timestamp>,
    /// As things stood behind so many events of the sealed order
    #[arg(long, value_name = "P", requires = "into")]
    pub to: Option<u64>,
    /// From an archive instead of the database
    #[arg(long, value_name = "DIR", requires = "into")]
    pub archive: Option<PathBuf>,
}
