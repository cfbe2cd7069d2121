//! `bpc seal --once`: order what is committed, extend the tree, sign.

use bpc_eventstore::Store;
use bpc_eventstore::seal::{KeyFile, KeyState, LogSecret, SealOptions, Sealer, newest_checkpoint, unsealed};
use serde::Serialize;

use crate::call::Call;
use crate::cli::SealArgs;
use crate::error::{Exit, Failure};
use crate::output::{Output, Table, count, moment};

pub async fn run(call: &Call<'_>, args: SealArgs) -> Result<Exit, Failure> {
    debug_assert!(args.once, "the only mode there is");
    let store = call.open().await?;
    let report = once(call, &store).await?;
    call.output.result(&report, |output| print(output, &report));
    Ok(Exit::Done)
}

/// What was sealed. The names are part of the contract.
#[derive(Serialize)]
pub struct SealReport {
    /// Sealed now.
    events: usize,
    /// Sealed in all.
    size: u64,
    root: String,
    checkpoint: Option<CheckpointLine>,
    /// Committed since, or by somebody who is still writing.
    unsealed: u64,
}

#[derive(Serialize)]
struct CheckpointLine {
    size: u64,
    made_at: String,
}

/// Seal everything that is committed.
pub async fn once(call: &Call<'_>, store: &Store) -> Result<SealReport, Failure> {
    let key_file = call.key_file();
    let secret = secret(&key_file)?;
    let state = KeyState::File(key_file.state_path());
    let options = SealOptions { waits: true, ..SealOptions::default() };
    let mut sealer = Sealer::new(store.clone(), secret, state, options);
    let mut events = 0;
    // Without a head somebody else sealed at the same time, so something was sealed: ask again.
    let head = loop {
        let sealed = sealer.seal_all().await?;
        events += sealed.events;
        if let Some(head) = sealed.head {
            break head;
        }
    };
    let newest = newest_checkpoint(&mut store.begin_read().await?.conn()).await?;
    Ok(SealReport {
        events,
        size: head.size,
        root: head.root.to_string(),
        checkpoint: newest
            .map(|newest| CheckpointLine { size: newest.size, made_at: newest.made_at.to_string() }),
        unsealed: unsealed(store).await?.events,
    })
}

/// The key in a file that must be there.
pub fn secret(key_file: &KeyFile) -> Result<LogSecret, Failure> {
    key_file.read()?.ok_or_else(|| {
        let problem = format!("there is no key file {}: do this where the log's key is", key_file.name());
        Failure::wrong_use("KEY_FILE_MISSING", problem)
    })
}

/// Say it.
pub fn print(output: &Output, report: &SealReport) {
    let mut table = Table::pairs();
    table
        .pair("sealed", format!("{} events now, {} in all", count(report.events as u64), count(report.size)));
    table.pair("root", &report.root);
    table.pair(
        "checkpoint",
        match &report.checkpoint {
            Some(it) => {
                let at = it.made_at.parse().map_or_else(|_| it.made_at.clone(), moment);
                format!("signed at {at} over {} events", count(it.size))
            }
            None => "none yet: there is nothing to sign".to_owned(),
        },
    );
    table.pair("unsealed", format!("{} events", count(report.unsealed)));
    table.print(output);
}
