//! The manifest: what an archive holds. It is not signed and need not be: every root comes from signed
//! checkpoints, and a manifest that was changed along with a segment does not change those.

use bpc_core::Hash;
use bpc_core::canonical::{JsonError, to_canonical};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::layout;
use crate::segment::{EVENTS_PER_SEGMENT, Written};

/// Name of the format of the whole directory. It changes only together with the rules.
pub const FORMAT: &str = "BPC-ARCHIVE-1";

/// What an archive holds: the first `size` events of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The list of blobs; left out when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blobs: Option<BlobList>,
    /// Sizes of the checkpoints kept, ascending. The last one is over all events.
    pub checkpoints: Vec<u64>,
    /// [`FORMAT`].
    pub format: String,
    /// Keys that speak for the log, as C2SP writes them. A hint: who checks an archive knows its keys from
    /// elsewhere.
    pub keys: Vec<String>,
    /// The log's name in the newest checkpoint.
    pub origin: String,
    /// The segments in order, without gaps. Only the last one may have fewer than 65,536 events.
    pub segments: Vec<SegmentEntry>,
    /// How many events.
    pub size: u64,
}

/// One segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentEntry {
    /// Size of the file.
    pub bytes: u64,
    /// How many events.
    pub events: u64,
    /// Its path in the archive.
    pub file: String,
    /// Position of the first event.
    pub first: u64,
    /// Position of the last event.
    pub last: u64,
    /// SHA-256 of the file.
    #[serde(with = "hash_hex")]
    pub sha256: Hash,
}

/// The list of blobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlobList {
    /// How many there are.
    pub count: u64,
    /// Path of the list in the archive.
    pub file: String,
    /// SHA-256 of the list.
    #[serde(with = "hash_hex")]
    pub sha256: Hash,
}

impl Manifest {
    /// Of an archive without events.
    pub(crate) fn empty() -> Self {
        Manifest {
            blobs: None,
            checkpoints: Vec::new(),
            format: FORMAT.to_owned(),
            keys: Vec::new(),
            origin: String::new(),
            segments: Vec::new(),
            size: 0,
        }
    }

    /// The file: canonical JSON with a line feed behind it.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.canonical().expect("integers within 2^53 and strings")
    }

    fn canonical(&self) -> Result<Vec<u8>, JsonError> {
        Ok([to_canonical(self)?.as_bytes(), b"\n"].concat())
    }

    /// Read the file. Says what is wrong with one that contradicts itself, so that nobody else has to
    /// look: extents are dense, names are those that follow from the extents.
    pub fn read(bytes: &[u8]) -> Result<Manifest, String> {
        let manifest: Manifest = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if manifest.format != FORMAT {
            return Err(format!("its format is {:?}, not {FORMAT}", manifest.format));
        }
        // Which also bounds every number in it.
        if manifest.canonical().map_err(|error| error.to_string())? != bytes {
            return Err("it is not spelled canonically".to_owned());
        }
        let mut next = 0;
        for entry in &manifest.segments {
            let is_last = entry.first + entry.events == manifest.size;
            let is_dense = entry.first == next && entry.events > 0 && entry.last == next + entry.events - 1;
            let is_filled =
                entry.events == EVENTS_PER_SEGMENT || (is_last && entry.events < EVENTS_PER_SEGMENT);
            if !is_dense || !is_filled || entry.file != layout::segment_file(entry.first, entry.events) {
                return Err(format!("its segment from position {} on is out of place", entry.first));
            }
            next += entry.events;
        }
        if next != manifest.size {
            return Err(format!("its segments hold {next} events, not {}", manifest.size));
        }
        let checkpoints = &manifest.checkpoints;
        if !checkpoints.is_sorted_by(|a, b| a < b)
            || checkpoints.last().copied().unwrap_or(0) != manifest.size
        {
            return Err("its checkpoints do not end with one over all events".to_owned());
        }
        if manifest.blobs.as_ref().is_some_and(|list| list.file != layout::blob_list_file(&list.sha256)) {
            return Err("its list of blobs has another name than its hash says".to_owned());
        }
        Ok(manifest)
    }
}

impl SegmentEntry {
    pub(crate) fn of(written: &Written) -> Self {
        let Written { first, events, bytes, sha256 } = *written;
        SegmentEntry {
            bytes,
            events,
            file: layout::segment_file(first, events),
            first,
            last: first + events - 1,
            sha256,
        }
    }

    /// Can nothing be added any more?
    pub fn is_full(&self) -> bool {
        self.events == EVENTS_PER_SEGMENT
    }
}

/// From 64 digits of lowercase hex, and nothing else.
pub(crate) fn hash_of_hex(text: &str) -> Option<Hash> {
    let hash = hex::decode(text).ok().and_then(|bytes| Hash::from_slice(&bytes));
    hash.filter(|hash| hash.to_string() == text)
}

mod hash_hex {
    use super::{Deserialize, Deserializer, Hash, Serializer};

    pub(super) fn serialize<S: Serializer>(hash: &Hash, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(hash)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Hash, D::Error> {
        let text = String::deserialize(deserializer)?;
        let hash = super::hash_of_hex(&text);
        hash.ok_or_else(|| serde::de::Error::custom("64 digits of lowercase hex are wanted"))
    }
}
