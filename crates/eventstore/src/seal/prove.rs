//! Making proofs from what is stored: of a job, of one event, and that the log continues a checkpoint.

use std::collections::BTreeSet;

use bpc_core::merkle::{self, Unprovable};
use bpc_core::note::{Checkpoint, CheckpointError, NoteError, SignedNote};
use bpc_core::proof::{Proof, ProvenEvent, Subject};
use bpc_core::witness::AddCheckpoint;
use bpc_core::{Hash, JobId, StreamId, TenantId, Version};

use crate::database::Conn;
use crate::error::StoreError;
use crate::read::{StoredEvent, read_stream};

use super::read::position_of;
use super::stored::{StoredCheckpoint, Tiles, newest_checkpoint, root_at};

/// A proof, and what it does not reach yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proven {
    /// The proof.
    pub proof: Proof,
    /// Later events of the same job that the newest checkpoint does not cover.
    pub uncovered: usize,
}

/// Why there is no proof.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// Reading failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing was signed yet.
    #[error("the log has no checkpoint yet: run `bpc seal --once` where its key is, or a worker")]
    NoCheckpoint,
    /// There is nothing of that name.
    #[error("there is no {0}")]
    NotFound(String),
    /// It is there, but no checkpoint covers it.
    #[error("{what} is not covered by a checkpoint yet (the newest has size {size}): run `bpc seal --once`")]
    NotCovered {
        /// What was asked for.
        what: String,
        /// Size of the newest checkpoint.
        size: u64,
    },
    /// The log is shorter than the checkpoint that it should continue.
    #[error(
        "the checkpoint covers {kept} events, the newest of this log only {size}: an older copy of the database was \
         restored, or this is another log"
    )]
    Shorter {
        /// Size of the kept checkpoint.
        kept: u64,
        /// Size of the newest one here.
        size: u64,
    },
    /// The log has another beginning than the checkpoint says.
    #[error(
        "the first {size} events of this log hash to {found}, the checkpoint says {kept}: history was changed, or \
         this is another log"
    )]
    NotContinued {
        /// So many events.
        size: u64,
        /// The root that was kept.
        kept: Hash,
        /// The root of what is there.
        found: Hash,
    },
}

impl ProveError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            ProveError::Store(error) => error.code(),
            ProveError::NoCheckpoint => "CHECKPOINT_MISSING",
            ProveError::NotFound(_) => "EVENT_NOT_FOUND",
            ProveError::NotCovered { .. } => "EVENT_NOT_SEALED",
            ProveError::Shorter { .. } => "LOG_ROLLED_BACK",
            ProveError::NotContinued { .. } => "LOG_FORKED",
        }
    }
}

/// All events of a job that the newest checkpoint covers, from the first on.
pub async fn prove_job(conn: &mut Conn<'_>, tenant: TenantId, job: JobId) -> Result<Proven, ProveError> {
    let events = read_stream(conn, tenant, job.into()).await?;
    let what = format!("job {job}");
    if events.is_empty() {
        return Err(ProveError::NotFound(what));
    }
    let newest = newest_checkpoint(conn).await?.ok_or(ProveError::NoCheckpoint)?;
    let mut covered = Vec::with_capacity(events.len());
    for event in &events {
        match covered_position(conn, event, newest.size).await? {
            Some(position) => covered.push((event, position)),
            None => break,
        }
    }
    if covered.is_empty() {
        return Err(ProveError::NotCovered { what, size: newest.size });
    }
    let uncovered = events.len() - covered.len();
    let proof = prove(conn, Subject::Job, None, &covered, newest).await?;
    Ok(Proven { proof, uncovered })
}

/// One event of any stream.
pub async fn prove_event(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    stream: StreamId,
    version: Version,
) -> Result<Proof, ProveError> {
    let events = read_stream(conn, tenant, stream).await?;
    let what = format!("version {version} of stream {stream}");
    let at = |wanted: u32| events.iter().find(|event| i64::from(event.version) == i64::from(wanted));
    let event = at(version.0).ok_or_else(|| ProveError::NotFound(what.clone()))?;
    let prev_hash = match version.0.checked_sub(1) {
        None | Some(0) => None,
        Some(before) => Some(at(before).ok_or_else(|| ProveError::NotFound(what.clone()))?.hash()?),
    };
    let newest = newest_checkpoint(conn).await?.ok_or(ProveError::NoCheckpoint)?;
    let position = covered_position(conn, event, newest.size).await?;
    let position = position.ok_or(ProveError::NotCovered { what, size: newest.size })?;
    prove(conn, Subject::Event, prev_hash, &[(event, position)], newest).await
}

/// The newest checkpoint with the proof that it continues `kept`, which is compared with the log first: a
/// log that does not continue it is told apart from a proof that does not hold.
pub async fn prove_continued(conn: &mut Conn<'_>, kept: &Checkpoint) -> Result<AddCheckpoint, ProveError> {
    let newest = newest_checkpoint(conn).await?.ok_or(ProveError::NoCheckpoint)?;
    if kept.size > newest.size {
        return Err(ProveError::Shorter { kept: kept.size, size: newest.size });
    }
    let found = root_at(conn, kept.size).await?;
    if found != kept.root {
        return Err(ProveError::NotContinued { size: kept.size, kept: kept.root, found });
    }
    continued_from(conn, kept.size, newest).await
}

/// A checkpoint with the proof that it continues the first `old_size` events.
pub async fn continued_from(
    conn: &mut Conn<'_>,
    old_size: u64,
    newest: StoredCheckpoint,
) -> Result<AddCheckpoint, ProveError> {
    if old_size > newest.size {
        return Err(ProveError::Shorter { kept: old_size, size: newest.size });
    }
    let tiles = Tiles::fetch(conn, merkle::consistency_tiles(old_size, newest.size)).await?;
    let hashes = merkle::consistency(old_size, newest.size, |level, index| tiles.hash(level, index));
    let note = SignedNote::parse(newest.note.as_bytes()).map_err(|error: NoteError| damaged(&error))?;
    let document = AddCheckpoint::new(old_size, hashes.map_err(unprovable)?, note);
    document.map_err(|error| damaged(&error).into())
}

/// What a stored checkpoint says; its signatures are for the caller to check.
pub fn stored_checkpoint(stored: &StoredCheckpoint) -> Result<Checkpoint, StoreError> {
    let note = SignedNote::parse(stored.note.as_bytes()).map_err(|error| damaged(&error))?;
    Checkpoint::parse(&note.text).map_err(|error: CheckpointError| damaged(&error))
}

async fn prove(
    conn: &mut Conn<'_>,
    subject: Subject,
    prev_hash: Option<Hash>,
    events: &[(&StoredEvent, u64)],
    newest: StoredCheckpoint,
) -> Result<Proof, ProveError> {
    let size = newest.size;
    let wanted: BTreeSet<_> =
        events.iter().flat_map(|(_, position)| merkle::inclusion_tiles(*position, size)).collect();
    let tiles = Tiles::fetch(conn, wanted).await?;
    let mut proven = Vec::with_capacity(events.len());
    for (event, position) in events {
        let path = merkle::inclusion(*position, size, |level, index| tiles.hash(level, index));
        let text = String::from_utf8(event.event_bytes.clone()).map_err(|error| damaged(&error))?;
        proven.push(ProvenEvent { event: text, position: *position, path: path.map_err(unprovable)? });
    }
    Ok(Proof { subject, prev_hash, events: proven, checkpoint: newest.note })
}

async fn covered_position(
    conn: &mut Conn<'_>,
    event: &StoredEvent,
    size: u64,
) -> Result<Option<u64>, StoreError> {
    Ok(position_of(conn, event.id).await?.filter(|position| *position < size))
}

fn unprovable(error: Unprovable<StoreError>) -> StoreError {
    match error {
        Unprovable::Read(error) => error,
        error => damaged(&error),
    }
}

fn damaged(error: &dyn std::error::Error) -> StoreError {
    StoreError::Damaged(error.to_string())
}
