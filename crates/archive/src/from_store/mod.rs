//! `bpc archive`: the sealed log of a store into a directory.

mod blobs;
mod pages;

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use bpc_core::{Hash, StreamId};
use bpc_eventstore::seal::{Keyring, StoredCheckpoint, newest_checkpoint, root_at};
use bpc_eventstore::{Conn, Store, StoreError, portable};
use serde::{Serialize, Serializer};
use tokio::task::spawn_blocking;

use crate::error::ArchiveError;
use crate::segment::EVENTS_PER_SEGMENT;
use crate::write::{ArchiveWriter, Commit};

use pages::{Page, previous_hashes, read_page};

/// A long log becomes part of the archive piece by piece, so that a run that is broken off has not worked for
/// nothing: so many segments at most.
const SEGMENTS_PER_COMMIT: u64 = 16;

/// What a run did. The serialised names are stable.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ArchiveReport {
    /// The log's name.
    pub origin: String,
    /// Events in the archive now.
    pub size: u64,
    /// Events that this run added.
    pub events_added: u64,
    /// Segments there are now.
    pub segments: u64,
    /// Bytes of them.
    pub segment_bytes: u64,
    /// Blobs there are now.
    pub blobs: u64,
    /// Blobs that this run added.
    pub blobs_added: u64,
    /// Blobs of the store whose bytes are not what their hash says; these are not in the archive.
    pub blobs_damaged: Vec<String>,
    /// How long it took.
    #[serde(rename = "elapsed_ms", serialize_with = "millis")]
    pub elapsed: Duration,
}

/// How far a run is: events in the archive, and how many there will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveProgress {
    /// Events archived or being archived.
    pub events: u64,
    /// Events that checkpoints cover.
    pub size: u64,
}

/// Archive everything that is sealed and signed for, going on from what the directory holds. Every event is
/// checked against its hash, and all of them against the signed root, before they become part of the archive.
/// Cut off anywhere it leaves the archive as it was or farther, and the next run goes on from there.
pub async fn archive(
    store: &Store,
    directory: &Path,
    progress: &mut (dyn FnMut(ArchiveProgress) + Send),
) -> Result<ArchiveReport, ArchiveError> {
    let start = Instant::now();
    let opened = directory.to_owned();
    let mut writer = blocking(move || ArchiveWriter::open(&opened)).await?;
    let before = writer.manifest().size;
    let newest = continues(store, &writer).await?;
    let mut report = ArchiveReport::default();
    loop {
        let next_boundary = writer.position() / EVENTS_PER_SEGMENT + SEGMENTS_PER_COMMIT;
        let stop = stop(store, next_boundary * EVENTS_PER_SEGMENT, &newest).await?;
        writer = fill(store, writer, &stop, newest.size, progress).await?;
        let is_last = stop.size == newest.size;
        let blobs = if is_last {
            let added;
            (writer, added) = blobs::archive_blobs(store, writer).await?;
            report.blobs_added = added.added;
            report.blobs_damaged = added.damaged.iter().map(Hash::to_string).collect();
            added.list
        } else {
            writer.manifest().blobs.clone()
        };
        let (older, keys) = notes_and_keys(store, &writer, &stop).await?;
        writer = blocking(move || {
            writer.commit(Commit { note: &stop.note, older: &older, keys: &keys }, blobs)?;
            Ok(writer)
        })
        .await?;
        if is_last {
            break;
        }
    }
    let manifest = writer.manifest();
    report.origin.clone_from(&manifest.origin);
    report.size = manifest.size;
    report.events_added = manifest.size - before;
    report.segments = manifest.segments.len() as u64;
    report.segment_bytes = manifest.segments.iter().map(|entry| entry.bytes).sum();
    report.blobs = manifest.blobs.as_ref().map_or(0, |list| list.count);
    report.elapsed = start.elapsed();
    let (size, events, elapsed) = (report.size, report.events_added, report.elapsed);
    tracing::info!(size, events, blobs = report.blobs_added, ?elapsed, "log archived");
    Ok(report)
}

/// The newest checkpoint of a log that goes on from what is archived.
async fn continues(store: &Store, writer: &ArchiveWriter) -> Result<StoredCheckpoint, ArchiveError> {
    let mut tx = store.begin_read().await?;
    let newest = newest_checkpoint(&mut tx.conn()).await?.ok_or(ArchiveError::NothingSealed)?;
    let archived = writer.manifest().size;
    if newest.size < archived {
        return Err(ArchiveError::AheadOfLog { archived, sealed: newest.size });
    }
    let found = root_at(&mut tx.conn(), archived).await?;
    match writer.root() {
        root if root == found => Ok(newest),
        root => Err(ArchiveError::AnotherLog { size: archived, archived: root, found }),
    }
}

/// The first checkpoint over at least so many events, or the newest.
async fn stop(store: &Store, size: u64, newest: &StoredCheckpoint) -> Result<StoredCheckpoint, ArchiveError> {
    if size >= newest.size {
        return Ok(newest.clone());
    }
    let mut tx = store.begin_read().await?;
    let stored = checkpoint_over(&mut tx.conn(), size).await?;
    Ok(match stored {
        Some((size, note)) if size < newest.size => StoredCheckpoint { size, note, made_at: newest.made_at },
        _ => newest.clone(),
    })
}

/// Add events up to a checkpoint. The next page is read while the one before it is written.
async fn fill(
    store: &Store,
    mut writer: ArchiveWriter,
    stop: &StoredCheckpoint,
    size: u64,
    progress: &mut (dyn FnMut(ArchiveProgress) + Send),
) -> Result<ArchiveWriter, ArchiveError> {
    let mut page = read_page(store, writer.position(), stop.size).await?;
    while !page.is_empty() {
        let unknown;
        (writer, page, unknown) = blocking(move || {
            let unknown = writer.unknown_before(&page.sealed())?;
            Ok((writer, page, unknown))
        })
        .await?;
        let previous = previous_hashes(store, &unknown).await?;
        let next = read_page(store, page.end(), stop.size);
        let write = blocking(move || push(&mut writer, &page, &previous).map(|()| writer));
        let read;
        (writer, read) = tokio::try_join!(write, async { Ok(next.await?) })?;
        page = read;
        progress(ArchiveProgress { events: writer.position(), size });
    }
    Ok(writer)
}

fn push(
    writer: &mut ArchiveWriter,
    page: &Page,
    previous: &HashMap<StreamId, Hash>,
) -> Result<(), ArchiveError> {
    page.sealed().iter().try_for_each(|event| writer.push(event, previous.get(&event.stream_id)))
}

type NotesAndKeys = (Vec<(u64, String)>, Vec<String>);

/// A note for each segment that is full now and was not before, and all keys.
async fn notes_and_keys(
    store: &Store,
    writer: &ArchiveWriter,
    stop: &StoredCheckpoint,
) -> Result<NotesAndKeys, ArchiveError> {
    let mut tx = store.begin_read().await?;
    let mut older = Vec::new();
    let full = |size: u64| size / EVENTS_PER_SEGMENT;
    for segments in full(writer.manifest().size) + 1..=full(stop.size) {
        let note = checkpoint_over(&mut tx.conn(), segments * EVENTS_PER_SEGMENT).await?;
        older.extend(note.filter(|(size, _)| *size < stop.size));
    }
    older.dedup();
    let keyring = Keyring::load(&mut tx.conn()).await?;
    let keys = keyring.epochs.iter().filter_map(|epoch| epoch.verifiers());
    Ok((older, keys.map(|[key, _]| key.to_string()).collect()))
}

/// The first stored checkpoint over at least so many events.
async fn checkpoint_over(conn: &mut Conn<'_>, size: u64) -> Result<Option<(u64, String)>, StoreError> {
    let sql = "SELECT size, note FROM checkpoints WHERE size >= $1 ORDER BY size LIMIT 1";
    let row: Option<(i64, String)> =
        portable!(conn, c => sqlx::query_as(sql).bind(size as i64).fetch_optional(&mut **c).await)?;
    Ok(row.map(|(size, note)| (size as u64, note)))
}

/// Work on files and hashes beside the runtime.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ArchiveError> + Send + 'static,
) -> Result<T, ArchiveError> {
    spawn_blocking(work).await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

fn millis<S: Serializer>(elapsed: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(elapsed.as_millis() as u64)
}
