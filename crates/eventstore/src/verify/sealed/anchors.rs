//! What others keep: checkpoints that an auditor took away (L2), and the word of witnesses (L3).

use std::collections::BTreeMap;

use bpc_core::Hash;
use bpc_core::note::{Checkpoint, NoteError, SignedNote, VerifierKey};

use crate::seal::{KeyEpoch, Keyring, SealedHead, Standing};
use crate::verify::finding::{Finding, Findings, L2, L3};

use super::stored::{CHECKPOINT_KEY_UNKNOWN, read_note, signed_by};

const LOG_TRUNCATED: &str = "LOG_TRUNCATED";
const HISTORY_REWRITTEN: &str = "HISTORY_REWRITTEN";
const WITNESS_MISSING: &str = "WITNESS_MISSING";

/// A checkpoint that somebody took away earlier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCheckpoint {
    /// The signed note.
    pub note: SignedNote,
    /// What it says.
    pub checkpoint: Checkpoint,
}

/// A file that is no checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a signed checkpoint: {message}")]
pub struct NotACheckpoint {
    /// The stable code.
    pub code: &'static str,
    /// What is wrong with it.
    pub message: String,
}

impl KeptCheckpoint {
    /// Read a signed note.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotACheckpoint> {
        let (note, checkpoint) =
            read_note(bytes).map_err(|(code, message)| NotACheckpoint { code, message })?;
        Ok(KeptCheckpoint { note, checkpoint })
    }
}

/// Every kept checkpoint must be the beginning of this log. Returns when the newest of those that are was
/// signed, in seconds, with its size.
pub(in crate::verify) fn check_kept(
    kept: &[KeptCheckpoint],
    known: &[VerifierKey],
    head: SealedHead,
    keyring: &Keyring,
    roots: &BTreeMap<u64, Hash>,
    findings: &mut Findings,
) -> Option<(u64, Option<u64>)> {
    let mut newest = None;
    for KeptCheckpoint { note, checkpoint } in kept {
        let finding = |code, message: String| {
            let checkpoint = Some(checkpoint.size);
            Finding { checkpoint, message, ..Finding::at_level(L2, code) }
        };
        let signed = match signed_for(note, checkpoint, known, keyring) {
            Ok(at) => at,
            Err(error) => {
                findings.add(|| {
                    let message =
                        format!("the checkpoint you kept was not signed by a key of this log: {error}");
                    finding(CHECKPOINT_KEY_UNKNOWN, message)
                });
                continue;
            }
        };
        let size = checkpoint.size;
        if let Some(lost) = lost_with(keyring, checkpoint) {
            findings.add(|| {
                let message = format!(
                    "{} signed for {size} events; only the first {lost} of them are left, and the log goes on under another origin",
                    checkpoint.origin
                );
                finding(LOG_TRUNCATED, message).instead(size, lost)
            });
        } else if size > head.size {
            findings.add(|| {
                let message = format!(
                    "the checkpoint you kept covers {size} events, the log has sealed {}: its end is gone, or this is an older copy",
                    head.size
                );
                finding(LOG_TRUNCATED, message).instead(size, head.size)
            });
        } else if let Some(root) = roots.get(&size).filter(|root| **root != checkpoint.root) {
            findings.add(|| {
                let message = format!("the first {size} events are not those that you were shown");
                finding(HISTORY_REWRITTEN, message).instead(checkpoint.root, root)
            });
        } else {
            newest = newest.max(Some((size, signed)));
        }
    }
    newest
}

/// Signed by a key that the log has or had under that name, or that the caller knows.
fn signed_for(
    note: &SignedNote,
    checkpoint: &Checkpoint,
    known: &[VerifierKey],
    keyring: &Keyring,
) -> Result<Option<u64>, NoteError> {
    let of_origin = |epoch: &&KeyEpoch| epoch.origin == checkpoint.origin;
    let own = keyring.epochs.iter().filter(of_origin).filter_map(KeyEpoch::verifiers).flatten();
    let keys: Vec<VerifierKey> = own.chain(known.iter().cloned()).collect();
    signed_by(note, checkpoint, &keys)
}

/// If the log was opened anew without everything that the checkpoint covers: how much was left.
fn lost_with(keyring: &Keyring, checkpoint: &Checkpoint) -> Option<u64> {
    let behind = keyring.epochs.iter().skip_while(|epoch| epoch.origin != checkpoint.origin);
    behind
        .filter_map(|epoch| match &epoch.standing {
            Standing::Reopened { event, .. } if epoch.origin != checkpoint.origin => Some(event.size),
            _ => None,
        })
        .find(|left| *left < checkpoint.size)
}

/// Every witness must have signed some checkpoint that holds; the level holds up to the smallest of their
/// newest ones. `signed` are the notes at hand, stored or kept, whose roots are right.
pub(in crate::verify) fn check_witnesses(
    witnesses: &[VerifierKey],
    signed: &[(SignedNote, Checkpoint)],
    roots: &BTreeMap<u64, Hash>,
    findings: &mut Findings,
) -> Option<(u64, Option<u64>)> {
    let mut up_to = None;
    for witness in witnesses {
        let mut newest = None;
        for (note, checkpoint) in signed {
            match note.verify(std::slice::from_ref(witness)) {
                Ok(verified) if roots.get(&checkpoint.size) == Some(&checkpoint.root) => {
                    newest = newest.max(Some((checkpoint.size, verified[0].at)));
                }
                Ok(_) => findings.add(|| Finding {
                    checkpoint: Some(checkpoint.size),
                    found: roots.get(&checkpoint.size).map(Hash::to_string),
                    expected: Some(checkpoint.root.to_string()),
                    message: format!(
                        "witness {} saw another history than the one that is here",
                        witness.name()
                    ),
                    ..Finding::at_level(L3, HISTORY_REWRITTEN)
                }),
                Err(error @ NoteError::BadSignature { .. }) => findings.add(|| Finding {
                    checkpoint: Some(checkpoint.size),
                    message: error.to_string(),
                    ..Finding::at_level(L3, error.code())
                }),
                Err(_) => {}
            }
        }
        if newest.is_none() {
            findings.add(|| Finding {
                expected: Some(witness.to_string()),
                message: format!("witness {} has signed none of the checkpoints at hand", witness.name()),
                ..Finding::at_level(L3, WITNESS_MISSING)
            });
        }
        up_to = match (up_to, newest) {
            (None, newest) => newest,
            (some, None) => some,
            (Some(a), Some(b)) => Some(if a < b { a } else { b }),
        };
    }
    up_to
}
