//! A lease may begin where others of its kind got to, and one that does not ask for that finds what they overlooked.

use std::time::Duration;

use bpc_core::{JobId, Timestamp};
use bpc_projections::LaneRoom;
use bpc_testkit::TestDatabase;
use bpc_worker::{Due, Engine, LeasedJob, Registry};

use crate::common::{Act, Probe, Scene, TTL, job, lane};

const SECOND: Duration = Duration::from_secs(1);

impl Scene {
    /// Another worker has leased a job that was due nine seconds after one that came later than its lease.
    async fn with_an_overlooked_job(db: &TestDatabase) -> (Scene, JobId) {
        let scene = Scene::still(db).await;
        let long_ago = scene.engine.store.now().await.unwrap().plus(SECOND);
        scene.advance(SECOND * 10);
        scene.enqueue(Act::Nothing).await;
        scene.lease_one("other").await;
        let overlooked = scene.enqueue_job(job(Act::Nothing).due(Due::At(long_ago))).await;
        (scene, overlooked)
    }

    async fn lease_behind_others(&self, engine: &Engine, behind_others: Option<Duration>) -> Vec<JobId> {
        let since = [Timestamp::from_micros(1); 4];
        let room = LaneRoom { since, behind_others, ..lane(self.tenant, "default", 5) };
        let leased = engine.lease("w", &[room], 5, TTL).await.unwrap();
        leased.into_iter().map(|it: LeasedJob| it.job.job_id).collect()
    }
}

#[tokio::test]
async fn what_others_leased_is_not_walked_over_again() {
    let db = TestDatabase::postgres().await;
    let (scene, overlooked) = Scene::with_an_overlooked_job(&db).await;
    assert_eq!(scene.lease_behind_others(&scene.engine, Some(SECOND * 8)).await, []);
    let next = scene.enqueue(Act::Nothing).await;
    assert_eq!(scene.lease_behind_others(&scene.engine, Some(Duration::ZERO)).await, [next]);
    assert_eq!(scene.lease_behind_others(&scene.engine, Some(SECOND * 9)).await, [overlooked]);
    scene.assert_sound().await;
}

#[tokio::test]
async fn workers_for_other_types_are_no_others() {
    let db = TestDatabase::postgres().await;
    let (scene, overlooked) = Scene::with_an_overlooked_job(&db).await;
    let mut registry = Registry::new();
    registry.job(Probe::new(&scene.notes));
    let engine = Engine::new(scene.engine.store.clone(), registry);
    assert_eq!(scene.lease_behind_others(&engine, Some(Duration::ZERO)).await, [overlooked]);
}

bpc_testkit::on_both_databases! {
    async fn whoever_begins_at_the_beginning_finds_what_others_overlooked(db) {
        let (scene, overlooked) = Scene::with_an_overlooked_job(&db).await;
        assert_eq!(scene.lease_behind_others(&scene.engine, None).await, [overlooked]);
        scene.assert_sound().await;
    }
}
