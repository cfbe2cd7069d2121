//! Jobs whose hashes are right and whose history cannot be.

use std::sync::Arc;

use bpc_core::job::{JobEvent, SCHEMA};
use bpc_core::{CanonicalJson, Draft, Version};
use bpc_eventstore::{Store, StreamAppend};
use bpc_testkit::on_both_databases;

use crate::common::{NOW, acme, append, draft, empty_log};

use super::log::{append_job, codes, job, only, report, retried_job};

/// Append job events without asking whether they may happen.
async fn force(store: &Store, name: &str, expected: u32, events: Vec<Draft>) {
    let (stream_type, stream_id) = (Arc::from("Job"), job(name).into());
    let (tenant_id, expected) = (acme(), Version(expected));
    append(store, &[StreamAppend { tenant_id, stream_type, stream_id, expected, events }]).await.unwrap();
}

fn event(event: &JobEvent) -> Draft {
    let mut payload = Vec::new();
    event.write_payload(&mut payload);
    let payload = CanonicalJson::from_trusted(payload);
    Draft { event_type: event.event_type().into(), schema: SCHEMA, payload }
}

fn leased(attempt: u32) -> Draft {
    event(&JobEvent::Leased { worker_id: "w2".to_owned(), attempt, lease_expires_at: NOW })
}

on_both_databases! {
    async fn a_job_that_goes_on_after_its_end_is_found(db) {
        let store = empty_log(&db).await;
        append_job(&store, retried_job("done")).await;
        force(&store, "done", 6, vec![leased(3), leased(4)]).await;
        let report = report(&store).await;
        assert_eq!(codes(&report), ["ILLEGAL_HISTORY"], "what follows is not judged again");
        let finding = only(&report, "ILLEGAL_HISTORY");
        assert_eq!((finding.stream, finding.version), (job("done").into(), Some(7)));
        assert_eq!(finding.stream_type, "Job");
        assert!(finding.message.contains("LEASED") && finding.message.contains("SUCCEEDED"), "{}", finding.message);
    }

    async fn a_job_that_was_never_enqueued_is_found(db) {
        let store = empty_log(&db).await;
        force(&store, "ghost", 0, vec![leased(1)]).await;
        let report = report(&store).await;
        assert_eq!(only(&report, "ILLEGAL_HISTORY").version, Some(1));
    }

    async fn an_attempt_out_of_count_is_found(db) {
        let store = empty_log(&db).await;
        append_job(&store, retried_job("twice").into_iter().take(4).collect()).await;
        force(&store, "twice", 4, vec![leased(7)]).await;
        let report = report(&store).await;
        assert_eq!(only(&report, "ILLEGAL_HISTORY").version, Some(5));
    }

    async fn an_event_that_no_job_has_is_found(db) {
        let store = empty_log(&db).await;
        append_job(&store, retried_job("odd")).await;
        force(&store, "odd", 6, vec![draft("{}")]).await;
        let report = report(&store).await;
        assert!(only(&report, "ILLEGAL_HISTORY").message.contains("NOTED"));
    }

    async fn one_bad_job_says_nothing_about_the_others(db) {
        let store = empty_log(&db).await;
        for number in 0..20 {
            append_job(&store, retried_job(&number.to_string())).await;
        }
        force(&store, "7", 6, vec![leased(3)]).await;
        let report = report(&store).await;
        assert_eq!((report.findings_total, report.jobs, report.events), (1, 20, 121));
        assert_eq!(report.findings[0].stream, job("7").into());
    }
}
