//! Blobs: bytes that are too large for an event, stored under their hash. The event that speaks of
//! one carries hash and length.

use bpc_core::Hash;
use sha2::{Digest, Sha256};

use crate::database::Conn;
use crate::error::StoreError;
use crate::portable;

/// Bytes and what they hash to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// SHA-256 of the bytes.
    pub sha256: Hash,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Blob {
    /// The blob of these bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Blob { sha256: Hash(Sha256::digest(&bytes).into()), bytes }
    }
}

/// Store a blob, durable with the transaction that `conn` is in. Storing it again changes nothing.
pub async fn put_blob(conn: &mut Conn<'_>, blob: &Blob) -> Result<(), StoreError> {
    let sql = "INSERT INTO blobs (sha256, length, bytes) VALUES ($1, $2, $3) ON CONFLICT (sha256) DO NOTHING";
    portable!(conn, c => {
        sqlx::query(sql)
            .bind(&blob.sha256.0[..])
            .bind(blob.bytes.len() as i64)
            .bind(&blob.bytes[..])
            .execute(&mut **c)
            .await
            .map(drop)
    })?;
    Ok(())
}

/// The bytes under a hash, checked against it.
pub async fn read_blob(conn: &mut Conn<'_>, sha256: Hash) -> Result<Option<Blob>, StoreError> {
    let sql = "SELECT bytes FROM blobs WHERE sha256 = $1";
    let bytes: Option<Vec<u8>> = portable!(conn, c => {
        sqlx::query_scalar(sql).bind(&sha256.0[..]).fetch_optional(&mut **c).await
    })?;
    match bytes.map(Blob::new) {
        Some(blob) if blob.sha256 != sha256 => Err(StoreError::Damaged(format!("blob {sha256}"))),
        blob => Ok(blob),
    }
}
