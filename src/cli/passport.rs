//! The arguments of `bpc product` and `bpc passport`.

use std::path::PathBuf;

use bpc_passport::disclosure::Role;
use bpc_passport::value::Date;
use clap::{Args, Subcommand};
use uuid::Uuid;

use super::value;

#[derive(Debug, Subcommand)]
pub enum ProductCommand {
    /// Add a product; the same sku again is the same product
    #[command(after_help = "Example:\n  bpc product add SKU-1 --name \"Traction battery 75 kWh\"")]
    Add {
        /// The name under which documents have it; `bpc facts list --type Battery` shows those that are known
        sku: String,
        /// Name for people [default: the sku]
        #[arg(long)]
        name: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum PassportCommand {
    /// Begin a passport for a product
    #[command(after_help = "Example:\n  bpc passport create --product SKU-1")]
    Create {
        /// Sku of the product, as in `bpc product add`
        #[arg(long, value_name = "SKU")]
        product: String,
    },
    /// Order a version; workers compile, sign and draw it
    #[command(after_help = "\
A job is enqueued; `bpc jobs show JOB` tells how it went, `bpc passport list` shows the version once it is there.

The key that will sign has to be known here: BPC_SIGNING_ED25519_PRIVATE_KEY_BASE64 (32 bytes, made with
`openssl rand -base64 32`) or BPC_SIGNING_KEY_FILE. If only the worker has it, set BPC_SIGNING_KEY_ID here.
Workers also need the key of secrets that the snapshot was sealed with; see `bpc snapshot seal --help`.

Example:
  bpc passport compile PASSPORT --snapshot ID --rules ID --as-of 2027-02-18")]
    Compile(CompileArgs),
    /// List passports and their versions
    #[command(after_help = "Example:\n  bpc passport list")]
    List,
    /// Show a version: verdicts with citations, or where one value comes from
    #[command(after_help = "\
Examples:
  bpc passport show VERSION
  bpc passport show VERSION --why /identity/category
  bpc passport show VERSION --why PCF.STAGE_SUM")]
    Show {
        /// The version, from `bpc passport list`
        #[arg(value_name = "VERSION", value_parser = value::uuid)]
        id: Uuid,
        /// Derive the value at this JSON pointer, or the verdict of this rule, back to the documents
        #[arg(long, value_name = "POINTER")]
        why: Option<String>,
        /// Print the payload
        #[arg(long, conflicts_with = "why")]
        payload: bool,
        /// Draw the proof code
        #[arg(long, conflicts_with = "why")]
        qr: bool,
    },
    /// Put a SIGNED version in force; the former one becomes SUPERSEDED
    #[command(after_help = "Example:\n  bpc passport activate VERSION")]
    Activate {
        /// The version, from `bpc passport list`
        #[arg(value_name = "VERSION", value_parser = value::uuid)]
        id: Uuid,
    },
    /// Take a version back for good; it stays readable, and says REVOKED
    #[command(after_help = "Example:\n  bpc passport revoke VERSION --reason \"wrong cell supplier\"")]
    Revoke {
        /// The version, from `bpc passport list`
        #[arg(value_name = "VERSION", value_parser = value::uuid)]
        id: Uuid,
        /// Why; kept in the log
        #[arg(long, value_parser = value::reason)]
        reason: String,
    },
    /// Compile a version again from its sealed facts and compare every byte
    #[command(after_help = "\
`bpc verify --passports` does this for all versions.

Example:
  bpc passport replay VERSION")]
    Replay {
        /// The version, from `bpc passport list`
        #[arg(value_name = "VERSION", value_parser = value::uuid)]
        id: Uuid,
    },
    /// Write what one role may see, with proof, as one JSON document
    #[command(after_help = "\
public is shown point 1 of Annex XIII; legitimate-interest points 1, 2 and 4; authority points 1, 2 and 3. What a
role may not see is in the bundle as hashes, so that it can still be checked against the signature.

Example:
  bpc passport disclose VERSION --role public > bundle.json")]
    Disclose {
        /// The version, from `bpc passport list`
        #[arg(value_name = "VERSION", value_parser = value::uuid)]
        id: Uuid,
        /// Who it is for: public, legitimate-interest or authority
        #[arg(long, value_parser = value::role)]
        role: Role,
    },
    /// Judge a version on another day or under other rules; writes nothing
    #[command(after_help = "Example:\n  bpc passport what-if VERSION --as-of 2027-08-18")]
    WhatIf {
        /// The version, from `bpc passport list`
        #[arg(value_name = "VERSION", value_parser = value::uuid)]
        id: Uuid,
        /// The day to judge it on [default: the day it was compiled for]
        #[arg(long, value_name = "DAY", value_parser = value::day)]
        as_of: Option<Date>,
        /// Another PUBLISHED version of rules [default: its own]
        #[arg(long, value_name = "ID", value_parser = value::uuid)]
        rules: Option<Uuid>,
    },
    /// Write both codes as PNG files
    #[command(after_help = "Example:\n  bpc passport qr VERSION --directory codes")]
    Qr {
        /// The version, from `bpc passport list`
        #[arg(value_name = "VERSION", value_parser = value::uuid)]
        id: Uuid,
        /// Where to
        #[arg(long, value_name = "DIR", default_value = ".")]
        directory: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct CompileArgs {
    /// The passport, from `bpc passport create` or `list`
    #[arg(value_name = "PASSPORT", value_parser = value::uuid)]
    pub id: Uuid,
    /// A SEALED snapshot, from `bpc snapshot list`
    #[arg(long, value_name = "ID", value_parser = value::uuid)]
    pub snapshot: Uuid,
    /// A PUBLISHED version of rules, from `bpc rules list`
    #[arg(long, value_name = "ID", value_parser = value::uuid)]
    pub rules: Uuid,
    /// The day it is judged on [default: today, UTC]
    #[arg(long, value_name = "DAY", value_parser = value::day)]
    pub as_of: Option<Date>,
}
