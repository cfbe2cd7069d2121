//! Faults on demand, so that tests can fail each durable write twice: "and not persisted", "but
//! persisted". Without a fault set this is one relaxed load per commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};

/// Makes one commit of a store fail.
#[derive(Clone, Debug, Default)]
pub struct Fault {
    kind: Arc<AtomicU8>,
    commits_before: Arc<AtomicI64>,
}

const NONE: u8 = 0;
const NOT_PERSISTED: u8 = 1;
const PERSISTED: u8 = 2;

impl Fault {
    /// After `commits` more commits, one fails and leaves nothing.
    pub fn fail_not_persisted(&self, commits: u32) {
        self.set(NOT_PERSISTED, commits);
    }

    /// After `commits` more commits, one takes effect but is answered by an error, as when the
    /// connection breaks between the commit and its answer.
    pub fn fail_but_persisted(&self, commits: u32) {
        self.set(PERSISTED, commits);
    }

    /// Has the fault happened (or was none set)?
    pub fn is_spent(&self) -> bool {
        self.kind.load(Ordering::SeqCst) == NONE
    }

    fn set(&self, kind: u8, commits: u32) {
        self.commits_before.store(commits.into(), Ordering::SeqCst);
        self.kind.store(kind, Ordering::SeqCst);
    }

    /// What the commit that asks should do.
    pub(crate) fn next(&self) -> Failure {
        if self.kind.load(Ordering::Relaxed) == NONE
            || self.commits_before.fetch_sub(1, Ordering::SeqCst) != 0
        {
            return Failure::None;
        }
        match self.kind.swap(NONE, Ordering::SeqCst) {
            NOT_PERSISTED => Failure::NotPersisted,
            _ => Failure::Persisted,
        }
    }
}

/// How one commit fails.
pub(crate) enum Failure {
    None,
    NotPersisted,
    Persisted,
}

impl Failure {
    /// The error of a connection that broke.
    pub(crate) fn error() -> crate::StoreError {
        let broken = std::io::Error::new(std::io::ErrorKind::ConnectionReset, "fault injected by a test");
        crate::StoreError::Unavailable(sqlx::Error::Io(broken))
    }
}
