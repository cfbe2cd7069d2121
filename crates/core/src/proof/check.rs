//! Checking a proof file.

use crate::chain::Hash;
use crate::envelope::Head;
use crate::id::{StreamId, TenantId, Version};
use crate::job::Job;
use crate::note::{KeyId, OpenCheckpoint, VerifierKey, open_checkpoint};
use crate::time::Timestamp;

use super::stream::Walk;
use super::{Proof, ProofError, Subject};

/// What a proof that holds says. See [`PROVES`](super::PROVES) for what that means.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What it is about.
    pub subject: Subject,
    /// The log.
    pub origin: String,
    /// Events that the checkpoint covers.
    pub size: u64,
    /// Root over them.
    pub root: Hash,
    /// Keys of the log that signed the checkpoint.
    pub signed_by: Vec<KeyId>,
    /// Known witnesses that signed it: name and time, in seconds since 1970.
    pub witnesses: Vec<(String, u64)>,
    /// Signature lines in the checkpoint that none of the keys given could check.
    pub unchecked: Vec<(String, KeyId)>,
    /// Whose stream.
    pub tenant_id: TenantId,
    /// What the stream is about.
    pub stream_type: String,
    /// The stream; for a job, its id.
    pub stream_id: StreamId,
    /// Version of the first event in the file.
    pub first: Version,
    /// Version and hash of the last one. The submitter of a job holds the hash of version 1 as a receipt.
    pub head: Head,
    /// When the last one happened, as it says.
    pub occurred_at: Timestamp,
    /// Positions of the events.
    pub positions: Vec<u64>,
    /// The job as of the last event, if the proof is of a job.
    pub job: Option<Job>,
}

/// Check a proof file against keys of logs and witnesses. Whose keys they are is for the caller to
/// know: a proof is worth what the key is.
pub fn check(bytes: &[u8], keys: &[VerifierKey]) -> Result<Report, ProofError> {
    let proof = Proof::read(bytes)?;
    let opened = open_checkpoint(proof.checkpoint.as_bytes(), keys)?;
    let walked = Walk::all(&proof, &opened.checkpoint)?;
    let OpenCheckpoint { checkpoint, log, witnesses, unknown } = &opened;
    let seen = |witness: &crate::note::Verified<'_>| witness.at.map(|at| (witness.key.name().to_owned(), at));
    Ok(Report {
        subject: proof.subject,
        origin: checkpoint.origin.clone(),
        size: checkpoint.size,
        root: checkpoint.root,
        signed_by: log.iter().map(|key| key.id()).collect(),
        witnesses: witnesses.iter().filter_map(seen).collect(),
        unchecked: unknown.clone(),
        tenant_id: walked.last.tenant_id,
        stream_type: walked.last.stream_type.to_string(),
        stream_id: walked.last.stream_id,
        first: Version(walked.head.version.0 + 1 - proof.events.len() as u32),
        head: walked.head,
        occurred_at: walked.last.occurred_at,
        positions: proof.events.iter().map(|proven| proven.position).collect(),
        job: walked.job,
    })
}
