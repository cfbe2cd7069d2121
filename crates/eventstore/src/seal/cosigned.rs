//! Keeping what witnesses signed, below the checkpoint that they signed.

use bpc_core::note::{NoteSignature, SignedNote};

use crate::error::StoreError;
use crate::portable;
use crate::store::Store;

use super::stored::{StoredCheckpoint, checkpoint_at};

/// Put signatures below a stored checkpoint; durable when it returns. A key that signed it before is
/// heard with its newer word only. A checkpoint that was thinned out meanwhile is stored again: it is the
/// one that witnesses vouch for.
pub async fn keep_cosignatures(
    store: &Store,
    checkpoint: &StoredCheckpoint,
    signatures: &[NoteSignature],
) -> Result<StoredCheckpoint, StoreError> {
    loop {
        let mut tx = store.begin().await?;
        let stored = checkpoint_at(&mut tx.conn(), checkpoint.size).await?;
        let base = stored.as_ref().unwrap_or(checkpoint);
        let mut note = SignedNote::parse(base.note.as_bytes())
            .map_err(|error| StoreError::Damaged(format!("the checkpoint of size {}: {error}", base.size)))?;
        let is_new = |line: &NoteSignature| {
            !signatures.iter().any(|newer| (&newer.name, newer.id) == (&line.name, line.id))
        };
        note.signatures.retain(is_new);
        note.signatures.extend_from_slice(signatures);
        let kept = StoredCheckpoint { note: note.to_string(), ..base.clone() };
        // Compared with what was read: whoever renews the log's own signature meanwhile is not undone.
        let sql = match stored {
            Some(_) => "UPDATE checkpoints SET note = $2, made_at = $3 WHERE size = $1 AND note = $4",
            None => {
                "INSERT INTO checkpoints (size, note, made_at) SELECT $1, $2, $3 WHERE $4 <> '' \
                ON CONFLICT (size) DO NOTHING"
            }
        };
        let (size, made_at) = (kept.size as i64, kept.made_at.as_micros());
        let changed = portable!(tx.conn(), c => {
            let statement = sqlx::query(sql).bind(size).bind(&kept.note).bind(made_at).bind(&base.note);
            statement.execute(&mut *c).await.map(|done| done.rows_affected())
        })?;
        if changed == 1 {
            tx.commit().await?;
            return Ok(kept);
        }
    }
}
