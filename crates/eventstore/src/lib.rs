//! The log on PostgreSQL and SQLite: append, read, seal, verify.
//! Imports `core` only; knows nothing of job handlers.

mod append;
mod blob;
mod clock;
mod database;
mod entropy;
mod error;
mod fault;
mod log_key;
mod migrate;
pub mod postgres;
mod read;
pub mod seal;
pub mod sqlite;
mod store;
mod tenant;
pub mod verify;

pub use append::{
    Cause, StreamAppend, StreamHead, append_to_streams, check_head, records, stream_heads, write_events,
};
pub use blob::{Blob, put_blob, read_blob};
pub use clock::{Clock, Heard, now_on};
pub use database::{Conn, Database, Scribes, SqlitePools, Tx};
pub use entropy::entropy;
pub use error::StoreError;
pub use fault::Fault;
pub use log_key::{LogKey, add_log_key, insert_log_key, log_keys};
pub use migrate::MIGRATIONS;
pub use read::{StoredEvent, read_event, read_hashes, read_log, read_stream};
pub use store::{Store, StoreOptions};
pub use tenant::{Tenant, add_tenant, insert_tenant, tenant_by_slug_or_id, tenants};
