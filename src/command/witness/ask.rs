//! `bpc witness ask`: the log's side.

use bpc_core::note::{SignatureKind, VerifierKey};
use bpc_core::witness::{ConflictAnswer, cosignatures};
use bpc_eventstore::seal::{continued_from, keep_cosignatures};
use bpc_witness::{Answer, AskError, ask};

use crate::call::Call;
use crate::command::checkpoint::{CheckpointLine, newest, open};
use crate::error::{Exit, Failure, chained};

/// First as if the witness knew nothing; what it knows, it says.
pub(super) async fn run(call: &Call<'_>, url: &str, key: VerifierKey) -> Result<Exit, Failure> {
    if key.kind() != SignatureKind::Cosignature {
        return Err(Failure::usage(format!("{key} is the key of a log: --key takes the key of the witness")));
    }
    let store = call.open().await?;
    let mut tx = store.begin_read().await?;
    let (stored, keys) = newest(&mut tx.conn()).await?;
    let opened = open(&stored, &keys)?;
    let unavailable = |error: AskError| Failure::wrong_use(error.code(), error.to_string());
    let request = continued_from(&mut tx.conn(), 0, stored.clone()).await?;
    let mut answer = ask(url, &request).await.map_err(unavailable)?;
    if let (409, Some(ConflictAnswer { size })) = (answer.status, ConflictAnswer::parse(&answer.body)) {
        let request = continued_from(&mut tx.conn(), size, stored.clone()).await?;
        answer = ask(url, &request).await.map_err(unavailable)?;
    }
    drop(tx);
    let Answer { status, body } = answer;
    if status != 200 {
        let said = String::from_utf8_lossy(&body);
        let problem = format!("the witness refused (status {status}): {}", said.trim());
        let code = match status {
            409 => "WITNESS_CONFLICT",
            422 => "WITNESS_NOT_CONTINUED",
            403 => "WITNESS_NOT_SIGNED",
            404 => "WITNESS_LOG_UNKNOWN",
            _ => "WITNESS_REFUSED",
        };
        return Err(Failure::refused(code, problem));
    }
    let signed = cosignatures(&request.note, &body, std::slice::from_ref(&key)).map_err(|error| {
        Failure::refused(error.code(), format!("the witness's answer does not hold: {}", chained(&error)))
    })?;
    let kept = keep_cosignatures(&store, &stored, &signed).await?;
    let line = CheckpointLine::of(&kept, &opened.checkpoint, None);
    match call.output.is_json() {
        true => call.output.result(&line, |_| {}),
        false => call.output.document(kept.note.as_bytes()),
    }
    Ok(Exit::Done)
}
