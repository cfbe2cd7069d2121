//! The quick check of rows in the order of their insertion: everything that the exact look checks, on
//! as little memory as possible, and without words for what is wrong. Whatever it does not like is named
//! for the exact look, which decides.

use std::ops::RangeInclusive;

use bpc_core::{Hash, StreamId, chain_hash};
use uuid::Uuid;

use super::envelope::QuickEvent;
use super::keys::Keys;
use super::live::{Fingerprint, Live, LiveStreams};
use super::read::{Reader, Said, Step};
use super::row::Row;
use super::suspects::Suspects;
use super::tally::Tally;

/// Rows whose streams are looked up together: about as many reads as a core has under way.
const AT_ONCE: usize = 16;

/// Follows a share of the streams, event by event.
pub(super) struct Checker {
    reader: Reader,
    live: LiveStreams<[u8; 32]>,
    suspects: Suspects,
    /// Where the range began; what comes before was followed by another run.
    is_first_run: bool,
}

impl Checker {
    /// A checker of streams whose fingerprints are in `range`, which may use so much memory.
    pub(super) fn new(keys: Keys, range: RangeInclusive<u64>, bytes_max: usize) -> Self {
        let is_first_run = *range.start() == 0;
        let live = LiveStreams::new(range, bytes_max);
        Checker { reader: Reader::new(keys), live, suspects: Suspects::default(), is_first_run }
    }

    /// Something was read that is not even a row, and belongs to no stream.
    pub(super) fn doubt_everything(&mut self) {
        self.suspects.all = true;
    }

    /// Check events of the database. `each` gets the number of each, and the leaf of what the event says it is, if it
    /// says so.
    pub(super) fn take<'r>(
        &mut self,
        mut rows: impl Iterator<Item = (u32, Option<Row<'r>>)>,
        mut each: impl FnMut(u32, Option<Hash>),
    ) {
        let mut some = Vec::with_capacity(AT_ONCE);
        loop {
            some.extend(rows.by_ref().take(AT_ONCE).map(|(number, row)| {
                let row = row.map(|row| (row, self.reader.keys.stream(*row.stream_id)));
                (number, row)
            }));
            if some.is_empty() {
                return;
            }
            self.live.fetch(some.iter().filter_map(|(_, row)| row.map(|(_, stream)| stream)));
            for (number, row) in some.drain(..) {
                if row.is_none() {
                    self.doubt_everything();
                }
                each(number, row.and_then(|(row, stream)| self.take_row(&row, stream)));
            }
        }
    }

    /// What was seen, once everything was taken.
    pub(super) fn finish(self) -> Tally {
        Tally::new(self.live, self.suspects, self.reader.keys)
    }

    fn take_row(&mut self, row: &Row<'_>, fingerprint: Fingerprint) -> Option<Hash> {
        let stream = StreamId(Uuid::from_bytes(*row.stream_id));
        if !self.is_first_run && !self.live.follows(fingerprint) {
            return None;
        }
        let Some(said) = self.reader.read(row.event_bytes) else {
            self.suspects.add(stream, row.id);
            return None;
        };
        let hash = Hash(*row.event_hash);
        if !agree(row, &said.event) {
            self.suspects.add(stream, row.id);
            if said.stream() != stream {
                self.suspects.add(said.stream(), row.id);
            }
        } else if self.live.follows(fingerprint)
            && self.follow(fingerprint, &said, row.event_bytes, &hash).is_none()
        {
            self.suspects.add(stream, row.id);
        }
        Some(said.leaf(&hash))
    }

    /// The next event of a stream: `None` if it is not.
    fn follow(
        &mut self,
        stream: Fingerprint,
        said: &Said<'_>,
        event_bytes: &[u8],
        hash: &Hash,
    ) -> Option<()> {
        let (version, owner) = (said.event.version, said.owner);
        let head = hash.0;
        if version == 1 {
            is_hash(hash, &Hash::ZERO, event_bytes)?;
            let job = said.step.begin()?;
            if self.live.get(stream).is_some() {
                return None;
            }
            let is_job = said.step != Step::Other;
            self.live.begin(stream, is_job, Some(Live { head, version, owner, job }));
            return Some(());
        }
        let live = self.live.get(stream)?;
        if live.version.checked_add(1) != Some(version) || live.owner != owner {
            return None;
        }
        is_hash(hash, &Hash(live.head), event_bytes)?;
        let job = said.step.after(live.job)?;
        *live = Live { head, version, owner, job };
        if job.is_over() {
            self.live.remove(stream);
        }
        Some(())
    }
}

fn is_hash(stored: &Hash, before: &Hash, event_bytes: &[u8]) -> Option<()> {
    (chain_hash(before, event_bytes) == *stored).then_some(())
}

/// Every copied column against the event.
fn agree(row: &Row<'_>, event: &QuickEvent<'_>) -> bool {
    *row.stream_id == event.stream_id
        && i64::from(row.version) == i64::from(event.version)
        && row.occurred_at == event.occurred_at.as_micros()
        && *row.tenant_id == event.tenant_id
        && row.stream_type == event.stream_type.as_bytes()
        && row.event_type == event.event_type.as_bytes()
}
