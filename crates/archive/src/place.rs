//! Which event some bytes say they are, without reading all of them.

use bpc_core::{StreamId, Version};
use uuid::Uuid;

/// Stream and version, from the end of an envelope, where they stand in a fixed order:
/// `"stream_id":"...","stream_type":"...","tenant_id":"...","version":7}`. `None` for bytes that end otherwise; for
/// bytes that are an event it is what the event says.
pub(crate) fn place(event_bytes: &[u8]) -> Option<(StreamId, Version)> {
    let rest = event_bytes.strip_suffix(b"}")?;
    let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (rest, version) = rest.split_at(rest.len() - digits);
    let version = std::str::from_utf8(version).ok()?.parse().ok()?;
    let rest = rest.strip_suffix(b",\"version\":")?;
    let rest = rest.get(..rest.len().checked_sub(ID)?)?.strip_suffix(b",\"tenant_id\":")?;
    let rest = rest.strip_suffix(b"\"")?;
    let rest = &rest[..memchr::memrchr(b'"', rest)?];
    let rest = rest.strip_suffix(b",\"stream_type\":")?;
    let id = rest.get(rest.len().checked_sub(ID)?..)?.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    Some((StreamId(Uuid::try_parse_ascii(id).ok()?), Version(version)))
}

/// A UUID between quotes.
const ID: usize = 38;
