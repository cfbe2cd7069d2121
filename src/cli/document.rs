//! The arguments of `bpc document` and `bpc facts`.

use std::path::PathBuf;

use bpc_passport::import::{DocumentKind, Format};
use clap::{Args, Subcommand};
use uuid::Uuid;

use super::value;

#[derive(Debug, Subcommand)]
pub enum DocumentCommand {
    /// Upload a document and have it parsed
    #[command(after_help = "\
The same document again is the same document: nothing is stored twice. A worker parses it: it is then VALIDATED, or
REJECTED with every problem and its place, which `bpc document show` prints. A document of kind other is kept and
never parsed. One file may hold several kinds, as BatteryPass files do: add it once for each.

Examples:
  bpc document add battery.json --kind bom
  bpc document add pcf.json --kind pcf --format catenax --sku SKU-1
  bpc worker --until-idle && bpc document list")]
    Add(AddArgs),
    /// List documents, newest first
    #[command(after_help = "Example:\n  bpc document list --limit 20")]
    List {
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
    /// Show a document: its hash, its facts, or what is wrong with it
    #[command(after_help = "Example:\n  bpc document show 5f0c1d2e-7c41-8e11-9d0c-2f6a1b8e4c55")]
    Show {
        /// The document, from `bpc document list`
        #[arg(value_name = "ID", value_parser = value::uuid)]
        id: Uuid,
    },
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// The file; JSON, at most 16 MiB
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// What it is about: bom, pcf, due-diligence or other
    #[arg(long, value_name = "KIND", value_parser = value::document_kind)]
    pub kind: DocumentKind,
    /// How it is written: native, catenax, batterypass or auto
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = value::document_format)]
    pub format: Format,
    /// The battery it belongs to, for documents that do not name one
    #[arg(long)]
    pub sku: Option<String>,
    /// What to call it [default: the name of the file]
    #[arg(long)]
    pub name: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum FactsCommand {
    /// List facts by type and key
    #[command(after_help = "Example:\n  bpc facts list --type Battery")]
    List(FactsArgs),
    /// Show a fact, and for each field the document and the place in it
    #[command(after_help = "Example:\n  bpc facts show battery:SKU-1")]
    Show {
        /// Its key, or the hash of its payload or the beginning of that
        #[arg(value_name = "KEY or HASH")]
        name: String,
    },
}

#[derive(Debug, Args)]
pub struct FactsArgs {
    /// Only of this type, such as Battery or PCF
    #[arg(long = "type", value_name = "TYPE", value_parser = value::fact_type)]
    pub fact_type: Option<String>,
    /// Only from this document
    #[arg(long, value_name = "ID", value_parser = value::uuid)]
    pub document: Option<Uuid>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
}
