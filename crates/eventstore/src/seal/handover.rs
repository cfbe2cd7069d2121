//! Handing the log over to another key: by rotation under the same origin, or by opening a new one.

use std::sync::Arc;

use bpc_core::log_events::{LOG, LogKeyRotated, LogReopened, handover_text};
use bpc_core::note::{Checkpoint, SignedNote};
use bpc_core::{Draft, TenantId, Timestamp};

use crate::append::{Cause, StreamAppend, append_to_streams, stream_heads};
use crate::database::Conn;
use crate::error::StoreError;
use crate::log_key::{LogKey, check, insert_log_key, log_keys_on};
use crate::portable;
use crate::store::Store;

use super::error::SealError;
use super::key_file::LogSecret;
use super::keyring::{KeyEpoch, Keyring, log_stream};
use super::plan::plan;
use super::stored::{load_edge, root_at};
use super::take::{lock, take, write};

/// Events sealed together with the opening of a new origin: all there are.
const NO_LIMIT: usize = i64::MAX as usize;

/// Let `new` sign for the log instead of `old`, from the position that the event gets. Durable when it
/// returns. The caller has made sure that `new` cannot get lost.
pub async fn rotate_key(
    store: &Store,
    old: &LogSecret,
    new: &LogSecret,
    actor: &str,
) -> Result<LogKey, SealError> {
    loop {
        let now = store.now().await?;
        let mut tx = store.begin().await?;
        let keyring = Keyring::load(&mut tx.conn()).await?;
        let epoch = held_by(&keyring, old)?;
        let origin = epoch.origin.clone();
        unused(&mut tx.conn(), new).await?;
        let event = LogKeyRotated {
            algorithm: "ed25519".to_owned(),
            previous_key: old.public_hex().to_owned(),
            public_key: new.public_hex().to_owned(),
            signature: handover(old, &epoch.origin, &origin, new)?,
            origin: origin.clone(),
        };
        let key = LogKey { public_key: new.public_hex().to_owned(), origin, added_at: now };
        match add(&mut tx.conn(), event.draft(), &key, actor, now).await {
            Ok(()) => {
                tx.commit().await?;
                return Ok(key);
            }
            // Somebody else wrote to the log's own stream first: look again.
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Go on under a new name with a log that lost what it had published, or whose key is lost: `lost` is the
/// newest known checkpoint of the old origin. The event that says so is the first of the new origin,
/// sealed with what is there already; durable when it returns. `old` vouches for the new key, if it is
/// still there.
pub async fn reopen(
    store: &Store,
    origin: &str,
    new: &LogSecret,
    old: Option<&LogSecret>,
    lost: &str,
    actor: &str,
) -> Result<LogKey, SealError> {
    check(origin, new.public_hex())?;
    let now = store.now().await?;
    let mut tx = store.begin().await?;
    let before = lock(&mut tx.conn(), true).await?.ok_or(SealError::NoKey)?;
    let keyring = Keyring::load(&mut tx.conn()).await?;
    let epoch = match old {
        Some(old) => held_by(&keyring, old)?,
        None => keyring.newest().ok_or(SealError::NoKey)?,
    };
    if epoch.origin == origin {
        return Err(SealError::OriginInUse(origin.to_owned()));
    }
    unused(&mut tx.conn(), new).await?;
    let lost_checkpoint = opened(lost, &keyring)?;
    let is_lost = lost_checkpoint.size > before.size
        || root_at(&mut tx.conn(), lost_checkpoint.size).await? != lost_checkpoint.root;
    if !is_lost && old.is_some() {
        return Err(SealError::NothingLost { size: lost_checkpoint.size });
    }
    let signature = old.map(|old| handover(old, &epoch.origin, origin, new)).transpose()?;
    let event = LogReopened {
        algorithm: "ed25519".to_owned(),
        checkpoint: lost.to_owned(),
        origin: origin.to_owned(),
        previous_key: old.map(|old| old.public_hex().to_owned()),
        public_key: new.public_hex().to_owned(),
        root: before.root.to_string(),
        signature,
        size: before.size,
    };
    let key = LogKey { public_key: new.public_hex().to_owned(), origin: origin.to_owned(), added_at: now };
    add(&mut tx.conn(), event.draft(), &key, actor, now).await?;
    // All that is not sealed yet belongs to the new origin, behind the event that opens it.
    let edge = load_edge(&mut tx.conn(), before).await?;
    let mut taken = take(&mut tx.conn(), edge.order.highest_id, NO_LIMIT, None).await?;
    let opening = newest_of_log(&mut tx.conn()).await?;
    taken.pending.sort_by_key(|event| event.id != opening);
    let plan = plan(edge, &taken.pending);
    if !write(&mut tx.conn(), before, &taken, &plan).await? {
        return Err(StoreError::Damaged("log_state changed under its lock".to_owned()).into());
    }
    tx.commit().await?;
    Ok(key)
}

/// The key in use, if that is it.
fn held_by<'k>(keyring: &'k Keyring, old: &LogSecret) -> Result<&'k KeyEpoch, SealError> {
    let newest = keyring.newest().ok_or(SealError::NoKey)?;
    let (public_key, current) = (old.public_hex().to_owned(), newest.public_key.clone());
    match keyring.epochs.iter().rposition(|epoch| epoch.public_key == public_key) {
        Some(at) if at + 1 == keyring.epochs.len() => Ok(newest),
        Some(_) => Err(SealError::KeyRetired { public_key, current }),
        None => Err(SealError::KeyUnknown { public_key, current }),
    }
}

/// A key speaks for a log once.
async fn unused(conn: &mut Conn<'_>, new: &LogSecret) -> Result<(), StoreError> {
    let known = log_keys_on(conn).await?;
    match known.into_iter().find(|known| known.public_key == new.public_hex()) {
        Some(known) => Err(StoreError::LogKeyExists(known.origin)),
        None => Ok(()),
    }
}

/// The old key's word for the new one.
fn handover(old: &LogSecret, name: &str, origin: &str, new: &LogSecret) -> Result<String, StoreError> {
    let (signer, _) =
        old.signers(name).map_err(|error| StoreError::Damaged(format!("the origin of the log: {error}")))?;
    let text = handover_text(origin, old.public_hex(), new.public_hex());
    Ok(hex::encode(signer.sign(&text).signature))
}

/// A checkpoint of this log, under any of its keys.
fn opened(note: &str, keyring: &Keyring) -> Result<Checkpoint, SealError> {
    let foreign = |problem: String| SealError::CheckpointForeign(problem);
    let signed = SignedNote::parse(note.as_bytes()).map_err(|error| foreign(error.to_string()))?;
    let checkpoint = Checkpoint::parse(&signed.text).map_err(|error| foreign(error.to_string()))?;
    let of_origin = |epoch: &&KeyEpoch| epoch.origin == checkpoint.origin;
    let keys: Vec<_> =
        keyring.epochs.iter().filter(of_origin).filter_map(KeyEpoch::verifiers).flatten().collect();
    signed.verify(&keys).map_err(|error| foreign(error.to_string()))?;
    Ok(checkpoint)
}

/// The event in the log's own stream, and the row of the view.
async fn add(
    conn: &mut Conn<'_>,
    event: Draft,
    key: &LogKey,
    actor: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let stream_id = log_stream();
    let heads = stream_heads(conn, &[stream_id]).await?;
    let append = StreamAppend {
        tenant_id: TenantId::SYSTEM,
        stream_type: Arc::from(LOG),
        stream_id,
        expected: heads.get(&stream_id).map(|stored| stored.head.version).unwrap_or_default(),
        events: vec![event],
    };
    let cause = Cause { actor, now, causation_id: None, correlation_id: None };
    append_to_streams(conn, &[append], cause).await?;
    insert_log_key(conn, key).await
}

async fn newest_of_log(conn: &mut Conn<'_>) -> Result<i64, StoreError> {
    let sql = "SELECT id FROM events WHERE stream_id = $1 ORDER BY version DESC LIMIT 1";
    Ok(portable!(conn, c => sqlx::query_scalar(sql).bind(log_stream().0).fetch_one(&mut **c).await)?)
}
