//! What follows from an event by a rule that is not its emitter's business.

use std::pin::Pin;

use bpc_core::{EventRecord, TenantId};
use bpc_eventstore::{Conn, StoreError};

use crate::effects::Effects;

/// Adds events and jobs to whatever domain events are recorded, in the transaction that records them:
/// either both exist or neither. The emitter does not know of it.
///
/// It is asked while something is committed and not while the log is replayed, so it reads views of
/// its pack through `conn` and returns what it wants; blobs and SQL are not looked at. What it adds sets
/// off no further reaction of its own.
pub trait Reaction: Send + Sync {
    /// What follows from these events of a tenant.
    fn react<'a>(
        &'a self,
        conn: &'a mut Conn<'_>,
        tenant: TenantId,
        events: &'a [EventRecord],
    ) -> Pin<Box<dyn Future<Output = Result<Effects, StoreError>> + Send + 'a>>;
}
