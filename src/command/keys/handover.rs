//! `bpc keys rotate` and `bpc keys reopen`: another key signs from here on.

use std::path::Path;

use bpc_eventstore::seal::{KeyFile, LogSecret, reopen, rotate_key};
use bpc_eventstore::{LogKey, Store, log_keys};
use serde::Serialize;

use crate::call::Call;
use crate::command::seal;
use crate::error::{Exit, Failure};
use crate::files;

/// The new key is durable before the log names it, and takes its place once the log does: whatever is cut off
/// is gone on with by calling again.
pub(super) async fn rotate(call: &Call<'_>) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let file = call.key_file();
    let old = seal::secret(&file)?;
    let (new, known) = waiting_key(&store, &file).await?;
    let key = match known {
        Some(known) => known,
        None => rotate_key(&store, &old, &new, &call.actor).await?,
    };
    finish(call, &store, &file, &key).await
}

/// The same for a log that cannot go on as it is called.
pub(super) async fn reopen_as(call: &Call<'_>, origin: &str, lost: Option<&Path>) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let file = call.key_file();
    let old = file.read()?;
    let lost = files::read(lost.unwrap_or(&file.state_path()))?;
    let lost = String::from_utf8(lost)
        .map_err(|_| Failure::wrong_use("NOTE_NOT_TEXT", "the checkpoint that was lost is not text"))?;
    let (new, known) = waiting_key(&store, &file).await?;
    let key = match known {
        Some(known) => known,
        None => reopen(&store, origin, &new, old.as_ref(), &lost, &call.actor).await?,
    };
    finish(call, &store, &file, &key).await
}

/// The key that is about to take over, and whether the log says so already.
async fn waiting_key(store: &Store, file: &KeyFile) -> Result<(LogSecret, Option<LogKey>), Failure> {
    let next = file.next();
    let new = match next.read()? {
        Some(new) => new,
        None => next.create()?,
    };
    let known = log_keys(store).await?.into_iter().find(|key| key.public_key == new.public_hex());
    Ok((new, known))
}

async fn finish(call: &Call<'_>, store: &Store, file: &KeyFile, key: &LogKey) -> Result<Exit, Failure> {
    file.take_over()?;
    let sealed = seal::once(call, store).await?;
    let line = HandoverLine {
        origin: &key.origin,
        public_key: &key.public_key,
        key_file: file.name(),
        sealed: &sealed,
    };
    call.output.result(&line, |output| {
        output.line(format_args!(
            "{} signs for {} now; its key is in {}.",
            line.public_key, line.origin, line.key_file
        ));
        output.line("Keep a copy of it in a safe place. The old key is beside it, under a name of its own.");
        seal::print(output, &sealed);
    });
    Ok(Exit::Done)
}

/// The names are part of the contract.
#[derive(Serialize)]
struct HandoverLine<'a> {
    origin: &'a str,
    public_key: &'a str,
    key_file: String,
    sealed: &'a seal::SealReport,
}
