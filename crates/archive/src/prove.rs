//! Proofs from an archive alone: the same files that a database makes.

use bpc_core::merkle::{self, Unprovable};
use bpc_core::proof::{Proof, ProvenEvent, Subject};
use bpc_core::{Envelope, Hash, JobId, StreamId, Version};
use bpc_eventstore::seal::{Keyring, log_stream};

use crate::archive::Archive;
use crate::error::ArchiveError;
use crate::stream::ArchivedEvent;

impl Archive {
    /// All events of a job, from the first on; `None` if there is no such job. What it is worth is for a check of the
    /// proof to say: nothing here is compared with a signature.
    pub fn prove_job(&self, job: JobId) -> Result<Option<Proof>, ArchiveError> {
        let events = self.stream(job.into())?;
        if events.is_empty() {
            return Ok(None);
        }
        self.prove(Subject::Job, None, &events).map(Some)
    }

    /// One event of any stream; `None` if there is no such event.
    pub fn prove_event(&self, stream: StreamId, version: Version) -> Result<Option<Proof>, ArchiveError> {
        let events = self.stream(stream)?;
        let at = version.0.checked_sub(1).map(|before| before as usize);
        let Some(event) = at.and_then(|at| events.get(at)) else {
            return Ok(None);
        };
        let prev_hash =
            at.and_then(|at| at.checked_sub(1)).and_then(|at| events.get(at)).map(|before| before.event_hash);
        self.prove(Subject::Event, prev_hash, std::slice::from_ref(event)).map(Some)
    }

    /// The keys that the archived log itself says speak for it.
    pub fn keyring(&self) -> Result<Keyring, ArchiveError> {
        let mut keyring = Keyring::default();
        for event in self.stream(log_stream())? {
            if let Ok(envelope) = Envelope::read(&event.event_bytes) {
                keyring.take(&envelope, Some(event.position));
            }
        }
        Ok(keyring)
    }

    fn prove(
        &self,
        subject: Subject,
        prev_hash: Option<Hash>,
        events: &[ArchivedEvent],
    ) -> Result<Proof, ArchiveError> {
        let size = self.manifest().size;
        let proven = events.iter().map(|ArchivedEvent { position, event_bytes, .. }| {
            let damaged = |reason: String| ArchiveError::Event { position: *position, reason };
            let path = merkle::inclusion(*position, size, |level, index| self.hash(level, index));
            let path = path.map_err(|error| match error {
                Unprovable::Read(error) => error,
                error => damaged(error.to_string()),
            })?;
            let event = String::from_utf8(event_bytes.clone()).map_err(|error| damaged(error.to_string()))?;
            Ok(ProvenEvent { event, position: *position, path })
        });
        let events = proven.collect::<Result<Vec<_>, ArchiveError>>()?;
        Ok(Proof { subject, prev_hash, events, checkpoint: self.checkpoint(size)? })
    }
}
