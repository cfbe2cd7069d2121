//! Signed notes, keys and checkpoints: against vectors made elsewhere, and with every byte changed.

use bpc_core::Hash;
use bpc_core::note::{
    Checkpoint, CheckpointError, Cosigner, KeyError, NoteError, NoteSignature, OpenError, SIGNATURES_MAX,
    SignatureKind, SignedNote, Signer, VerifierKey, open_checkpoint, unbase64,
};

/// Key, secret and note from the documentation of Go's `sumdb/note`, which the standard grew out of.
const NEUMANN: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const NEUMANN_SECRET: &str = "gQoUAtUUbI2E8kQzMPVAgOv5juF9nHT2JS/F1ccoMXM=";
const NEUMANN_NOTE: &str = "If you think cryptography is the answer to your problem,
then you don't know what your problem is.

— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
";

#[test]
fn a_note_signed_elsewhere_is_verified_and_signed_again_to_the_same_bytes() {
    let keys = [NEUMANN.parse::<VerifierKey>().unwrap()];
    let note = SignedNote::parse(NEUMANN_NOTE.as_bytes()).unwrap();
    let verified = note.verify(&keys).unwrap();
    assert_eq!((verified[0].key.name(), verified[0].at, verified.len()), ("PeterNeumann", None, 1));

    let secret = unbase64(NEUMANN_SECRET).unwrap().try_into().unwrap();
    let signer = Signer::new("PeterNeumann", &secret).unwrap();
    assert_eq!(signer.verifier(), &keys[0]);
    assert_eq!(signer.verifier().to_string(), NEUMANN);
    let again = SignedNote { signatures: vec![signer.sign(&note.text)], text: note.text };
    assert_eq!(again.to_string(), NEUMANN_NOTE);
}

/// A checkpoint that a public log and its witnesses published, with their public keys.
#[test]
fn a_checkpoint_of_a_public_log_holds_for_all_who_signed_it() {
    let note = "arche2025h1.staging.ct.transparency.dev
1432088532
U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=

— arche2025h1.staging.ct.transparency.dev zTM8sQAAAZ5W0WdjBAMARjBEAiBjW5IQf9pvsYLfQFX6hoGREPMHbdQ3urbllzalApkptQIgIpwtEroeW2BXaHAI4kJXFbon5Ch9MNL5zRNZ55lvGt0=
— arche2025h1.staging.ct.transparency.dev ui8GwCF1+kWqZrxGdhj4aX3gcw7XUlXQQabg/27lefwhUkzbC3NygNI75MdhL1bfTW9g8Ei59RA23oHP7Ry1k3ZFWwQ=
— transparency.dev/DEV:witness-little-garden 2AQqhwAAAABqEiEgzgFIqqhbUoDwjMWE6UP8nd8/KYTzwZ2rhIgcqoXHAwVkjZr4AscylP3v7sEodkRAErumC2q44vdgJY096st5BQ==
— witness1.smartit.nu/witness1 pIyCDwAAAABqEiEghIp82KWebrw7/oHQwlTAm3g2RKS4+eebl8eO0WH+/iEcxZ75W3u5hNI7TOQtmJbqmNWVuE0tgh0XwzdZsDsUAQ==
— remora.n621.de 2net5wAAAABqEiEgPlfF3V06o0Y+fHM+J5J9s27wgxxcOVSpZ/2g/KSiXCg9DEZI+aVCIobWX9sXTynk5XeU/zZ0WBxtqB0DrAWfBw==
— witness.stagemole.eu Z/euoAAAAABqEiEgw0i+7g2ENfDAWHmtRzCfKTHSDwYDJA2NmKeGi9Y8FtEyOUvVr+AJmIY/2TUFucgKi7lI7cUiOvKFYe/TmN9DAg==
";
    let keys = [
        "arche2025h1.staging.ct.transparency.dev+ba2f06c0+AU0vHmlGCS/PdN8b2OaGmKprLI8HKM+dJ472xgFYh15f",
        "transparency.dev/DEV:witness-little-garden+d8042a87+BCtusOxINQNUTN5Oj8HObRkh2yHf/MwYaGX4CPdiVEPM",
        "witness1.smartit.nu/witness1+a48c820f+BPSFWg9G6KPiO7QPryYO5Xq4oYJJ+kAvLKLSimDhoxMO",
        "remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2",
        "witness.stagemole.eu+67f7aea0+BEqSG3yu9YrmcM3BHvQYTxwFj3uSWakQepafafpUqklv",
    ];
    let keys = keys.map(|key| key.parse::<VerifierKey>().unwrap());
    let opened = open_checkpoint(note.as_bytes(), &keys).unwrap();
    assert_eq!((opened.checkpoint.size, opened.log), (1_432_088_532, vec![&keys[0]]));
    let witnesses: Vec<_> = opened.witnesses.iter().map(|witness| (witness.key, witness.at)).collect();
    assert_eq!(witnesses, keys[1..].iter().map(|key| (key, Some(0x6a12_2120))).collect::<Vec<_>>());
    // Its first line is of a type that browsers need and this program does not know.
    assert_eq!(opened.unknown.len(), 1);
    assert_eq!(SignedNote::parse(note.as_bytes()).unwrap().to_string(), note);
}

#[test]
fn no_byte_of_a_note_can_be_changed() {
    let keys = [NEUMANN.parse::<VerifierKey>().unwrap()];
    for changed in changes(NEUMANN_NOTE.as_bytes()) {
        let verified = SignedNote::parse(&changed).and_then(|note| note.verify(&keys).map(|v| v.len()));
        assert!(verified.is_err(), "{}", String::from_utf8_lossy(&changed));
    }
}

#[test]
fn no_byte_of_a_key_can_be_changed() {
    for changed in changes(NEUMANN.as_bytes()) {
        let Ok(text) = String::from_utf8(changed) else { continue };
        assert!(text.parse::<VerifierKey>().is_err(), "{text}");
    }
}

#[test]
fn signatures_of_unknown_keys_are_ignored_and_known_ones_must_hold() {
    let (log, witness, other) = (log(), witness(), Signer::new("other.example/log", &[9; 32]).unwrap());
    let text = checkpoint().text();
    let good = [log.sign(&text), witness.cosign(&text, 1_700_000_000), other.sign(&text)];
    let keys = [log.verifier().clone(), witness.verifier().clone()];
    let note = SignedNote { text: text.clone(), signatures: good.to_vec() };
    let opened = open_checkpoint(note.to_string().as_bytes(), &keys).unwrap();
    assert_eq!(opened.checkpoint, checkpoint());
    assert_eq!(opened.log, [log.verifier()]);
    assert_eq!(opened.witnesses.len(), 1);
    assert_eq!((opened.witnesses[0].key, opened.witnesses[0].at), (witness.verifier(), Some(1_700_000_000)));

    // The same name with another key, and the same key under another name: both unknown.
    let namesake = Signer::new("bpc.example/log", &[8; 32]).unwrap();
    let renamed = Signer::new("bpc.example/log2", &[1; 32]).unwrap();
    for stranger in [&namesake, &renamed, &other] {
        let note = SignedNote { text: text.clone(), signatures: vec![stranger.sign(&text)] };
        assert!(matches!(note.verify(&keys), Err(NoteError::NotSigned { .. })));
    }

    // One known signature that does not hold spoils the note, whatever else stands there.
    let mut forged = witness.cosign(&text, 1_700_000_000);
    forged.signature[3] ^= 1;
    let note = SignedNote { text: text.clone(), signatures: vec![log.sign(&text), forged] };
    assert!(
        matches!(note.verify(&keys), Err(NoteError::BadSignature { name, .. }) if name == "witness.example/w")
    );

    // The same key twice counts once.
    let note = SignedNote { text: text.clone(), signatures: vec![log.sign(&text), log.sign(&text)] };
    assert_eq!(note.verify(&keys).unwrap().len(), 1);
}

#[test]
fn a_checkpoint_counts_only_when_its_own_log_signed_it() {
    let (log, witness, other) = (log(), witness(), Signer::new("other.example/log", &[9; 32]).unwrap());
    let keys = [log.verifier().clone(), witness.verifier().clone(), other.verifier().clone()];
    let text = checkpoint().text();
    let open = |signatures: Vec<NoteSignature>| {
        let note = SignedNote { text: text.clone(), signatures }.to_string();
        open_checkpoint(note.as_bytes(), &keys).map(|opened| opened.log.len())
    };
    let origin = "bpc.example/log".to_owned();
    assert_eq!(open(vec![log.sign(&text)]), Ok(1));
    assert_eq!(open(vec![log.sign(&text), other.sign(&text)]), Ok(1));
    assert_eq!(open(vec![other.sign(&text)]), Err(OpenError::NotByItsLog { origin: origin.clone() }));
    assert_eq!(open(vec![witness.cosign(&text, 1)]), Err(OpenError::NotByItsLog { origin }));
}

#[test]
fn a_cosignature_covers_time_and_text_and_is_no_plain_signature() {
    let witness = witness();
    let text = checkpoint().text();
    let keys = [witness.verifier().clone()];
    let verify = |line: NoteSignature| {
        SignedNote { text: text.clone(), signatures: vec![line] }.verify(&keys).map(|held| held[0].at)
    };
    let good = witness.cosign(&text, 1_700_000_000);
    assert_eq!(verify(good.clone()), Ok(Some(1_700_000_000)));
    for at in 0..good.signature.len() {
        let mut changed = good.clone();
        changed.signature[at] ^= 1;
        assert!(verify(changed).is_err(), "byte {at}");
    }
    assert!(verify(witness.cosign(&text, u64::MAX)).is_err());
    // The same secret as a log key: another id, so neither passes for the other.
    let log = Signer::new("witness.example/w", &[2; 32]).unwrap();
    assert_ne!(log.verifier().id(), witness.verifier().id());
    let mut plain = log.sign(&text);
    plain.id = witness.verifier().id();
    assert!(verify(plain).is_err());
}

#[test]
fn malformed_notes_are_refused_by_name() {
    let line = log().sign("text\n").to_string();
    let many = format!("{line}\n").repeat(SIGNATURES_MAX + 1);
    let table = [
        ("NOTE_MALFORMED", String::new()),
        ("NOTE_MALFORMED", "\n".to_owned()),
        ("NOTE_MALFORMED", "\n\n".to_owned()),
        ("NOTE_MALFORMED", "text\n".to_owned()),
        ("NOTE_MALFORMED", "text\n\n".to_owned()),
        ("NOTE_MALFORMED", format!("text\n{line}\n")),
        ("NOTE_MALFORMED", format!("text\n\n{line}")),
        ("NOTE_MALFORMED", format!("text\n\n{line}\n\n\n")),
        ("NOTE_SIGNATURE_MALFORMED", format!("text\n\n{line} \n")),
        ("NOTE_SIGNATURE_MALFORMED", format!("text\n\n {line}\n")),
        ("NOTE_SIGNATURE_MALFORMED", format!("text\n\n{}\n", line.replace('—', "-"))),
        ("NOTE_SIGNATURE_MALFORMED", format!("text\n\n{}\n", line.trim_end_matches('='))),
        ("NOTE_SIGNATURE_MALFORMED", "text\n\n— a+b AAAAAAA=\n".to_owned()),
        ("NOTE_SIGNATURE_MALFORMED", "text\n\n— a AAAAAA==\n".to_owned()),
        ("NOTE_NOT_TEXT", format!("te\txt\n\n{line}\n")),
        ("NOTE_TOO_MANY_SIGNATURES", format!("text\n\n{many}")),
        ("NOTE_TOO_LARGE", "x".repeat(1_000_001)),
    ];
    for (code, note) in table {
        let refused = SignedNote::parse(note.as_bytes()).map_err(|error| error.code());
        assert_eq!(refused, Err(code), "{:.200}", note);
    }
    let not_utf8 = [b"te\xffxt\n\n", line.as_bytes(), b"\n"].concat();
    assert_eq!(SignedNote::parse(&not_utf8), Err(NoteError::NotText(2)));
}

#[test]
fn the_text_of_a_note_may_have_blank_lines() {
    let text = "one\n\ntwo\n";
    let note = SignedNote { text: text.to_owned(), signatures: vec![log().sign(text)] };
    let read = SignedNote::parse(note.to_string().as_bytes()).unwrap();
    assert_eq!(read, note);
    assert!(read.verify(&[log().verifier().clone()]).is_ok());
}

#[test]
fn malformed_keys_are_refused_by_name() {
    let [name, id, key] = NEUMANN.splitn(3, '+').collect::<Vec<_>>()[..] else { unreachable!() };
    let table = [
        ("KEY_MALFORMED", "".to_owned()),
        ("KEY_MALFORMED", name.to_owned()),
        ("KEY_MALFORMED", format!("{name}+{id}")),
        ("KEY_MALFORMED", format!("{name}+{}+{key}", id.to_uppercase())),
        ("KEY_MALFORMED", format!("{name}+{id}0+{key}")),
        ("KEY_MALFORMED", format!("{name}+{id}+{key}=")),
        ("KEY_MALFORMED", format!("{name}+{id}+AQ==")),
        ("KEY_MALFORMED", format!("{name}+{id}+")),
        ("KEY_TYPE_UNKNOWN", format!("{name}+{id}+Ah{}", &key[2..])),
        ("KEY_NAME_INVALID", format!("+{id}+{key}")),
        ("KEY_NAME_INVALID", format!("Peter Neumann+{id}+{key}")),
        ("KEY_NAME_INVALID", format!("Peter\u{a0}Neumann+{id}+{key}")),
        ("KEY_ID_MISMATCH", format!("Peter+{id}+{key}")),
        ("KEY_ID_MISMATCH", format!("{name}+{id}+BB{}", &key[2..])),
        ("KEY_NOT_ED25519", "a+00000000+AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned()),
    ];
    for (code, text) in table {
        let refused = text.parse::<VerifierKey>().map_err(|error| error.code());
        assert_eq!(refused, Err(code), "{text}");
    }
    assert!(matches!(Signer::new("a b", &[1; 32]), Err(KeyError::Name(_))));
}

#[test]
fn a_checkpoint_has_one_spelling_and_keeps_lines_of_others() {
    let root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";
    let text = format!("example.com/behind the sofa+\n20852163\n{root}\nmore\nand more\n");
    let read = Checkpoint::parse(&text).unwrap();
    assert_eq!((read.origin.as_str(), read.size), ("example.com/behind the sofa+", 20_852_163));
    assert_eq!(read.extensions, ["more", "and more"]);
    assert_eq!(read.text(), text);

    let table = [
        (CheckpointError::Lines, String::new()),
        (CheckpointError::Lines, "\n".to_owned()),
        (CheckpointError::Lines, "a\n1\n".to_owned()),
        (CheckpointError::Lines, format!("a\n1\n{root}")),
        (CheckpointError::Lines, format!("\n1\n{root}\n")),
        (CheckpointError::Lines, format!("a\n1\n{root}\n\n")),
        (CheckpointError::Lines, format!("a\n1\n{root}\n\nx\n")),
        (CheckpointError::Size, format!("a\n01\n{root}\n")),
        (CheckpointError::Size, format!("a\n+1\n{root}\n")),
        (CheckpointError::Size, format!("a\n-1\n{root}\n")),
        (CheckpointError::Size, format!("a\n1 \n{root}\n")),
        (CheckpointError::Size, format!("a\n18446744073709551616\n{root}\n")),
        (CheckpointError::Root, "a\n1\nAAAA\n".to_owned()),
        (CheckpointError::Root, format!("a\n1\n{}\n", &root[..43])),
        (CheckpointError::Root, format!("a\n1\n{}J=\n", &root[..42])),
        (CheckpointError::Root, format!("a\n1\n{root} \n")),
    ];
    for (error, text) in table {
        assert_eq!(Checkpoint::parse(&text), Err(error), "{text:?}");
    }
}

#[test]
fn secrets_are_not_shown() {
    let shown = format!("{:?} {:?}", log(), witness());
    assert!(!shown.contains(&bpc_core::note::base64(&[1; 32])) && !shown.contains("[1, 1"), "{shown}");
    assert_eq!(log().verifier().kind(), SignatureKind::Ed25519);
}

fn log() -> Signer {
    Signer::new("bpc.example/log", &[1; 32]).unwrap()
}

fn witness() -> Cosigner {
    Cosigner::new("witness.example/w", &[2; 32]).unwrap()
}

fn checkpoint() -> Checkpoint {
    Checkpoint::new("bpc.example/log", 42, Hash([7; 32]))
}

/// The bytes with one of them changed, removed or doubled, for every byte and some changes.
fn changes(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..bytes.len()).flat_map(move |at| {
        let flipped = [0x01, 0x02, 0x20, 0x80, 0xff].map(|bits| {
            let mut changed = bytes.to_vec();
            changed[at] ^= bits;
            changed
        });
        let removed = [&bytes[..at], &bytes[at + 1..]].concat();
        let doubled = [&bytes[..=at], &bytes[at..]].concat();
        flipped.into_iter().chain([removed, doubled])
    })
}
