//! Which key speaks for the log at which size: the log's own events say so.
//!
//! The first key is the one that a log begins with. Another takes over only if the one before says so
//! itself, by a signature in `LOG_KEY_ROTATED`; whoever can merely write to the database cannot make
//! a key known. `LOG_REOPENED` opens a new origin, with or without the old key's word.

use bpc_core::log_events::{
    LOG_KEY_ADDED, LOG_KEY_ROTATED, LOG_REOPENED, LOG_STREAM, LogKeyAdded, LogKeyRotated, LogReopened,
    handover_text,
};
use bpc_core::note::{NoteSignature, SignatureKind, SignedNote, VerifierKey};
use bpc_core::{Envelope, StreamId, TenantId, Version};
use serde::Deserialize;

use crate::database::Conn;
use crate::error::StoreError;
use crate::read::read_stream;

use super::read::position_of;

/// Why a key counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The log's first key. Whoever wants to be sure of it compares it with one they were given.
    First,
    /// The key before it signed the hand-over.
    HandedOver,
    /// A new origin was opened. `is_vouched`: the key of the old one signed the hand-over.
    Reopened {
        /// Did the old key vouch for it?
        is_vouched: bool,
        /// What the event says.
        event: LogReopened,
    },
}

/// A time during which one key speaks for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEpoch {
    /// The log's name in checkpoints.
    pub origin: String,
    /// Lowercase hex of the public key.
    pub public_key: String,
    /// Smallest size of a checkpoint that this key signs; `None` while its event is not sealed.
    pub first_size: Option<u64>,
    /// Version of the event in the log's own stream.
    pub version: Version,
    /// Why it counts.
    pub standing: Standing,
}

/// All keys that ever spoke for the log, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keyring {
    /// In order.
    pub epochs: Vec<KeyEpoch>,
    /// Versions of hand-overs that do not hold, with the reason. Their keys count for nothing.
    pub refused: Vec<(Version, &'static str)>,
}

/// The log's own stream.
pub fn log_stream() -> StreamId {
    StreamId::derived("log", LOG_STREAM)
}

impl Keyring {
    /// From the log's own stream.
    pub async fn load(conn: &mut Conn<'_>) -> Result<Self, StoreError> {
        let mut keyring = Keyring::default();
        for event in read_stream(conn, TenantId::SYSTEM, log_stream()).await? {
            let position = position_of(conn, event.id).await?;
            match event.envelope() {
                Ok(envelope) => keyring.take(&envelope, position),
                Err(_) => keyring.refused.push((Version(event.version as u32), "it cannot be read")),
            }
        }
        Ok(keyring)
    }

    /// Go on with the next event of the log's own stream, which stands at that position.
    pub fn take(&mut self, envelope: &Envelope<'_>, position: Option<u64>) {
        let version = envelope.version;
        let epoch = match &*envelope.event_type {
            // Later ones make a key known to people, not to checkpoints.
            LOG_KEY_ADDED if !self.epochs.is_empty() => return,
            LOG_KEY_ADDED => payload::<LogKeyAdded>(envelope).map(|it| KeyEpoch {
                origin: it.origin,
                public_key: it.public_key,
                first_size: Some(0),
                version,
                standing: Standing::First,
            }),
            LOG_KEY_ROTATED => self.rotated(envelope, position),
            LOG_REOPENED => self.reopened(envelope, position),
            _ => return,
        };
        match epoch {
            Ok(epoch) => self.epochs.push(epoch),
            Err(reason) => self.refused.push((version, reason)),
        }
    }

    /// The key that signs checkpoints of that size.
    pub fn at_size(&self, size: u64) -> Option<&KeyEpoch> {
        let covers = |epoch: &&KeyEpoch| epoch.first_size.is_some_and(|first| first <= size);
        self.epochs.iter().rev().find(covers)
    }

    /// The key that will sign once everything is sealed.
    pub fn newest(&self) -> Option<&KeyEpoch> {
        self.epochs.last()
    }

    fn rotated(&self, envelope: &Envelope<'_>, position: Option<u64>) -> Result<KeyEpoch, &'static str> {
        let it: LogKeyRotated = payload(envelope)?;
        let before = self.newest().ok_or("no key was there to hand over")?;
        if (&it.previous_key, &it.origin) != (&before.public_key, &before.origin) {
            return Err("it is not the key in use that hands over");
        }
        if !signed_by(before, &it.origin, &it.public_key, &it.signature) {
            return Err("the signature of the key before does not hold");
        }
        let first_size = position.map(|position| position + 1);
        let (origin, public_key) = (it.origin, it.public_key);
        Ok(KeyEpoch {
            origin,
            public_key,
            first_size,
            version: envelope.version,
            standing: Standing::HandedOver,
        })
    }

    fn reopened(&self, envelope: &Envelope<'_>, position: Option<u64>) -> Result<KeyEpoch, &'static str> {
        let event: LogReopened = payload(envelope)?;
        let is_vouched = match (&event.previous_key, &event.signature, self.newest()) {
            (Some(previous), Some(signature), Some(before)) if *previous == before.public_key => {
                signed_by(before, &event.origin, &event.public_key, signature)
            }
            _ => false,
        };
        Ok(KeyEpoch {
            origin: event.origin.clone(),
            public_key: event.public_key.clone(),
            first_size: position.map(|position| position + 1),
            version: envelope.version,
            standing: Standing::Reopened { is_vouched, event },
        })
    }
}

impl KeyEpoch {
    /// What its checkpoints are checked with: the signature, and the time beside it. `None` if the
    /// public key is no key.
    pub fn verifiers(&self) -> Option<[VerifierKey; 2]> {
        let public = unhex(&self.public_key)?;
        let key = |kind| VerifierKey::new(&self.origin, kind, &public).ok();
        Some([key(SignatureKind::Ed25519)?, key(SignatureKind::Cosignature)?])
    }
}

/// 32 bytes from lowercase hex.
pub(crate) fn unhex(text: &str) -> Option<[u8; 32]> {
    hex::decode(text).ok()?.try_into().ok()
}

fn signed_by(before: &KeyEpoch, origin: &str, public_key: &str, signature: &str) -> bool {
    let holds = || {
        let [verifier, _] = before.verifiers()?;
        let signature = hex::decode(signature).ok()?;
        let line = NoteSignature { name: verifier.name().to_owned(), id: verifier.id(), signature };
        let text = handover_text(origin, &before.public_key, public_key);
        SignedNote { text, signatures: vec![line] }.verify(&[verifier]).ok().map(drop)
    };
    holds().is_some()
}

fn payload<'a, T: Deserialize<'a>>(envelope: &Envelope<'a>) -> Result<T, &'static str> {
    serde_json::from_slice(envelope.payload).map_err(|_| "its payload does not have its shape")
}
