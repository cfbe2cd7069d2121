//! End-to-end tests: the real program, real processes, real servers, and the log as it was written.
//!
//! One binary, so that it is linked once. With `BPC_TEST_LONG=1` outages last longer and jobs use up
//! all of their attempts.

mod bench;
mod cli;
mod crash;
mod demo;
mod exactly_once;
mod harness;
mod log;
mod outage;
mod passport;
mod proof;
mod rabbit;
mod tamper;
