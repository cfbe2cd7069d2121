//! The arguments of `bpc rules`.

use std::path::PathBuf;

use clap::Subcommand;
use uuid::Uuid;

use super::value;

#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// Add a version of a rule package as a draft and have it tested
    #[command(after_help = "\
DIR holds package.rules, which may include files beside it and in folders next to DIR.

Example:
  bpc rules add rules/eu-2023-1542/v2.0 && bpc worker --until-idle && bpc rules list")]
    Add {
        /// The folder of the version, or its first file
        #[arg(value_name = "DIR")]
        path: PathBuf,
        /// Number that the random cases of the tests follow from
        #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
        seed: i64,
    },
    /// Run the tests of a version once more
    #[command(after_help = "Example:\n  bpc rules test VERSION --seed 42 && bpc worker --until-idle")]
    Test {
        /// The version, from `bpc rules list`
        #[arg(value_name = "VERSION", value_parser = value::uuid)]
        id: Uuid,
        /// Number that the random cases follow from: another number, other cases
        #[arg(long, allow_negative_numbers = true)]
        seed: i64,
    },
    /// Let passports be compiled under a VALIDATED version
    #[command(after_help = "\
A version is VALIDATED once its tests have passed the gate; `bpc rules show` says what is missing. A published
version never changes.

Example:
  bpc rules publish VERSION")]
    Publish {
        /// The version, from `bpc rules list`
        #[arg(value_name = "VERSION", value_parser = value::uuid)]
        id: Uuid,
    },
    /// Show a version and the runs of its tests
    #[command(after_help = "Example:\n  bpc rules show VERSION")]
    Show {
        /// The version, from `bpc rules list`
        #[arg(value_name = "VERSION", value_parser = value::uuid)]
        id: Uuid,
    },
    /// Show the text of one rule
    #[command(after_help = "Example:\n  bpc rules explain PCF.STAGE_SUM --rules VERSION")]
    Explain {
        /// The rule, such as PCF.STAGE_SUM
        rule: String,
        /// The version, from `bpc rules list`
        #[arg(long, value_name = "VERSION", value_parser = value::uuid)]
        rules: Uuid,
    },
    /// Which rules two versions differ in, and which passports change verdict; writes nothing
    #[command(after_help = "\
First what differs: rules, tables, definitions, attributes, and rules that use one of them. Then every passport
version that A and B say something else about, on the day it was compiled for. Neither has to be published.

Example:
  bpc rules list
  bpc rules diff 6f0a3c1e-0f8f-8c5e-9a51-0c6d5a1f2b3c 0b5e9d42-71c4-8a0d-8d1b-5f3a9e7c6d21")]
    Diff {
        /// The version in force, from `bpc rules list`
        #[arg(value_name = "A", value_parser = value::uuid)]
        a: Uuid,
        /// The version to compare it with
        #[arg(value_name = "B", value_parser = value::uuid)]
        b: Uuid,
    },
    /// List versions, newest first
    #[command(after_help = "Example:\n  bpc rules list")]
    List,
}
