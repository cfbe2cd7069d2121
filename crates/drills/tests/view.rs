//! The view of emitted events, filled by the engine's own settling.

mod rehearsal;

use std::time::Duration;

use bpc_core::job::Outcome;
use bpc_drills::{Emitted, STREAM_TYPE};
use bpc_projections::{Lane, LaneRoom};
use bpc_worker::{Attempt, Effects, Settled, StreamId, Version};
use rehearsal::{Rehearsal, whole_pack};

const TTL: Duration = Duration::from_secs(60);

#[test]
fn the_view_describes_its_table_key_first() {
    let registry = whole_pack();
    let [view] = registry.projections() else { panic!("one view") };
    let [table] = view.tables() else { panic!("one table") };
    assert_eq!((view.name(), view.stream_types()), ("drill_streams", &["Drill"][..]));
    assert_eq!((table.name, &table.columns[..table.key_columns]), ("drill_streams", &["stream_id"][..]));
}

bpc_testkit::on_both_databases! {
    async fn the_described_columns_are_those_of_the_table(db) {
        let rehearsal = Rehearsal::on(&db).await;
        let columns = rehearsal.engine.registry.projections()[0].tables()[0].columns.join(", ");
        let sql = sqlx::AssertSqlSafe(format!("SELECT {columns} FROM drill_streams"));
        let mut tx = rehearsal.engine.store.begin_read().await.unwrap();
        bpc_eventstore::portable!(tx.conn(), c => sqlx::query(sql).execute(c).await.map(drop)).unwrap();
    }

    async fn events_are_counted_once_and_the_newest_is_remembered(db) {
        let rehearsal = Rehearsal::on(&db).await;
        let stream = StreamId::derived("test", "one");
        assert_eq!(settle(&rehearsal, stream, Version(0), 1..=2).await, "SUCCEEDED");
        assert_eq!(settle(&rehearsal, stream, Version(2), 3..=5).await, "SUCCEEDED");
        let (events, last_number, last_job) = rehearsal.stream_row(stream).await.expect("a row");
        assert_eq!((events, last_number), (5, 5));
        assert_eq!(last_job, last_of(&rehearsal, stream).await.job_id.0);
    }

    async fn events_decided_on_an_old_version_leave_the_view_alone(db) {
        let rehearsal = Rehearsal::on(&db).await;
        let stream = StreamId::derived("test", "one");
        assert_eq!(settle(&rehearsal, stream, Version(0), 1..=2).await, "SUCCEEDED");
        // A conflict: the job waits for another attempt.
        assert_eq!(settle(&rehearsal, stream, Version(0), 1..=2).await, "QUEUED");
        let (events, last_number, _) = rehearsal.stream_row(stream).await.expect("a row");
        assert_eq!((events, last_number), (2, 2));
    }
}

/// One attempt that emits these numbers, settled. Returns the job's status.
async fn settle(
    rehearsal: &Rehearsal,
    stream: StreamId,
    decided_on: Version,
    numbers: std::ops::RangeInclusive<u64>,
) -> &'static str {
    rehearsal.enqueue("DRILL_NOOP", "{}").await;
    let lane = Lane { tenant_id: rehearsal.tenant, queue: "default".to_owned() };
    let leased = rehearsal.engine.lease("w", &[LaneRoom::new(lane, 1)], 1, TTL).await.unwrap();
    let job = &leased[0].job;
    let drafts = numbers.map(|number| Emitted { number, job_id: job.job_id }.draft().unwrap()).collect();
    let attempt = Attempt {
        leased: job.clone(),
        leased_at: leased[0].leased_at,
        place: leased[0].place.clone(),
        outcome: Outcome::Succeeded { duration_ms: 1, result: None, emitted: Vec::new() },
        effects: Effects::none().emit(rehearsal.tenant, STREAM_TYPE, stream, decided_on, drafts),
    };
    match rehearsal.engine.settle("w", &[attempt]).await.unwrap()[..] {
        [Settled::Recorded(status)] => status.as_str(),
        ref other => panic!("not recorded: {other:?}"),
    }
}

/// The newest event of a stream.
async fn last_of(rehearsal: &Rehearsal, stream: StreamId) -> Emitted {
    let mut tx = rehearsal.engine.store.begin_read().await.unwrap();
    let events = bpc_eventstore::read_stream(&mut tx.conn(), rehearsal.tenant, stream).await.unwrap();
    let newest = events.last().expect("an event").envelope().unwrap();
    serde_json::from_slice(newest.payload).unwrap()
}
