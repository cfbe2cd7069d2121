//! The quick check of events in the order of their insertion: everything that the exact look checks, on
//! as little memory as possible, and without words for what is wrong. Whatever it does not like is named
//! for the exact look, which decides.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;

use bpc_core::merkle::event_leaf;
use bpc_core::{Envelope, Hash, StreamId, Version, chain_hash, job};
use uuid::Uuid;

use super::batch::Row;
use super::clock::Clock;
use super::envelope::{self, QuickEvent};
use super::facts::{Facts, Names};
use super::job::JobBits;
use super::live::{Begun, Fingerprint, Live, LiveStreams};

/// Keys of all fingerprints of a run: what they stand for cannot be guessed.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    streams: RandomState,
    owners: RandomState,
    names: Names,
}

impl Keys {
    /// Stands for stream type and tenant.
    fn owner(&self, stream_type: &str, tenant: [u8; 16]) -> u32 {
        self.owners.hash_one((stream_type, tenant)) as u32
    }
}

/// Which of `shards` checkers follows a stream. Its last bytes are random, or a hash; if somebody chose
/// them, all the work is done by one.
pub fn shard_of(stream: &[u8; 16], shards: usize) -> usize {
    usize::from(u16::from_le_bytes([stream[15], stream[14]])) % shards
}

/// One event as it is stored somewhere.
#[derive(Clone, Copy, Debug)]
pub struct RawEvent<'a> {
    /// The record.
    pub event_bytes: &'a [u8],
    /// The stored hash; `None` where none is kept and it follows from the events.
    pub event_hash: Option<&'a Hash>,
    /// The stream it is stored under, if the place says so.
    pub stream_id: Option<StreamId>,
    /// The hash that is said to stand before it, if any is.
    pub previous: Option<&'a Hash>,
}

/// Streams that want an exact look, and why.
#[derive(Debug, Default)]
pub struct Suspects {
    /// By stream, the insertion ids of the events that gave rise to it.
    pub streams: HashMap<StreamId, Vec<i64>>,
    ids: usize,
    /// Something cannot be put down to a stream: everything wants an exact look.
    pub all: bool,
}

/// More than this is not told apart any more.
const SUSPECTS_MAX: usize = 100_000;

impl Suspects {
    fn add(&mut self, stream: StreamId, id: i64) {
        if self.ids == SUSPECTS_MAX {
            self.all = true;
        } else {
            self.ids += 1;
            self.streams.entry(stream).or_default().push(id);
        }
    }

    /// Those of another checker as well.
    pub fn extend(&mut self, other: Suspects) {
        self.all |= other.all;
        for (stream, ids) in other.streams {
            ids.into_iter().for_each(|id| self.add(stream, id));
        }
    }
}

/// What a checker saw.
pub struct Tally {
    /// What wants an exact look.
    pub suspects: Suspects,
    /// Streams above this did not fit: the events are to be read again for them.
    pub followed_to: u64,
    /// Was every hash that is said to stand before a sound event the one before it?
    pub is_linked: bool,
    begun: Begun,
    keys: Keys,
}

impl Tally {
    /// Streams up to a fingerprint that began and are no suspects, and how many of them are jobs.
    pub fn streams_and_jobs(&self, up_to: u64) -> (u64, u64) {
        let (mut streams, mut jobs) = self.begun.count(up_to);
        for stream in self.suspects.streams.keys() {
            // The exact look counts them.
            let fingerprint = Fingerprint::new(self.keys.streams.hash_one(stream.0.as_bytes()));
            if let Some(is_job) = self.begun.is_job(fingerprint).filter(|_| fingerprint.bits() <= up_to) {
                streams -= 1;
                jobs -= u64::from(is_job);
            }
        }
        (streams, jobs)
    }
}

/// Follows a share of the streams, event by event.
pub struct Checker {
    keys: Keys,
    live: LiveStreams,
    suspects: Suspects,
    is_linked: bool,
    /// Where the range began; what comes before was followed by another run.
    is_first_run: bool,
    clock: Clock,
    /// Stream type, tenant and what stands for them, of the event before.
    owner: (String, [u8; 16], u32),
}

impl Checker {
    /// A checker of streams whose fingerprints are in `range`, which may use so much memory.
    pub fn new(keys: Keys, range: RangeInclusive<u64>, bytes_max: usize) -> Self {
        let is_first_run = *range.start() == 0;
        let live = LiveStreams::new(range, bytes_max);
        let owner = (String::new(), [0; 16], keys.owner("", [0; 16]));
        Checker {
            keys,
            live,
            suspects: Suspects::default(),
            is_linked: true,
            is_first_run,
            clock: Clock::default(),
            owner,
        }
    }

    /// Check one row of the database. Returns the leaf of what the event says it is, if it says so.
    pub(in crate::verify) fn take_row(&mut self, row: &Row<'_>) -> Option<Hash> {
        let fingerprint = self.fingerprint(row.stream_id);
        let stream = StreamId(Uuid::from_bytes(*row.stream_id));
        if !self.is_first_run && !self.live.follows(fingerprint) {
            return None;
        }
        let careful;
        let event = match envelope::read(row.event_bytes, &mut self.clock) {
            Some(event) => event,
            None => {
                careful = Envelope::read(row.event_bytes).ok();
                let Some(envelope) = &careful else {
                    self.suspects.add(stream, row.id);
                    return None;
                };
                QuickEvent::from(envelope)
            }
        };
        let hash = Hash(*row.event_hash);
        let said = StreamId(Uuid::from_bytes(event.stream_id));
        let leaf = event_leaf(event.stream_type, said, Version(event.version), &hash);
        if !agree(row, &event) {
            self.suspects.add(stream, row.id);
            if said != stream {
                self.suspects.add(said, row.id);
            }
        } else if self.live.follows(fingerprint)
            && self.follow(fingerprint, &event, row.event_bytes, Some(&hash)).is_none()
        {
            self.suspects.add(stream, row.id);
        }
        Some(leaf)
    }

    /// Check one event that is nothing but its bytes, and perhaps a hash, known by some number. Returns
    /// its leaf; `None` if it is not sound, or belongs to a stream that is not followed.
    pub fn take(&mut self, raw: RawEvent<'_>, number: i64) -> Option<Hash> {
        let careful;
        let event = match envelope::read(raw.event_bytes, &mut self.clock) {
            Some(event) => event,
            None => {
                careful = Envelope::read(raw.event_bytes).ok();
                let Some(envelope) = &careful else {
                    match raw.stream_id {
                        Some(stream) => self.suspects.add(stream, number),
                        None => self.suspects.all = true,
                    }
                    return None;
                };
                QuickEvent::from(envelope)
            }
        };
        let stream = StreamId(Uuid::from_bytes(event.stream_id));
        let fingerprint = self.fingerprint(&event.stream_id);
        if !self.live.follows(fingerprint) {
            return None;
        }
        let is_elsewhere = raw.stream_id.is_some_and(|stored| stored != stream);
        let is_before = |said: &Hash| self.live.get(fingerprint).is_some_and(|live| live.hash == said.0);
        let is_linked = raw.previous.is_none_or(is_before);
        let followed = self.follow(fingerprint, &event, raw.event_bytes, raw.event_hash);
        let Some(hash) = followed.filter(|_| !is_elsewhere) else {
            self.suspects.add(stream, number);
            return None;
        };
        self.is_linked &= is_linked;
        Some(event_leaf(event.stream_type, stream, Version(event.version), &hash))
    }

    /// Something came that is not even a row.
    pub fn suspect_all(&mut self) {
        self.suspects.all = true;
    }

    /// What was seen, once everything was taken.
    pub fn finish(self) -> Tally {
        let followed_to = *self.live.range().end();
        let begun = self.live.into_begun();
        let mut suspects = self.suspects;
        suspects.all |= begun.has_twins();
        Tally { suspects, followed_to, is_linked: self.is_linked, begun, keys: self.keys }
    }

    /// The next event of a stream: `None` if it is not.
    fn follow(
        &mut self,
        stream: Fingerprint,
        event: &QuickEvent<'_>,
        event_bytes: &[u8],
        stored: Option<&Hash>,
    ) -> Option<Hash> {
        let is_job = event.stream_type == job::STREAM_TYPE;
        let owner = self.owner(event);
        let facts = if is_job {
            let QuickEvent { event_type, schema, payload, .. } = *event;
            Some(Facts::read(event_type, schema, payload, &self.keys.names, &mut self.clock)?)
        } else {
            None
        };
        if event.version == 1 {
            let hash = sound_hash(&Hash::ZERO, event_bytes, stored)?;
            let job = facts.map_or(Some(JobBits::NO_JOB), JobBits::begin)?;
            if self.live.get(stream).is_some() {
                return None;
            }
            self.live.begin(stream, is_job, Some(Live { hash: hash.0, version: 1, owner, job }));
            return Some(hash);
        }
        let live = self.live.get(stream)?;
        if live.version.checked_add(1) != Some(event.version) || live.owner != owner {
            return None;
        }
        let hash = sound_hash(&live.hash(), event_bytes, stored)?;
        let job = facts.map_or(Some(JobBits::NO_JOB), |facts| live.job.next(facts))?;
        *live = Live { hash: hash.0, version: event.version, owner, job };
        if is_job && job.is_over() {
            self.live.remove(stream);
        }
        Some(hash)
    }

    /// Neighbouring events mostly have the same.
    fn owner(&mut self, event: &QuickEvent<'_>) -> u32 {
        let (stream_type, tenant, _) = &self.owner;
        if stream_type != event.stream_type || *tenant != event.tenant_id {
            let owner = self.keys.owner(event.stream_type, event.tenant_id);
            self.owner = (event.stream_type.to_owned(), event.tenant_id, owner);
        }
        self.owner.2
    }

    fn fingerprint(&self, stream: &[u8; 16]) -> Fingerprint {
        Fingerprint::new(self.keys.streams.hash_one(stream))
    }
}

fn sound_hash(before: &Hash, event_bytes: &[u8], stored: Option<&Hash>) -> Option<Hash> {
    let hash = chain_hash(before, event_bytes);
    stored.is_none_or(|stored| *stored == hash).then_some(hash)
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

impl<'a> From<&'a Envelope<'_>> for QuickEvent<'a> {
    fn from(envelope: &'a Envelope<'_>) -> Self {
        QuickEvent {
            event_type: &envelope.event_type,
            occurred_at: envelope.occurred_at,
            payload: envelope.payload,
            schema: envelope.schema,
            stream_id: envelope.stream_id.0.into_bytes(),
            stream_type: &envelope.stream_type,
            tenant_id: envelope.tenant_id.0.into_bytes(),
            version: envelope.version.0,
        }
    }
}
