//! What follows from each command, told as stories: given a history, when somebody asks for
//! something, then these events happen, or it is refused with this code.
//!
//! Times are seconds from the beginning of the story. A history happens at second 0 unless it says
//! otherwise. The first `LEASED` of a story is its second event, so its fence is 2.

mod common;

use std::time::Duration;

use bpc_core::canonical::{MAX_INTEGER, canonicalize};
use bpc_core::job::{
    Command, Emitted, ErrorInfo, Failure, JobEvent, NewJob, Occurrence, Outcome, Refusal, Settlement, Stamp,
    decide, fold, transition,
};
use bpc_core::retry::{Jitter, RetryPolicy};
use bpc_core::{CanonicalJson, Hash, Head, Job, StreamId, Version};
use uuid::Uuid;

use common::{JOB, TENANT, at, state_name};

// Enqueue.

#[test]
fn a_new_job_is_queued_and_due_at_once() {
    given([]).at(3).when(enqueue(new_job())).then([enqueued_for(3)]).is("QUEUED").with_attempts(0);
}

#[test]
fn a_new_job_may_be_due_later() {
    let later = NewJob { scheduled_at: Some(at(600)), ..new_job() };
    let story = given([]).at(3).when(enqueue(later)).then([enqueued_for(600)]).is("QUEUED").due_at(600);
    assert_eq!(story.job().created_at, at(3));
}

#[test]
fn a_job_is_enqueued_once() {
    given([enqueued()]).when(enqueue(new_job())).refused("JOB_EXISTS");
}

#[test]
fn the_fields_of_a_new_job_have_bounds() {
    let name = |len: usize| "x".repeat(len);
    for good in [
        NewJob { priority: 0, ..new_job() },
        NewJob { priority: 3, ..new_job() },
        NewJob { max_attempts: 1, ..new_job() },
        NewJob { max_attempts: 1000, ..new_job() },
        NewJob { job_type: name(1), ..new_job() },
        NewJob { job_type: name(128), ..new_job() },
        NewJob { queue: name(128), ..new_job() },
        NewJob { queue: "eu-west/pdf:large".to_owned(), ..new_job() },
        NewJob { idempotency_key: Some(name(1)), ..new_job() },
        NewJob { idempotency_key: Some(name(512)), ..new_job() },
        NewJob { idempotency_key: Some("é".repeat(256)), ..new_job() },
    ] {
        assert!(decide(None, Command::Enqueue(good.clone()), at(0)).is_ok(), "{good:?}");
    }
    for (bad, named) in [
        (NewJob { priority: 4, ..new_job() }, "priority 4"),
        (NewJob { priority: 255, ..new_job() }, "priority 255"),
        (NewJob { max_attempts: 0, ..new_job() }, "max attempts 0"),
        (NewJob { max_attempts: 1001, ..new_job() }, "max attempts 1001"),
        (NewJob { job_type: name(0), ..new_job() }, "job type \"\""),
        (NewJob { job_type: name(129), ..new_job() }, "job type"),
        (NewJob { job_type: "TWO WORDS".to_owned(), ..new_job() }, "job type \"TWO WORDS\""),
        (NewJob { queue: "a,b".to_owned(), ..new_job() }, "queue \"a,b\""),
        (NewJob { queue: "a\n".to_owned(), ..new_job() }, "queue \"a\\n\""),
        (NewJob { queue: "größe".to_owned(), ..new_job() }, "queue \"größe\""),
        (NewJob { idempotency_key: Some(name(0)), ..new_job() }, "idempotency key"),
        (NewJob { idempotency_key: Some(name(513)), ..new_job() }, "idempotency key"),
        (NewJob { idempotency_key: Some("é".repeat(257)), ..new_job() }, "idempotency key"),
    ] {
        let refusal = decide(None, Command::Enqueue(bad), at(0)).expect_err(named);
        assert_eq!(refusal.code(), "VALIDATION_ERROR");
        assert!(refusal.to_string().contains(named), "{refusal} does not name {named}");
    }
}

#[test]
fn a_payload_that_no_event_can_hold_is_refused_and_nothing_is_written() {
    // It lies two levels deep in its event.
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let long = |len: usize| format!("\"{}\"", "x".repeat(len));
    for (payload, code) in [
        (nested(62), None),
        (nested(63), Some("JSON_TOO_DEEP")),
        (nested(64), Some("JSON_TOO_DEEP")),
        (long(255 * 1024), None),
        (long(256 * 1024), Some("EVENT_TOO_LARGE")),
    ] {
        let new = NewJob { payload: canonicalize(payload.as_bytes()).unwrap(), ..new_job() };
        let entropy = &mut || [0; 10];
        let mut stamp =
            Stamp { actor: "user:ada", now: at(0), causation_id: None, correlation_id: None, entropy };
        let made = transition(TENANT, JOB, None, enqueue(new), &mut stamp);
        assert_eq!(made.err().map(|refused| refused.code()), code);
    }
}

#[test]
fn what_was_never_enqueued_is_not_found() {
    for command in [
        lease("w1"),
        renew(2),
        progress(2, 10),
        settle(2, 1, succeeded()),
        Command::Expire,
        cancel(),
        replay(),
        resolve(),
    ] {
        given([]).when(command).refused("JOB_NOT_FOUND");
    }
}

// Lease and renew.

#[test]
fn a_job_is_leased_when_it_is_due_and_not_before() {
    given([enqueued_for(10)]).at(9).when(lease("w1")).refused("JOB_NOT_DUE");
    given([enqueued_for(10)]).at(10).when(lease("w1")).then([leased(1, 70)]).is("RUNNING");
}

#[test]
fn a_lease_counts_the_attempt() {
    given([enqueued()]).when(lease("w1")).then([leased(1, 60)]).with_attempts(1);
}

#[test]
fn a_job_is_leased_to_one_worker_at_a_time() {
    // Not even once the lease has run out: somebody has to say so first.
    given([enqueued(), leased(1, 60)]).at(30).when(lease("w2")).refused("INVALID_JOB_STATUS");
    given([enqueued(), leased(1, 60)]).at(61).when(lease("w2")).refused("INVALID_JOB_STATUS");
}

#[test]
fn a_finished_job_is_not_leased() {
    for history in finished() {
        given(history).when(lease("w1")).refused("INVALID_JOB_STATUS");
    }
}

#[test]
fn a_lease_is_renewed_from_now() {
    given([enqueued(), leased(1, 60)]).at(30).when(renew(2)).then([renewed(90)]).is("RUNNING");
}

#[test]
fn a_lease_that_ran_out_is_not_renewed() {
    given([enqueued(), leased(1, 60)]).at(59).when(renew(2)).then([renewed(119)]);
    given([enqueued(), leased(1, 60)]).at(60).when(renew(2)).refused("LEASE_LOST");
}

#[test]
fn a_lease_is_renewed_only_by_its_holder() {
    given([enqueued(), leased(1, 60)]).when(renew(1)).refused("LEASE_LOST");
    given([enqueued(), leased(1, 60)]).when(renew(3)).refused("LEASE_LOST");
    given([enqueued()]).when(renew(2)).refused("LEASE_LOST");
    given([enqueued(), leased(1, 60), expired(), leased(2, 120)]).when(renew(2)).refused("LEASE_LOST");
}

#[test]
fn renewals_progress_and_cancel_requests_move_the_head_but_not_the_fence() {
    given([enqueued(), leased(1, 60), renewed(90), progressed(10), cancel_requested()])
        .when(settle(2, 1, succeeded()))
        .then([succeeded_event()]);
}

// Progress.

#[test]
fn progress_is_recorded_at_most_every_two_seconds() {
    given([enqueued(), leased(1, 60)])
        .at(10)
        .when(progress(2, 10))
        .then([progressed(10)])
        .at(11)
        .when(progress(2, 20))
        .refused("UNCHANGED")
        .at(12)
        .when(progress(2, 30))
        .then([progressed(30)])
        .is("RUNNING");
}

#[test]
fn progress_never_goes_backwards_within_an_attempt() {
    given([enqueued(), leased(1, 60), progressed(40)])
        .at(10)
        .when(progress(2, 39))
        .refused("UNCHANGED")
        .when(progress(2, 40))
        .then([progressed(40)]);
}

#[test]
fn the_next_attempt_begins_at_nothing() {
    given([enqueued(), leased(1, 60), progressed(90), expired(), leased(2, 60)])
        .when(progress(5, 1))
        .then([progressed(1)]);
}

#[test]
fn progress_ends_at_a_hundred() {
    given([enqueued(), leased(1, 60)]).when(progress(2, 255)).then([progressed(100)]);
}

#[test]
fn progress_is_heard_only_from_the_holder() {
    given([enqueued(), leased(1, 60)]).when(progress(1, 10)).refused("LEASE_LOST");
    given([enqueued(), leased(1, 60)]).at(60).when(progress(2, 10)).refused("LEASE_LOST");
    given([enqueued()]).when(progress(2, 10)).refused("LEASE_LOST");
}

// Settle: success.

#[test]
fn success_ends_the_job_and_names_what_it_committed() {
    let emitted = vec![Emitted {
        stream_id: StreamId(Uuid::from_u128(9)),
        stream_type: "PassportVersion".to_owned(),
        version: Version(3),
    }];
    let result = Some(canonicalize(b"{\"pages\":12}").unwrap());
    let outcome = Outcome::Succeeded { duration_ms: 1500, result: result.clone(), emitted: emitted.clone() };
    given([enqueued(), leased(1, 60)])
        .when(settle(2, 1, outcome))
        .then([JobEvent::Succeeded { duration_ms: 1500, result, emitted }])
        .is("SUCCEEDED")
        .with_attempts(1);
}

#[test]
fn a_duration_that_no_log_can_hold_is_written_as_the_longest_that_it_can() {
    let longest = MAX_INTEGER.unsigned_abs();
    let outcome = Outcome::Succeeded { duration_ms: u64::MAX, result: None, emitted: vec![] };
    given([enqueued(), leased(1, 60)]).when(settle(2, 1, outcome)).then([JobEvent::Succeeded {
        duration_ms: longest,
        result: None,
        emitted: vec![],
    }]);
    let patient = RetryPolicy { base: u32::MAX, cap: Duration::MAX, jitter: Jitter::Exact };
    let story = given([enqueued(), leased(1, 60), expired(), leased(2, 60)]);
    let events = decide(story.job.as_ref(), settle(4, 2, failed_with(patient)), at(0)).unwrap();
    let JobEvent::RetryScheduled { delay_ms, scheduled_at } = &events[1] else {
        panic!("no retry in {events:?}");
    };
    assert_eq!(*delay_ms, longest);
    assert_eq!(scheduled_at.to_string(), "9999-12-31T23:59:59.999999Z");
}

#[test]
fn after_the_lease_ran_out_nothing_is_settled_and_the_refusal_is_kept() {
    for outcome in outcomes() {
        given([enqueued(), leased(1, 60)])
            .at(60)
            .when(settle(2, 1, outcome))
            .refused_and_kept(stale("w1", 1))
            .is("RUNNING");
    }
}

#[test]
fn a_worker_whose_job_was_taken_over_is_refused_and_the_refusal_is_kept() {
    for outcome in outcomes() {
        given([enqueued(), leased(1, 60), expired(), leased_by("w2", 2, 120)])
            .at(61)
            .when(settle(2, 1, outcome))
            .refused_and_kept(stale("w1", 1))
            .is("RUNNING")
            .with_attempts(2)
            // The holder is not disturbed by it.
            .when(settle_by("w2", 4, 2, succeeded()))
            .then([succeeded_event()]);
    }
}

#[test]
fn a_settlement_must_show_the_fence_of_its_attempt() {
    for fence in [0, 1, 3, 4_000_000_000] {
        given([enqueued(), leased(1, 60)])
            .when(settle(fence, 1, succeeded()))
            .refused_and_kept(stale("w1", 1))
            .is("RUNNING");
    }
}

#[test]
fn a_settlement_with_the_fence_of_one_attempt_and_the_name_or_number_of_another_is_refused() {
    for outcome in outcomes() {
        given([enqueued(), leased(1, 60)])
            .when(settle_by("w2", 2, 1, outcome.clone()))
            .refused_and_kept(stale("w2", 1))
            .when(settle(2, 2, outcome))
            .refused_and_kept(stale("w1", 2))
            .is("RUNNING");
    }
}

#[test]
fn what_is_not_running_is_not_settled() {
    given([enqueued()]).when(settle(2, 1, succeeded())).refused_and_kept(stale("w1", 1)).is("QUEUED");
    given([enqueued(), cancelled()])
        .when(settle(2, 1, succeeded()))
        .refused_and_kept(stale("w1", 1))
        .is("CANCELLED");
}

#[test]
fn whoever_settles_twice_learns_that_it_is_done() {
    given([enqueued(), leased(1, 60)])
        .when(settle(2, 1, succeeded()))
        .then([succeeded_event()])
        .when(settle(2, 1, succeeded()))
        .refused("ALREADY_SETTLED")
        // However much later, and whatever the second answer would have been.
        .at(3600)
        .when(settle(2, 1, permanent()))
        .refused("ALREADY_SETTLED")
        .is("SUCCEEDED");
}

#[test]
fn every_outcome_can_be_sent_twice() {
    for outcome in outcomes() {
        let story = given([enqueued(), leased(1, 60)]);
        let events = decide(story.job.as_ref(), settle(2, 1, outcome.clone()), story.now).unwrap();
        story.happened(events).when(settle(2, 1, outcome)).refused("ALREADY_SETTLED");
    }
}

#[test]
fn an_attempt_that_was_given_up_for_lost_is_not_taken_for_settled() {
    given([enqueued(), leased(1, 60), expired()])
        .at(61)
        .when(settle(2, 1, succeeded()))
        .refused_and_kept(stale("w1", 1))
        .is("QUEUED");
}

// Settle: failure.

#[test]
fn five_attempts_wait_2_4_8_and_16_seconds_and_then_lie_with_the_dead_letters() {
    given([enqueued()])
        .when(lease("w1"))
        .then([leased(1, 60)])
        .when(settle(2, 1, retryable()))
        .then([failed(1), retry(2, 2)])
        .is("QUEUED")
        .at(2)
        .when(lease("w1"))
        .then([leased(2, 62)])
        .when(settle(5, 2, retryable()))
        .then([failed(2), retry(6, 4)])
        .at(6)
        .when(lease("w1"))
        .then([leased(3, 66)])
        .when(settle(8, 3, retryable()))
        .then([failed(3), retry(14, 8)])
        .at(14)
        .when(lease("w1"))
        .then([leased(4, 74)])
        .when(settle(11, 4, retryable()))
        .then([failed(4), retry(30, 16)])
        .at(29)
        .when(lease("w1"))
        .refused("JOB_NOT_DUE")
        .at(30)
        .when(lease("w1"))
        .then([leased(5, 90)])
        .when(settle(14, 5, retryable()))
        .then([failed(5), dead_lettered(5)])
        .is("DEAD_LETTER")
        .with_attempts(5);
}

#[test]
fn the_spread_of_a_delay_is_recorded_with_it() {
    let policy = RetryPolicy { jitter: Jitter::Upward, ..RetryPolicy::default() };
    let outcome = Outcome::Failed(Failure { error: error(true), policy, chance: u16::MAX });
    given([enqueued(), leased(1, 60)]).when(settle(2, 1, outcome)).then([
        failed(1),
        JobEvent::RetryScheduled { scheduled_at: at(0).plus(Duration::from_millis(2200)), delay_ms: 2200 },
    ]);
}

#[test]
fn a_permanent_error_stands_alone() {
    given([enqueued(), leased(1, 60)])
        .when(settle(2, 1, permanent()))
        .then([failed_for_good(1)])
        .is("FAILED")
        .with_error("TIMEOUT");
}

#[test]
fn the_error_is_shown_until_the_next_attempt_begins() {
    given([enqueued(), leased(1, 60)])
        .when(settle(2, 1, retryable()))
        .then([failed(1), retry(2, 2)])
        .with_error("TIMEOUT")
        .at(2)
        .when(lease("w1"))
        .then([leased(2, 62)])
        .without_error();
}

// Settle: give back.

#[test]
fn a_released_job_is_due_at_once_and_keeps_its_attempts() {
    given([enqueued(), leased(1, 60)])
        .at(20)
        .when(settle(2, 1, Outcome::Released))
        .then([released()])
        .is("QUEUED")
        .with_attempts(0)
        .due_at(20)
        .when(lease("w1"))
        .then([leased(1, 80)]);
}

#[test]
fn a_snoozed_job_is_due_later_and_keeps_its_attempts() {
    given([enqueued(), leased(1, 60)])
        .at(20)
        .when(settle(2, 1, snoozed(300)))
        .then([JobEvent::Snoozed { until: at(320) }])
        .is("QUEUED")
        .with_attempts(0)
        .due_at(320)
        .when(lease("w1"))
        .refused("JOB_NOT_DUE");
}

#[test]
fn a_job_with_one_attempt_survives_any_number_of_releases() {
    let mut story = given([enqueued_with(1, 0)]);
    for round in 0..20 {
        let fence = 2 + 2 * round;
        story = story
            .when(lease("w1"))
            .then([leased(1, 60)])
            .when(settle(fence, 1, Outcome::Released))
            .then([released()]);
    }
    story
        .when(lease("w1"))
        .then([leased(1, 60)])
        .when(settle(42, 1, retryable()))
        .then([failed(1), dead_lettered(1)])
        .is("DEAD_LETTER");
}

// Cancel.

#[test]
fn a_queued_job_is_cancelled_at_once() {
    given([enqueued()]).when(cancel()).then([cancelled_by_wish()]).is("CANCELLED");
    given([enqueued_for(600)]).when(cancel()).then([cancelled_by_wish()]).is("CANCELLED");
}

#[test]
fn a_cancelled_job_has_no_error() {
    let waiting = || given([enqueued(), leased(1, 60), failed(1), retry(2, 2)]).with_error("TIMEOUT");
    waiting().when(cancel()).then([cancelled_by_wish()]).without_error();
    given([enqueued(), leased(1, 60), cancel_requested()])
        .when(settle(2, 1, retryable()))
        .then([failed(1), cancelled()])
        .without_error();
}

#[test]
fn a_running_job_is_asked_to_stop() {
    given([enqueued(), leased(1, 60)])
        .when(cancel())
        .then([JobEvent::CancelRequested { reason: wish() }])
        .is("RUNNING, cancel requested")
        .when(cancel())
        .refused("UNCHANGED")
        .when(settle(2, 1, Outcome::Cancelled))
        .then([cancelled()])
        .is("CANCELLED");
}

#[test]
fn a_job_asked_to_stop_may_still_renew_and_report() {
    given([enqueued(), leased(1, 60), cancel_requested()])
        .at(30)
        .when(renew(2))
        .then([renewed(90)])
        .when(progress(2, 50))
        .then([progressed(50)])
        .is("RUNNING, cancel requested");
}

#[test]
fn a_success_wins_over_a_cancel_request() {
    given([enqueued(), leased(1, 60), cancel_requested()])
        .when(settle(2, 1, succeeded()))
        .then([succeeded_event()])
        .is("SUCCEEDED");
}

#[test]
fn a_job_asked_to_stop_is_not_tried_again() {
    given([enqueued(), leased(1, 60), cancel_requested()])
        .when(settle(2, 1, retryable()))
        .then([failed(1), cancelled()])
        .is("CANCELLED");
    for outcome in [Outcome::Released, snoozed(300)] {
        given([enqueued(), leased(1, 60), cancel_requested()])
            .when(settle(2, 1, outcome))
            .then([cancelled()])
            .is("CANCELLED");
    }
}

#[test]
fn a_job_asked_to_stop_that_uses_up_its_attempts_is_cancelled_and_not_a_dead_letter() {
    given([enqueued_with(1, 0), leased(1, 60), cancel_requested()])
        .when(settle(2, 1, retryable()))
        .then([failed(1), cancelled()])
        .is("CANCELLED");
}

#[test]
fn a_job_asked_to_stop_that_fails_for_good_has_failed() {
    given([enqueued(), leased(1, 60), cancel_requested()])
        .when(settle(2, 1, permanent()))
        .then([failed_for_good(1)])
        .is("FAILED");
}

#[test]
fn a_finished_job_is_not_cancelled() {
    for history in finished() {
        given(history).when(cancel()).refused("INVALID_JOB_STATUS");
    }
}

// Expire.

#[test]
fn a_lease_that_holds_does_not_expire() {
    given([enqueued(), leased(1, 60)]).at(59).when(Command::Expire).refused("LEASE_NOT_EXPIRED");
    given([enqueued(), leased(1, 60), renewed(90)]).at(89).when(Command::Expire).refused("LEASE_NOT_EXPIRED");
}

#[test]
fn an_expired_job_goes_back_into_the_queue_and_the_attempt_stays_counted() {
    given([enqueued(), leased(1, 60)])
        .at(60)
        .when(Command::Expire)
        .then([expired()])
        .is("QUEUED")
        .with_attempts(1)
        .due_at(60)
        .with_error("LEASE_EXPIRED")
        .when(lease("w1"))
        .then([leased(2, 120)]);
}

#[test]
fn a_job_that_takes_its_worker_down_ends_with_the_dead_letters() {
    given([enqueued_with(2, 0), leased(1, 60)])
        .at(60)
        .when(Command::Expire)
        .then([expired()])
        .when(lease("w1"))
        .then([leased(2, 120)])
        .at(120)
        .when(Command::Expire)
        .then([expired(), dead_lettered(2)])
        .is("DEAD_LETTER")
        .with_error("LEASE_EXPIRED");
}

#[test]
fn a_job_asked_to_stop_is_cancelled_when_its_worker_is_gone() {
    given([enqueued(), leased(1, 60), cancel_requested()])
        .at(60)
        .when(Command::Expire)
        .then([expired(), cancelled()])
        .is("CANCELLED");
}

#[test]
fn only_a_running_job_expires() {
    given([enqueued()]).when(Command::Expire).refused("INVALID_JOB_STATUS");
    for history in finished() {
        given(history).when(Command::Expire).refused("INVALID_JOB_STATUS");
    }
}

#[test]
fn a_failure_cut_off_from_what_follows_it_is_picked_up() {
    let cut = || given([enqueued(), leased(1, 60), failed(1)]).is("FAILING").at(5);
    cut().when(Command::Expire).then([retry(5, 0)]).is("QUEUED");
    cut().when(cancel()).then([cancelled_by_wish()]).is("CANCELLED");
    cut().when(lease("w1")).refused("INVALID_JOB_STATUS");
    cut().when(settle(2, 1, retryable())).refused("ALREADY_SETTLED");
    given([enqueued_with(1, 0), leased(1, 60), failed(1)])
        .when(Command::Expire)
        .then([dead_lettered(1)])
        .is("DEAD_LETTER");
    given([enqueued(), leased(1, 60), cancel_requested(), failed(1)])
        .when(Command::Expire)
        .then([cancelled()])
        .is("CANCELLED");
    given([enqueued_with(1, 0), leased(1, 60), expired()])
        .is("FAILING")
        .when(settle(2, 1, succeeded()))
        .refused_and_kept(stale("w1", 1))
        .when(Command::Expire)
        .then([dead_lettered(1)]);
}

// Replay and resolve.

#[test]
fn a_replayed_job_begins_again_and_its_history_stays() {
    for history in failures() {
        let before = given(history.clone());
        let version = before.version();
        before
            .at(3600)
            .when(replay())
            .then([replayed()])
            .is("QUEUED")
            .with_attempts(0)
            .due_at(3600)
            .has_version(version + 1)
            .when(lease("w1"))
            .then([leased(1, 3660)])
            // The attempt of the same number in the first life is another one.
            .when(settle(2, 1, succeeded()))
            .refused("ALREADY_SETTLED")
            .is("RUNNING");
    }
}

#[test]
fn a_replayed_job_has_all_its_attempts_again() {
    given([enqueued_with(1, 0), leased(1, 60), failed(1), dead_lettered(1)])
        .when(replay())
        .then([replayed()])
        .when(lease("w1"))
        .then([leased(1, 60)])
        .when(settle(6, 1, retryable()))
        .then([failed(1), dead_lettered(1)])
        .when(replay())
        .then([replayed()])
        .is("QUEUED");
}

#[test]
fn a_resolved_job_is_closed() {
    for history in failures() {
        given(history)
            .when(resolve())
            .then([resolved()])
            .is("FAILED, resolved")
            .when(replay())
            .refused("JOB_RESOLVED")
            .when(resolve())
            .refused("JOB_RESOLVED")
            .when(cancel())
            .refused("INVALID_JOB_STATUS")
            .when(lease("w1"))
            .refused("INVALID_JOB_STATUS");
    }
}

#[test]
fn only_failures_are_replayed_or_resolved() {
    for history in [
        vec![enqueued()],
        vec![enqueued(), leased(1, 60)],
        vec![enqueued(), leased(1, 60), failed(1)],
        vec![enqueued(), leased(1, 60), succeeded_event()],
        vec![enqueued(), cancelled()],
    ] {
        given(history.clone()).when(replay()).refused("INVALID_JOB_STATUS");
        given(history).when(resolve()).refused("INVALID_JOB_STATUS");
    }
}

#[test]
fn a_refusal_says_what_the_job_is_and_what_it_would_have_to_be() {
    let job = given([enqueued(), leased(1, 60), succeeded_event()]).job;
    let refusal = decide(job.as_ref(), replay(), at(0)).unwrap_err();
    assert_eq!(refusal.to_string(), "the job is SUCCEEDED; only FAILED and DEAD_LETTER jobs can be replayed");
}

// How a story is told.

/// A job at a moment.
struct Story {
    job: Option<Job>,
    now: bpc_core::Timestamp,
}

/// What came of asking.
struct Answer {
    story: Story,
    answer: Result<Vec<JobEvent>, Refusal>,
}

fn given(history: impl IntoIterator<Item = JobEvent>) -> Story {
    Story { job: None, now: at(0) }.happened(history)
}

impl Story {
    fn at(self, seconds: u64) -> Story {
        Story { now: at(seconds), ..self }
    }

    #[track_caller]
    fn happened(mut self, events: impl IntoIterator<Item = JobEvent>) -> Story {
        for event in events {
            let version = self.job.as_ref().map_or(Version::NONE, |job| job.head.version).next();
            let head = Head { version, hash: Hash::ZERO };
            let occurrence = Occurrence { tenant_id: TENANT, job_id: JOB, head, at: self.now };
            match fold(self.job.take(), &event, occurrence) {
                Ok(job) => self.job = Some(job),
                Err(error) => panic!("{error}"),
            }
        }
        self
    }

    fn when(self, command: Command) -> Answer {
        let answer = decide(self.job.as_ref(), command, self.now);
        Answer { story: self, answer }
    }

    fn job(&self) -> &Job {
        self.job.as_ref().expect("the job exists")
    }

    fn version(&self) -> u32 {
        self.job().head.version.0
    }

    #[track_caller]
    fn is(self, state: &str) -> Story {
        assert_eq!(state_name(self.job.as_ref()), state);
        self
    }

    #[track_caller]
    fn with_attempts(self, attempts: u32) -> Story {
        assert_eq!(self.job().attempts, attempts);
        self
    }

    #[track_caller]
    fn due_at(self, seconds: u64) -> Story {
        assert_eq!(self.job().scheduled_at, at(seconds));
        self
    }

    #[track_caller]
    fn has_version(self, version: u32) -> Story {
        assert_eq!(self.version(), version);
        self
    }

    #[track_caller]
    fn with_error(self, code: &str) -> Story {
        assert_eq!(self.job().last_error.as_ref().map(|error| error.code.as_str()), Some(code));
        self
    }

    #[track_caller]
    fn without_error(self) -> Story {
        assert_eq!(self.job().last_error, None);
        self
    }
}

impl Answer {
    #[track_caller]
    fn then<const N: usize>(self, events: [JobEvent; N]) -> Story {
        assert_eq!(self.answer, Ok(events.to_vec()));
        self.story.happened(events)
    }

    /// Refused, and nothing is written.
    #[track_caller]
    fn refused(self, code: &str) -> Story {
        let refusal = self.answer.expect_err("the command should be refused");
        assert_eq!(refusal.code(), code);
        assert_eq!(refusal.record(), None);
        self.story
    }

    /// Refused as stale; the refusal is written, and changes nothing else.
    #[track_caller]
    fn refused_and_kept(self, event: JobEvent) -> Story {
        let refusal = self.answer.expect_err("the command should be refused");
        assert_eq!(refusal.code(), "STALE_COMPLETION");
        assert_eq!(refusal.record(), Some(event.clone()));
        let before = self.story.job().clone();
        let story = self.story.happened([event]);
        let after = Job { head: before.head, ..story.job().clone() };
        assert_eq!(after, before);
        story
    }
}

// Commands.

fn new_job() -> NewJob {
    NewJob {
        job_type: "COMPILE".to_owned(),
        queue: "default".to_owned(),
        priority: 2,
        max_attempts: 5,
        scheduled_at: None,
        idempotency_key: None,
        payload: CanonicalJson::empty_object(),
    }
}

fn enqueue(new: NewJob) -> Command {
    Command::Enqueue(new)
}

fn lease(worker_id: &str) -> Command {
    Command::Lease { worker_id: worker_id.to_owned(), ttl: Duration::from_secs(60) }
}

fn renew(fence: u32) -> Command {
    Command::Renew { fence: Version(fence), ttl: Duration::from_secs(60) }
}

fn progress(fence: u32, percent: u8) -> Command {
    Command::Progress { fence: Version(fence), percent, step: None, message: None }
}

fn settle(fence: u32, attempt: u32, outcome: Outcome) -> Command {
    settle_by("w1", fence, attempt, outcome)
}

fn settle_by(worker_id: &str, fence: u32, attempt: u32, outcome: Outcome) -> Command {
    let worker_id = worker_id.to_owned();
    Command::Settle(Settlement { fence: Version(fence), attempt, worker_id, outcome })
}

fn cancel() -> Command {
    Command::Cancel { reason: wish() }
}

fn wish() -> Option<String> {
    Some("ordered twice".to_owned())
}

fn replay() -> Command {
    Command::Replay { actor: "user:ada".to_owned(), justification: "fixed upstream".to_owned() }
}

fn resolve() -> Command {
    Command::Resolve { actor: "user:ada".to_owned(), notes: "customer gone".to_owned() }
}

// Outcomes.

fn outcomes() -> [Outcome; 6] {
    [succeeded(), retryable(), permanent(), Outcome::Cancelled, Outcome::Released, snoozed(300)]
}

fn succeeded() -> Outcome {
    Outcome::Succeeded { duration_ms: 9, result: None, emitted: vec![] }
}

fn retryable() -> Outcome {
    failed_with(RetryPolicy { jitter: Jitter::Exact, ..RetryPolicy::default() })
}

fn failed_with(policy: RetryPolicy) -> Outcome {
    Outcome::Failed(Failure { error: error(true), policy, chance: 0 })
}

fn permanent() -> Outcome {
    Outcome::Failed(Failure { error: error(false), policy: RetryPolicy::default(), chance: 0 })
}

fn snoozed(seconds: u64) -> Outcome {
    Outcome::Snoozed { delay: Duration::from_secs(seconds) }
}

// Events.

/// A history into every finished state.
fn finished() -> Vec<Vec<JobEvent>> {
    let mut histories =
        vec![vec![enqueued(), leased(1, 60), succeeded_event()], vec![enqueued(), cancelled()]];
    for mut failure in failures() {
        histories.push(failure.clone());
        failure.push(resolved());
        histories.push(failure);
    }
    histories
}

/// A history into every state that a person can do something about.
fn failures() -> [Vec<JobEvent>; 2] {
    [
        vec![enqueued(), leased(1, 60), failed_for_good(1)],
        vec![enqueued_with(1, 0), leased(1, 60), failed(1), dead_lettered(1)],
    ]
}

fn enqueued() -> JobEvent {
    enqueued_for(0)
}

fn enqueued_for(seconds: u64) -> JobEvent {
    enqueued_with(5, seconds)
}

fn enqueued_with(max_attempts: u32, seconds: u64) -> JobEvent {
    let NewJob { job_type, queue, priority, idempotency_key, payload, .. } = new_job();
    let scheduled_at = at(seconds);
    JobEvent::Enqueued { job_type, queue, priority, max_attempts, scheduled_at, idempotency_key, payload }
}

fn leased(attempt: u32, until: u64) -> JobEvent {
    leased_by("w1", attempt, until)
}

fn leased_by(worker_id: &str, attempt: u32, until: u64) -> JobEvent {
    JobEvent::Leased { worker_id: worker_id.to_owned(), attempt, lease_expires_at: at(until) }
}

fn renewed(until: u64) -> JobEvent {
    JobEvent::Renewed { worker_id: "w1".to_owned(), lease_expires_at: at(until) }
}

fn progressed(percent: u8) -> JobEvent {
    JobEvent::Progressed { percent, step: None, message: None }
}

fn succeeded_event() -> JobEvent {
    JobEvent::Succeeded { duration_ms: 9, result: None, emitted: vec![] }
}

fn failed(attempt: u32) -> JobEvent {
    JobEvent::Failed { attempt, error: error(true) }
}

fn failed_for_good(attempt: u32) -> JobEvent {
    JobEvent::Failed { attempt, error: error(false) }
}

fn error(retryable: bool) -> ErrorInfo {
    ErrorInfo { code: "TIMEOUT".to_owned(), message: "no answer".to_owned(), retryable, detail: None }
}

fn retry(seconds: u64, delay: u64) -> JobEvent {
    JobEvent::RetryScheduled { scheduled_at: at(seconds), delay_ms: delay * 1000 }
}

fn dead_lettered(attempts: u32) -> JobEvent {
    JobEvent::DeadLettered { attempts }
}

fn expired() -> JobEvent {
    JobEvent::LeaseExpired { worker_id: "w1".to_owned() }
}

fn released() -> JobEvent {
    JobEvent::Released { worker_id: "w1".to_owned() }
}

fn cancel_requested() -> JobEvent {
    JobEvent::CancelRequested { reason: None }
}

fn cancelled() -> JobEvent {
    JobEvent::Cancelled { reason: None }
}

fn cancelled_by_wish() -> JobEvent {
    JobEvent::Cancelled { reason: wish() }
}

fn replayed() -> JobEvent {
    JobEvent::Replayed { actor: "user:ada".to_owned(), justification: "fixed upstream".to_owned() }
}

fn resolved() -> JobEvent {
    JobEvent::Resolved { actor: "user:ada".to_owned(), notes: "customer gone".to_owned() }
}

fn stale(worker_id: &str, attempt: u32) -> JobEvent {
    JobEvent::StaleCompletionRefused { worker_id: worker_id.to_owned(), attempt }
}
