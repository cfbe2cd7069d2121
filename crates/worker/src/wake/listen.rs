//! PostgreSQL's LISTEN, on a connection of its own.

use std::time::Duration;

use bpc_eventstore::Database;
use bpc_projections::Lane;
use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio_util::sync::CancellationToken;

use crate::backoff::Backoff;
use crate::engine::{CANCEL_HINT, Engine};

use super::{Hint, Hints};

/// The channel that every write with news notifies.
const CHANNEL: &str = "bpc_jobs";
/// A connection that has been silent for this long is asked whether it still lives.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// How long it may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// Pass notifications on until `stop`. A lost connection is made again, and each new one begins with
/// a look everywhere, for what was notified in between.
pub(crate) async fn listen(engine: Engine, stop: CancellationToken) {
    let Database::Postgres(pool) = &engine.store.database else {
        return;
    };
    let mut backoff = Backoff::default();
    while !stop.is_cancelled() {
        let ended = tokio::select! {
            () = stop.cancelled() => return,
            ended = session(pool, &engine.hints, &mut backoff) => ended,
        };
        let Err(error) = ended;
        if backoff.is_first() {
            tracing::warn!(%error, "notifications are lost, polling goes on");
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = backoff.wait() => {}
        }
    }
}

async fn session(
    pool: &PgPool,
    hints: &Hints,
    backoff: &mut Backoff,
) -> Result<std::convert::Infallible, sqlx::Error> {
    // Not from the worker's pool: a listener keeps its connection for ever.
    let own = PgPoolOptions::new().max_connections(1).acquire_timeout(ANSWER_MAX).idle_timeout(None);
    let own = own.max_lifetime(None).connect_lazy_with((*pool.connect_options()).clone());
    let mut listener = PgListener::connect_with(&own).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    backoff.reset();
    hints.send(Hint::Anything);
    let lost = || sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into());
    loop {
        match tokio::time::timeout(SILENCE_MAX, listener.try_recv()).await {
            Ok(received) => hints.send(hint(received?.ok_or_else(lost)?.payload())),
            Err(_) => {
                // A connection can die without a word; only an answer proves it alive.
                let answer = sqlx::query("SELECT 1").execute(&mut listener);
                tokio::time::timeout(ANSWER_MAX, answer).await.map_err(|_| lost())??;
            }
        }
    }
}

fn hint(payload: &str) -> Hint {
    match Lane::from_hint(payload) {
        Some(lane) => Hint::Lane(lane),
        None if payload == CANCEL_HINT => Hint::Cancel,
        None => Hint::Anything,
    }
}
