//! The life of a job as a table: what becomes of a job in each state when each event happens to it.
//!
//! [`TABLE`] is the expectation, complete and literal. One test holds `fold` to it, another renders it
//! into `docs/JOB-LIFE.md` for readers.

mod common;

use std::path::Path;

use bpc_core::job::{ErrorInfo, FoldError, JobEvent, Occurrence, fold};
use bpc_core::{CanonicalJson, Hash, Head, Job, Version};

use common::{JOB, TENANT, at, state_name};

/// Every state and every event; `-` says that this cannot happen. Two events end differently
/// depending on what is known about the job, so each has two lines.
const TABLE: &str = "
state                       event                          becomes

none                        ENQUEUED                       QUEUED
none                        LEASED                         -
none                        RENEWED                        -
none                        PROGRESSED                     -
none                        SUCCEEDED                      -
none                        FAILED (retryable)             -
none                        FAILED (permanent)             -
none                        RETRY_SCHEDULED                -
none                        DEAD_LETTERED                  -
none                        LEASE_EXPIRED (attempts left)  -
none                        LEASE_EXPIRED (last attempt)   -
none                        RELEASED                       -
none                        SNOOZED                        -
none                        CANCEL_REQUESTED               -
none                        CANCELLED                      -
none                        REPLAYED                       -
none                        RESOLVED                       -
none                        STALE_COMPLETION_REFUSED       -

QUEUED                      ENQUEUED                       -
QUEUED                      LEASED                         RUNNING
QUEUED                      RENEWED                        -
QUEUED                      PROGRESSED                     -
QUEUED                      SUCCEEDED                      -
QUEUED                      FAILED (retryable)             -
QUEUED                      FAILED (permanent)             -
QUEUED                      RETRY_SCHEDULED                -
QUEUED                      DEAD_LETTERED                  -
QUEUED                      LEASE_EXPIRED (attempts left)  -
QUEUED                      LEASE_EXPIRED (last attempt)   -
QUEUED                      RELEASED                       -
QUEUED                      SNOOZED                        -
QUEUED                      CANCEL_REQUESTED               -
QUEUED                      CANCELLED                      CANCELLED
QUEUED                      REPLAYED                       -
QUEUED                      RESOLVED                       -
QUEUED                      STALE_COMPLETION_REFUSED       QUEUED

RUNNING                     ENQUEUED                       -
RUNNING                     LEASED                         -
RUNNING                     RENEWED                        RUNNING
RUNNING                     PROGRESSED                     RUNNING
RUNNING                     SUCCEEDED                      SUCCEEDED
RUNNING                     FAILED (retryable)             FAILING
RUNNING                     FAILED (permanent)             FAILED
RUNNING                     RETRY_SCHEDULED                -
RUNNING                     DEAD_LETTERED                  -
RUNNING                     LEASE_EXPIRED (attempts left)  QUEUED
RUNNING                     LEASE_EXPIRED (last attempt)   FAILING
RUNNING                     RELEASED                       QUEUED
RUNNING                     SNOOZED                        QUEUED
RUNNING                     CANCEL_REQUESTED               RUNNING, cancel requested
RUNNING                     CANCELLED                      CANCELLED
RUNNING                     REPLAYED                       -
RUNNING                     RESOLVED                       -
RUNNING                     STALE_COMPLETION_REFUSED       RUNNING

RUNNING, cancel requested   ENQUEUED                       -
RUNNING, cancel requested   LEASED                         -
RUNNING, cancel requested   RENEWED                        RUNNING, cancel requested
RUNNING, cancel requested   PROGRESSED                     RUNNING, cancel requested
RUNNING, cancel requested   SUCCEEDED                      SUCCEEDED
RUNNING, cancel requested   FAILED (retryable)             FAILING
RUNNING, cancel requested   FAILED (permanent)             FAILED
RUNNING, cancel requested   RETRY_SCHEDULED                -
RUNNING, cancel requested   DEAD_LETTERED                  -
RUNNING, cancel requested   LEASE_EXPIRED (attempts left)  FAILING
RUNNING, cancel requested   LEASE_EXPIRED (last attempt)   FAILING
RUNNING, cancel requested   RELEASED                       QUEUED
RUNNING, cancel requested   SNOOZED                        QUEUED
RUNNING, cancel requested   CANCEL_REQUESTED               RUNNING, cancel requested
RUNNING, cancel requested   CANCELLED                      CANCELLED
RUNNING, cancel requested   REPLAYED                       -
RUNNING, cancel requested   RESOLVED                       -
RUNNING, cancel requested   STALE_COMPLETION_REFUSED       RUNNING, cancel requested

FAILING                     ENQUEUED                       -
FAILING                     LEASED                         -
FAILING                     RENEWED                        -
FAILING                     PROGRESSED                     -
FAILING                     SUCCEEDED                      -
FAILING                     FAILED (retryable)             -
FAILING                     FAILED (permanent)             -
FAILING                     RETRY_SCHEDULED                QUEUED
FAILING                     DEAD_LETTERED                  DEAD_LETTER
FAILING                     LEASE_EXPIRED (attempts left)  -
FAILING                     LEASE_EXPIRED (last attempt)   -
FAILING                     RELEASED                       -
FAILING                     SNOOZED                        -
FAILING                     CANCEL_REQUESTED               -
FAILING                     CANCELLED                      CANCELLED
FAILING                     REPLAYED                       -
FAILING                     RESOLVED                       -
FAILING                     STALE_COMPLETION_REFUSED       FAILING

SUCCEEDED                   ENQUEUED                       -
SUCCEEDED                   LEASED                         -
SUCCEEDED                   RENEWED                        -
SUCCEEDED                   PROGRESSED                     -
SUCCEEDED                   SUCCEEDED                      -
SUCCEEDED                   FAILED (retryable)             -
SUCCEEDED                   FAILED (permanent)             -
SUCCEEDED                   RETRY_SCHEDULED                -
SUCCEEDED                   DEAD_LETTERED                  -
SUCCEEDED                   LEASE_EXPIRED (attempts left)  -
SUCCEEDED                   LEASE_EXPIRED (last attempt)   -
SUCCEEDED                   RELEASED                       -
SUCCEEDED                   SNOOZED                        -
SUCCEEDED                   CANCEL_REQUESTED               -
SUCCEEDED                   CANCELLED                      -
SUCCEEDED                   REPLAYED                       -
SUCCEEDED                   RESOLVED                       -
SUCCEEDED                   STALE_COMPLETION_REFUSED       SUCCEEDED

FAILED                      ENQUEUED                       -
FAILED                      LEASED                         -
FAILED                      RENEWED                        -
FAILED                      PROGRESSED                     -
FAILED                      SUCCEEDED                      -
FAILED                      FAILED (retryable)             -
FAILED                      FAILED (permanent)             -
FAILED                      RETRY_SCHEDULED                -
FAILED                      DEAD_LETTERED                  -
FAILED                      LEASE_EXPIRED (attempts left)  -
FAILED                      LEASE_EXPIRED (last attempt)   -
FAILED                      RELEASED                       -
FAILED                      SNOOZED                        -
FAILED                      CANCEL_REQUESTED               -
FAILED                      CANCELLED                      -
FAILED                      REPLAYED                       QUEUED
FAILED                      RESOLVED                       FAILED, resolved
FAILED                      STALE_COMPLETION_REFUSED       FAILED

FAILED, resolved            ENQUEUED                       -
FAILED, resolved            LEASED                         -
FAILED, resolved            RENEWED                        -
FAILED, resolved            PROGRESSED                     -
FAILED, resolved            SUCCEEDED                      -
FAILED, resolved            FAILED (retryable)             -
FAILED, resolved            FAILED (permanent)             -
FAILED, resolved            RETRY_SCHEDULED                -
FAILED, resolved            DEAD_LETTERED                  -
FAILED, resolved            LEASE_EXPIRED (attempts left)  -
FAILED, resolved            LEASE_EXPIRED (last attempt)   -
FAILED, resolved            RELEASED                       -
FAILED, resolved            SNOOZED                        -
FAILED, resolved            CANCEL_REQUESTED               -
FAILED, resolved            CANCELLED                      -
FAILED, resolved            REPLAYED                       -
FAILED, resolved            RESOLVED                       -
FAILED, resolved            STALE_COMPLETION_REFUSED       FAILED, resolved

CANCELLED                   ENQUEUED                       -
CANCELLED                   LEASED                         -
CANCELLED                   RENEWED                        -
CANCELLED                   PROGRESSED                     -
CANCELLED                   SUCCEEDED                      -
CANCELLED                   FAILED (retryable)             -
CANCELLED                   FAILED (permanent)             -
CANCELLED                   RETRY_SCHEDULED                -
CANCELLED                   DEAD_LETTERED                  -
CANCELLED                   LEASE_EXPIRED (attempts left)  -
CANCELLED                   LEASE_EXPIRED (last attempt)   -
CANCELLED                   RELEASED                       -
CANCELLED                   SNOOZED                        -
CANCELLED                   CANCEL_REQUESTED               -
CANCELLED                   CANCELLED                      -
CANCELLED                   REPLAYED                       -
CANCELLED                   RESOLVED                       -
CANCELLED                   STALE_COMPLETION_REFUSED       CANCELLED

DEAD_LETTER                 ENQUEUED                       -
DEAD_LETTER                 LEASED                         -
DEAD_LETTER                 RENEWED                        -
DEAD_LETTER                 PROGRESSED                     -
DEAD_LETTER                 SUCCEEDED                      -
DEAD_LETTER                 FAILED (retryable)             -
DEAD_LETTER                 FAILED (permanent)             -
DEAD_LETTER                 RETRY_SCHEDULED                -
DEAD_LETTER                 DEAD_LETTERED                  -
DEAD_LETTER                 LEASE_EXPIRED (attempts left)  -
DEAD_LETTER                 LEASE_EXPIRED (last attempt)   -
DEAD_LETTER                 RELEASED                       -
DEAD_LETTER                 SNOOZED                        -
DEAD_LETTER                 CANCEL_REQUESTED               -
DEAD_LETTER                 CANCELLED                      -
DEAD_LETTER                 REPLAYED                       QUEUED
DEAD_LETTER                 RESOLVED                       FAILED, resolved
DEAD_LETTER                 STALE_COMPLETION_REFUSED       DEAD_LETTER
";

#[test]
fn every_event_in_every_state_does_what_the_table_says() {
    let expected: Vec<&str> = TABLE.trim().lines().collect();
    let found = played_through();
    let found: Vec<&str> = found.trim().lines().collect();
    let differing: Vec<String> = (0..expected.len().max(found.len()))
        .map(|n| (expected.get(n).unwrap_or(&"nothing"), found.get(n).unwrap_or(&"nothing")))
        .filter(|(expected, found)| expected != found)
        .map(|(expected, found)| format!("the table says  {expected}\nbut it is       {found}\n"))
        .collect();
    assert!(differing.is_empty(), "\n{}", differing.join("\n"));
}

#[test]
fn the_table_names_every_event_of_the_rule_book() {
    let mut names: Vec<&str> = events().iter().map(|(_, _, event)| listed(event)).collect();
    names.dedup();
    assert_eq!(names.len(), 16, "{names:?}");
}

#[test]
fn the_document_shows_this_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/JOB-LIFE.md");
    let stored = std::fs::read_to_string(&path).expect("docs/JOB-LIFE.md is there");
    let fresh = with_block(&with_block(&stored, "diagram", &diagram()), "table", &matrix());
    if std::env::var_os("BPC_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, fresh).expect("docs/JOB-LIFE.md can be written");
    } else {
        assert_eq!(stored, fresh, "docs/JOB-LIFE.md is out of date: run this test with BPC_BLESS=1");
    }
}

#[test]
fn an_event_that_contradicts_the_history_is_refused() {
    for (history, event, complaint) in [
        (
            vec![enqueued(5)],
            JobEvent::Leased { worker_id: "w1".to_owned(), attempt: 2, lease_expires_at: at(60) },
            "LEASED says attempt 2, the history before it says 1",
        ),
        (
            vec![enqueued(5), leased()],
            JobEvent::Renewed { worker_id: "w2".to_owned(), lease_expires_at: at(60) },
            "RENEWED says worker w2, the history before it says w1",
        ),
        (
            vec![enqueued(5), leased()],
            JobEvent::LeaseExpired { worker_id: "w2".to_owned() },
            "LEASE_EXPIRED says worker w2, the history before it says w1",
        ),
        (
            vec![enqueued(5), leased()],
            JobEvent::Released { worker_id: "w2".to_owned() },
            "RELEASED says worker w2, the history before it says w1",
        ),
        (
            vec![enqueued(5), leased()],
            JobEvent::Failed { attempt: 2, error: error(true) },
            "FAILED says attempt 2, the history before it says 1",
        ),
        (
            vec![enqueued(1), leased(), failed(true)],
            JobEvent::DeadLettered { attempts: 5 },
            "DEAD_LETTERED says attempts 5, the history before it says 1",
        ),
    ] {
        let refused = play(history.iter().chain([&event])).expect_err(complaint);
        assert!(matches!(refused, FoldError::Contradiction { .. }), "{refused:?}");
        assert_eq!(refused.to_string(), complaint);
    }
}

#[test]
fn an_event_that_cannot_happen_says_what_the_job_is() {
    let succeeded = JobEvent::Succeeded { duration_ms: 9, result: None, emitted: vec![] };
    let refused = play(&[enqueued(5), succeeded.clone()]).unwrap_err();
    assert_eq!(refused.to_string(), "SUCCEEDED cannot follow: the job is QUEUED");
    let refused = play(&[succeeded]).unwrap_err();
    assert_eq!(refused.to_string(), "SUCCEEDED cannot follow: the job is not enqueued");
}

/// What `fold` makes of every pair, in the form of [`TABLE`].
fn played_through() -> String {
    let mut text = line("state", "event", "becomes");
    for (state, history) in states() {
        text.push('\n');
        for (name, max_attempts, event) in events() {
            let history = history(max_attempts);
            let before = play(&history).expect("the way into a state is legal");
            assert_eq!(state_name(before.as_ref()), state);
            let becomes = match play(history.iter().chain([&event])) {
                Ok(after) => state_name(after.as_ref()),
                Err(FoldError::Illegal { .. }) => "-",
                Err(other) => panic!("{name} in {state}: {other}"),
            };
            text += &line(state, name, becomes);
        }
    }
    text
}

fn line(state: &str, event: &str, becomes: &str) -> String {
    format!("{state:<26}  {event:<29}  {becomes}\n")
}

type History = fn(u32) -> Vec<JobEvent>;

/// Every state and a way into it, for a job with so many attempts.
fn states() -> [(&'static str, History); 10] {
    [
        ("none", |_| vec![]),
        ("QUEUED", |max| vec![enqueued(max)]),
        ("RUNNING", |max| vec![enqueued(max), leased()]),
        ("RUNNING, cancel requested", |max| {
            vec![enqueued(max), leased(), JobEvent::CancelRequested { reason: None }]
        }),
        ("FAILING", |max| vec![enqueued(max), leased(), failed(true)]),
        ("SUCCEEDED", |max| {
            let succeeded = JobEvent::Succeeded { duration_ms: 9, result: None, emitted: vec![] };
            vec![enqueued(max), leased(), succeeded]
        }),
        ("FAILED", |max| vec![enqueued(max), leased(), failed(false)]),
        ("FAILED, resolved", |max| {
            let resolved = JobEvent::Resolved { actor: "user:ada".to_owned(), notes: "lost".to_owned() };
            vec![enqueued(max), leased(), failed(false), resolved]
        }),
        ("CANCELLED", |max| vec![enqueued(max), JobEvent::Cancelled { reason: None }]),
        ("DEAD_LETTER", |max| {
            vec![enqueued(max), leased(), failed(true), JobEvent::DeadLettered { attempts: 1 }]
        }),
    ]
}

/// Every event as the table names it, with the attempts of the job it happens to.
fn events() -> Vec<(&'static str, u32, JobEvent)> {
    let worker_id = || "w1".to_owned();
    let actor = || "user:ada".to_owned();
    vec![
        ("ENQUEUED", 5, enqueued(5)),
        ("LEASED", 5, leased()),
        ("RENEWED", 5, JobEvent::Renewed { worker_id: worker_id(), lease_expires_at: at(90) }),
        ("PROGRESSED", 5, JobEvent::Progressed { percent: 40, step: None, message: None }),
        ("SUCCEEDED", 5, JobEvent::Succeeded { duration_ms: 9, result: None, emitted: vec![] }),
        ("FAILED (retryable)", 5, failed(true)),
        ("FAILED (permanent)", 5, failed(false)),
        ("RETRY_SCHEDULED", 5, JobEvent::RetryScheduled { scheduled_at: at(2), delay_ms: 2000 }),
        ("DEAD_LETTERED", 5, JobEvent::DeadLettered { attempts: 1 }),
        ("LEASE_EXPIRED (attempts left)", 5, JobEvent::LeaseExpired { worker_id: worker_id() }),
        ("LEASE_EXPIRED (last attempt)", 1, JobEvent::LeaseExpired { worker_id: worker_id() }),
        ("RELEASED", 5, JobEvent::Released { worker_id: worker_id() }),
        ("SNOOZED", 5, JobEvent::Snoozed { until: at(60) }),
        ("CANCEL_REQUESTED", 5, JobEvent::CancelRequested { reason: None }),
        ("CANCELLED", 5, JobEvent::Cancelled { reason: None }),
        ("REPLAYED", 5, JobEvent::Replayed { actor: actor(), justification: "fixed".to_owned() }),
        ("RESOLVED", 5, JobEvent::Resolved { actor: actor(), notes: "lost".to_owned() }),
        (
            "STALE_COMPLETION_REFUSED",
            5,
            JobEvent::StaleCompletionRefused { worker_id: worker_id(), attempt: 1 },
        ),
    ]
}

/// A new kind of event does not compile until it is added here, and then belongs into [`events`].
fn listed(event: &JobEvent) -> &'static str {
    match event {
        JobEvent::Enqueued { .. }
        | JobEvent::Leased { .. }
        | JobEvent::Renewed { .. }
        | JobEvent::Progressed { .. }
        | JobEvent::Succeeded { .. }
        | JobEvent::Failed { .. }
        | JobEvent::RetryScheduled { .. }
        | JobEvent::DeadLettered { .. }
        | JobEvent::LeaseExpired { .. }
        | JobEvent::Released { .. }
        | JobEvent::Snoozed { .. }
        | JobEvent::CancelRequested { .. }
        | JobEvent::Cancelled { .. }
        | JobEvent::Replayed { .. }
        | JobEvent::Resolved { .. }
        | JobEvent::StaleCompletionRefused { .. } => event.event_type(),
    }
}

fn enqueued(max_attempts: u32) -> JobEvent {
    JobEvent::Enqueued {
        job_type: "COMPILE".to_owned(),
        queue: "default".to_owned(),
        priority: 2,
        max_attempts,
        scheduled_at: at(0),
        idempotency_key: None,
        payload: CanonicalJson::empty_object(),
    }
}

fn leased() -> JobEvent {
    JobEvent::Leased { worker_id: "w1".to_owned(), attempt: 1, lease_expires_at: at(60) }
}

fn failed(retryable: bool) -> JobEvent {
    JobEvent::Failed { attempt: 1, error: error(retryable) }
}

fn error(retryable: bool) -> ErrorInfo {
    ErrorInfo { code: "TIMEOUT".to_owned(), message: "no answer".to_owned(), retryable, detail: None }
}

fn play<'a>(events: impl IntoIterator<Item = &'a JobEvent>) -> Result<Option<Job>, FoldError> {
    let mut job = None;
    for (event, version) in events.into_iter().zip(1..) {
        let head = Head { version: Version(version), hash: Hash::ZERO };
        job = Some(fold(job, event, Occurrence { tenant_id: TENANT, job_id: JOB, head, at: at(0) })?);
    }
    Ok(job)
}

/// One line of the table.
struct Row {
    state: &'static str,
    event: &'static str,
    becomes: Option<&'static str>,
}

fn rows() -> Vec<Row> {
    let lines = TABLE.lines().map(str::trim).filter(|line| !line.is_empty()).skip(1);
    lines
        .map(|line| {
            let mut cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
            let mut cell = || cells.next().expect("three columns");
            Row { state: cell(), event: cell(), becomes: Some(cell()).filter(|becomes| *becomes != "-") }
        })
        .collect()
}

/// The table with a line per event and a column per state.
fn matrix() -> String {
    let rows = rows();
    let mut text = "| event |".to_owned();
    for (state, _) in states() {
        text += &format!(" {state} |");
    }
    text += &format!("\n|---|{}\n", "---|".repeat(states().len()));
    for (event, ..) in events() {
        text += &format!("| {event} |");
        for row in rows.iter().filter(|row| row.event == event) {
            text += &format!(" {} |", row.becomes.unwrap_or("-"));
        }
        text += "\n";
    }
    text
}

/// The table as arrows. What happens in any state and changes none is left out.
fn diagram() -> String {
    let rows: Vec<Row> = rows().into_iter().filter(|row| row.event != "STALE_COMPLETION_REFUSED").collect();
    let mut text = "```mermaid\nstateDiagram-v2\n".to_owned();
    for (state, _) in states().into_iter().filter(|(state, _)| state.contains(' ')) {
        text += &format!("    state \"{state}\" as {}\n", node(state));
    }
    for (from, _) in states() {
        let mut goals: Vec<&str> = Vec::new();
        for goal in rows.iter().filter(|row| row.state == from).filter_map(|row| row.becomes) {
            if !goals.contains(&goal) {
                goals.push(goal);
            }
        }
        for goal in &goals {
            let arrow = rows.iter().filter(|row| row.state == from && row.becomes == Some(goal));
            let events: Vec<&str> = arrow.map(|row| row.event).collect();
            text += &format!("    {} --> {} : {}\n", node(from), node(goal), events.join(", "));
        }
        if goals.is_empty() {
            text += &format!("    {} --> [*]\n", node(from));
        }
    }
    text + "```\n"
}

fn node(state: &str) -> String {
    if state == "none" { "[*]".to_owned() } else { state.replace(", ", "_").replace(' ', "_") }
}

/// `document` with what stands between two markers replaced.
fn with_block(document: &str, name: &str, block: &str) -> String {
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let (before, rest) = document.split_once(&begin).expect("the document has the opening marker");
    let (_, after) = rest.split_once(&end).expect("the document has the closing marker");
    format!("{before}{begin}\n{block}\n{end}{after}")
}
