//! Chance that can be had again by its seed.

/// SplitMix64: small, and good enough to choose commands.
#[derive(Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    pub fn seeded(seed: u64) -> Self {
        Random { state: seed }
    }

    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Anything below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// One of these.
    pub fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Ten bytes, as a UUIDv7 needs.
    pub fn entropy(&mut self) -> [u8; 10] {
        let mut bytes = [0; 10];
        bytes[..8].copy_from_slice(&self.number().to_be_bytes());
        bytes[8..].copy_from_slice(&(self.number() as u16).to_be_bytes());
        bytes
    }
}
