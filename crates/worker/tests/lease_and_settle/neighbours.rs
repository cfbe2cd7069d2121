//! One bad attempt never fails its neighbours in the batch and commits nothing of its own.

use bpc_core::Status;
use bpc_core::job::Outcome;
use bpc_worker::{Draft, Effects, Enqueue, Settled, StreamId, Version};

use crate::common::{ACTOR, Act, LEDGER, Scene, ended, entered, failed, job, ledger_of, second, succeeded};
use crate::everything;

impl Scene {
    /// Settle a bad attempt between two good ones; how it ended and with which code.
    async fn between_good_ones(&self, bad: Effects) -> (Status, String) {
        let before = (self.left_behind().await, self.events_of("ENQUEUED").await);
        for _ in 0..3 {
            self.enqueue(Act::Nothing).await;
        }
        let leased = self.lease("w", 3).await;
        let names: Vec<_> = leased.iter().map(|it| it.job.job_id.to_string()).collect();
        let batch = [
            succeeded(&leased[0], everything(self, &names[0])),
            succeeded(&leased[1], bad),
            succeeded(&leased[2], everything(self, &names[2])),
        ];
        let settled = self.engine.settle("w", &batch).await.unwrap();
        let good = Settled::Recorded(Status::Succeeded);
        assert_eq!((settled[0], settled[2]), (good, good));
        let (entries, marks, blobs) = before.0;
        assert_eq!(self.left_behind().await, (entries + 2, marks + 2, blobs + 2));
        assert_eq!(self.events_of("ENQUEUED").await, before.1 + 3 + 2);
        assert_eq!(self.entries(StreamId::derived("ledger", "bad")).await, 0);
        self.assert_sound().await;
        // Out of the way of the next.
        self.lease("w", 10).await;
        let id = leased[1].job.job_id;
        (self.status(id).await, self.error_code(id).await)
    }
}

bpc_testkit::on_both_databases! {
    async fn are_not_failed_by_effects_that_cannot_be_committed(db) {
        let scene = Scene::still(&db).await;
        let others = scene.other_tenant().await;
        let tenant = scene.tenant;
        let taken = StreamId::derived("ledger", "taken");
        let id = scene.enqueue(Act::Nothing).await;
        let first = Effects::none().emit(tenant, LEDGER, taken, Version::NONE, vec![entered()]);
        scene.settle("w", succeeded(&scene.lease_one("w").await, first)).await;
        let theirs = scene.engine.enqueue(others, ACTOR, job(Act::Nothing)).await.unwrap().job_id;
        let keyed = scene.enqueue_job(second(Act::Nothing).key("k").queue("aside")).await;
        assert_ne!(keyed, id);

        let stranger = Draft { event_type: "STRANGE".into(), ..entered() };
        let huge = Draft { payload: huge(), ..entered() };
        let fresh = StreamId::derived("ledger", "fresh");
        let bad = || everything(&scene, "bad");
        let emit = |stream, version, event| {
            bad().emit(tenant, LEDGER, stream, Version(version), vec![event])
        };
        let sql = |statement| bad().sql(statement, vec![]);
        let follow_up = |job| bad().enqueue(job);
        let cases = [
            ("DATABASE_ERROR", sql("INSERT INTO probe_marks (nothing) VALUES (1)")),
            ("DATABASE_ERROR", sql("this is no SQL")),
            ("EVENT_VERSION_CONFLICT", emit(taken, 0, entered())),
            ("EVENT_VERSION_CONFLICT", emit(taken, 7, entered())),
            ("TENANT_MISMATCH", bad().emit(others, LEDGER, fresh, Version(0), vec![entered()])),
            ("STREAM_MISMATCH", emit(theirs.into(), 1, entered())),
            ("STREAM_MISMATCH", emit(id.into(), 3, entered())),
            ("EVENT_TYPE_UNKNOWN", emit(fresh, 0, stranger)),
            ("EVENT_TYPE_UNKNOWN", bad().emit(tenant, "Job", fresh, Version(0), vec![entered()])),
            ("EVENT_TOO_LARGE", emit(fresh, 0, huge)),
            ("UNSUPPORTED_JOB_TYPE", follow_up(Enqueue::from_json("NOBODY", b"{}").unwrap())),
            ("VALIDATION_ERROR", follow_up(job(Act::Nothing).priority(9))),
            ("IDEMPOTENCY_CONFLICT", follow_up(second(Act::Panic).key("k"))),
            ("PAYLOAD_TOO_LARGE", follow_up(job(Act::Say { message: "x".repeat(256 * 1024) }))),
        ];
        for (expected, bad) in cases {
            // Deciding again on a newer version may help; nothing else here can.
            let is_retried = expected == "EVENT_VERSION_CONFLICT";
            let status = if is_retried { Status::Queued } else { Status::Failed };
            assert_eq!(scene.between_good_ones(bad).await, (status, expected.to_owned()));
        }
        assert_eq!(scene.entries(taken).await, 1);
        assert_eq!(scene.entries(ledger_of(id)).await, 0);
    }

    async fn are_not_failed_by_a_result_that_is_too_large(db) {
        let scene = Scene::still(&db).await;
        scene.enqueue(Act::Nothing).await;
        scene.enqueue(Act::Nothing).await;
        let leased = scene.lease("w", 2).await;
        let outcome = Outcome::Succeeded { duration_ms: 1, result: Some(huge()), emitted: Vec::new() };
        let batch = [
            ended(&leased[0], outcome, everything(&scene, "huge")),
            succeeded(&leased[1], everything(&scene, "good")),
        ];
        let settled = scene.engine.settle("w", &batch).await.unwrap();
        assert_eq!(settled, [Settled::Recorded(Status::Failed), Settled::Recorded(Status::Succeeded)]);
        assert_eq!(scene.error_code(leased[0].job.job_id).await, "PAYLOAD_TOO_LARGE");
        assert_eq!(scene.left_behind().await, (1, 1, 1));
        scene.assert_sound().await;
    }

    async fn are_not_failed_by_an_error_message_that_is_too_large(db) {
        let scene = Scene::still(&db).await;
        let id = scene.enqueue(Act::Nothing).await;
        let attempt = failed(&scene.lease_one("w").await, &"x".repeat(300 * 1024), true);
        assert_eq!(scene.settle("w", attempt).await, Settled::Recorded(Status::Failed));
        assert_eq!(scene.error_code(id).await, "PAYLOAD_TOO_LARGE");
        scene.assert_sound().await;
    }

    async fn share_a_stream_one_after_the_other(db) {
        let scene = Scene::still(&db).await;
        let shared = StreamId::derived("ledger", "shared");
        for _ in 0..3 {
            scene.enqueue(Act::Nothing).await;
        }
        let leased = scene.lease("w", 3).await;
        let on = |version| Effects::none().emit(scene.tenant, LEDGER, shared, Version(version), vec![entered()]);
        let batch = [
            succeeded(&leased[0], on(0)),
            succeeded(&leased[1], on(1)),
            // Decided on what the first of them saw.
            succeeded(&leased[2], on(0)),
        ];
        let settled = scene.engine.settle("w", &batch).await.unwrap();
        let done = Settled::Recorded(Status::Succeeded);
        assert_eq!(settled, [done, done, Settled::Recorded(Status::Queued)]);
        assert_eq!(scene.entries(shared).await, 2);
        scene.assert_sound().await;
    }

    async fn asking_for_the_same_follow_up_get_one(db) {
        let scene = Scene::still(&db).await;
        for _ in 0..2 {
            scene.enqueue(Act::Nothing).await;
        }
        let leased = scene.lease("w", 2).await;
        let same = || Effects::none().enqueue(second(Act::Nothing).key("next"));
        let batch = [succeeded(&leased[0], same()), succeeded(&leased[1], same())];
        let done = Settled::Recorded(Status::Succeeded);
        assert_eq!(scene.engine.settle("w", &batch).await.unwrap(), [done, done]);
        assert_eq!(scene.events_of("ENQUEUED").await, 3);
        scene.assert_sound().await;
    }
}

fn huge() -> bpc_core::CanonicalJson {
    bpc_core::canonical::to_canonical(&serde_json::json!({ "x": "x".repeat(300 * 1024) })).unwrap()
}
