//! A small sealed log: the job of `docs/FORMAT.md`, a second stream, and many leaves of others around them.
#![allow(dead_code)]

use std::borrow::Cow;
use std::convert::Infallible;

use bpc_core::job::{JobEvent, SCHEMA};
use bpc_core::merkle::{Frontier, Tree, consistency, event_leaf, inclusion, leaf_hash};
use bpc_core::note::{Checkpoint, Cosigner, SignedNote, Signer, VerifierKey};
use bpc_core::proof::{Proof, ProvenEvent, Subject};
use bpc_core::tile::{TILE_WIDTH, Tile};
use bpc_core::{Envelope, EventId, Hash, StreamId, TenantId, Timestamp, Version, chain_hash};
use uuid::Uuid;

/// Name of the log.
pub const ORIGIN: &str = "bpc.example/log";
/// The job whose events are the test vectors of the document.
pub const JOB: &str = "1b670d0b-de96-8d38-9514-cb55e73e4908";
/// Where its events stand.
pub const POSITIONS: [u64; 3] = [4, 258, 299];
/// Another job of the same tenant, with its one event beside the first.
pub const OTHER: &str = "00000000-0000-8000-8000-00000000000b";
/// Where that stands.
pub const OTHER_POSITION: u64 = 5;
/// Leaves in all.
pub const SIZE: u64 = 300;

/// An event with its hash.
#[derive(Clone)]
pub struct Event {
    pub text: String,
    pub hash: Hash,
}

/// A log with all its leaves.
pub struct Sealed {
    pub leaves: Vec<Hash>,
    tiles: Vec<Tile>,
}

impl Sealed {
    /// The log with these events at these positions and other leaves everywhere else.
    pub fn with(events: &[(u64, &Event)], size: u64) -> Self {
        let filler = |position: u64| leaf_hash(format!("another event {position}").as_bytes());
        let mut leaves: Vec<_> = (0..size).map(filler).collect();
        for (position, event) in events {
            leaves[*position as usize] = leaf_of(event);
        }
        Sealed::of(leaves)
    }

    /// The log with these leaves.
    pub fn of(leaves: Vec<Hash>) -> Self {
        let tiles = Tree::new().extend(leaves.iter().copied());
        Sealed { leaves, tiles }
    }

    pub fn root(&self, size: u64) -> Hash {
        let mut frontier = Frontier::new();
        frontier.extend(self.leaves[..size as usize].iter().copied());
        frontier.root()
    }

    pub fn note(&self, size: u64) -> SignedNote {
        let text = Checkpoint::new(ORIGIN, size, self.root(size)).text();
        SignedNote { signatures: vec![signer().sign(&text)], text }
    }

    pub fn path(&self, position: u64) -> Vec<Hash> {
        inclusion(position, self.leaves.len() as u64, |level, index| self.hash(level, index)).unwrap()
    }

    pub fn consistency(&self, old: u64, new: u64) -> Vec<Hash> {
        consistency(old, new, |level, index| self.hash(level, index)).unwrap()
    }

    /// A proof of these events against the newest checkpoint.
    pub fn proof(&self, subject: Subject, prev_hash: Option<Hash>, events: &[(u64, &Event)]) -> Proof {
        let proven = |(position, event): &(u64, &Event)| ProvenEvent {
            event: event.text.clone(),
            position: *position,
            path: self.path(*position),
        };
        let checkpoint = self.note(self.leaves.len() as u64).to_string();
        Proof { subject, prev_hash, events: events.iter().map(proven).collect(), checkpoint }
    }

    fn hash(&self, level: u8, index: u64) -> Result<Hash, Infallible> {
        let holds = |tile: &&Tile| tile.id.level == level && tile.id.index == index / TILE_WIDTH;
        Ok(self.tiles.iter().find(holds).unwrap().hash(index).unwrap())
    }
}

/// The three events of the document, at their positions.
pub fn document_events() -> Vec<Event> {
    let document = include_str!("../../../../docs/FORMAT.md");
    let lines = document.lines().filter(|line| line.starts_with("{\"actor\":") && line.contains(JOB));
    let mut prev = Hash::ZERO;
    let events: Vec<_> = lines.take(3).map(|text| chained(&mut prev, text.to_owned())).collect();
    assert_eq!(events.len(), 3, "the document has the three events");
    events
}

/// The log of the document: its job, and the other one's event beside it.
pub fn document_log() -> (Sealed, Vec<Event>, Event) {
    let (events, other) = (document_events(), other_event());
    let mut placed: Vec<_> = POSITIONS.into_iter().zip(&events).collect();
    placed.push((OTHER_POSITION, &other));
    (Sealed::with(&placed, SIZE), events, other)
}

/// Version 1 of the other job.
pub fn other_event() -> Event {
    let first: Envelope<'_> = Envelope::read(DOCUMENT_FIRST.as_bytes()).unwrap();
    let other = Envelope { stream_id: OTHER.parse().unwrap(), ..first };
    let mut text = Vec::new();
    other.write(&mut text);
    chained(&mut Hash::ZERO.clone(), String::from_utf8(text).unwrap())
}

/// Any event of the document's job, for histories that are sealed but not legal.
pub fn job_event(version: u32, prev: &mut Hash, event: &JobEvent) -> Event {
    let mut payload = Vec::new();
    event.write_payload(&mut payload);
    let envelope = Envelope {
        actor: Cow::Borrowed("system"),
        causation_id: None,
        correlation_id: None,
        event_id: EventId(Uuid::from_u128(version.into())),
        event_type: Cow::Borrowed(event.event_type()),
        occurred_at: Timestamp::from_micros(1_700_000_000_000_000),
        payload: &payload,
        schema: SCHEMA,
        stream_id: JOB.parse::<StreamId>().unwrap(),
        stream_type: Cow::Borrowed("Job"),
        tenant_id: TenantId::from_slug("default"),
        version: Version(version),
    };
    let mut text = Vec::new();
    envelope.write(&mut text);
    chained(prev, String::from_utf8(text).unwrap())
}

/// The event with that text behind `prev`, which moves on to it.
pub fn chained(prev: &mut Hash, text: String) -> Event {
    let hash = chain_hash(prev, text.as_bytes());
    *prev = hash;
    Event { text, hash }
}

pub fn signer() -> Signer {
    Signer::new(ORIGIN, &[1; 32]).unwrap()
}

pub fn witness() -> Cosigner {
    Cosigner::new("witness.example/w", &[2; 32]).unwrap()
}

pub fn log_keys() -> Vec<VerifierKey> {
    vec![signer().verifier().clone()]
}

/// The bytes with one of them changed in several ways, removed or doubled, for every byte.
pub fn changes(bytes: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    (0..bytes.len()).flat_map(move |at| {
        let flipped = [0x01, 0x04, 0x20, 0x80].map(|bits| {
            let mut changed = bytes.to_vec();
            changed[at] ^= bits;
            changed
        });
        let removed = [&bytes[..at], &bytes[at + 1..]].concat();
        let doubled = [&bytes[..=at], &bytes[at..]].concat();
        flipped.into_iter().chain([removed, doubled]).map(move |changed| (at, changed))
    })
}

fn leaf_of(event: &Event) -> Hash {
    let envelope = Envelope::read(event.text.as_bytes()).unwrap();
    event_leaf(&envelope.stream_type, envelope.stream_id, envelope.version, &event.hash)
}

const DOCUMENT_FIRST: &str = r#"{"actor":"user:ada","event_id":"01a1e5e7-6a98-7101-8101-010101010101","event_type":"ENQUEUED","format":"BPC-EVENT-1","occurred_at":"2026-11-16T19:48:31.000001Z","payload":{"job_type":"SEND_RECEIPT","max_attempts":5,"payload":{},"priority":2,"queue":"default","scheduled_at":"2026-11-16T19:48:31.000001Z"},"schema":1,"stream_id":"1b670d0b-de96-8d38-9514-cb55e73e4908","stream_type":"Job","tenant_id":"a8980e3f-23a4-8e8b-b05c-8734a6337d35","version":1}"#;
