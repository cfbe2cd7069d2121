//! The log as files: segments, tiles, checkpoints, blobs and the manifest that names them; caches for
//! replay; Parquet. Imports `core`, `eventstore` and `projections`.

pub mod segment;
