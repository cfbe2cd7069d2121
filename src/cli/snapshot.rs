//! The arguments of `bpc snapshot`.

use clap::Subcommand;
use uuid::Uuid;

use super::value;

#[derive(Debug, Subcommand)]
pub enum SnapshotCommand {
    /// Begin a snapshot, with all facts of some documents
    #[command(after_help = "Example:\n  bpc snapshot create --name pack-1 --document ID --document ID")]
    Create {
        /// What to call it
        #[arg(long, default_value = "snapshot")]
        name: String,
        /// Documents whose facts it takes
        #[arg(long, value_name = "ID", value_parser = value::uuid)]
        document: Vec<Uuid>,
    },
    /// Add facts of a document
    #[command(after_help = "Example:\n  bpc snapshot add SNAPSHOT --document ID --fact 3fa1b2c4")]
    Add {
        /// The snapshot
        #[arg(value_name = "SNAPSHOT", value_parser = value::uuid)]
        id: Uuid,
        /// The document
        #[arg(long, value_name = "ID", value_parser = value::uuid)]
        document: Uuid,
        /// Beginning of the hash of a fact [default: all facts]
        #[arg(long, value_name = "HASH")]
        fact: Vec<String>,
    },
    /// Take facts out again
    #[command(after_help = "Example:\n  bpc snapshot remove SNAPSHOT --fact 3fa1b2c4")]
    Remove {
        /// The snapshot
        #[arg(value_name = "SNAPSHOT", value_parser = value::uuid)]
        id: Uuid,
        /// Beginning of the hash of a fact
        #[arg(long, value_name = "HASH", required = true)]
        fact: Vec<String>,
    },
    /// Have the facts checked; a worker makes it READY
    #[command(after_help = "Example:\n  bpc snapshot build SNAPSHOT && bpc worker --until-idle")]
    Build {
        /// The snapshot
        #[arg(value_name = "SNAPSHOT", value_parser = value::uuid)]
        id: Uuid,
    },
    /// Seal a READY snapshot for ever, with a salt key of its own
    #[command(after_help = "Example:\n  bpc snapshot seal SNAPSHOT")]
    Seal {
        /// The snapshot
        #[arg(value_name = "SNAPSHOT", value_parser = value::uuid)]
        id: Uuid,
    },
    /// Show a snapshot and its facts
    #[command(after_help = "Example:\n  bpc snapshot show SNAPSHOT")]
    Show {
        /// The snapshot
        #[arg(value_name = "SNAPSHOT", value_parser = value::uuid)]
        id: Uuid,
    },
    /// List snapshots, newest first
    #[command(after_help = "Example:\n  bpc snapshot list")]
    List,
}
