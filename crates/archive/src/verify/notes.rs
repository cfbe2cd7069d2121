//! Signed notes against the tree, the keys of the log, and what others keep.

use std::collections::BTreeMap;
use std::fs;

use bpc_core::log_events::LOG;
use bpc_core::note::{Checkpoint, NoteError, SignedNote, VerifierKey};
use bpc_core::{Hash, Timestamp};
use bpc_eventstore::seal::{KeyEpoch, Keyring, Standing, log_stream};
use bpc_eventstore::verify::KeptCheckpoint;

use crate::archive::Archive;
use crate::layout;

use super::finding::{ArchiveFinding, Findings, L1, L2, L3};

/// A note of the archive, read.
pub(super) struct Note {
    pub(super) file: String,
    pub(super) note: SignedNote,
    pub(super) checkpoint: Checkpoint,
}

/// The newest checkpoint that holds.
#[derive(Clone, Debug)]
pub(super) struct Signed {
    pub(super) size: u64,
    pub(super) at: Option<Timestamp>,
}

/// All notes that the manifest names, and the one where C2SP has the newest.
pub(super) fn read_notes(archive: &Archive, findings: &mut Findings) -> Vec<Note> {
    let manifest = archive.manifest();
    let mut notes = Vec::new();
    let named = manifest.checkpoints.iter().map(|size| (layout::checkpoint_file(*size), Some(*size)));
    for (file, size) in named.chain([(layout::CHECKPOINT.to_owned(), None)]) {
        match read_note(archive, &file) {
            Ok(note) if size.is_none_or(|size| note.checkpoint.size == size) => notes.push(note),
            Ok(note) => findings.add(
                ArchiveFinding::of_file("CHECKPOINT_MISMATCH", &file, "the note is about another size")
                    .instead(size.unwrap_or_default(), note.checkpoint.size),
            ),
            Err((code, message)) => {
                findings.add(ArchiveFinding {
                    checkpoint: size,
                    ..ArchiveFinding::of_file(code, &file, message)
                });
            }
        }
    }
    notes
}

fn read_note(archive: &Archive, file: &str) -> Result<Note, (&'static str, String)> {
    let bytes = fs::read(archive.path(file)).map_err(|error| ("CHECKPOINT_MISSING", error.to_string()))?;
    let note = SignedNote::parse(&bytes).map_err(|error| (error.code(), error.to_string()))?;
    let checkpoint = Checkpoint::parse(&note.text).map_err(|error| (error.code(), error.to_string()))?;
    Ok(Note { file: file.to_owned(), note, checkpoint })
}

/// Every note must be signed by the key of its time and be over the root that is there.
pub(super) fn check_notes(
    notes: &[Note],
    size: u64,
    keyring: &Keyring,
    roots: &BTreeMap<u64, Hash>,
    findings: &mut Findings,
) -> Option<Signed> {
    let mut newest: Option<Signed> = None;
    for Note { file, note, checkpoint } in notes {
        let finding = |code: &'static str, message: String| ArchiveFinding {
            checkpoint: Some(checkpoint.size),
            ..ArchiveFinding::of_file(code, file, message)
        };
        let keys = keyring.at_size(checkpoint.size).and_then(KeyEpoch::verifiers);
        let at = match signed_by(note, checkpoint, keys.as_ref().map_or(&[], |keys| &keys[..])) {
            Ok(at) => at,
            Err(error) => {
                let code = match &error {
                    NoteError::BadSignature { .. } => error.code(),
                    _ => "CHECKPOINT_KEY_UNKNOWN",
                };
                let expected = keys.map(|[key, _]| key.to_string());
                findings.add(ArchiveFinding { expected, ..finding(code, error.to_string()) });
                continue;
            }
        };
        if at.is_none() {
            let message = "the log did not sign when it was made".to_owned();
            findings.add(finding("CHECKPOINT_NOT_TIMED", message));
        }
        let from = newest.as_ref().map_or(0, |newest| newest.size);
        match roots.get(&checkpoint.size) {
            Some(root) if *root == checkpoint.root => {
                let at = at.map(|seconds| Timestamp::from_micros(seconds as i64 * 1_000_000));
                if newest.as_ref().is_none_or(|newest| checkpoint.size >= newest.size) {
                    newest = Some(Signed { size: checkpoint.size, at });
                }
            }
            Some(root) => {
                let last = checkpoint.size.saturating_sub(1);
                let message = format!(
                    "what was signed for is not what is there: something at positions {from} to {last} was changed"
                );
                let finding =
                    ArchiveFinding { position: Some(from), ..finding("CHECKPOINT_MISMATCH", message) };
                findings.add(finding.instead(checkpoint.root, root));
            }
            None => {
                let message = "more was signed for than is here: the end of the archive is gone".to_owned();
                findings.add(finding("CHECKPOINT_AHEAD", message).instead(checkpoint.size, size));
            }
        }
    }
    newest
}

/// Every key but the first must have been handed the log by the one before. With keys given that the caller
/// trusts, one of them must be where trust begins.
pub(super) fn check_keys(
    keyring: &Keyring,
    known: &[VerifierKey],
    roots: &BTreeMap<u64, Hash>,
    findings: &mut Findings,
) {
    let of_log = |code: &'static str, message: &str| ArchiveFinding {
        stream_type: LOG.to_owned(),
        stream: log_stream(),
        ..ArchiveFinding::new(L1, code, message)
    };
    for (version, reason) in &keyring.refused {
        let message = format!("this hand-over to another key counts for nothing: {reason}");
        let version = Some(version.0.into());
        findings.add(ArchiveFinding { version, ..of_log("KEY_HANDOVER_INVALID", &message) });
    }
    let is_known = |epoch: &KeyEpoch| epoch.verifiers().is_some_and(|[key, _]| known.contains(&key));
    let begins = keyring.epochs.iter().position(is_known);
    if !known.is_empty() && begins.is_none() {
        let spelled = |keys: &mut dyn Iterator<Item = String>| keys.collect::<Vec<_>>().join(", ");
        let expected = spelled(&mut known.iter().map(ToString::to_string));
        let found = spelled(&mut keyring.epochs.iter().map(|epoch| epoch.public_key.clone()));
        findings.add(
            of_log("KEY_NOT_KNOWN", "none of the keys you trust speaks for this log")
                .instead(expected, found),
        );
    }
    for epoch in keyring.epochs.iter().skip(begins.unwrap_or(0) + 1) {
        let Standing::Reopened { is_vouched, event } = &epoch.standing else {
            continue;
        };
        let at = |finding| ArchiveFinding {
            version: Some(epoch.version.0.into()),
            position: epoch.first_size.map(|size| size - 1),
            ..finding
        };
        if !is_vouched && !is_known(epoch) {
            let message = "a new origin was opened without the word of the old key: if you know the new key to be \
                right, give it to verify";
            findings.add(at(of_log("KEY_NOT_VOUCHED", message)));
        }
        let is_elsewhere = epoch.first_size.is_some_and(|first| first != event.size + 1)
            || roots.get(&event.size).is_some_and(|root| root.to_string() != event.root);
        if is_elsewhere {
            let message = "this is not where the event says that the new origin begins";
            findings.add(at(of_log("REOPENED_ELSEWHERE", message)));
        }
    }
}

/// Every checkpoint that an auditor kept must be the beginning of this log. Returns size and time, in seconds,
/// of the newest that is.
pub(super) fn check_kept(
    kept: &[KeptCheckpoint],
    known: &[VerifierKey],
    size: u64,
    keyring: &Keyring,
    roots: &BTreeMap<u64, Hash>,
    findings: &mut Findings,
) -> Option<(u64, Option<u64>)> {
    let mut newest = None;
    for KeptCheckpoint { note, checkpoint } in kept {
        let finding = |code: &'static str, message: String| ArchiveFinding {
            checkpoint: Some(checkpoint.size),
            ..ArchiveFinding::new(L2, code, message)
        };
        let of_origin = keyring.epochs.iter().filter(|epoch| epoch.origin == checkpoint.origin);
        let keys = of_origin.filter_map(KeyEpoch::verifiers).flatten().chain(known.iter().cloned());
        let at = match signed_by(note, checkpoint, &keys.collect::<Vec<_>>()) {
            Ok(at) => at,
            Err(error) => {
                let message = format!("the checkpoint you kept was not signed by a key of this log: {error}");
                findings.add(finding("CHECKPOINT_KEY_UNKNOWN", message));
                continue;
            }
        };
        match roots.get(&checkpoint.size) {
            Some(root) if *root == checkpoint.root => newest = newest.max(Some((checkpoint.size, at))),
            Some(root) => {
                let message =
                    format!("the first {} events are not those that you were shown", checkpoint.size);
                findings.add(finding("HISTORY_REWRITTEN", message).instead(checkpoint.root, root));
            }
            None => {
                let message = format!(
                    "the checkpoint you kept covers {} events, the archive holds {size}: its end is gone, or it is \
                     older than your checkpoint",
                    checkpoint.size
                );
                findings.add(finding("LOG_TRUNCATED", message).instead(checkpoint.size, size));
            }
        }
    }
    newest
}

/// Every witness must have signed a checkpoint that holds. Returns size and time of the oldest of their newest.
pub(super) fn check_witnesses(
    witnesses: &[VerifierKey],
    notes: &[(&SignedNote, &Checkpoint)],
    roots: &BTreeMap<u64, Hash>,
    findings: &mut Findings,
) -> Option<(u64, Option<u64>)> {
    let mut up_to: Option<(u64, Option<u64>)> = None;
    for witness in witnesses {
        let mut newest = None;
        for (note, checkpoint) in notes {
            let about = |code: &'static str, message: String| ArchiveFinding {
                checkpoint: Some(checkpoint.size),
                ..ArchiveFinding::new(L3, code, message)
            };
            match note.verify(std::slice::from_ref(witness)) {
                Ok(verified) if roots.get(&checkpoint.size) == Some(&checkpoint.root) => {
                    newest = newest.max(Some((checkpoint.size, verified[0].at)));
                }
                Ok(_) => {
                    let message =
                        format!("witness {} saw another history than the one that is here", witness.name());
                    findings.add(about("HISTORY_REWRITTEN", message));
                }
                Err(error @ NoteError::BadSignature { .. }) => {
                    findings.add(about(error.code(), error.to_string()));
                }
                Err(_) => {}
            }
        }
        if newest.is_none() {
            let message = format!("witness {} has signed none of the checkpoints at hand", witness.name());
            findings.add(ArchiveFinding {
                expected: Some(witness.to_string()),
                ..ArchiveFinding::new(L3, "WITNESS_MISSING", message)
            });
        }
        up_to = match (up_to, newest) {
            (Some(before), Some(newest)) => Some(before.min(newest)),
            (before, newest) => before.or(newest),
        };
    }
    up_to
}

/// Did the log itself sign? Returns the time that it signed beside the text.
fn signed_by(
    note: &SignedNote,
    checkpoint: &Checkpoint,
    keys: &[VerifierKey],
) -> Result<Option<u64>, NoteError> {
    let verified = note.verify(keys)?;
    let by_log = |timed: bool| {
        verified.iter().find(|it| it.key.name() == checkpoint.origin && it.at.is_some() == timed)
    };
    match by_log(false) {
        Some(_) => Ok(by_log(true).and_then(|it| it.at)),
        None => Err(NoteError::NotSigned { found: format!("{:?}", checkpoint.origin) }),
    }
}
