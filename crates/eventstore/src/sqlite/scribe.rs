//! A thread that keeps a connection and is handed whole transactions.
//!
//! The usual driver hands each statement to a thread of its own, each value in a piece of memory of its own,
//! and each row of an answer back: where thousands of rows a second are written that takes more time than
//! SQLite itself. What is a transaction of its own, and known before it begins, goes over in one piece.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Instant;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use crate::error::StoreError;

use super::{BUSY_MAX, BUSY_TIMEOUT, PRAGMAS};

/// The thread begins when it is first needed, and ends with the last handle or when it is closed.
#[derive(Clone, Debug)]
pub struct Scribe(Arc<Desk>);

#[derive(Debug)]
struct Desk {
    file: PathBuf,
    role: Role,
    work: Mutex<Work>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Writes,
    Reads,
}

#[derive(Debug, Default)]
enum Work {
    #[default]
    NotBegun,
    Goes(mpsc::Sender<Task>, JoinHandle<()>),
    Closed,
}

type Task = Box<dyn FnOnce(&Connection) + Send>;

/// Statements that stay prepared.
const STATEMENTS: usize = 32;

impl Scribe {
    /// One that writes. Whoever uses it takes care that it is alone in this process.
    pub(crate) fn writer(file: PathBuf) -> Self {
        Scribe::new(file, Role::Writes)
    }

    /// One that reads.
    pub(crate) fn reader(file: PathBuf) -> Self {
        Scribe::new(file, Role::Reads)
    }

    fn new(file: PathBuf, role: Role) -> Self {
        Scribe(Arc::new(Desk { file, role, work: Mutex::default() }))
    }

    /// Where it writes.
    pub(crate) fn file(&self) -> &Path {
        &self.0.file
    }

    /// Do this in a transaction; durable when it returns. On an error nothing is written. Nor is anything if
    /// nobody waits for the answer any more, unless the transaction was just being committed.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let role = self.0.role;
        self.hand_over(Box::new(move |conn| {
            let done = in_transaction(conn, role, |conn| {
                let done = work(conn)?;
                if reply.is_closed() {
                    Err(StoreError::Unavailable(sqlx::Error::WorkerCrashed))
                } else {
                    Ok(done)
                }
            });
            let _ = reply.send(done);
        }))?;
        answer.await.unwrap_or_else(|_| Err(StoreError::Unavailable(sqlx::Error::WorkerCrashed)))
    }

    /// End the thread and close its connection.
    pub(crate) async fn close(&self) {
        let work = std::mem::replace(&mut *self.work(), Work::Closed);
        if let Work::Goes(tasks, thread) = work {
            drop(tasks);
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }

    fn hand_over(&self, task: Task) -> Result<(), StoreError> {
        let mut work = self.work();
        if let Work::NotBegun = *work {
            let conn = self.connect()?;
            let (tasks, waiting) = mpsc::channel::<Task>();
            let thread = std::thread::Builder::new().name("bpc-scribe".to_owned());
            let thread = thread.spawn(move || waiting.into_iter().for_each(|task| task(&conn)));
            let thread = thread.map_err(|error| StoreError::Unavailable(sqlx::Error::Io(error)))?;
            *work = Work::Goes(tasks, thread);
        }
        let Work::Goes(tasks, _) = &*work else {
            return Err(StoreError::Unavailable(sqlx::Error::PoolClosed));
        };
        if tasks.send(task).is_err() {
            // A task panicked. The next one gets a new thread.
            *work = Work::NotBegun;
            return Err(StoreError::Unavailable(sqlx::Error::WorkerCrashed));
        }
        Ok(())
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(&self.0.file, flags)?;
        conn.busy_timeout(BUSY_TIMEOUT)?;
        for (name, value) in PRAGMAS {
            conn.pragma_update(None, name, value)?;
        }
        if self.0.role == Role::Reads {
            conn.pragma_update(None, "query_only", "on")?;
        }
        conn.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(conn)
    }

    fn work(&self) -> std::sync::MutexGuard<'_, Work> {
        self.0.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn in_transaction<T>(
    conn: &Connection,
    role: Role,
    work: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let behavior = match role {
        Role::Writes => TransactionBehavior::Immediate,
        Role::Reads => TransactionBehavior::Deferred,
    };
    let start = Instant::now();
    let tx = loop {
        match Transaction::new_unchecked(conn, behavior).map_err(StoreError::from) {
            Ok(tx) => break tx,
            Err(StoreError::Busy(_)) if start.elapsed() < BUSY_MAX => {}
            Err(StoreError::Busy(_)) => return Err(StoreError::Busy(start.elapsed())),
            Err(error) => return Err(error),
        }
    };
    let done = work(&tx)?;
    tx.commit()?;
    Ok(done)
}
