//! How each drill ends.

mod rehearsal;

use bpc_core::Status;
use bpc_worker::StreamId;
use rehearsal::{Rehearsal, error_code, events, newest};

bpc_testkit::on_both_databases! {
    async fn a_flaky_job_recovers_after_as_many_failures_as_asked_for(db) {
        let rehearsal = Rehearsal::on(&db).await;
        let job = rehearsal.enqueue("DRILL_FLAKY", r#"{"fail_times":2}"#).await;
        let history = rehearsal.work_until_finished(job).await;
        let failed = ["LEASED", "FAILED", "RETRY_SCHEDULED"];
        let expected = [&["ENQUEUED"][..], &failed, &failed, &["LEASED", "SUCCEEDED"]].concat();
        assert_eq!(events(&history), expected);
    }

    async fn a_replayed_flaky_job_fails_as_often_again(db) {
        let rehearsal = Rehearsal::on(&db).await;
        let job = rehearsal.enqueue("DRILL_FLAKY", r#"{"fail_times":5}"#).await;
        let history = rehearsal.work_until_finished(job).await;
        assert_eq!(history.job.status(), Status::DeadLetter);
        assert_eq!(error_code(&history), "DRILL_FLAKY_FAILURE");
        let why = "to see it fail again".to_owned();
        rehearsal.engine.replay(rehearsal.tenant, "user:test", job, why).await.unwrap();
        let history = rehearsal.work_until_finished(job).await;
        assert_eq!((history.job.status(), history.job.attempts), (Status::DeadLetter, 5));
    }

    async fn a_failing_job_fails_in_the_way_it_is_told_to(db) {
        let rehearsal = Rehearsal::on(&db).await;
        for (payload, status, code, attempts) in [
            ("{}", Status::Failed, "DRILL_FAILURE", 1),
            (r#"{"code":"HTTP_410"}"#, Status::Failed, "HTTP_410", 1),
            (r#"{"retryable":true}"#, Status::DeadLetter, "DRILL_FAILURE", 5),
        ] {
            let job = rehearsal.enqueue("DRILL_FAIL", payload).await;
            let history = rehearsal.work_until_finished(job).await;
            let found = (history.job.status(), error_code(&history), history.job.attempts);
            assert_eq!(found, (status, code, attempts), "{payload}");
        }
    }

    async fn a_panic_fails_the_attempt_and_not_the_worker(db) {
        let rehearsal = Rehearsal::on(&db).await;
        let panics = rehearsal.enqueue("DRILL_PANIC", "{}").await;
        let neighbour = rehearsal.enqueue("DRILL_NOOP", "{}").await;
        let history = rehearsal.work_until_finished(panics).await;
        assert_eq!(error_code(&history), "PANIC");
        assert_eq!(rehearsal.status(neighbour).await, Status::Succeeded);
    }

    async fn jobs_on_one_stream_number_their_events_without_gaps(db) {
        let rehearsal = Rehearsal::on(&db).await;
        let stream = StreamId::derived("test", "shared");
        let payload = format!(r#"{{"events":7,"stream_id":"{stream}"}}"#);
        let mut jobs = Vec::new();
        for _ in 0..4 {
            jobs.push(rehearsal.enqueue("DRILL_EMIT", &payload).await);
        }
        // They run at once and decide on the same version: those who come late try again.
        for job in jobs {
            let history = rehearsal.work_until_finished(job).await;
            assert_eq!(history.job.status(), Status::Succeeded);
            assert!(newest(&history).contains(r#""events":7"#), "{}", newest(&history));
        }
        let (events, last_number, _) = rehearsal.stream_row(stream).await.expect("a row");
        assert_eq!((events, last_number), (28, 28));
    }

    async fn events_cannot_be_emitted_on_a_stream_about_something_else(db) {
        let rehearsal = Rehearsal::on(&db).await;
        let other = rehearsal.enqueue("DRILL_NOOP", "{}").await;
        let job = rehearsal.enqueue("DRILL_EMIT", &format!(r#"{{"events":1,"stream_id":"{other}"}}"#)).await;
        let history = rehearsal.work_until_finished(job).await;
        assert_eq!((history.job.status(), error_code(&history)), (Status::Failed, "STREAM_MISMATCH"));
        assert_eq!(rehearsal.stream_row(other.into()).await, None);
    }

    async fn what_a_payload_may_not_ask_for_is_refused_for_good(db) {
        let rehearsal = Rehearsal::on(&db).await;
        let stream = StreamId::derived("test", "none");
        for (job_type, payload, says) in [
            ("DRILL_SLEEP", r#"{"ms":3600001}"#, "ms is 3600001: it can be 0 to 3600000"),
            ("DRILL_SLEEP", r#"{"seconds":1}"#, "unknown field `seconds`, expected `ms`"),
            ("DRILL_SLEEP", "{}", "missing field `ms`"),
            ("DRILL_SLEEP", "7", r#"expected an object such as {"ms":1000}"#),
            ("DRILL_FLAKY", r#"{"fail_times":-1}"#, "invalid value: integer `-1`"),
            ("DRILL_FAIL", r#"{"code":"not a code"}"#, "use 1 to 64 of A-Z, 0-9 and _"),
            ("DRILL_CHAIN", r#"{"depth":1001}"#, "depth is 1001: it can be 0 to 1000"),
            ("DRILL_EMIT", r#"{"events":1,"stream_id":"x"}"#, "UUID"),
            ("DRILL_EMIT", &format!(r#"{{"events":0,"stream_id":"{stream}"}}"#), "it can be 1 to 1000"),
            ("DRILL_EMIT", &format!(r#"{{"events":1001,"stream_id":"{stream}"}}"#), "it can be 1 to 1000"),
        ] {
            let job = rehearsal.enqueue(job_type, payload).await;
            let history = rehearsal.work_until_finished(job).await;
            assert_eq!(history.job.status(), Status::Failed, "{job_type} {payload}");
            let error = history.job.last_error.expect("an error");
            assert_eq!(error.code, "VALIDATION_ERROR");
            assert!(error.message.contains(says), "{job_type} {payload}: {}", error.message);
        }
        assert_eq!(rehearsal.stream_row(stream).await, None);
    }
}
