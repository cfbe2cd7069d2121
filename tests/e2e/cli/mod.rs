//! The contract of the command line: what it prints, what it exits with, what it refuses.

mod config;
mod enqueue;
mod help;
mod init;
mod jobs;
mod missing;
mod output;
mod person;
mod tenant;
