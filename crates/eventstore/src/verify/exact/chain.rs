//! The chain of one stream: dense versions, and hashes that each cover the one before.

use bpc_core::{Hash, chain_hash};

/// More rows than this for one version are not told apart any further.
const CANDIDATES_MAX: usize = 8;

/// Where the chain stands. Normally exactly one hash may come before an event; behind an event that
/// was a finding, every hash that it might rightly have had is let through, so that one edit is one
/// finding. Empty means unknown: the event before is missing.
#[derive(Default)]
pub(super) struct Chain {
    version: Option<i64>,
    before: Vec<Hash>,
    after: Vec<Hash>,
}

/// How an event's version follows the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Next,
    Gap { expected: i64 },
    Duplicate,
}

/// How an event's hash follows the one before it.
pub(super) struct Link {
    pub(super) is_sound: bool,
    /// What the hash should be, unless the event before is missing.
    pub(super) expected: Option<Hash>,
    /// What to call its hash from here on.
    pub(super) hash: Hash,
}

impl Chain {
    /// Go on to an event with that version.
    pub(super) fn step(&mut self, version: i64) -> Step {
        let expected = self.version.map_or(1, |version| version.saturating_add(1));
        if self.version.is_some_and(|newest| version <= newest) {
            return Step::Duplicate;
        }
        if version < 1 {
            // No place in any stream, so it must not hide where this one begins.
            return Step::Gap { expected };
        }
        let is_first = self.version.replace(version).is_none();
        std::mem::swap(&mut self.before, &mut self.after);
        self.after.clear();
        if version != expected {
            self.before.clear();
            return Step::Gap { expected };
        }
        if is_first {
            self.before.clear();
            self.before.push(Hash::ZERO);
        }
        Step::Next
    }

    /// Check the hash of the event just stepped to; `None` is a stored value that is no hash at all.
    pub(super) fn link(&mut self, event_bytes: &[u8], stored: Option<Hash>) -> Link {
        let mut expected = None;
        for before in &self.before {
            let computed = chain_hash(before, event_bytes);
            if stored == Some(computed) {
                self.candidate(computed);
                return Link { is_sound: true, expected: Some(computed), hash: computed };
            }
            expected = expected.or(Some(computed));
        }
        for hash in [stored, expected].into_iter().flatten() {
            self.candidate(hash);
        }
        let hash = stored.or(expected).unwrap_or(Hash::ZERO);
        Link { is_sound: self.before.is_empty() && stored.is_some(), expected, hash }
    }

    fn candidate(&mut self, hash: Hash) {
        if self.after.len() < CANDIDATES_MAX {
            self.after.push(hash);
        }
    }
}
