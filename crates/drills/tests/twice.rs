//! Every handler is run twice without harm, as after a crash between running and settling.

mod rehearsal;

use bpc_core::Status;
use bpc_drills::{Chain, DrillStreams, EMITTED, Emit, Fail, Flaky, Noop, STREAM_TYPE, Sleep};
use bpc_testkit::TestDatabase;
use bpc_worker::{Context, Effects, Handler, HandlerError, Job, JobHistory, JobPolicy, Registry, StreamId};
use rehearsal::{Rehearsal, error_code, newest};

/// Runs a handler, forgets what came of it as a crash would, and runs it again.
struct Twice<H>(H);

impl<H: Handler> Handler for Twice<H> {
    const TYPE: &'static str = H::TYPE;
    type Payload = H::Payload;

    fn policy(&self) -> JobPolicy {
        self.0.policy()
    }

    async fn handle(&self, job: &Job<H::Payload>, cx: &Context) -> Result<Effects, HandlerError> {
        let forgotten = self.0.handle(job, cx).await;
        let kept = self.0.handle(job, cx).await;
        assert_eq!(format!("{forgotten:?}"), format!("{kept:?}"), "the second run wants something else");
        kept
    }
}

bpc_testkit::on_both_databases! {
    async fn noop(db) {
        let (_, history) = run(&db, Noop, "[1, {}, \"anything\"]").await;
        assert_eq!(history.job.status(), Status::Succeeded);
    }

    async fn sleep(db) {
        let (_, history) = run(&db, Sleep, r#"{"ms":1}"#).await;
        assert_eq!(history.job.status(), Status::Succeeded);
        assert!(newest(&history).contains(r#""slept_ms":1"#), "{}", newest(&history));
    }

    async fn flaky(db) {
        let (_, history) = run(&db, Flaky, r#"{"fail_times":1}"#).await;
        assert_eq!((history.job.status(), history.job.attempts), (Status::Succeeded, 2));
    }

    async fn fail(db) {
        let (_, history) = run(&db, Fail, "{}").await;
        assert_eq!((history.job.status(), error_code(&history)), (Status::Failed, "DRILL_FAILURE"));
    }

    async fn emit(db) {
        let stream = StreamId::derived("test", "twice");
        let payload = format!(r#"{{"events":3,"stream_id":"{stream}"}}"#);
        let (rehearsal, history) = run(&db, Emit, &payload).await;
        assert_eq!(history.job.status(), Status::Succeeded);
        assert_eq!(rehearsal.stream_row(stream).await, Some((3, 3, history.job.job_id.0)));
    }

    async fn chain(db) {
        let (rehearsal, history) = run(&db, Chain, r#"{"depth":3}"#).await;
        assert_eq!(history.job.status(), Status::Succeeded);
        let mut tx = rehearsal.engine.store.begin_read().await.unwrap();
        let sql = "SELECT COUNT(*) FROM log_events WHERE event_type = $1";
        let count = async |event_type: &str, tx: &mut bpc_eventstore::Tx| -> i64 {
            let conn = tx.conn();
            bpc_eventstore::portable!(conn, c => sqlx::query_scalar(sql).bind(event_type).fetch_one(c).await)
                .unwrap()
        };
        assert_eq!((count("ENQUEUED", &mut tx).await, count("SUCCEEDED", &mut tx).await), (4, 4));
    }
}

async fn run<H: Handler>(db: &TestDatabase, handler: H, payload: &str) -> (Rehearsal, JobHistory) {
    let mut registry = Registry::new();
    registry.job(Twice(handler)).event(STREAM_TYPE, EMITTED).projection(DrillStreams);
    let rehearsal = Rehearsal::with(db, registry).await;
    let job = rehearsal.enqueue(H::TYPE, payload).await;
    let history = rehearsal.work_until_finished(job).await;
    (rehearsal, history)
}
