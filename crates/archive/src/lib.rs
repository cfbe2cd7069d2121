//! The log as files: segments, tiles, checkpoints, blobs and the manifest that names them; caches for
//! replay; Parquet. Imports `core`, `eventstore` and `projections`.

mod archive;
mod cache;
mod durable;
mod error;
mod fold;
mod layout;
mod manifest;
pub mod segment;
mod write;

pub use archive::Archive;
pub use cache::{CacheKey, Caches};
pub use error::{ArchiveError, NoteProblem};
pub use fold::{Objection, ObjectionKind, PartFold, fold_archive};
pub use manifest::{BlobList, FORMAT, Manifest, SegmentEntry};
pub use write::{ArchiveWriter, Commit, SealedBytes};
