//! Blobs against their hashes.

use std::fs::{self, File};
use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use bpc_core::Hash;
use sha2::{Digest, Sha256};

use crate::archive::Archive;
use crate::fold::on_all_cores;
use crate::{blob_list, layout};

use super::finding::{ArchiveFinding, Findings};

/// Read every blob of the list. Returns how many are right.
pub(super) fn check_blobs(archive: &Archive, findings: &mut Findings) -> u64 {
    let Some(list) = &archive.manifest().blobs else {
        return 0;
    };
    let text = fs::read(archive.path(&list.file)).unwrap_or_default();
    let found = Hash(Sha256::digest(&text).into());
    let blobs =
        blob_list::read(&text).filter(|blobs| found == list.sha256 && blobs.len() as u64 == list.count);
    let Some(blobs) = blobs else {
        let message = "it is not the list of blobs that the manifest names";
        findings.add(
            ArchiveFinding::of_file("BLOB_LIST_MISMATCH", &list.file, message).instead(list.sha256, found),
        );
        return 0;
    };
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
    right.into_inner()
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
