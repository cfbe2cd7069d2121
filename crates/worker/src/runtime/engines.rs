//! Engines for leases and settlements, each on a connection of its own that stays warm.

use std::sync::{Mutex, PoisonError};

use bpc_eventstore::Database;

use crate::engine::Engine;

/// Those that nobody uses now. Leasing and settling share them, and the one that was used last is used first: a worker that
/// seldom does both at a time has one connection for both, and opens others as it needs them.
pub(super) struct Engines {
    any: Engine,
    idle: Mutex<Vec<Engine>>,
}

impl Engines {
    pub(super) fn of(any: Engine) -> Self {
        Engines { any, idle: Mutex::default() }
    }

    /// As many transactions of a kind as there can usefully be at a time: while one waits for the disk or is made ready
    /// another can be written, but SQLite has one writer.
    pub(super) fn at_once(&self) -> usize {
        match self.any.store.database {
            Database::Postgres(_) => 2,
            Database::Sqlite(_) => 1,
        }
    }

    pub(super) fn take(&self) -> Engine {
        self.idle().pop().unwrap_or_else(|| self.any.dedicated())
    }

    pub(super) fn put_back(&self, engine: Engine) {
        self.idle().push(engine);
    }

    /// Let go of those that nobody uses, for the end.
    pub(super) fn close(&self) {
        self.idle().clear();
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Engine>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
