//! What stands for names, streams and hashes while a log is checked.

use std::hash::{BuildHasher, RandomState};

use bpc_core::Hash;

use super::facts::Names;
use super::live::{Fingerprint, HeadPrint};

/// Keys of all fingerprints of a run: what they stand for cannot be guessed.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    streams: RandomState,
    owners: RandomState,
    heads: RandomState,
    pub(super) names: Names,
}

impl Keys {
    pub(super) fn stream(&self, stream: [u8; 16]) -> Fingerprint {
        Fingerprint::new(self.streams.hash_one(u128::from_ne_bytes(stream)))
    }

    pub(super) fn head(&self, hash: &Hash) -> HeadPrint {
        HeadPrint::new(self.heads.hash_one(hash))
    }

    /// Stands for stream type and tenant.
    pub(super) fn owner(&self, stream_type: &str, tenant: [u8; 16]) -> u32 {
        self.owners.hash_one((stream_type, tenant)) as u32
    }
}
