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
        /// A VALIDATED document whose facts it takes; may be repeated
        #[arg(long, value_name = "ID", value_parser = value::uuid)]
        document: Vec<Uuid>,
    },
    /// Add facts of a document
    #[command(after_help = "Example:\n  bpc snapshot add SNAPSHOT --document ID --fact 3fa1b2c4")]
    Add {
        /// The snapshot, from `bpc snapshot list`
        #[arg(value_name = "SNAPSHOT", value_parser = value::uuid)]
        id: Uuid,
        /// The document, from `bpc document list`
        #[arg(long, value_name = "ID", value_parser = value::uuid)]
        document: Uuid,
        /// Only the fact whose hash begins so; may be repeated [default: all facts]
        #[arg(long, value_name = "HASH")]
        fact: Vec<String>,
    },
    /// Take facts out again
    #[command(after_help = "Example:\n  bpc snapshot remove SNAPSHOT --fact 3fa1b2c4")]
    Remove {
        /// The snapshot, from `bpc snapshot list`
        #[arg(value_name = "SNAPSHOT", value_parser = value::uuid)]
        id: Uuid,
        /// The fact whose hash begins so, as `bpc snapshot show` has it; may be repeated
        #[arg(long, value_name = "HASH", required = true)]
        fact: Vec<String>,
    },
    /// Have the facts checked; a worker makes it READY
    #[command(after_help = "Example:\n  bpc snapshot build SNAPSHOT && bpc worker --until-idle")]
    Build {
        /// The snapshot, from `bpc snapshot list`
        #[arg(value_name = "SNAPSHOT", value_parser = value::uuid)]
        id: Uuid,
    },
    /// Seal a READY snapshot for ever, with a salt key of its own
    #[command(after_help = "\
The salt key keeps values that not everybody may see from being guessed. It is stored encrypted under the key of
secrets: BPC_SECRETS_KEY_BASE64, or the file BPC_SECRETS_KEY_FILE [default: FILE.secrets beside an SQLite database
FILE, else bpc-secrets.key; made on first use]. Workers need the same key. Keep it as long as the passports.

Example:
  bpc snapshot seal SNAPSHOT")]
    Seal {
        /// The snapshot, from `bpc snapshot list`
        #[arg(value_name = "SNAPSHOT", value_parser = value::uuid)]
        id: Uuid,
    },
    /// Show a snapshot and its facts
    #[command(after_help = "Example:\n  bpc snapshot show SNAPSHOT")]
    Show {
        /// The snapshot, from `bpc snapshot list`
        #[arg(value_name = "SNAPSHOT", value_parser = value::uuid)]
        id: Uuid,
    },
    /// List snapshots, newest first
    #[command(after_help = "Example:\n  bpc snapshot list")]
    List,
}
