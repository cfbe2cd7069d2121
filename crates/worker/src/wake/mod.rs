//! Wake-ups: hints that work may be waiting. Losing any of them costs a poll interval and nothing
//! else, because polling is the truth.

mod file;
mod listen;
mod rabbit;

use bpc_projections::Lane;
use tokio::sync::broadcast;

pub(crate) use file::watch_file;
pub(crate) use listen::listen;
pub use rabbit::Trigger;
pub(crate) use rabbit::consume;

/// Where a worker listens besides polling.
#[derive(Clone, Debug)]
pub struct WakeOptions {
    /// To what others write: `LISTEN` on PostgreSQL, on a connection of its own; on SQLite, changes of the file.
    pub listen: bool,
    /// A RabbitMQ trigger.
    pub rabbit: Option<RabbitOptions>,
}

impl Default for WakeOptions {
    fn default() -> Self {
        WakeOptions { listen: true, rabbit: None }
    }
}

/// The RabbitMQ trigger: a message `{"job_id": ".."}` on this exchange makes workers look. What it
/// says is not trusted; that it came is the hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RabbitOptions {
    /// `amqp://...`.
    pub url: String,
    /// Exchange, declared as a durable topic exchange.
    pub exchange: String,
    /// Routing key of the triggers.
    pub routing_key: String,
}

/// Something a worker may want to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// This lane has work.
    Lane(Lane),
    /// Some lane may have work.
    Anything,
    /// A running job should stop.
    Cancel,
}

/// From whoever writes to whoever works, within this process.
#[derive(Clone, Debug)]
pub(crate) struct Hints {
    sender: broadcast::Sender<Hint>,
}

/// A worker that falls further behind than this looks everywhere instead.
const BACKLOG: usize = 64;

impl Default for Hints {
    fn default() -> Self {
        Hints { sender: broadcast::channel(BACKLOG).0 }
    }
}

impl Hints {
    pub(crate) fn lane(&self, lane: Lane) {
        self.send(Hint::Lane(lane));
    }

    pub(crate) fn cancel(&self) {
        self.send(Hint::Cancel);
    }

    /// Nobody listening is fine.
    pub(crate) fn send(&self, hint: Hint) {
        let _ = self.sender.send(hint);
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Hint> {
        self.sender.subscribe()
    }
}
