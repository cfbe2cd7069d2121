//! The seam for views of a pack: how domain events fill its tables.

use std::pin::Pin;

use bpc_core::Envelope;
use bpc_eventstore::{Conn, StoreError};

/// The code that fills some tables from domain events. Its tables are created by the migrations and
/// can be thrown away and rebuilt at any time, so it may read nothing but its events and its tables.
pub trait Projection: Send + Sync {
    /// For people and reports.
    fn name(&self) -> &'static str;

    /// Types of the streams it follows.
    fn stream_types(&self) -> &'static [&'static str];

    /// The tables it fills.
    fn tables(&self) -> &'static [ViewTable];

    /// Take one event in, inside the transaction that appends it. Within a stream, events come in
    /// order; across streams they come in any order, and the tables must not depend on it.
    fn apply<'a>(
        &'a self,
        conn: &'a mut Conn<'_>,
        event: &'a Envelope<'_>,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>>;
}

/// A table of a view, described for rebuilding and comparing.
#[derive(Clone, Copy, Debug)]
pub struct ViewTable {
    /// Its name.
    pub name: &'static str,
    /// Its columns, key first.
    pub columns: &'static [&'static str],
    /// How many of them are the key.
    pub key_columns: usize,
}
