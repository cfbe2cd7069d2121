//! The same commands at the same moments give the same log on both databases.

mod common;

use bpc_core::{Job, JobId, TenantId};
use bpc_eventstore::read_stream;
use bpc_projections::{JobFilter, JobLine};
use bpc_testkit::TestDatabase;
use common::{Crowd, House, Random, load};

/// What a run left: each stream's bytes and state, and the job list.
#[derive(Debug, PartialEq)]
struct Outcome {
    streams: Vec<(JobId, Vec<String>, Option<Job>)>,
    list: Vec<JobLine>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_commands_make_the_same_jobs_on_both_databases() {
    let mut seeds = Random::seeded(20_261_116);
    for _ in 0..3 {
        let seed = seeds.number();
        println!("seed {seed}");
        let on_sqlite = run(TestDatabase::sqlite(), seed).await;
        let on_postgres = run(TestDatabase::postgres().await, seed).await;
        assert_eq!(on_sqlite.streams.len(), on_postgres.streams.len(), "seed {seed}");
        for (sqlite, postgres) in on_sqlite.streams.iter().zip(&on_postgres.streams) {
            assert_eq!(sqlite, postgres, "seed {seed}");
        }
        assert_eq!(on_sqlite.list, on_postgres.list, "seed {seed}");
    }
}

async fn run(db: TestDatabase, seed: u64) -> Outcome {
    let mut crowd = Crowd::new(House::seeded(&db, seed).await);
    crowd.work(250).await;
    let mut tx = crowd.house.read().await;
    let mut streams = Vec::new();
    for &(tenant, id) in crowd.jobs() {
        streams.push((id, events(&mut tx, tenant, id).await, load(&mut tx.conn(), tenant, id).await));
    }
    let list = crowd.house.list(JobFilter { limit: 10_000, ..JobFilter::default() }).await;
    assert_eq!(list.len(), streams.len(), "each job stands in exactly one view");
    Outcome { streams, list }
}

/// The events of a job as text, with their hashes.
async fn events(tx: &mut bpc_eventstore::Tx, tenant: TenantId, id: JobId) -> Vec<String> {
    let events = read_stream(&mut tx.conn(), tenant, id.into()).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    events.iter().map(|event| format!("{} {}", event.hash().unwrap(), text(&event.event_bytes))).collect()
}
