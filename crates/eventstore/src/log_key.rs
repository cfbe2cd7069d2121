//! Keys that sign for the log: events of the log's own stream, and the view that lists them. Only
//! public keys come here; the secret stays with whoever signs.

use std::sync::Arc;

use bpc_core::log_events::{LOG, LOG_STREAM, LogKeyAdded};
use bpc_core::{StreamId, TenantId, Timestamp, Version};

use crate::append::{Cause, StreamAppend, append_to_streams, stream_heads};
use crate::database::{Conn, Tx};
use crate::error::StoreError;
use crate::portable;
use crate::store::Store;

/// A row of the log keys view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogKey {
    /// Lowercase hex of the 32-byte Ed25519 public key.
    pub public_key: String,
    /// The log's name in checkpoints signed by it.
    pub origin: String,
    /// Since when it speaks for the log.
    pub added_at: Timestamp,
}

/// Let a key speak for the log from here on; durable when it returns. Adding it again changes nothing
/// and returns it as it is.
pub async fn add_log_key(
    store: &Store,
    origin: &str,
    public_key_hex: &str,
    actor: &str,
) -> Result<LogKey, StoreError> {
    check(origin, public_key_hex)?;
    loop {
        let now = store.now().await?;
        let key = LogKey { public_key: public_key_hex.to_owned(), origin: origin.to_owned(), added_at: now };
        let mut tx = store.begin().await?;
        match add(&mut tx, &key, actor).await {
            Ok(Some(known)) if known.origin == origin => return Ok(known),
            Ok(Some(known)) => return Err(StoreError::LogKeyExists(known.origin)),
            // Somebody else added a key first, perhaps this one: look again.
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(error),
            Ok(None) => {
                tx.commit().await?;
                return Ok(key);
            }
        }
    }
}

/// The key as it is known already; else it is appended to the log's stream and to the view.
async fn add(tx: &mut Tx, key: &LogKey, actor: &str) -> Result<Option<LogKey>, StoreError> {
    let known =
        log_keys_on(&mut tx.conn()).await?.into_iter().find(|known| known.public_key == key.public_key);
    if known.is_some() {
        return Ok(known);
    }
    let stream_id = StreamId::derived("log", LOG_STREAM);
    let heads = stream_heads(&mut tx.conn(), &[stream_id]).await?;
    let (origin, public_key) = (key.origin.clone(), key.public_key.clone());
    let append = StreamAppend {
        tenant_id: TenantId::SYSTEM,
        stream_type: Arc::from(LOG),
        stream_id,
        expected: heads.get(&stream_id).map_or(Version::NONE, |stored| stored.head.version),
        events: vec![LogKeyAdded { algorithm: "ed25519".to_owned(), origin, public_key }.draft()],
    };
    let cause = Cause { actor, now: key.added_at, causation_id: None, correlation_id: None };
    append_to_streams(&mut tx.conn(), &[append], cause).await?;
    insert_log_key(&mut tx.conn(), key).await?;
    Ok(None)
}

/// Write a row of the view.
pub async fn insert_log_key(conn: &mut Conn<'_>, key: &LogKey) -> Result<(), StoreError> {
    let sql = "INSERT INTO log_keys (public_key, origin, added_at) VALUES ($1, $2, $3)";
    portable!(conn, c => {
        sqlx::query(sql)
            .bind(&key.public_key)
            .bind(&key.origin)
            .bind(key.added_at.as_micros())
            .execute(&mut **c)
            .await
            .map(drop)
    })?;
    Ok(())
}

/// All keys, oldest first.
pub async fn log_keys(store: &Store) -> Result<Vec<LogKey>, StoreError> {
    let mut tx = store.begin_read().await?;
    log_keys_on(&mut tx.conn()).await
}

pub(crate) async fn log_keys_on(conn: &mut Conn<'_>) -> Result<Vec<LogKey>, StoreError> {
    let sql = "SELECT public_key, origin, added_at FROM log_keys ORDER BY added_at, public_key";
    let rows: Vec<(String, String, i64)> =
        portable!(conn, c => sqlx::query_as(sql).fetch_all(&mut **c).await)?;
    let key = |(public_key, origin, at)| LogKey { public_key, origin, added_at: Timestamp::from_micros(at) };
    Ok(rows.into_iter().map(key).collect())
}

/// An origin is one line of a checkpoint and the name of its signature, where a space or a plus would
/// end it.
pub(crate) fn check(origin: &str, public_key: &str) -> Result<(), StoreError> {
    let ends_a_name = |c: char| c.is_whitespace() || c.is_control() || c == '+';
    if origin.is_empty() || origin.len() > 128 || origin.contains(ends_a_name) {
        let rule = "1 to 128 bytes without spaces or +, such as example.com/log";
        return Err(StoreError::LogKeyInvalid { what: "origin", value: origin.to_owned(), rule });
    }
    let is_hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    if public_key.len() != 64 || !public_key.bytes().all(is_hex) {
        let rule = "64 digits of lowercase hex";
        return Err(StoreError::LogKeyInvalid { what: "public key", value: public_key.to_owned(), rule });
    }
    Ok(())
}
