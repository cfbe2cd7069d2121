//! The events of one stretch of the log, chained without knowing what came before it.
//!
//! Where no hashes are stored, as in an archive, each stretch says what hash stands before an event whose predecessor
//! is in another one. So stretches are chained each by itself, on all cores, and what a stretch has of one stream is
//! put together to a *run*. Whether a run goes on where the one before it ended is for
//! [`Follower`](super::follow::Follower) to say.

use std::ops::RangeInclusive;

use bpc_core::{Hash, StreamId, chain_hash};

use super::job::JobBits;
use super::keys::Keys;
use super::live::{Fingerprint, HeadPrint};
use super::read::{Reader, Said, Step};
use super::table::Table;

/// Chains one stretch after the other.
pub struct Chainer {
    reader: Reader,
    range: RangeInclusive<u64>,
    /// Which run is that of a stream.
    places: Table<u32>,
    /// Where each run has got to.
    ends: Vec<End>,
    runs: Runs,
}

struct End {
    head: Hash,
    /// Number of its last step.
    step: u32,
}

/// What a stretch has of each stream, in order of first appearance.
#[derive(Default)]
pub struct Runs {
    /// Was a hash said to stand before an event just where the event before is elsewhere?
    pub is_linked: bool,
    /// Were there bytes that are no event?
    pub has_unreadable: bool,
    pub(super) runs: Vec<Run>,
    steps: Vec<NextStep>,
}

/// The events of one stream that follow each other in a stretch.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) stream: StreamId,
    pub(super) fingerprint: Fingerprint,
    pub(super) origin: Origin,
    /// Hash of the last event.
    pub(super) head: HeadPrint,
    pub(super) first: u32,
    pub(super) last: u32,
    /// Stands for stream type and tenant.
    pub(super) owner: u32,
    pub(super) is_job: bool,
    /// Is something in here for the exact look?
    pub(super) is_suspect: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// The stream begins here, and this is the state that it gets to.
    Begins { job: JobBits },
    /// It goes on after this hash, with these steps.
    GoesOn { after: HeadPrint, steps: u32 },
}

/// A step, and the number of the next one of the same run.
#[derive(Clone, Copy)]
struct NextStep {
    step: Step,
    next: u32,
}

const NO_STEP: u32 = u32::MAX;

/// An event whose hash is known.
pub struct Chained {
    /// The stream it belongs to.
    pub stream: StreamId,
    /// Its leaf in the tree.
    pub leaf: Hash,
}

impl Chainer {
    /// Chains events of streams whose fingerprints are in `range`.
    pub fn new(keys: Keys, range: RangeInclusive<u64>) -> Self {
        let (places, ends) = (Table::default(), Vec::new());
        Chainer { reader: Reader::new(keys), range, places, ends, runs: Runs::begin() }
    }

    /// The next events of the stretch, each with the hash that is said to stand before it, if any. Of each, `None` if
    /// its hash cannot be known: then its stream, or everything, is for the exact look, unless it is none of those in
    /// the range.
    pub fn take<'a>(
        &mut self,
        events: impl Iterator<Item = (&'a [u8], Option<&'a Hash>)>,
        mut each: impl FnMut(&'a [u8], Option<Chained>),
    ) {
        // All are read before any is looked up, and all places are waited for at once.
        let mut read = Vec::with_capacity(events.size_hint().0);
        let mut streams = Vec::with_capacity(read.capacity());
        for (event_bytes, before) in events {
            let said = self.reader.read(event_bytes);
            let stream = said.map(|said| self.reader.keys.stream(said.event.stream_id));
            streams.extend(stream);
            read.push((event_bytes, before, said.zip(stream)));
        }
        let touched = streams.into_iter().fold(0, |sum, stream| sum ^ self.places.touch(stream));
        std::hint::black_box(touched);
        for (event_bytes, before, said) in read {
            self.runs.has_unreadable |= said.is_none();
            let chained = said.and_then(|(said, stream)| self.chain(stream, &said, event_bytes, before));
            each(event_bytes, chained);
        }
    }

    /// The stretch has ended; another one may begin.
    pub fn end(&mut self) -> Runs {
        self.places.clear();
        for (run, end) in self.runs.runs.iter_mut().zip(self.ends.drain(..)) {
            run.head = self.reader.keys.head(&end.head);
        }
        std::mem::replace(&mut self.runs, Runs::begin())
    }

    fn chain(
        &mut self,
        stream: Fingerprint,
        said: &Said<'_>,
        event_bytes: &[u8],
        before: Option<&Hash>,
    ) -> Option<Chained> {
        if !self.range.contains(&stream.bits()) {
            return None;
        }
        let hash = match self.places.get(stream).copied() {
            Some(place) => self.go_on(place as usize, said, event_bytes, before)?,
            None => self.begin(stream, said, event_bytes, before)?,
        };
        Some(Chained { stream: said.stream(), leaf: said.leaf(&hash) })
    }

    /// The first event of a stream in this stretch.
    fn begin(
        &mut self,
        fingerprint: Fingerprint,
        said: &Said<'_>,
        event_bytes: &[u8],
        before: Option<&Hash>,
    ) -> Option<Hash> {
        let version = said.event.version;
        self.runs.is_linked &= before.is_some() == (version > 1);
        let before = if version == 1 { Some(&Hash::ZERO) } else { before };
        let head = before.map(|before| chain_hash(before, event_bytes));
        let number = self.runs.steps.len() as u32;
        let (origin, is_sound) = if version == 1 {
            let job = said.step.begin();
            (Origin::Begins { job: job.unwrap_or(JobBits::NO_JOB) }, job.is_some())
        } else {
            self.runs.steps.push(NextStep { step: said.step, next: NO_STEP });
            let after = before.map_or(HeadPrint::default(), |before| self.reader.keys.head(before));
            (Origin::GoesOn { after, steps: number }, before.is_some())
        };
        self.places.insert(fingerprint, self.ends.len() as u32);
        self.ends.push(End { head: head.unwrap_or(Hash::ZERO), step: number });
        self.runs.runs.push(Run {
            stream: said.stream(),
            fingerprint,
            origin,
            head: HeadPrint::default(),
            first: version,
            last: version,
            owner: said.owner,
            is_job: said.step != Step::Other,
            is_suspect: !is_sound,
        });
        head
    }

    /// The next event of a stream in this stretch. Behind one that cannot be right no hash can be known.
    fn go_on(
        &mut self,
        place: usize,
        said: &Said<'_>,
        event_bytes: &[u8],
        before: Option<&Hash>,
    ) -> Option<Hash> {
        let (run, end) = (&mut self.runs.runs[place], &mut self.ends[place]);
        self.runs.is_linked &= before.is_none();
        let is_next = run.last.checked_add(1) == Some(said.event.version)
            && run.owner == said.owner
            && run.stream == said.stream();
        if run.is_suspect || !is_next {
            run.is_suspect = true;
            // The stream that only looks like this one.
            self.runs.has_unreadable |= run.stream != said.stream();
            return None;
        }
        match &mut run.origin {
            Origin::Begins { job } => match said.step.after(*job) {
                Some(next) => *job = next,
                None => run.is_suspect = true,
            },
            Origin::GoesOn { .. } => {
                let number = self.runs.steps.len() as u32;
                self.runs.steps[end.step as usize].next = number;
                self.runs.steps.push(NextStep { step: said.step, next: NO_STEP });
                end.step = number;
            }
        }
        run.last = said.event.version;
        end.head = chain_hash(&end.head, event_bytes);
        Some(end.head)
    }
}

impl Runs {
    fn begin() -> Self {
        Runs { is_linked: true, ..Runs::default() }
    }

    /// The state that the steps of a run lead to, beginning with one of them.
    pub(super) fn state_after(&self, mut job: JobBits, first: u32) -> Option<JobBits> {
        let mut next = self.steps.get(first as usize);
        while let Some(NextStep { step, next: number }) = next {
            job = step.after(job)?;
            next = self.steps.get(*number as usize);
        }
        Some(job)
    }
}
