//! Notes, keys and checkpoints: each side reads what the other writes and refuses what it refuses.

use bpc_core::Hash;
use bpc_core::note::{Checkpoint, Cosigner, SignedNote, Signer, VerifierKey, base64, open_checkpoint};
use proptest::prelude::*;
use signed_note::{Note, StandardSigner, StandardVerifier, VerifierList};

#[test]
fn notes_and_keys_are_equal_to_the_last_byte() {
    for seed in 0..50_u8 {
        let name = format!("bpc.example/log{seed}");
        let secret = [seed; 32];
        let ours = Signer::new(&name, &secret).unwrap();
        let key = [&[1][..], &secret].concat();
        let their_key = format!("PRIVATE+KEY+{name}+{}+{}", ours.verifier().id(), base64(&key));
        let theirs = StandardSigner::new(&their_key).unwrap();

        let text = format!("{name}\n{seed}\n{}\n", base64(&[seed; 32]));
        let mut their_note = Note::new(text.as_bytes(), &[]).unwrap();
        their_note.add_sigs(&[&theirs]).unwrap();
        let our_note = SignedNote { signatures: vec![ours.sign(&text)], text };
        assert_eq!(our_note.to_string().into_bytes(), their_note.to_bytes());

        let keys = [ours.verifier().clone()];
        assert_eq!(SignedNote::parse(&their_note.to_bytes()).unwrap().verify(&keys).unwrap().len(), 1);
        let known = oracle_keys(&keys);
        let (verified, unverified) =
            Note::from_bytes(our_note.to_string().as_bytes()).unwrap().verify(&known).unwrap();
        assert_eq!((verified.len(), unverified.len()), (1, 0));
    }
}

#[test]
fn a_checkpoint_with_cosignatures_is_read_by_the_oracle() {
    let log = Signer::new("bpc.example/log", &[1; 32]).unwrap();
    let witness = Cosigner::new("witness.example/w", &[2; 32]).unwrap();
    let checkpoint = Checkpoint::new("bpc.example/log", 70_000, Hash([7; 32]));
    let text = checkpoint.text();
    let signatures = vec![log.sign(&text), witness.cosign(&text, 1_700_000_000)];
    let note = SignedNote { text, signatures }.to_string();

    let keys = [log.verifier().clone()];
    let theirs = Note::from_bytes(note.as_bytes()).unwrap();
    let (verified, unverified) = theirs.verify(&oracle_keys(&keys)).unwrap();
    // The oracle knows no cosignatures and ignores the line, as the standard says.
    assert_eq!((verified.len(), unverified.len()), (1, 1));
    let read = tlog_tiles::Checkpoint::from_bytes(theirs.text()).unwrap();
    assert_eq!((read.origin(), read.size(), read.hash().0), ("bpc.example/log", 70_000, [7; 32]));
    assert_eq!(open_checkpoint(note.as_bytes(), &keys).unwrap().checkpoint, checkpoint);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_note_with_one_change_is_accepted_by_both_or_by_none(at: prop::sample::Index, byte: u8, how in 0..3) {
        let signer = Signer::new("bpc.example/log", &[1; 32]).unwrap();
        let stranger = Signer::new("other.example/log", &[2; 32]).unwrap();
        let text = "bpc.example/log\n7\nAAAA\n\nmore\n";
        let signatures = vec![signer.sign(text), stranger.sign(text)];
        let mut note = SignedNote { text: text.to_owned(), signatures }.to_string().into_bytes();
        let at = at.index(note.len());
        match how {
            0 => note[at] = byte,
            1 => note.insert(at, byte),
            _ => drop(note.remove(at)),
        }
        let keys = [signer.verifier().clone()];
        let ours = SignedNote::parse(&note).is_ok_and(|note| note.verify(&keys).is_ok());
        let theirs = Note::from_bytes(&note).is_ok_and(|note| note.verify(&oracle_keys(&keys)).is_ok());
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn a_checkpoint_with_one_change_is_read_alike(at: prop::sample::Index, byte in 0x20_u8..0x7f, how in 0..4) {
        let mut text = Checkpoint::new("bpc.example/log", 70_000, Hash([7; 32])).text() + "extension\n";
        let at = at.index(text.len());
        match how {
            0 => text.replace_range(at..=at, char::from(byte).encode_utf8(&mut [0; 4])),
            1 => text.insert(at, byte.into()),
            2 => text.insert(at, '\n'),
            _ => drop(text.remove(at)),
        }
        let ours = Checkpoint::parse(&text).ok().map(|read| (read.origin, read.size, read.root.0));
        let theirs = tlog_tiles::Checkpoint::from_bytes(text.as_bytes()).ok();
        let theirs = theirs.map(|read| (read.origin().to_owned(), read.size(), read.hash().0));
        prop_assert_eq!(ours, theirs, "{}", text);
    }
}

fn oracle_keys(keys: &[VerifierKey]) -> VerifierList {
    let oracle = |key: &VerifierKey| Box::new(StandardVerifier::new(&key.to_string()).unwrap()) as _;
    VerifierList::new(keys.iter().map(oracle).collect())
}
