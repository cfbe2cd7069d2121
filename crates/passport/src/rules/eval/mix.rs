//! A quick hash for finding things again within one evaluation. Nothing that anybody sees depends on it,
//! and a bad one would only cost time, which fuel and the limits on facts bound.

use std::hash::{BuildHasherDefault, Hasher};

/// For maps whose keys are small numbers, or hashes made with [`Mix`].
pub(super) type Mixed = BuildHasherDefault<Mix>;

/// Eight bytes at a time, each mixed in with a multiplication.
#[derive(Clone, Copy, Default)]
pub(super) struct Mix(u64);

impl Mix {
    fn add(&mut self, word: u64) {
        let product =
            u128::from(self.0 ^ word ^ 0x9e37_79b9_7f4a_7c15) * u128::from(0xd6e8_feb8_6659_fd93_u64);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.add(chunk.try_into().map_or(0, u64::from_le_bytes));
        }
        let mut last = [0; 8];
        last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        self.add(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, number: u8) {
        self.add(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.add(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }
}
