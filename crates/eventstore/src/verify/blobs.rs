//! Blobs: is what is stored under a hash what hashes to it, and is everything there that events name?

use std::collections::HashSet;
use std::time::{Duration, Instant};

use bpc_core::{BlobFields, BlobRef, Envelope, Hash, StreamId};
use serde::Serialize;

use crate::blob::Blob;
use crate::database::Conn;
use crate::error::StoreError;
use crate::portable;
use crate::store::Store;

use super::written::Written;

/// Read at once: blobs may be large.
const PAGE: i64 = 8;
/// Blobs that are known to be there; when there are more they are looked up again.
const KNOWN_MAX: usize = 100_000;
/// Findings that are kept; the others are only counted.
const FINDINGS_MAX: usize = 1000;

/// A blob that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlobFinding {
    /// `BLOB_HASH_MISMATCH`, `BLOB_LENGTH_MISMATCH` or `BLOB_MISSING`.
    pub code: &'static str,
    /// The hash it is stored under, lowercase hex.
    pub blob: String,
    /// The stream whose event names it, if that is what is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamId>,
    /// The event in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
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
    /// How often events name a blob.
    pub named: u64,
    /// How many findings there are, kept or not.
    pub findings_total: u64,
    /// The first of them: blobs by hash, then what events name, in the order of writing.
    pub findings: Vec<BlobFinding>,
    /// How long it took.
    #[serde(rename = "elapsed_ms", serialize_with = "super::millis")]
    pub elapsed: Duration,
}

/// Hash every blob again, and look for every blob that an event names. `progress` hears how many blobs are done.
pub async fn check_blobs(
    store: &Store,
    fields: &BlobFields,
    mut progress: impl FnMut(u64),
) -> Result<BlobReport, StoreError> {
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
    look_for_named(&mut tx.conn(), fields, &mut report).await?;
    Ok(BlobReport { elapsed: start.elapsed(), ..report })
}

/// Every event once. What is wrong with an event itself is not said here.
async fn look_for_named(
    conn: &mut Conn<'_>,
    fields: &BlobFields,
    report: &mut BlobReport,
) -> Result<(), StoreError> {
    let mut known = HashSet::new();
    let mut written = Written::of(conn);
    while let Some(events) = written.next(conn).await? {
        for event_bytes in events.split(|byte| *byte == b'\n').filter(|event| fields.may_name_one(event)) {
            let Ok(envelope) = Envelope::read(event_bytes) else {
                continue;
            };
            for named in fields.named_by(&envelope) {
                report.named += 1;
                if known.contains(&(named.sha256, named.length)) {
                    continue;
                }
                if report.look_for(conn, named, &envelope).await? {
                    if known.len() == KNOWN_MAX {
                        known.clear();
                    }
                    known.insert((named.sha256, named.length));
                }
            }
        }
    }
    Ok(())
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

    /// Is there what the event names?
    async fn look_for(
        &mut self,
        conn: &mut Conn<'_>,
        named: BlobRef,
        envelope: &Envelope<'_>,
    ) -> Result<bool, StoreError> {
        let sql = "SELECT length FROM blobs WHERE sha256 = $1";
        let stored: Option<i64> = portable!(conn, c => {
            sqlx::query_scalar(sql).bind(&named.sha256.0[..]).fetch_optional(&mut **c).await
        })?;
        let key = named.sha256.to_string();
        let (code, expected, found) = match (stored, named.length) {
            (None, _) => ("BLOB_MISSING", key.clone(), "nothing".to_owned()),
            (Some(stored), Some(length)) if u64::try_from(stored) != Ok(length) => {
                ("BLOB_LENGTH_MISMATCH", length.to_string(), stored.to_string())
            }
            _ => return Ok(true),
        };
        let (stream, version) = (Some(envelope.stream_id), Some(envelope.version.0));
        self.push(BlobFinding { code, blob: key, stream, version, expected, found });
        Ok(false)
    }

    fn add(&mut self, code: &'static str, blob: &str, expected: String, found: String) {
        let (stream, version) = (None, None);
        self.push(BlobFinding { code, blob: blob.to_owned(), stream, version, expected, found });
    }

    fn push(&mut self, finding: BlobFinding) {
        self.findings_total += 1;
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }
}
