//! Blobs against their hashes, and against what events name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use bpc_core::{BlobFields, BlobRef, Envelope, Hash, StreamId};
use sha2::{Digest, Sha256};

use crate::archive::Archive;
use crate::fold::on_all_cores;
use crate::{blob_list, layout};

use super::finding::{ArchiveFinding, Findings, L1};

/// The blobs that events name, each with the first event that does: about 200 bytes of memory for each.
#[derive(Default)]
pub(super) struct Named(BTreeMap<BlobRef, Place>);

/// An event that names a blob.
pub(super) struct Place {
    stream_type: String,
    stream: StreamId,
    version: i64,
    position: u64,
}

impl Named {
    /// What a segment names, segments in order.
    pub(super) fn take(&mut self, named: Named) {
        for (blob, place) in named.0 {
            self.0.entry(blob).or_insert(place);
        }
    }

    /// What an event names, events in order. What is wrong with the event itself is not said here.
    pub(super) fn read(&mut self, fields: &BlobFields, position: u64, event_bytes: &[u8]) {
        if !fields.may_name_one(event_bytes) {
            return;
        }
        let Ok(envelope) = Envelope::read(event_bytes) else {
            return;
        };
        for blob in fields.named_by(&envelope) {
            self.0.entry(blob).or_insert_with(|| Place {
                stream_type: envelope.stream_type.to_string(),
                stream: envelope.stream_id,
                version: envelope.version.0.into(),
                position,
            });
        }
    }
}

/// Read every blob of the list, and look in it for every blob that is named. Returns how many are right.
pub(super) fn check_blobs(archive: &Archive, named: Named, findings: &mut Findings) -> u64 {
    let (right, listed) = match &archive.manifest().blobs {
        Some(_) => match check_listed(archive, findings) {
            Some(checked) => checked,
            // There is no list to look in.
            None => return 0,
        },
        None => (0, BTreeSet::new()),
    };
    let mut named: Vec<(BlobRef, Place)> = named.0.into_iter().collect();
    named.sort_by_key(|(_, place)| place.position);
    for (BlobRef { sha256, length }, place) in named {
        let at = |code: &'static str, message: &str| ArchiveFinding {
            stream_type: place.stream_type.clone(),
            stream: place.stream,
            version: Some(place.version),
            position: Some(place.position),
            ..ArchiveFinding::new(L1, code, message)
        };
        if !listed.contains(&sha256) {
            let message = "a blob that this event names is not in the archive";
            findings
                .add(ArchiveFinding { expected: Some(sha256.to_string()), ..at("BLOB_MISSING", message) });
            continue;
        }
        let stored = fs::metadata(archive.path(&layout::blob_file(&sha256))).map(|it| it.len()).ok();
        if let (Some(length), Some(stored)) = (length, stored)
            && length != stored
        {
            let message = "a blob that this event names has another length";
            findings.add(at("BLOB_LENGTH_MISMATCH", message).instead(length, stored));
        }
    }
    right
}

/// How many of the list are right, and the list; `None` if there is none that can be believed.
fn check_listed(archive: &Archive, findings: &mut Findings) -> Option<(u64, BTreeSet<Hash>)> {
    let list = archive.manifest().blobs.as_ref()?;
    let text = fs::read(archive.path(&list.file)).unwrap_or_default();
    let found = Hash(Sha256::digest(&text).into());
    let blobs =
        blob_list::read(&text).filter(|blobs| found == list.sha256 && blobs.len() as u64 == list.count);
    let Some(blobs) = blobs else {
        let message = "it is not the list of blobs that the manifest names";
        findings.add(
            ArchiveFinding::of_file("BLOB_LIST_MISMATCH", &list.file, message).instead(list.sha256, found),
        );
        return None;
    };
    let listed = blobs.clone();
    let blobs: Vec<Hash> = blobs.into_iter().collect();
    let (right, wrong) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let _ = on_all_cores::<()>(blobs.len(), |number| {
        let sha256 = &blobs[number];
        match hash_of(archive, sha256) {
            Ok(found) if found == *sha256 => drop(right.fetch_add(1, Ordering::Relaxed)),
            found => wrong.lock().expect("nobody panics with it").push((*sha256, found)),
        }
        Ok(true)
    });
    let mut wrong = wrong.into_inner().expect("nobody panics with it");
    wrong.sort_by_key(|(sha256, _)| *sha256);
    for (sha256, found) in wrong {
        let file = layout::blob_file(&sha256);
        findings.add(match found {
            Ok(found) => {
                let message = "its bytes are not those that its name says";
                ArchiveFinding::of_file("BLOB_MISMATCH", &file, message).instead(sha256, found)
            }
            Err(error) => ArchiveFinding::of_file("BLOB_MISSING", &file, error.to_string()),
        });
    }
    Some((right.into_inner(), listed))
}

fn hash_of(archive: &Archive, sha256: &Hash) -> std::io::Result<Hash> {
    let mut file = File::open(archive.path(&layout::blob_file(sha256)))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Hash(hash.finalize().into())),
            read => hash.update(&buffer[..read]),
        }
    }
}
