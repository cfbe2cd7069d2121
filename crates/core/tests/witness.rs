//! The witness, and the document that shows one checkpoint to continue another.

#[path = "common/sealed.rs"]
mod sealed;

use bpc_core::Hash;
use bpc_core::merkle::leaf_hash;
use bpc_core::note::{Checkpoint, NoteError, SignedNote, Signer, VerifierKey, open_checkpoint};
use bpc_core::proof::check_consistency;
use bpc_core::witness::{
    AddCheckpoint, ConflictAnswer, Cosigned, Known, Refusal, Seen, cosignatures, decide,
};
use proptest::prelude::*;

use sealed::{ORIGIN, Sealed, changes, log_keys, signer, witness};

#[test]
fn a_log_is_followed_from_nothing_and_the_cosignature_holds() {
    let log = Sealed::with(&[], 300);
    let keys = log_keys();
    let mut seen = Seen::NOTHING;
    for size in [0, 1, 1, 7, 256, 257, 300] {
        let signed = ask(&log, seen, seen.size, size).unwrap();
        assert_eq!((signed.origin.as_str(), signed.seen), (ORIGIN, Seen { size, root: log.root(size) }));
        seen = signed.seen;

        let answer = format!("{}\n", signed.sign(&witness(), 1_700_000_000));
        let mut note = log.note(size);
        let lines = cosignatures(&note, answer.as_bytes(), &[witness().verifier().clone()]).unwrap();
        note.signatures.extend(lines);
        let both = [keys.clone(), vec![witness().verifier().clone()]].concat();
        let opened = open_checkpoint(note.to_string().as_bytes(), &both).unwrap();
        assert_eq!(opened.witnesses[0].at, Some(1_700_000_000));
    }
}

#[test]
fn refusals_have_the_status_of_the_standard() {
    let log = Sealed::with(&[], 300);
    let other = Sealed::with(&[(0, &sealed::other_event())], 300);
    let stranger = Signer::new(ORIGIN, &[9; 32]).unwrap();
    let at_seven = Seen { size: 7, root: log.root(7) };
    let request =
        |log: &Sealed, old, new| AddCheckpoint::new(old, log.consistency(old, new), log.note(new)).unwrap();
    let good = request(&log, 7, 300);
    let by_a_stranger = SignedNote { signatures: vec![stranger.sign(&good.note.text)], ..good.note.clone() };
    let mut forged = good.note.clone();
    forged.signatures[0].signature[0] ^= 1;
    let elsewhere = {
        let text = Checkpoint::new("other.example/log", 300, log.root(300)).text();
        SignedNote { signatures: vec![signer().sign(&text)], text }
    };
    let of_nothing = {
        let text = Checkpoint::new(ORIGIN, 0, Hash([1; 32])).text();
        SignedNote { signatures: vec![signer().sign(&text)], text }
    };
    let mut long = good.clone();
    long.proof.push(Hash::ZERO);
    let mut early = request(&log, 0, 300);
    early.proof.push(Hash::ZERO);
    let with = |note: &SignedNote| AddCheckpoint { note: note.clone(), ..good.clone() }.to_string();
    let text = good.to_string();
    let table = [
        (400, "WITNESS_OLD_SIZE_INVALID", at_seven, text.replacen("old 7", "old 07", 1)),
        (400, "WITNESS_OLD_SIZE_INVALID", at_seven, text.replacen("old 7", "7", 1)),
        (400, "WITNESS_OLD_SIZE_INVALID", at_seven, String::new()),
        (400, "WITNESS_OLD_SIZE_LARGER", at_seven, text.replacen("old 7", "old 301", 1)),
        (400, "WITNESS_PROOF_INVALID", at_seven, text.replacen("old 7\n", "old 7\nAAAA\n", 1)),
        (
            400,
            "WITNESS_PROOF_TOO_LONG",
            at_seven,
            format!("old 7\n{}", format!("{}\n", base64_zero()).repeat(64)),
        ),
        (400, "WITNESS_NO_CHECKPOINT", at_seven, "old 7\n".to_owned()),
        (400, "NOTE_MALFORMED", at_seven, "old 7\n\n".to_owned()),
        (400, "CHECKPOINT_MALFORMED", at_seven, "old 7\n\ntext\n\n— a AAAAAAA=\n".to_owned()),
        (404, "WITNESS_LOG_UNKNOWN", at_seven, with(&elsewhere)),
        (403, "WITNESS_NOT_SIGNED", at_seven, with(&by_a_stranger)),
        (403, "WITNESS_NOT_SIGNED", at_seven, with(&forged)),
        (409, "WITNESS_CONFLICT", Seen::NOTHING, text.clone()),
        (409, "WITNESS_CONFLICT", Seen { size: 8, root: log.root(8) }, text.clone()),
        (409, "WITNESS_CONFLICT", Seen { size: 300, root: log.root(300) }, text.clone()),
        (
            409,
            "WITNESS_CONFLICT",
            Seen { size: 300, root: log.root(300) },
            request(&other, 300, 300).to_string(),
        ),
        (
            409,
            "WITNESS_CONFLICT",
            Seen::NOTHING,
            AddCheckpoint::new(0, vec![], of_nothing).unwrap().to_string(),
        ),
        (422, "WITNESS_NOT_CONTINUED", at_seven, request(&other, 7, 300).to_string()),
        (422, "WITNESS_NOT_CONTINUED", at_seven, long.to_string()),
        (422, "WITNESS_NOT_CONTINUED", Seen::NOTHING, early.to_string()),
    ];
    for (number, (status, code, seen, body)) in table.into_iter().enumerate() {
        let refusal = decided(seen, body.as_bytes()).unwrap_err();
        assert_eq!((refusal.status(), refusal.code()), (status, code), "case {number}");
        if status == 409 {
            assert_eq!(refusal.content_type(), "text/x.tlog.size");
            let answer = ConflictAnswer::parse(refusal.body().as_bytes());
            assert_eq!(answer, Some(ConflictAnswer { size: seen.size }));
        }
    }
    assert!(decided(at_seven, text.as_bytes()).is_ok());
}

#[test]
fn no_byte_of_a_request_can_be_changed() {
    let log = Sealed::with(&[], 300);
    let seen = Seen { size: 7, root: log.root(7) };
    let body = AddCheckpoint::new(7, log.consistency(7, 300), log.note(300)).unwrap().to_string();
    assert!(decided(seen, body.as_bytes()).is_ok());
    for (at, changed) in changes(body.as_bytes()) {
        assert!(decided(seen, &changed).is_err(), "byte {at}");
    }
}

proptest! {
    /// Two histories that part somewhere, both signed by the log, sent to a witness in any order.
    #[test]
    fn a_witness_never_signs_two_histories(
        parted in 0_u64..40,
        asks in prop::collection::vec((any::<bool>(), 0_u64..40, 0_u64..40), 1..60),
    ) {
        let (left, right) = histories(parted, 40);
        let mut seen = Seen::NOTHING;
        let mut signed: Vec<Seen> = Vec::new();
        for (is_left, old, new) in asks {
            let log = if is_left { &left } else { &right };
            // Mostly honest about where the witness stands.
            let old = if old % 4 == 0 { old } else { seen.size };
            if let Ok(cosigned) = ask(log, seen, old.min(new), new) {
                seen = cosigned.seen;
                signed.push(seen);
            }
        }
        let is_of = |log: &Sealed| signed.iter().all(|seen| log.root(seen.size) == seen.root);
        prop_assert!(is_of(&left) || is_of(&right));
        prop_assert!(signed.is_sorted_by_key(|seen| seen.size));
    }
}

#[test]
fn an_answer_of_a_known_witness_must_hold() {
    let log = Sealed::with(&[], 3);
    let note = log.note(3);
    let keys = [witness().verifier().clone()];
    let good = witness().cosign(&note.text, 5);
    let other = bpc_core::note::Cosigner::new("other.example/w", &[4; 32]).unwrap().cosign(&note.text, 5);
    let read = |body: String| cosignatures(&note, body.as_bytes(), &keys);
    assert_eq!(read(format!("{other}\n{good}\n")), Ok(vec![good.clone()]));
    assert!(matches!(read(format!("{other}\n")), Err(NoteError::NotSigned { .. })));
    let elsewhere = witness().cosign("another text\n", 5);
    assert!(matches!(read(format!("{elsewhere}\n")), Err(NoteError::BadSignature { .. })));
    assert_eq!(read(good.to_string()), Err(NoteError::Malformed));
    assert_eq!(read(String::new()), Err(NoteError::Malformed));
    assert_eq!(read(format!("\n{good}\n")), Err(NoteError::BadLine(1)));
    assert_eq!(ConflictAnswer::parse(b"12"), None);
    assert_eq!(ConflictAnswer::parse(b"012\n"), None);
}

#[test]
fn an_auditor_sees_that_the_log_goes_on_from_what_was_kept() {
    let log = Sealed::with(&[], 300);
    for (old, new) in [(0, 300), (1, 300), (200, 256), (256, 300), (299, 300), (300, 300)] {
        let document = AddCheckpoint::new(old, log.consistency(old, new), log.note(new)).unwrap().to_string();
        let kept = log.note(old).to_string();
        let continued = check_consistency(document.as_bytes(), kept.as_bytes(), &log_keys()).unwrap();
        assert_eq!((continued.older.size, continued.newer.size), (old, new));
    }
}

#[test]
fn no_byte_of_a_consistency_proof_or_the_kept_checkpoint_can_be_changed() {
    let log = Sealed::with(&[], 300);
    let document = AddCheckpoint::new(200, log.consistency(200, 300), log.note(300)).unwrap().to_string();
    let kept = log.note(200).to_string();
    for (at, changed) in changes(document.as_bytes()) {
        assert!(check_consistency(&changed, kept.as_bytes(), &log_keys()).is_err(), "byte {at}");
    }
    for (at, changed) in changes(kept.as_bytes()) {
        assert!(check_consistency(document.as_bytes(), &changed, &log_keys()).is_err(), "byte {at}");
    }
}

#[test]
fn a_log_that_does_not_continue_is_refused_by_name() {
    let log = Sealed::with(&[], 300);
    let other = Sealed::with(&[(0, &sealed::other_event())], 300);
    let document = |log: &Sealed, old, new| {
        AddCheckpoint::new(old, log.consistency(old, new), log.note(new)).unwrap().to_string()
    };
    let elsewhere = Signer::new("other.example/log", &[3; 32]).unwrap();
    let kept_elsewhere = {
        let text = Checkpoint::new("other.example/log", 200, log.root(200)).text();
        SignedNote { signatures: vec![elsewhere.sign(&text)], text }.to_string()
    };
    let keys = [log_keys(), vec![elsewhere.verifier().clone()]].concat();
    let kept = log.note(200).to_string();
    let table = [
        ("CONSISTENCY_NOT_CONTINUED", document(&other, 200, 300), kept.clone()),
        ("CONSISTENCY_NOT_CONTINUED", document(&other, 200, 200), kept.clone()),
        ("CONSISTENCY_OTHER_SIZE", document(&log, 199, 300), kept.clone()),
        ("CONSISTENCY_OTHER_SIZE", document(&log, 0, 300), kept.clone()),
        ("CONSISTENCY_OTHER_LOG", document(&log, 200, 300), kept_elsewhere),
        ("CONSISTENCY_MALFORMED", log.note(300).to_string(), kept.clone()),
        ("NOTE_MALFORMED", document(&log, 200, 300), "nothing".to_owned()),
    ];
    for (code, document, kept) in table {
        let refused =
            check_consistency(document.as_bytes(), kept.as_bytes(), &keys).map_err(|error| error.code());
        assert_eq!(refused.err(), Some(code));
    }
}

fn ask(log: &Sealed, seen: Seen, old: u64, new: u64) -> Result<Cosigned, Refusal> {
    let request = AddCheckpoint::new(old, log.consistency(old, new), log.note(new))?;
    let body = request.to_string();
    assert_eq!(AddCheckpoint::parse(body.as_bytes()).as_ref(), Ok(&request));
    decided(seen, body.as_bytes())
}

fn decided(seen: Seen, body: &[u8]) -> Result<Cosigned, Refusal> {
    let keys: Vec<VerifierKey> = log_keys();
    decide(body, |origin| (origin == ORIGIN).then_some(Known { keys: &keys, seen }))
}

/// Two logs with the same first leaves.
fn histories(parted: u64, size: u64) -> (Sealed, Sealed) {
    let common: Vec<_> = (0..parted).map(|at| leaf_hash(&at.to_be_bytes())).collect();
    let log = |side: &str| {
        let own = (parted..size).map(|at| leaf_hash(format!("{side} {at}").as_bytes()));
        Sealed::of(common.iter().copied().chain(own).collect())
    };
    (log("left"), log("right"))
}

fn base64_zero() -> String {
    bpc_core::note::base64(&Hash::ZERO.0)
}
