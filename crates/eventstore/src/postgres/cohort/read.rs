//! Reading what both tables hold of some streams.

use bpc_core::cohort::{first_of_millisecond, may_be_in_cohort};
use bpc_core::{Head, StreamId, TenantId, Version, job};
use futures_util::TryStreamExt;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::append::StreamHead;
use crate::error::StoreError;
use crate::read::StoredEvent;

use super::row::{LogRow, Members};

/// All events of a stream, oldest first.
pub(crate) async fn read_stream(
    conn: &mut PgConnection,
    tenant: TenantId,
    stream: StreamId,
) -> Result<Vec<StoredEvent>, StoreError> {
    let sql = include_str!("read_stream.sql");
    let query = sqlx::query(sql).bind(stream.0).bind(tenant.0).bind(first_of_millisecond(stream).0);
    let mut rows = query.fetch(conn);
    let mut events = Vec::new();
    while let Some(row) = rows.try_next().await? {
        events.extend(LogRow::of(&row)?.event_of(stream)?);
    }
    events.sort_by_key(|event| (event.version, event.id));
    Ok(events)
}

/// One event of a stream.
pub(crate) async fn read_event(
    conn: &mut PgConnection,
    tenant: TenantId,
    stream: StreamId,
    version: Version,
) -> Result<Option<StoredEvent>, StoreError> {
    let sql = include_str!("read_event.sql");
    let query = sqlx::query(sql).bind(stream.0).bind(tenant.0).bind(first_of_millisecond(stream).0);
    for row in query.bind(version.0 as i32).fetch_all(conn).await? {
        if let Some(event) = LogRow::of(&row)?.event_of(stream)? {
            return Ok(Some(event));
        }
    }
    Ok(None)
}

/// The events with ids from `first` to `last`, in order, and perhaps some just before.
pub(crate) async fn read_ids(
    conn: &mut PgConnection,
    first: i64,
    last: i64,
) -> Result<Vec<StoredEvent>, StoreError> {
    let mut rows = sqlx::query(include_str!("read_ids.sql")).bind(first).bind(last).fetch(conn);
    let mut events = Vec::new();
    while let Some(row) = rows.try_next().await? {
        events.extend(LogRow::of(&row)?.events()?);
    }
    Ok(events)
}

/// Streams of one millisecond, and the version of interest if it is only one.
struct Span {
    lowest: StreamId,
    highest: StreamId,
    version: Option<Version>,
}

/// What cohorts hold of these streams, or of one version of them: the end of each as if nothing came after. Rows are
/// fetched once for all streams in them, which mostly come together.
pub(crate) async fn cohort_heads(
    conn: &mut PgConnection,
    mut wanted: Vec<(StreamId, Option<Version>)>,
) -> Result<Vec<StreamHead>, StoreError> {
    wanted.retain(|(stream, _)| may_be_in_cohort(*stream));
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let spans = spans(&mut wanted);
    let column = |take: fn(&Span) -> Uuid| spans.iter().map(take).collect::<Vec<_>>();
    let rows = sqlx::query_as(include_str!("cohort_hashes.sql"))
        .bind(column(|span| first_of_millisecond(span.lowest).0))
        .bind(column(|span| span.lowest.0))
        .bind(column(|span| span.highest.0))
        .bind(spans.iter().map(|span| span.version.map(|it| it.0 as i32)).collect::<Vec<_>>())
        .fetch_all(conn)
        .await?;
    wanted.sort_unstable();
    let mut heads = Vec::new();
    for (id, tenant_id, version, stream_ids, hashes) in rows {
        let (id, tenant_id): (i64, Uuid) = (id, tenant_id);
        let (stream_ids, hashes): (Vec<u8>, Vec<u8>) = (stream_ids, hashes);
        let version = Version(i32::cast_unsigned(version));
        let row = Members::of(id, &stream_ids, &hashes)?;
        let from = wanted.partition_point(|(stream, _)| *stream < row.first());
        let here = wanted[from..].iter().take_while(|(stream, _)| *stream <= row.last());
        for (stream_id, _) in here.filter(|(_, of)| of.is_none_or(|of| of == version)) {
            heads.extend(row.hash_of(*stream_id).map(|hash| StreamHead {
                stream_id: *stream_id,
                tenant_id: TenantId(tenant_id),
                stream_type: job::STREAM_TYPE.to_owned(),
                head: Head { version, hash },
            }));
        }
    }
    Ok(heads)
}

fn spans(wanted: &mut [(StreamId, Option<Version>)]) -> Vec<Span> {
    let group = |(stream, version): &(StreamId, Option<Version>)| (first_of_millisecond(*stream), *version);
    wanted.sort_unstable_by_key(|it| (group(it), it.0));
    let span = |part: &[(StreamId, Option<Version>)]| Span {
        lowest: part[0].0,
        highest: part[part.len() - 1].0,
        version: part[0].1,
    };
    wanted.chunk_by(|a, b| group(a) == group(b)).map(span).collect()
}
