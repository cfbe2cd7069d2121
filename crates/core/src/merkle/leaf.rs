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
    let len = write_tail(stream_id, version, event_hash, &mut tail);
    [stream_type.as_bytes(), &tail[..len]].concat()
}

/// Leaf hash of an event, [`leaf_hash`](super::leaf_hash) of its [`leaf_data`]. Allocates nothing:
/// verifying a log does this for every event.
pub fn event_leaf(stream_type: &str, stream_id: StreamId, version: Version, event_hash: &Hash) -> Hash {
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

/// Everything behind the stream type; how many bytes that is.
fn write_tail(stream_id: StreamId, version: Version, event_hash: &Hash, out: &mut [u8; TAIL_MAX]) -> usize {
    out[0] = b':';
    stream_id.0.as_hyphenated().encode_lower(&mut out[1..=ID_LEN]);
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
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0; 64];
    for (pair, byte) in text.chunks_exact_mut(2).zip(hash.0) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    text
}
