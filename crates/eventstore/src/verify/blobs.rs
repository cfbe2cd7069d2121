//! Blobs: is what is stored under a hash what hashes to it?

use std::time::{Duration, Instant};

use bpc_core::Hash;
use serde::Serialize;

use crate::blob::Blob;
use crate::error::StoreError;
use crate::portable;
use crate::store::Store;

/// Read at once: blobs may be large.
const PAGE: i64 = 8;
/// Findings that are kept; the others are only counted.
const FINDINGS_MAX: usize = 1000;

/// A blob that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlobFinding {
    /// `BLOB_HASH_MISMATCH` or `BLOB_LENGTH_MISMATCH`.
    pub code: &'static str,
    /// The hash it is stored under, lowercase hex.
    pub blob: String,
    /// What should be there.
    pub expected: String,
    /// What is there.
    pub found: String,
}

/// What was checked and what was found. The serialised names are stable.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BlobReport {
    /// Blobs read.
    pub blobs: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// How many findings there are, kept or not.
    pub findings_total: u64,
    /// The first of them, by hash.
    pub findings: Vec<BlobFinding>,
    /// How long it took.
    #[serde(rename = "elapsed_ms", serialize_with = "super::millis")]
    pub elapsed: Duration,
}

/// Hash every blob again. `progress` hears how many are done.
pub async fn check_blobs(store: &Store, mut progress: impl FnMut(u64)) -> Result<BlobReport, StoreError> {
    let start = Instant::now();
    let mut report = BlobReport::default();
    let mut tx = store.begin_read().await?;
    let sql = "SELECT sha256, length, bytes FROM blobs WHERE sha256 > $1 ORDER BY sha256 LIMIT $2";
    let mut after: Vec<u8> = Vec::new();
    loop {
        let page: Vec<(Vec<u8>, i64, Vec<u8>)> = portable!(tx.conn(), c => {
            sqlx::query_as(sql).bind(&after).bind(PAGE).fetch_all(c).await
        })?;
        let Some((last, ..)) = page.last() else { break };
        after.clone_from(last);
        for (key, length, bytes) in page {
            report.take(&key, length, bytes);
            progress(report.blobs);
        }
    }
    Ok(BlobReport { elapsed: start.elapsed(), ..report })
}

/// How many blobs there are.
pub async fn blob_count(store: &Store) -> Result<u64, StoreError> {
    let mut tx = store.begin_read().await?;
    let count: i64 =
        portable!(tx.conn(), c => sqlx::query_scalar("SELECT count(*) FROM blobs").fetch_one(c).await)?;
    Ok(count as u64)
}

impl BlobReport {
    fn take(&mut self, key: &[u8], length: i64, bytes: Vec<u8>) {
        self.blobs += 1;
        self.bytes += bytes.len() as u64;
        let blob = Blob::new(bytes);
        let key_text = hex::encode(key);
        if Hash::from_slice(key) != Some(blob.sha256) {
            self.add("BLOB_HASH_MISMATCH", &key_text, key_text.clone(), blob.sha256.to_string());
        }
        if length != blob.bytes.len() as i64 {
            self.add("BLOB_LENGTH_MISMATCH", &key_text, blob.bytes.len().to_string(), length.to_string());
        }
    }

    fn add(&mut self, code: &'static str, blob: &str, expected: String, found: String) {
        self.findings_total += 1;
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(BlobFinding { code, blob: blob.to_owned(), expected, found });
        }
    }
}
