//! Blobs into an archive: each once, under its hash.

use std::collections::BTreeSet;
use std::fs;

use bpc_core::Hash;
use bpc_eventstore::{Blob, Conn, Store, StoreError, portable, read_blob};
use sha2::{Digest, Sha256};

use crate::blob_list;
use crate::error::ArchiveError;
use crate::layout;
use crate::manifest::BlobList;
use crate::write::ArchiveWriter;

use super::blocking;

/// Keys read at once.
const PAGE: i64 = 1000;

/// What was done about blobs.
pub(super) struct Archived {
    pub(super) list: Option<BlobList>,
    pub(super) added: u64,
    pub(super) damaged: Vec<Hash>,
}

/// Copy every blob that the archive does not have. A blob that the store no longer has stays in the archive.
pub(super) async fn archive_blobs(
    store: &Store,
    mut writer: ArchiveWriter,
) -> Result<(ArchiveWriter, Archived), ArchiveError> {
    let mut known = known(&writer)?;
    let (mut added, mut damaged) = (0, Vec::new());
    let mut after = Vec::new();
    loop {
        let mut tx = store.begin_read().await?;
        let page = keys_after(&mut tx.conn(), &after).await?;
        let Some(last) = page.last() else { break };
        after.clone_from(last);
        for key in page {
            let Some(sha256) = Hash::from_slice(&key).filter(|sha256| !known.contains(sha256)) else {
                continue;
            };
            match read_blob(&mut tx.conn(), sha256).await {
                Ok(Some(Blob { bytes, .. })) => {
                    writer = blocking(move || {
                        writer.write(&layout::blob_file(&sha256), &bytes)?;
                        Ok(writer)
                    })
                    .await?;
                    known.insert(sha256);
                    added += 1;
                }
                // It went away meanwhile.
                Ok(None) => {}
                Err(StoreError::Damaged(_)) => damaged.push(sha256),
                Err(error) => return Err(error.into()),
            }
        }
    }
    let list = if known.is_empty() { None } else { Some(write_list(&mut writer, &known)?) };
    Ok((writer, Archived { list, added, damaged }))
}

/// Blobs that are there already.
fn known(writer: &ArchiveWriter) -> Result<BTreeSet<Hash>, ArchiveError> {
    let Some(list) = &writer.manifest().blobs else {
        return Ok(BTreeSet::new());
    };
    let path = writer.directory().join(&list.file);
    let text = fs::read(&path).map_err(ArchiveError::io("read", &path))?;
    let problem = "it is not the list of blobs that its name says".to_owned();
    let known = blob_list::read(&text).filter(|_| Hash(Sha256::digest(&text).into()) == list.sha256);
    known.ok_or(ArchiveError::Manifest { path, problem })
}

fn write_list(writer: &mut ArchiveWriter, known: &BTreeSet<Hash>) -> Result<BlobList, ArchiveError> {
    let text = blob_list::write(known);
    let sha256 = Hash(Sha256::digest(&text).into());
    let list = BlobList { count: known.len() as u64, file: layout::blob_list_file(&sha256), sha256 };
    if writer.manifest().blobs.as_ref() != Some(&list) {
        writer.write(&list.file, &text)?;
    }
    Ok(list)
}

async fn keys_after(conn: &mut Conn<'_>, after: &[u8]) -> Result<Vec<Vec<u8>>, StoreError> {
    let sql = "SELECT sha256 FROM blobs WHERE sha256 > $1 ORDER BY sha256 LIMIT $2";
    let keys =
        portable!(conn, c => sqlx::query_scalar(sql).bind(after).bind(PAGE).fetch_all(&mut **c).await)?;
    Ok(keys)
}
