//! The streams that may go on: end of chain and state of each, in 64 bytes, or 32 where the end of the chain is only
//! compared.
//!
//! Memory is bounded. When the streams that are open at once do not fit, those in one half of the range
//! of fingerprints are let go, and the log is read once more for them.

use std::ops::RangeInclusive;

use super::job::JobBits;
use super::table::Table;

/// Stands for a stream: 64 bits under a key that is new in each run. Two streams that share one are told
/// apart by the exact look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fingerprint([u32; 2]);

/// Stands for the hash of an event, as a [`Fingerprint`] does for a stream: whoever wrote a log cannot know which
/// hashes share one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HeadPrint([u32; 2]);

/// What is known of a stream that may go on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Live<H> {
    /// Hash of the newest event, or what stands for it.
    pub(super) head: H,
    pub(super) version: u32,
    /// Stands for stream type and tenant.
    pub(super) owner: u32,
    pub(super) job: JobBits,
}

/// Streams that may go on, and all that ever began.
pub(super) struct LiveStreams<H> {
    /// By the low bits of the fingerprint: each grows on its own, so that growing needs little room.
    parts: Vec<Table<Live<H>>>,
    /// A stream that ended is let go of; that it does not begin again is seen here. The lowest bit says
    /// whether it is a job.
    begun: Vec<u64>,
    range: RangeInclusive<u64>,
    bytes_max: usize,
}

/// The streams that began, in order of their fingerprints.
pub(super) struct Begun(Vec<u64>);

impl Begun {
    /// How many began up to a fingerprint, and how many of them as jobs.
    pub(super) fn count(&self, up_to: u64) -> (u64, u64) {
        let begun = &self.0[..self.0.partition_point(|stream| stream & !1 <= up_to)];
        (begun.len() as u64, begun.iter().filter(|stream| *stream & 1 == 1).count() as u64)
    }

    /// Did any stream begin twice?
    pub(super) fn has_twins(&self) -> bool {
        self.0.windows(2).any(|pair| pair[0] | 1 == pair[1] | 1)
    }

    /// Did this one begin, and as a job?
    pub(super) fn is_job(&self, stream: Fingerprint) -> Option<bool> {
        let at = self.0.partition_point(|begun| *begun < stream.bits());
        let begun = self.0.get(at).filter(|begun| *begun | 1 == stream.bits() | 1)?;
        Some(begun & 1 == 1)
    }
}

const PARTS: usize = 64;

impl Fingerprint {
    /// The lowest bit is not used.
    pub(super) fn new(hash: u64) -> Self {
        Fingerprint([(hash >> 32) as u32, hash as u32 & !1])
    }

    pub(super) fn bits(self) -> u64 {
        u64::from(self.0[0]) << 32 | u64::from(self.0[1])
    }
}

impl HeadPrint {
    pub(super) fn new(hash: u64) -> Self {
        HeadPrint([(hash >> 32) as u32, hash as u32])
    }
}

impl<H: Copy + Default> LiveStreams<H> {
    pub(super) fn new(range: RangeInclusive<u64>, bytes_max: usize) -> Self {
        let parts = (0..PARTS).map(|_| Table::default()).collect();
        LiveStreams { parts, begun: Vec::new(), range, bytes_max }
    }

    /// Which streams are followed at present.
    pub(super) fn range(&self) -> &RangeInclusive<u64> {
        &self.range
    }

    pub(super) fn follows(&self, stream: Fingerprint) -> bool {
        self.range.contains(&stream.bits())
    }

    pub(super) fn get(&mut self, stream: Fingerprint) -> Option<&mut Live<H>> {
        self.part(stream).get(stream)
    }

    /// Wait for the memory of all these at once, so that asking for them one by one need not.
    pub(super) fn fetch(&self, streams: impl Iterator<Item = Fingerprint>) {
        std::hint::black_box(streams.fold(0, |sum, stream| sum ^ self.parts[part_of(stream)].touch(stream)));
    }

    pub(super) fn remove(&mut self, stream: Fingerprint) {
        self.part(stream).remove(stream);
    }

    /// A stream begins. It may not fit: then it is among those that are let go.
    pub(super) fn begin(&mut self, stream: Fingerprint, is_job: bool, live: Option<Live<H>>) {
        self.begun.push(stream.bits() | u64::from(is_job));
        if let Some(live) = live {
            self.part(stream).insert(stream, live);
        }
        // Not at each step: the sum over all parts takes a while.
        if self.begun.len().is_multiple_of(1024) {
            while self.bytes() > self.bytes_max && self.range.start() < self.range.end() {
                self.halve();
            }
        }
    }

    /// What began, once everything is read.
    pub(super) fn into_begun(mut self) -> Begun {
        drop(self.parts);
        self.begun.sort_unstable();
        Begun(self.begun)
    }

    fn bytes(&self) -> usize {
        let bytes: usize = self.parts.iter().map(Table::bytes).sum();
        bytes + self.begun.capacity() * size_of::<u64>()
    }

    fn halve(&mut self) {
        let (start, end) = (*self.range.start(), *self.range.end());
        self.range = start..=start + (end - start) / 2;
        let range = self.range.clone();
        for part in &mut self.parts {
            part.retain(|stream| range.contains(&stream));
        }
        self.begun.retain(|stream| range.contains(&(stream & !1)));
        self.begun.shrink_to_fit();
    }

    fn part(&mut self, stream: Fingerprint) -> &mut Table<Live<H>> {
        &mut self.parts[part_of(stream)]
    }
}

fn part_of(stream: Fingerprint) -> usize {
    (stream.bits() >> 1) as usize % PARTS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live() -> Live<[u8; 32]> {
        Live { head: [0; 32], version: 1, owner: 0, job: JobBits::NO_JOB }
    }

    fn spread(n: u64) -> Fingerprint {
        Fingerprint::new(n.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    #[test]
    fn an_entry_is_small() {
        assert_eq!(size_of::<Live<[u8; 32]>>(), size_of::<[u32; 12]>());
        assert_eq!(size_of::<Live<HeadPrint>>(), size_of::<[u32; 6]>());
    }

    #[test]
    fn what_does_not_fit_is_let_go_and_memory_stays_in_bounds() {
        let bytes_max = 1 << 20;
        let mut streams = LiveStreams::new(0..=u64::MAX, bytes_max);
        for n in 0..200_000 {
            if streams.follows(spread(n)) {
                streams.begin(spread(n), n % 2 == 0, Some(live()));
            }
        }
        // What was added since the last look may take some more.
        assert!(streams.bytes() <= bytes_max + bytes_max / 8, "{}", streams.bytes());
        let kept = (0..200_000).filter(|n| streams.follows(spread(*n))).count();
        assert!((1_000..200_000).contains(&kept), "{kept}");
        for n in 0..200_000 {
            assert_eq!(streams.get(spread(n)).is_some(), streams.follows(spread(n)), "{n}");
        }
        let begun = streams.into_begun();
        assert!(!begun.has_twins());
        assert_eq!(begun.count(u64::MAX).0, kept as u64);
    }

    #[test]
    fn a_stream_that_begins_twice_is_seen_even_if_it_ended_in_between() {
        let begin = |streams: &mut LiveStreams<HeadPrint>, n| streams.begin(spread(n), n % 3 == 0, None);
        for twin in [None, Some(42), Some(43)] {
            let mut streams = LiveStreams::new(0..=u64::MAX, 1 << 20);
            (0..100).chain(twin).for_each(|n| begin(&mut streams, n));
            let begun = streams.into_begun();
            assert_eq!(begun.has_twins(), twin.is_some());
            assert_eq!(begun.is_job(spread(3)), Some(true));
            assert_eq!((begun.is_job(spread(4)), begun.is_job(spread(100))), (Some(false), None));
        }
    }
}
