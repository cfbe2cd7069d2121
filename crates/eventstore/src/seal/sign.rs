//! Signing a checkpoint and publishing it. Only ever over what is committed.

use bpc_core::Timestamp;
use bpc_core::note::{Checkpoint, NoteSignature, SignedNote};

use crate::database::Conn;
use crate::error::StoreError;
use crate::portable;

use super::error::SealError;
use super::key_file::LogSecret;
use super::key_state::{KeyState, LastSigned};
use super::stored::{SealedHead, StoredCheckpoint, checkpoint_at};

const MICROS_PER_MINUTE: i64 = 60_000_000;
const MICROS_PER_HOUR: i64 = 60 * MICROS_PER_MINUTE;

/// What came of the wish to sign.
#[derive(Debug)]
pub(super) enum Signed {
    /// A note, remembered beside the key.
    Note(SignedNote, LastSigned),
    /// More was signed already, by another process with the same key.
    Behind(LastSigned),
    /// Something was signed that has to be compared with the log first.
    Unvetted(LastSigned),
}

/// Sign, if what was signed before allows it. `vetted` is known to be the beginning of this log.
///
/// Blocks: it waits for others who sign with this key, and for the disk. Remembered before it is
/// published: a crash in between leaves a signature that nobody saw, and the next pass makes the same.
pub(super) fn sign(
    secret: &LogSecret,
    state: &KeyState,
    origin: &str,
    head: SealedHead,
    now: Timestamp,
    vetted: Option<&LastSigned>,
) -> Result<Signed, SealError> {
    let bad_origin = |error| StoreError::Damaged(format!("the origin of the log: {error}"));
    let (signer, cosigner) = secret.signers(origin).map_err(bad_origin)?;
    let keys = [signer.verifier().clone(), cosigner.verifier().clone()];
    let _lock = state.lock()?;
    if let Some(last) = state.read(&keys)? {
        if last.checkpoint.size > head.size {
            return Ok(Signed::Behind(last));
        }
        if last.checkpoint.size == head.size && last.checkpoint.root != head.root {
            let (size, signed, found) = (head.size, last.checkpoint.root, head.root);
            return Err(SealError::Forked { origin: origin.to_owned(), size, signed, found });
        }
        if last.checkpoint.size < head.size && Some(&last) != vetted {
            return Ok(Signed::Unvetted(last));
        }
        if now < last.at {
            return Err(SealError::ClockWentBack { signed_at: last.at, now });
        }
    }
    let checkpoint = Checkpoint::new(origin, head.size, head.root);
    let note = secret.sign_note(origin, &checkpoint.text(), now).map_err(bad_origin)?;
    state.write(&note.to_string())?;
    let at = Timestamp::from_micros(beginning(now.as_micros(), 1_000_000));
    Ok(Signed::Note(note, LastSigned { checkpoint, at }))
}

/// Store a checkpoint where everyone can read it. Of those made in the same minute only this one stays, and
/// of an hour that is over only the last: enough to say when something was changed, and few enough
/// to check all of them. What others signed too always stays: it cannot be had again.
pub(super) async fn publish(
    conn: &mut Conn<'_>,
    size: u64,
    note: SignedNote,
    made_at: Timestamp,
) -> Result<StoredCheckpoint, StoreError> {
    let micros = made_at.as_micros();
    let (minute, hour) = (beginning(micros, MICROS_PER_MINUTE), beginning(micros, MICROS_PER_HOUR));
    if let Some(last) = last_before(conn, hour).await? {
        let thin =
            "DELETE FROM checkpoints WHERE made_at >= $1 AND made_at < $2 AND note NOT LIKE '%— %— %— %'";
        let from = beginning(last, MICROS_PER_HOUR);
        portable!(conn, c => {
            sqlx::query(thin).bind(from).bind(last).execute(&mut **c).await.map(drop)
        })?;
    }
    // The log itself signs twice, once with the time.
    let thin = "DELETE FROM checkpoints WHERE size < $1 AND made_at >= $2 AND note NOT LIKE '%— %— %— %'";
    portable!(conn, c => {
        sqlx::query(thin).bind(size as i64).bind(minute).execute(&mut **c).await.map(drop)
    })?;
    // Compared with what was read: a witness that answers just now is not undone.
    let insert = "INSERT INTO checkpoints (size, note, made_at) VALUES ($1, $2, $3) \
        ON CONFLICT (size) DO UPDATE SET note = excluded.note, made_at = excluded.made_at \
        WHERE checkpoints.note = $4";
    loop {
        let stored = checkpoint_at(conn, size).await?;
        let note = with_others(&note, stored.as_ref()).to_string();
        let before = stored.map_or(String::new(), |stored| stored.note);
        let changed = portable!(conn, c => {
            let statement = sqlx::query(insert).bind(size as i64).bind(&note).bind(micros).bind(&before);
            statement.execute(&mut **c).await.map(|done| done.rows_affected())
        })?;
        if changed == 1 {
            return Ok(StoredCheckpoint { size, note, made_at });
        }
    }
}

fn beginning(micros: i64, of: i64) -> i64 {
    micros - micros.rem_euclid(of)
}

/// When the last checkpoint before that time was made.
async fn last_before(conn: &mut Conn<'_>, time: i64) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT max(made_at) FROM checkpoints WHERE made_at < $1";
    Ok(portable!(conn, c => sqlx::query_scalar(sql).bind(time).fetch_one(&mut **c).await)?)
}

/// Witnesses signed the same text; their word stays when the log's own is renewed.
fn with_others(note: &SignedNote, stored: Option<&StoredCheckpoint>) -> SignedNote {
    let mut note = note.clone();
    let stored = stored.and_then(|stored| SignedNote::parse(stored.note.as_bytes()).ok());
    let Some(stored) = stored.filter(|stored| stored.text == note.text) else {
        return note;
    };
    let own: Vec<_> = note.signatures.iter().map(|line| (line.name.clone(), line.id)).collect();
    let is_other = |line: &NoteSignature| !own.contains(&(line.name.clone(), line.id));
    note.signatures.extend(stored.signatures.into_iter().filter(is_other));
    note
}
