//! The log as files: segments, tiles, checkpoints, blobs and the manifest that names them; caches for
//! replay; Parquet; verify of all that. Imports `core`, `eventstore` and `projections`.

mod archive;
mod blob_list;
mod cache;
mod durable;
mod error;
mod fold;
mod from_store;
mod layout;
mod manifest;
mod parquet;
mod place;
mod prove;
mod replay;
pub mod segment;
mod stream;
mod verify;
mod write;

pub use archive::Archive;
pub use cache::{CacheKey, Caches};
pub use error::{ArchiveError, NoteProblem};
pub use fold::{Objection, ObjectionKind, PartFold, fold_archive};
pub use from_store::{ArchiveProgress, ArchiveReport, archive};
pub use manifest::{BlobList, FORMAT, Manifest, SegmentEntry};
pub use parquet::{ExportError, ExportReport, export_parquet, export_parquet_of_archive};
pub use replay::ArchiveSource;
pub use stream::ArchivedEvent;
pub use verify::{ArchiveFinding, ArchiveVerifyReport, verify_archive};
pub use write::{ArchiveWriter, Commit, SealedBytes};
