//! The proof file: one line of canonical JSON.

use serde::{Deserialize, Serialize};

use crate::canonical::{JsonError, to_canonical};
use crate::chain::Hash;
use crate::note::{base64, unbase64};

use super::ProofError;

/// Name of the file's format. It changes only together with the rules.
pub const FORMAT: &str = "BPC-PROOF-1";

/// What a proof is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// The events of a job from its first on.
    Job,
    /// One event of any stream.
    Event,
}

/// The content of a proof file, as it was read or is to be written. Nothing in it is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// What it is about.
    pub subject: Subject,
    /// Hash of the event before the first one here; `None` if that is version 1.
    pub prev_hash: Option<Hash>,
    /// The events, in the order of their versions.
    pub events: Vec<ProvenEvent>,
    /// The signed checkpoint, a note, as it was published.
    pub checkpoint: String,
}

/// One event with its place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenEvent {
    /// Its bytes, which are text.
    pub event: String,
    /// Its position in the sealed order, from 0.
    pub position: u64,
    /// The audit path of its leaf in the tree of the checkpoint.
    pub path: Vec<Hash>,
}

impl Proof {
    /// The bytes of the file. Fails only for a position beyond the integers of JSON.
    pub fn write(&self) -> Result<Vec<u8>, JsonError> {
        let events = self.events.iter().map(|proven| FileEvent {
            event: proven.event.clone(),
            path: proven.path.iter().map(|hash| base64(&hash.0)).collect(),
            position: proven.position,
        });
        let file = File {
            checkpoint: self.checkpoint.clone(),
            events: events.collect(),
            format: FORMAT.to_owned(),
            prev_hash: self.prev_hash.map(|hash| base64(&hash.0)),
            subject: self.subject,
        };
        let mut bytes = to_canonical(&file)?.as_bytes().to_vec();
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Read a file. Succeeds only for bytes that [`Proof::write`] writes again: whatever else JSON lets
    /// one say in two ways is refused, so that no byte of a proof is without meaning.
    pub fn read(bytes: &[u8]) -> Result<Self, ProofError> {
        let malformed = |error: serde_json::Error| ProofError::Malformed(error.to_string());
        let Format { format } = serde_json::from_slice(bytes).map_err(malformed)?;
        if format != FORMAT {
            return Err(ProofError::Format(format));
        }
        let file: File = serde_json::from_slice(bytes).map_err(malformed)?;
        let read_event = |proven: &FileEvent| {
            let path = proven.path.iter().map(read_hash).collect::<Result<_, _>>()?;
            Ok(ProvenEvent { event: proven.event.clone(), position: proven.position, path })
        };
        let proof = Proof {
            subject: file.subject,
            prev_hash: file.prev_hash.as_ref().map(read_hash).transpose()?,
            events: file.events.iter().map(read_event).collect::<Result<_, ProofError>>()?,
            checkpoint: file.checkpoint,
        };
        let again = proof.write().map_err(|error| ProofError::Malformed(error.to_string()))?;
        if again == bytes {
            return Ok(proof);
        }
        let differs = again.iter().zip(bytes).position(|(here, there)| here != there);
        Err(ProofError::NotCanonical(differs.unwrap_or(again.len().min(bytes.len()))))
    }
}

fn read_hash(text: impl AsRef<str>) -> Result<Hash, ProofError> {
    let text = text.as_ref();
    let hash = unbase64(text).and_then(|bytes| Hash::from_slice(&bytes));
    hash.ok_or_else(|| ProofError::Malformed(format!("{text:?} is not a hash in base64")))
}

/// Only the name of the format, whatever else is there.
#[derive(Deserialize)]
struct Format {
    format: String,
}

/// Keys in canonical order.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    checkpoint: String,
    events: Vec<FileEvent>,
    format: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prev_hash: Option<String>,
    subject: Subject,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEvent {
    event: String,
    path: Vec<String>,
    position: u64,
}
