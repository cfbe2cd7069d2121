//! `bpc checkpoint`: the newest signed note, alone or with the proof that it continues a kept one.

use std::path::Path;

use bpc_core::note::{Checkpoint, OpenCheckpoint, VerifierKey, base64, open_checkpoint};
use bpc_eventstore::Conn;
use bpc_eventstore::seal::{Keyring, ProveError, StoredCheckpoint, newest_checkpoint, prove_continued};
use serde::Serialize;

use crate::call::Call;
use crate::cli::CheckpointArgs;
use crate::command::keys::verifiers;
use crate::error::{Exit, Failure, chained};
use crate::files;

pub async fn run(call: &Call<'_>, args: CheckpointArgs) -> Result<Exit, Failure> {
    let kept = args.since.as_deref().map(files::read).transpose()?;
    let store = call.open().await?;
    let mut tx = store.begin_read().await?;
    let (newest, keys) = newest(&mut tx.conn()).await?;
    let opened = open(&newest, &keys)?;
    let document = match kept {
        None => newest.note.clone(),
        Some(kept) => {
            let path = args.since.as_deref().unwrap_or(Path::new("-"));
            let kept = open_kept(path, &kept, &keys)?;
            if kept.origin != opened.checkpoint.origin {
                let (path, kept, now) = (path.display(), &kept.origin, &opened.checkpoint.origin);
                let problem = format!("{path} is of the log {kept}, this one signs as {now} now");
                return Err(Failure::refused("CONSISTENCY_OTHER_LOG", problem));
            }
            prove_continued(&mut tx.conn(), &kept).await?.to_string()
        }
    };
    let line = CheckpointLine::of(&newest, &opened.checkpoint, args.since.is_some().then_some(&document));
    match &args.output {
        Some(path) => {
            files::write(path, document.as_bytes())?;
            call.output.result(&line, |output| {
                let (size, made_at) = (line.size, &line.made_at);
                output.line(format_args!("{}: checkpoint over {size} events, {made_at}", path.display()));
            });
        }
        None if call.output.is_json() => call.output.result(&line, |_| {}),
        // To the letter, so that it can be redirected into a file.
        None => call.output.document(document.as_bytes()),
    }
    Ok(Exit::Done)
}

/// The names are part of the contract.
#[derive(Serialize)]
pub struct CheckpointLine<'a> {
    pub origin: &'a str,
    pub size: u64,
    pub root: String,
    pub made_at: String,
    pub note: &'a str,
    /// The consistency document, if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<&'a str>,
}

impl<'a> CheckpointLine<'a> {
    /// What is said about a checkpoint.
    pub fn of(stored: &'a StoredCheckpoint, checkpoint: &'a Checkpoint, since: Option<&'a String>) -> Self {
        CheckpointLine {
            origin: &checkpoint.origin,
            size: checkpoint.size,
            root: base64(&checkpoint.root.0),
            made_at: stored.made_at.to_string(),
            note: &stored.note,
            since: since.map(String::as_str),
        }
    }
}

/// The newest checkpoint and the keys of the log.
pub async fn newest(conn: &mut Conn<'_>) -> Result<(StoredCheckpoint, Vec<VerifierKey>), Failure> {
    let newest = newest_checkpoint(conn).await?.ok_or(ProveError::NoCheckpoint)?;
    Ok((newest, verifiers(&Keyring::load(conn).await?)))
}

/// A note that the log's keys did not sign is not handed out.
pub fn open<'k>(stored: &StoredCheckpoint, keys: &'k [VerifierKey]) -> Result<OpenCheckpoint<'k>, Failure> {
    open_checkpoint(stored.note.as_bytes(), keys).map_err(|error| {
        let problem =
            format!("the stored checkpoint of size {}: {}; run `bpc verify`", stored.size, chained(&error));
        Failure::refused(error.code(), problem)
    })
}

fn open_kept(path: &Path, bytes: &[u8], keys: &[VerifierKey]) -> Result<Checkpoint, Failure> {
    let opened = open_checkpoint(bytes, keys);
    opened
        .map(|opened| opened.checkpoint)
        .map_err(|error| Failure::refused(error.code(), format!("{}: {}", path.display(), chained(&error))))
}
