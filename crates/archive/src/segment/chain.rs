//! The hashes of a segment's events, which are not stored because they follow from the bytes.

use std::collections::HashMap;

use bpc_core::{Hash, Head, StreamId, Version, chain_hash};

use super::error::SegmentError;
use super::format::EVENTS_PER_SEGMENT;
use super::read::Segment;

/// Chains the events of one segment, fed in order.
pub struct SegmentChain<'s> {
    segment: &'s Segment,
    heads: HashMap<StreamId, Head>,
}

/// An event's place in the chain of its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Hash of the event before; zero before the first.
    pub previous: Hash,
    /// Is `previous` something that only the segment says, because the event before is in another one?
    pub is_claimed: bool,
    /// `SHA-256(previous || event_bytes)`.
    pub hash: Hash,
}

impl<'s> SegmentChain<'s> {
    /// Before the first event.
    pub fn new(segment: &'s Segment) -> Self {
        SegmentChain { segment, heads: HashMap::new() }
    }

    /// The next event, which says it is `version` of `stream`.
    pub fn link(
        &mut self,
        position: u64,
        stream: StreamId,
        version: Version,
        event_bytes: &[u8],
    ) -> Result<Link, SegmentError> {
        let head = self.heads.entry(stream).or_insert(Head::NONE);
        let (previous, is_claimed) = if version == head.version.next() {
            (head.hash, false)
        } else {
            let index = (position % EVENTS_PER_SEGMENT) as u16;
            let claimed = self.segment.previous(index).copied();
            (claimed.ok_or(SegmentError::PreviousMissing { position })?, true)
        };
        let hash = chain_hash(&previous, event_bytes);
        *head = Head { version, hash };
        Ok(Link { previous, is_claimed, hash })
    }
}
