//! The seam between a log and the views rebuilt from it.

use std::pin::Pin;

use super::error::ReplayError;
use super::folded::Folded;
use super::until::Until;

/// Where a replay gets the log from: a database, or an archive of one.
pub trait ReplaySource: Send {
    /// Read the log up to `until` and hand over what follows from it: the job of each job stream, and the
    /// events of all other streams, those of one stream in order.
    fn replay<'a>(
        &'a mut self,
        until: Until,
        to: &'a mut Folded<'_>,
    ) -> Pin<Box<dyn Future<Output = Result<(), ReplayError>> + Send + 'a>>;
}
