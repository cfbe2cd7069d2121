//! What the tree says about one event: which stream, which version, which hash.

use sha2::{Digest, Sha256};

use crate::chain::Hash;
use crate::id::{StreamId, Version};

/// `stream_type ":" stream_id LF decimal(version) LF lowercase-hex(event_hash) LF`.
///
/// The event's bytes are not in it: `event_hash` stands for them and for everything before them in
/// the stream, so a leaf is about a hundred bytes however large the event.
pub fn leaf_data(stream_type: &str, stream_id: StreamId, version: Version, event_hash: &Hash) -> Vec<u8> {
    let mut tail = [0; TAIL_MAX];
    let len = write_tail(&id_text(stream_id), version, event_hash, &mut tail);
    [stream_type.as_bytes(), &tail[..len]].concat()
}

/// Leaf hash of an event, [`leaf_hash`](super::leaf_hash) of its [`leaf_data`]. Allocates nothing:
/// verifying a log does this for every event.
pub fn event_leaf(stream_type: &str, stream_id: StreamId, version: Version, event_hash: &Hash) -> Hash {
    written_leaf(stream_type, &id_text(stream_id), version, event_hash)
}

/// The same of a stream id as it is written, in lower case with hyphens: whoever reads it has it at hand.
pub fn written_leaf(
    stream_type: &str,
    stream_id: &[u8; ID_LEN],
    version: Version,
    event_hash: &Hash,
) -> Hash {
    let mut tail = [0; TAIL_MAX];
    let len = write_tail(stream_id, version, event_hash, &mut tail);
    let mut hash = Sha256::new();
    hash.update([0]);
    hash.update(stream_type);
    hash.update(&tail[..len]);
    Hash(hash.finalize().into())
}

const ID_LEN: usize = uuid::fmt::Hyphenated::LENGTH;
/// A colon, the id, the largest version, the hash, three line feeds.
const TAIL_MAX: usize = 1 + ID_LEN + 10 + 64 + 3;

fn id_text(stream_id: StreamId) -> [u8; ID_LEN] {
    let mut text = [0; ID_LEN];
    stream_id.0.as_hyphenated().encode_lower(&mut text);
    text
}

/// Everything behind the stream type; how many bytes that is.
fn write_tail(
    stream_id: &[u8; ID_LEN],
    version: Version,
    event_hash: &Hash,
    out: &mut [u8; TAIL_MAX],
) -> usize {
    out[0] = b':';
    out[1..=ID_LEN].copy_from_slice(stream_id);
    let mut len = 1 + ID_LEN;
    let mut put = |bytes: &[u8]| {
        out[len..len + bytes.len()].copy_from_slice(bytes);
        len += bytes.len();
    };
    put(b"\n");
    put(itoa::Buffer::new().format(version.0).as_bytes());
    put(b"\n");
    put(&hex(event_hash));
    put(b"\n");
    len
}

fn hex(hash: &Hash) -> [u8; 64] {
    let mut text = [0; 64];
    for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(hash.0) {
        *pair = PAIRS[usize::from(byte)];
    }
    text
}

/// The two digits of each byte: half the work of looking each digit up.
const PAIRS: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < pairs.len() {
        pairs[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    pairs
};
