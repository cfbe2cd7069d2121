//! Is everything as the log tells it? Asked after every story.

use std::collections::{BTreeMap, HashSet};

use bpc_core::envelope::Envelope;
use bpc_core::job::{JobEvent, Placement, STREAM_TYPE, fold_stream};
use bpc_core::{Hash, JobId, StreamId, Version, chain_hash};
use bpc_eventstore::{StoredEvent, read_log};
use bpc_projections::{JobFilter, list_jobs};
use bpc_worker::Store;
use futures_util::TryStreamExt;

/// Checks bytes, columns, chain and versions of every event, folds every job from the log and
/// compares it with its row, and looks for every event that a success claims to have brought.
pub async fn assert_sound(store: &Store) {
    let streams = streams(store).await;
    let mut known = HashSet::new();
    let mut claimed = Vec::new();
    let mut folded = BTreeMap::new();
    for (stream, events) in &streams {
        let envelopes = chained(events);
        known.extend(envelopes.iter().map(|(envelope, _)| (*stream, envelope.version)));
        if envelopes[0].0.stream_type != STREAM_TYPE {
            continue;
        }
        for (envelope, _) in &envelopes {
            let event = JobEvent::read(&envelope.event_type, envelope.schema, envelope.payload).unwrap();
            if let JobEvent::Succeeded { emitted, .. } = event {
                claimed.extend(emitted.into_iter().map(|it| (it.stream_id, it.version)));
            }
        }
        let job = fold_stream(envelopes.iter().map(|(envelope, hash)| (envelope, *hash)));
        let job = job.unwrap_or_else(|error| panic!("job {stream} does not fold: {error}")).unwrap();
        folded.insert(job.job_id, Placement::of(job));
    }
    for event in claimed {
        assert!(known.contains(&event), "a success claims {event:?}, which the log does not have");
    }
    assert_eq!(rows(store).await, folded, "the views (left) are not what the log (right) says");
}

async fn streams(store: &Store) -> BTreeMap<StreamId, Vec<StoredEvent>> {
    let mut streams: BTreeMap<StreamId, Vec<StoredEvent>> = BTreeMap::new();
    let mut tx = store.begin_read().await.unwrap();
    for event in read_log(&mut tx.conn()).try_collect::<Vec<_>>().await.unwrap() {
        streams.entry(event.stream_id).or_default().push(event);
    }
    streams
}

fn chained(events: &[StoredEvent]) -> Vec<(Envelope<'_>, Hash)> {
    let mut before = (Version::NONE, Hash::ZERO);
    let mut envelopes = Vec::with_capacity(events.len());
    for event in events {
        let StoredEvent { stream_id, version, .. } = event;
        let envelope = Envelope::read(&event.event_bytes).unwrap();
        let hash = event.hash().unwrap();
        assert_eq!(hash, chain_hash(&before.1, &event.event_bytes), "hash of {stream_id} version {version}");
        assert_eq!(envelope.version, before.0.next(), "versions of {stream_id} are dense");
        let columns = (event.tenant_id, event.stream_id, event.version as u32, &*event.event_type);
        let said = (envelope.tenant_id, envelope.stream_id, envelope.version.0, &*envelope.event_type);
        assert_eq!(columns, said, "columns of {stream_id} version {version}");
        assert_eq!((event.at(), &*event.stream_type), (envelope.occurred_at, &*envelope.stream_type));
        before = (envelope.version, hash);
        envelopes.push((envelope, hash));
    }
    envelopes
}

async fn rows(store: &Store) -> BTreeMap<JobId, Placement> {
    let mut tx = store.begin_read().await.unwrap();
    let filter = JobFilter { limit: 1_000_000, ..JobFilter::default() };
    let lines = list_jobs(&mut tx.conn(), &filter).await.unwrap();
    let count = lines.len();
    let id = |line: &Placement| match line {
        Placement::Queue(row) => row.job_id,
        Placement::Finished(row) => row.job_id,
    };
    let rows: BTreeMap<_, _> = lines.into_iter().map(|line| (id(&line), line)).collect();
    assert_eq!(rows.len(), count, "a job stands in one view, once");
    rows
}
