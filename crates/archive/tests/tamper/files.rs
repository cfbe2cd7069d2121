//! An archive taken apart, so that anything can be done to it, and put back.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use bpc_archive::segment::SegmentWriter;
use bpc_archive::{Archive, Manifest, archive};
use bpc_core::merkle::{Tree, event_leaf};
use bpc_core::note::{Checkpoint, SignedNote};
use bpc_core::{Envelope, Hash, StreamId, Timestamp, Version, chain_hash};
use bpc_eventstore::seal::LogSecret;
use bpc_eventstore::{Blob, put_blob};
use bpc_testkit::TestDatabase;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::scene::log_of;

const BLOB: &[u8] = b"a page of a document";

/// Every file, as somebody sees it who holds the directory.
#[derive(Clone)]
pub struct Files {
    /// What the one segment holds.
    pub events: Vec<Vec<u8>>,
    pub manifest: Manifest,
    /// Every other file by its path.
    pub others: BTreeMap<String, Vec<u8>>,
}

impl Files {
    /// Of the log that tampering in a database is tried on, or a shorter one.
    pub fn of_log(size: usize) -> Self {
        let scratch = TempDir::new().unwrap();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let db = TestDatabase::sqlite();
            let store = log_of(&db, size).await;
            let mut tx = store.begin().await.unwrap();
            put_blob(&mut tx.conn(), &Blob::new(BLOB.to_vec())).await.unwrap();
            tx.commit().await.unwrap();
            archive(&store, scratch.path(), &mut |_| {}).await.unwrap();
        });
        Files::load(scratch.path())
    }

    pub fn load(directory: &Path) -> Self {
        let archive = Archive::open(directory).unwrap();
        let manifest = archive.manifest().clone();
        let mut others: BTreeMap<String, Vec<u8>> = walk(directory, directory).into_iter().collect();
        let mut events = Vec::new();
        for entry in &manifest.segments {
            let segment = archive.segment(entry).unwrap();
            let mut frames = segment.frames().unwrap();
            while let Some(frame) = frames.next_frame().unwrap() {
                events.extend(frame.events().map(|(_, event_bytes)| event_bytes.to_vec()));
            }
            others.remove(&entry.file);
        }
        others.remove("manifest.json");
        others.remove(".lock");
        Files { events, manifest, others }
    }

    /// Put everything back into an empty directory.
    pub fn store(&self, directory: &Path) {
        let segment = [(self.manifest.segments[0].file.clone(), self.segment())];
        let manifest = [("manifest.json".to_owned(), self.manifest.to_bytes())];
        let others = self.others.iter().map(|(path, bytes)| (path.clone(), bytes.clone()));
        for (path, bytes) in others.chain(segment).chain(manifest) {
            let path = directory.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }

    fn segment(&self) -> Vec<u8> {
        let mut writer = SegmentWriter::new(Vec::new(), 0).unwrap();
        self.events.iter().for_each(|event_bytes| writer.push(event_bytes, None).unwrap());
        writer.finish().unwrap().0
    }

    /// Where an event stands.
    pub fn position(&self, stream: StreamId, version: u32) -> usize {
        let is_it = |bytes: &Vec<u8>| said(bytes) == Some((stream, Version(version)));
        self.events.iter().position(is_it).expect("there is such an event")
    }

    /// Replace part of what an event says.
    pub fn say(&mut self, stream: StreamId, version: u32, before: &str, after: &str) {
        let at = self.position(stream, version);
        let text = String::from_utf8(self.events[at].clone()).unwrap();
        assert!(text.contains(before), "{before} in {text}");
        self.events[at] = text.replacen(before, after, 1).into_bytes();
    }

    pub fn other(&mut self, path: &str) -> &mut Vec<u8> {
        self.others.get_mut(path).unwrap_or_else(|| panic!("there is {path}"))
    }

    /// Path of the one blob.
    pub fn blob(&self) -> String {
        let name = Blob::new(BLOB.to_vec()).sha256.to_string();
        format!("blobs/{}/{name}", &name[..2])
    }

    pub fn checkpoint(&self) -> SignedNote {
        SignedNote::parse(&self.others["checkpoint"]).unwrap()
    }

    /// The note in both places where the newest one is.
    pub fn set_checkpoint(&mut self, note: &str) {
        let named = format!("checkpoints/{}", self.manifest.size);
        for path in ["checkpoint", &named] {
            self.others.insert(path.to_owned(), note.as_bytes().to_vec());
        }
    }

    /// A manifest that names what is there, and the old note where it says the newest one is.
    pub fn mend(&mut self) {
        let segment = self.segment();
        let size = self.events.len() as u64;
        let note = self.others.get(&format!("checkpoints/{}", self.manifest.size)).cloned();
        let entry = &mut self.manifest.segments[0];
        entry.file = format!("segments/00000000.partial-{size}.jsonl.zst");
        (entry.events, entry.last, entry.bytes) = (size, size - 1, segment.len() as u64);
        entry.sha256 = Hash(Sha256::digest(&segment).into());
        self.manifest.size = size;
        self.manifest.checkpoints = vec![size];
        self.others.retain(|path, _| !path.starts_with("checkpoints/"));
        self.others.extend(note.map(|note| (format!("checkpoints/{size}"), note)));
    }

    /// What the best forger without the key does: versions dense, so that the chain follows, tiles made anew, and
    /// a manifest that names it all.
    pub fn repair(&mut self) {
        let mut heads: HashMap<StreamId, (u32, Hash)> = HashMap::new();
        let mut leaves = Vec::new();
        for event_bytes in &mut self.events {
            let Some((stream, version)) = said(event_bytes) else {
                leaves.push(Hash::ZERO);
                continue;
            };
            let head = heads.entry(stream).or_insert((0, Hash::ZERO));
            head.0 += 1;
            let text = String::from_utf8(event_bytes.clone()).unwrap();
            let (old, new) = (format!("\"version\":{version}}}"), format!("\"version\":{}}}", head.0));
            *event_bytes = text.replace(&old, &new).into_bytes();
            head.1 = chain_hash(&head.1, event_bytes);
            let stream_type = Envelope::read(event_bytes).unwrap().stream_type.to_string();
            leaves.push(event_leaf(&stream_type, stream, Version(head.0), &head.1));
        }
        let tiles = Tree::new().extend(leaves);
        self.others.retain(|path, _| !path.starts_with("tile/"));
        self.others.extend(tiles.into_iter().map(|tile| (tile.id.to_string(), tile.bytes)));
        self.mend();
    }

    /// What whoever has the key can do on top: sign for what is there now.
    pub fn sign(&mut self, secret: &LogSecret, origin: &str) {
        let hash_at = |level: u8, index: u64| {
            let mut tiles =
                self.others.iter().filter(|(path, _)| path.starts_with(&format!("tile/{level}/")));
            let tile = tiles.nth((index / 256) as usize).map(|(_, bytes)| bytes).ok_or(())?;
            bpc_core::tile::hash_in(tile, (index % 256) as usize).ok_or(())
        };
        let root = bpc_core::merkle::root::<()>(self.manifest.size, hash_at).unwrap();
        let text = Checkpoint::new(origin, self.manifest.size, root).text();
        let at = Timestamp::from_micros(1_794_858_600_000_000);
        let note = secret.sign_note(origin, &text, at).unwrap().to_string();
        self.set_checkpoint(&note);
    }
}

/// Stream and version of bytes that are an event.
fn said(event_bytes: &[u8]) -> Option<(StreamId, Version)> {
    Envelope::read(event_bytes).ok().map(|envelope| (envelope.stream_id, envelope.version))
}

fn walk(root: &Path, directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(walk(root, &path));
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.push((name, fs::read(&path).unwrap()));
        }
    }
    files
}
