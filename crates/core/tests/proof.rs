//! The proof file: what it says when it holds, and that it holds for nothing else.

#[path = "common/sealed.rs"]
mod sealed;

use bpc_core::job::{JobEvent, Status};
use bpc_core::note::SignedNote;
use bpc_core::proof::{Proof, Report, Subject, check};
use bpc_core::{Hash, Version};

use sealed::{
    JOB, ORIGIN, OTHER_POSITION, POSITIONS, SIZE, Sealed, changes, document_events, document_log, job_event,
    log_keys, signer, witness,
};

#[test]
fn a_proof_of_a_job_says_which_log_which_events_and_how_the_job_stands() {
    let (log, events, _) = document_log();
    let report = check(&job_proof().write().unwrap(), &log_keys()).unwrap();
    assert_eq!((report.subject, report.origin.as_str(), report.size), (Subject::Job, ORIGIN, SIZE));
    assert_eq!(report.root, log.root(SIZE));
    assert_eq!(report.signed_by, [signer().verifier().id()]);
    assert_eq!((report.stream_type.as_str(), report.stream_id.to_string().as_str()), ("Job", JOB));
    assert_eq!(
        (report.first, report.head.version, report.head.hash),
        (Version(1), Version(3), events[2].hash)
    );
    assert_eq!(report.positions, POSITIONS);
    assert_eq!(report.occurred_at.to_string(), "2026-11-16T19:48:31.400000Z");
    assert_eq!(report.job.unwrap().status(), Status::Succeeded);
    assert_eq!((report.witnesses, report.unchecked), (vec![], vec![]));
}

#[test]
fn one_event_is_proved_by_itself() {
    let (log, events, _) = document_log();
    for (at, prev) in [(0, None), (1, Some(events[0].hash)), (2, Some(events[1].hash))] {
        let proof = log.proof(Subject::Event, prev, &[(POSITIONS[at], &events[at])]);
        let report = check(&proof.write().unwrap(), &log_keys()).unwrap();
        let version = Version(at as u32 + 1);
        assert_eq!(
            (report.first, report.head.version, report.head.hash),
            (version, version, events[at].hash)
        );
        assert_eq!(report.job, None);
        // Another hash of the event before it, none, or one too many.
        let others = if at == 0 { vec![Some(Hash::ZERO)] } else { vec![None, Some(Hash::ZERO)] };
        for other in others {
            assert!(
                check(&Proof { prev_hash: other, ..proof.clone() }.write().unwrap(), &log_keys()).is_err()
            );
        }
    }
}

#[test]
fn no_byte_of_a_proof_file_can_be_changed() {
    let (log, events, _) = document_log();
    let event = log.proof(Subject::Event, Some(events[1].hash), &[(POSITIONS[2], &events[2])]);
    for proof in [job_proof(), event] {
        let file = proof.write().unwrap();
        assert!(check(&file, &log_keys()).is_ok());
        for (at, changed) in changes(&file) {
            let refused = check(&changed, &log_keys());
            assert!(refused.is_err(), "byte {at}: {}", String::from_utf8_lossy(&changed));
        }
    }
}

/// The one thing in a file that can be changed and pass: who else signed. Then the report says so.
#[test]
fn a_witness_is_named_or_reported_as_unchecked() {
    let (log, ..) = document_log();
    let mut note = log.note(SIZE);
    note.signatures.push(witness().cosign(&note.text, 1_794_858_512));
    let proof = Proof { checkpoint: note.to_string(), ..job_proof() };
    let file = proof.write().unwrap();
    let keys = [log_keys(), vec![witness().verifier().clone()]].concat();
    let sound = check(&file, &keys).unwrap();
    assert_eq!(sound.witnesses, [("witness.example/w".to_owned(), 1_794_858_512)]);
    assert_eq!(sound.unchecked, []);

    let unwitnessed = check(&job_proof().write().unwrap(), &keys).unwrap();
    for (at, changed) in changes(&file) {
        let Ok(report) = check(&changed, &keys) else { continue };
        let stranger = report.unchecked.first().expect("the changed line is of an unknown key");
        assert_ne!(
            (stranger.0.as_str(), stranger.1),
            (witness().verifier().name(), witness().verifier().id())
        );
        assert_eq!(Report { unchecked: vec![], ..report }, unwitnessed, "byte {at}");
    }
    // Without the witness's key its line proves nothing, and is not needed.
    let report = check(&file, &log_keys()).unwrap();
    assert_eq!(report.unchecked, [(witness().verifier().name().to_owned(), witness().verifier().id())]);
}

#[test]
fn forgeries_that_repair_what_they_can_are_refused_by_name() {
    let (log, events, other) = document_log();
    let [first, second, third] = [0, 1, 2].map(|at| (POSITIONS[at], &events[at]));
    let job = |events: &[(u64, &sealed::Event)]| log.proof(Subject::Job, None, events);
    let event = |events: &[(u64, &sealed::Event)]| log.proof(Subject::Event, None, events);
    let renamed = sealed::Event {
        text: events[2].text.replace("\"w1\"", "\"w2\"").replace("140", "141"),
        ..third.1.clone()
    };
    let signed_by_another = {
        let text = log.note(SIZE).text;
        let other = bpc_core::note::Signer::new(ORIGIN, &[9; 32]).unwrap();
        SignedNote { signatures: vec![other.sign(&text)], text }.to_string()
    };
    let older = log.note(SIZE - 1).to_string();
    let table = [
        ("PROOF_EVENT_COUNT", job(&[])),
        ("PROOF_EVENT_COUNT", event(&[first, second])),
        ("VERSION_GAP", job(&[second, third])),
        ("VERSION_GAP", job(&[first, third])),
        ("VERSION_GAP", job(&[first, first])),
        ("VERSION_GAP", job(&[second, first])),
        ("PROOF_PREV_HASH", Proof { prev_hash: Some(events[0].hash), ..job(&[second, third]) }),
        ("PROOF_PREV_HASH", Proof { prev_hash: Some(Hash::ZERO), ..job(&[first]) }),
        ("VERSION_GAP", job(&[first, (OTHER_POSITION, &other)])),
        ("PROOF_NOT_INCLUDED", job(&[first, second, (third.0, &renamed)])),
        ("PROOF_NOT_INCLUDED", job(&[(OTHER_POSITION, first.1)])),
        ("PROOF_ORDER", job(&[first, second, (third.0 - 200, third.1)])),
        ("PROOF_NOT_INCLUDED", Proof { checkpoint: older, ..job(&[first]) }),
        ("NOTE_NOT_SIGNED", Proof { checkpoint: signed_by_another, ..job(&[first]) }),
    ];
    for (number, (code, proof)) in table.into_iter().enumerate() {
        let refused = check(&proof.write().unwrap(), &log_keys()).map_err(|error| error.code());
        assert_eq!(refused.err(), Some(code), "case {number}");
    }
}

#[test]
fn what_was_sealed_but_is_no_history_of_a_job_is_refused() {
    let first = &document_events()[0];
    let mut head = first.hash;
    let illegal =
        job_event(2, &mut head, &JobEvent::Succeeded { duration_ms: 1, result: None, emitted: vec![] });
    // Version 2 that names another stream, chained on as if it belonged here.
    let mut head = first.hash;
    let foreign = sealed::chained(
        &mut head,
        job_event(2, &mut Hash::ZERO.clone(), &JobEvent::Cancelled { reason: None })
            .text
            .replace(JOB, sealed::OTHER),
    );
    let mut head = Hash::ZERO;
    let document = sealed::chained(
        &mut head,
        first.text.replace("\"stream_type\":\"Job\"", "\"stream_type\":\"Document\""),
    );
    let log = Sealed::with(&[(0, first), (1, &illegal), (2, &foreign), (3, &document)], 5);
    let refused = |events: &[(u64, &sealed::Event)]| {
        let file = log.proof(Subject::Job, None, events).write().unwrap();
        check(&file, &log_keys()).map_err(|error| error.code()).err()
    };
    assert_eq!(refused(&[(0, first)]), None);
    assert_eq!(refused(&[(0, first), (1, &illegal)]), Some("ILLEGAL_HISTORY"));
    assert_eq!(refused(&[(0, first), (2, &foreign)]), Some("STREAM_MIXED"));
    assert_eq!(refused(&[(3, &document)]), Some("PROOF_NOT_A_JOB"));
}

/// The limit of what a proof of a job says, as documented.
#[test]
fn events_left_off_the_end_are_not_noticed() {
    let (log, events, _) = document_log();
    let proof = log.proof(Subject::Job, None, &[(POSITIONS[0], &events[0]), (POSITIONS[1], &events[1])]);
    let report = check(&proof.write().unwrap(), &log_keys()).unwrap();
    assert_eq!(report.job.unwrap().status(), Status::Running);
}

#[test]
fn a_proof_has_one_spelling() {
    let file = String::from_utf8(job_proof().write().unwrap()).unwrap();
    let body = file.trim_end();
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(&file).unwrap()).unwrap();
    let table = [
        ("PROOF_NOT_CANONICAL", body.to_owned()),
        ("PROOF_NOT_CANONICAL", format!("{file}\n")),
        ("PROOF_NOT_CANONICAL", format!(" {file}")),
        ("PROOF_NOT_CANONICAL", pretty),
        ("PROOF_NOT_CANONICAL", file.replace("\"format\"", "\"forma\\u0074\"")),
        ("PROOF_NOT_CANONICAL", file.replace("\"subject\"", "\"prev_hash\":null,\"subject\"")),
        ("PROOF_MALFORMED", file.replace("\"subject\"", "\"prev_hash\":\"AAAA\",\"subject\"")),
        ("PROOF_MALFORMED", file.replace("\"subject\"", "\"note\":1,\"subject\"")),
        ("PROOF_MALFORMED", file.replace("\"subject\":\"job\"", "\"subject\":\"stream\"")),
        ("PROOF_MALFORMED", file.replace("\"subject\":\"job\"", "\"subject\":\"job\",\"subject\":\"job\"")),
        ("PROOF_MALFORMED", file.replace("\"position\":4", "\"position\":-4")),
        ("PROOF_MALFORMED", file.replace("\"position\":4", "\"position\":4.0")),
        ("PROOF_MALFORMED", file.replace("\"position\":4", "\"position\":9007199254740992")),
        ("PROOF_MALFORMED", format!("{file}{file}")),
        ("PROOF_MALFORMED", "[]".to_owned()),
        ("PROOF_MALFORMED", String::new()),
        ("PROOF_FORMAT_UNKNOWN", file.replace("BPC-PROOF-1", "BPC-PROOF-2")),
    ];
    for (number, (code, text)) in table.into_iter().enumerate() {
        let refused = check(text.as_bytes(), &log_keys()).map_err(|error| error.code());
        assert_eq!(refused.err(), Some(code), "case {number}");
    }
}

fn job_proof() -> Proof {
    let (log, events, _) = document_log();
    let placed: Vec<_> = POSITIONS.into_iter().zip(&events).collect();
    log.proof(Subject::Job, None, &placed)
}
