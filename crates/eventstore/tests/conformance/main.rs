//! What the log promises, by topic, on both databases.

mod append;
mod append_only;
mod at_hand;
mod blobs;
mod busy;
mod cancelled;
mod cohorts;
mod common;
mod faults;
mod log_keys;
mod migrate;
mod read;
mod seal;
mod statements;
mod tenants;
mod verify;
