//! Synthetic logs in archive directories.

use std::collections::HashMap;
use std::path::Path;

use bpc_archive::{ArchiveError, ArchiveWriter, Commit, SealedBytes};
use bpc_core::merkle::{Frontier, event_leaf};
use bpc_core::note::{Checkpoint, Signer};
use bpc_core::{Hash, StreamId, Timestamp, Version};
use bpc_eventstore::seal::LogSecret;

use super::Event;

pub const ORIGIN: &str = "example.com/log";

/// Lowercase hex of the public key.
pub fn public_key() -> String {
    hex::encode(signer().verifier().public_key())
}

pub fn signer() -> Signer {
    Signer::new(ORIGIN, &[7; 32]).unwrap()
}

/// The signed note over these events.
pub fn note(events: &[Event]) -> String {
    let mut tree = Frontier::new();
    tree.extend(events.iter().map(leaf));
    signed(tree.size(), tree.root())
}

pub fn signed(size: u64, root: Hash) -> String {
    let text = Checkpoint::new(ORIGIN, size, root).text();
    let at = Timestamp::from_micros(1_794_858_600_000_000);
    LogSecret::new([7; 32]).sign_note(ORIGIN, &text, at).unwrap().to_string()
}

pub fn leaf(event: &Event) -> Hash {
    event_leaf(&event.stream_type, event.stream_id, event.version, &event.event_hash)
}

/// Everything that the tests' log has, as a database would give it.
pub struct Source<'a> {
    pub events: &'a [Event],
    hashes: HashMap<(StreamId, Version), Hash>,
}

impl<'a> Source<'a> {
    pub fn new(events: &'a [Event]) -> Self {
        let hashes =
            events.iter().map(|event| ((event.stream_id, event.version), event.event_hash)).collect();
        Source { events, hashes }
    }

    /// Go on with the archive until it holds the first `size` events.
    pub fn archive(&self, writer: &mut ArchiveWriter, size: usize) -> Result<(), ArchiveError> {
        self.push(writer, size)?;
        let keys = [signer().verifier().to_string()];
        writer.commit(Commit { note: &note(&self.events[..size]), older: &[], keys: &keys }, None)
    }

    pub fn push(&self, writer: &mut ArchiveWriter, size: usize) -> Result<(), ArchiveError> {
        while (writer.position() as usize) < size {
            let from = writer.position() as usize;
            let until = size.min(from + writer.room().min(1000) as usize);
            let page: Vec<SealedBytes<'_>> = self.events[from..until].iter().map(sealed).collect();
            let unknown = writer.unknown_before(&page)?;
            let known: HashMap<StreamId, Hash> =
                unknown.into_iter().map(|before| (before.0, self.hashes[&before])).collect();
            for event in &page {
                writer.push(event, known.get(&event.stream_id))?;
            }
        }
        Ok(())
    }

    /// An archive of all of it.
    pub fn whole(&self, directory: &Path) {
        let mut writer = ArchiveWriter::open(directory).unwrap();
        self.archive(&mut writer, self.events.len()).unwrap();
    }
}

pub fn sealed(event: &Event) -> SealedBytes<'_> {
    SealedBytes {
        position: event.position,
        stream_id: event.stream_id,
        version: event.version,
        event_hash: event.event_hash,
        event_bytes: &event.event_bytes,
    }
}
