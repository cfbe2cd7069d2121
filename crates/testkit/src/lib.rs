//! What the tests of this workspace stand on: private servers, fresh databases, real processes.
//!
//! * [`TestDatabase`] is one empty database for one test, on PostgreSQL or SQLite.
//! * [`on_both_databases!`] writes a test once and runs it on each of them.
//! * [`postgres::Cluster`] and [`rabbitmq::Broker`] are servers a test may stop and start again.
//! * [`process::Bpc`] runs the real program, and signals it.
//! * [`eventually()`] waits for something to become true, but never for ever.
//! * [`used`] tells what a measurement took.
//!
//! Everything a test process starts or writes is registered with one small watchdog shell, so that
//! servers, child processes and temporary directories go away even when the process is killed.
//!
//! Starting and stopping servers and running programs block the calling thread. The body of a
//! `#[tokio::test(flavor = "multi_thread")]` may do that freely: its tasks run on other threads.

mod account;
mod both;
mod database;
mod database_url;
mod eventually;
mod guarded;
mod guardian;
mod port;
pub mod postgres;
pub mod process;
pub mod rabbitmq;
mod random;
mod scratch;
pub mod used;

pub use database::{DatabaseKind, TestDatabase};
pub use eventually::{Outcome, eventually};
