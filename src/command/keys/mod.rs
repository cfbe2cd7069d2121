//! `bpc keys`: who signs for the log.

mod handover;
mod list;

use bpc_core::note::VerifierKey;
use bpc_eventstore::seal::{KeyEpoch, Keyring};

use crate::call::Call;
use crate::cli::KeysCommand;
use crate::error::{Exit, Failure};

pub async fn run(call: &Call<'_>, command: KeysCommand) -> Result<Exit, Failure> {
    match command {
        KeysCommand::List => list::run(call).await,
        KeysCommand::Rotate => handover::rotate(call).await,
        KeysCommand::Reopen { origin, lost } => handover::reopen_as(call, &origin, lost.as_deref()).await,
    }
}

/// Everything that the log's own checkpoints can be checked with: signatures, and times beside them.
pub fn verifiers(keyring: &Keyring) -> Vec<VerifierKey> {
    keyring.epochs.iter().filter_map(KeyEpoch::verifiers).flatten().collect()
}
