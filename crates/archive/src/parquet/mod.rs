//! `bpc export parquet`: the sealed log as tables that pandas, DuckDB and Polars read. A derived copy for
//! analysts, never the record.

mod columns;
mod file;

use std::path::Path;
use std::time::{Duration, Instant};

use bpc_core::Envelope;
use bpc_eventstore::Store;
use bpc_eventstore::seal::{read_sealed, sealed_head};
use serde::{Serialize, Serializer};
use tokio::task::spawn_blocking;

use crate::archive::Archive;
use crate::segment::{SegmentChain, SegmentError};

use file::Files;

/// Events read from a store at once.
const PAGE: usize = 4096;

/// What was exported. The serialised names are stable.
#[derive(Clone, Debug, Serialize)]
pub struct ExportReport {
    /// Rows written: events in sealed order.
    pub events: u64,
    /// Files written.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// How long it took.
    #[serde(rename = "elapsed_ms", serialize_with = "millis")]
    pub elapsed: Duration,
}

/// Why an export was not made.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The log cannot be read.
    #[error(transparent)]
    Store(#[from] bpc_eventstore::StoreError),
    /// The archive cannot be read.
    #[error("{file} cannot be read")]
    Segment {
        /// Which segment.
        file: String,
        /// Why.
        #[source]
        source: SegmentError,
    },
    /// An event cannot be read.
    #[error("the event at position {position} is no event: run `bpc verify`")]
    Event {
        /// Where.
        position: u64,
        /// Why.
        #[source]
        source: bpc_core::EnvelopeError,
    },
    /// A file cannot be written.
    #[error("cannot write {path}")]
    Io {
        /// Which file.
        path: std::path::PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Parquet cannot be written.
    #[error("cannot write Parquet")]
    Parquet(#[from] ::parquet::errors::ParquetError),
}

impl ExportError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            ExportError::Store(error) => error.code(),
            ExportError::Segment { source, .. } => source.code(),
            ExportError::Event { source, .. } => source.code(),
            ExportError::Io { .. } | ExportError::Parquet(_) => "EXPORT_UNWRITABLE",
        }
    }
}

/// Export everything that a store has sealed. Files are replaced when they are whole; an export that is broken
/// off leaves those it finished.
pub async fn export_parquet(
    store: &Store,
    directory: &Path,
    progress: &mut (dyn FnMut(u64) + Send),
) -> Result<ExportReport, ExportError> {
    let start = Instant::now();
    let size = sealed_head(&mut store.begin_read().await?.conn()).await?.size;
    let mut files = Files::new(directory);
    let mut position = 0;
    while position < size {
        let limit = PAGE.min((size - position) as usize);
        let page = read_sealed(&mut store.begin_read().await?.conn(), position, limit).await?;
        position += page.len() as u64;
        let written = spawn_blocking(move || {
            for sealed in &page {
                let (position, event) = (sealed.position, &sealed.event);
                let envelope = event.envelope().map_err(|source| ExportError::Event { position, source })?;
                files.push(position, &event.hash()?, &envelope)?;
            }
            Ok::<_, ExportError>(files)
        });
        files = written.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
        progress(position);
    }
    let (written, bytes) = files.finish()?;
    Ok(ExportReport { events: position, files: written, bytes, elapsed: start.elapsed() })
}

/// Export everything that an archive holds.
pub fn export_parquet_of_archive(
    archive: &Archive,
    directory: &Path,
    progress: &mut (dyn FnMut(u64) + Send),
) -> Result<ExportReport, ExportError> {
    let start = Instant::now();
    let mut files = Files::new(directory);
    for entry in &archive.manifest().segments {
        let failed = |source| ExportError::Segment { file: entry.file.clone(), source };
        let segment = archive.segment(entry).map_err(failed)?;
        let mut chain = SegmentChain::new(&segment);
        let mut frames = segment.frames().map_err(failed)?;
        while let Some(frame) = frames.next_frame().map_err(failed)? {
            for (position, event_bytes) in frame.events() {
                let envelope =
                    Envelope::read(event_bytes).map_err(|source| ExportError::Event { position, source })?;
                let link = chain.link(position, envelope.stream_id, envelope.version, event_bytes);
                files.push(position, &link.map_err(failed)?.hash, &envelope)?;
            }
        }
        progress(entry.last + 1);
    }
    let (written, bytes) = files.finish()?;
    Ok(ExportReport { events: archive.manifest().size, files: written, bytes, elapsed: start.elapsed() })
}

fn millis<S: Serializer>(elapsed: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(elapsed.as_millis() as u64)
}
