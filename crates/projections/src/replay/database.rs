//! A log in a database as the source of a replay.

use std::pin::Pin;

use bpc_eventstore::{Conn, read_log};
use futures_util::TryStreamExt;

use super::error::ReplayError;
use super::folded::Folded;
use super::sealed_ids::SealedIds;
use super::source::ReplaySource;
use super::stream::{StreamFold, Taken};
use super::until::Until;

/// Events between two words about progress.
const PROGRESS_EVERY: u64 = 4096;

/// The log that a connection shows. For views that can be compared with live ones it is a transaction of
/// [`Store::begin_read`](bpc_eventstore::Store::begin_read), so that all of the log is read at one moment.
pub struct DatabaseSource<'s, 'c> {
    conn: &'s mut Conn<'c>,
}

impl<'s, 'c> DatabaseSource<'s, 'c> {
    /// The log on this connection.
    pub fn new(conn: &'s mut Conn<'c>) -> Self {
        DatabaseSource { conn }
    }

    /// The log is read once, by stream and version, so each stream is in one piece and memory stays flat
    /// however many there are.
    async fn read(&mut self, until: Until, to: &mut Folded<'_>) -> Result<(), ReplayError> {
        let sealed = match until {
            Until::Size(size) => Some(SealedIds::before(self.conn, size).await?),
            Until::Newest | Until::Moment(_) => None,
        };
        let mut stream: Option<StreamFold> = None;
        let mut log = read_log(self.conn).map_err(ReplayError::source);
        let mut unsaid = 0;
        while let Some(event) = log.try_next().await? {
            if sealed.as_ref().is_some_and(|sealed| !sealed.contains(event.id)) {
                continue;
            }
            unsaid += 1;
            if unsaid == PROGRESS_EVERY {
                to.events(std::mem::take(&mut unsaid));
            }
            if stream.as_ref().is_none_or(|stream| stream.stream_id != event.stream_id) {
                finish(stream.take(), to).await;
            }
            let fold = stream.get_or_insert_with(|| StreamFold::new(event.stream_id));
            if fold.take(&event, until, to) == Taken::ToViews {
                to.event(event.event_bytes).await;
            }
        }
        finish(stream, to).await;
        to.events(unsaid);
        Ok(())
    }
}

impl ReplaySource for DatabaseSource<'_, '_> {
    fn replay<'a>(
        &'a mut self,
        until: Until,
        to: &'a mut Folded<'_>,
    ) -> Pin<Box<dyn Future<Output = Result<(), ReplayError>> + Send + 'a>> {
        Box::pin(self.read(until, to))
    }
}

/// A stream has no more events: what it folded to is its row.
async fn finish(stream: Option<StreamFold>, to: &mut Folded<'_>) {
    match stream.filter(StreamFold::has_begun) {
        None => {}
        Some(stream) if stream.is_job() => to.job(stream.into_job()).await,
        Some(_) => to.stream(),
    }
}
