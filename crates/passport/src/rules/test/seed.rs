//! Numbers that look random and can be had again.
//!
//! `key = SHA-256("BPC-TESTSEED-1" || package || rules_hash || seed as 8 bytes, big-endian)` keys
//! ChaCha8. Each case has a stream of its own, so case 731 can be had without the 730 before it.
//! The package is its name, so that a seed means the same wherever the package is installed.

use bpc_core::Hash;
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use crate::hash::sha256;

/// Streams of properties and of changes, away from those of generated cases.
pub(super) const PROPERTIES: u64 = 1 << 32;
pub(super) const CHANGES: u64 = 1 << 33;

/// Where the numbers of a run come from.
#[derive(Clone, Debug)]
pub(super) struct Seed([u8; 32]);

/// The numbers of one case.
pub(super) struct Numbers(ChaCha8Rng);

impl Seed {
    pub(super) fn new(package: &str, rules_hash: Hash, seed: i64) -> Self {
        let key = sha256(&[b"BPC-TESTSEED-1", package.as_bytes(), &rules_hash.0, &seed.to_be_bytes()]);
        Self(key.0)
    }

    /// The numbers of a case.
    pub(super) fn case(&self, number: u64) -> Numbers {
        let mut rng = ChaCha8Rng::from_seed(self.0);
        rng.set_stream(number);
        Numbers(rng)
    }
}

impl Numbers {
    /// A number below `bound`, which is not 0. The slight preference for small ones of a plain
    /// remainder does not matter here, and the same bytes give the same number for ever.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    /// One of several; `None` if there are none.
    pub(super) fn choose<'t, T>(&mut self, from: &'t [T]) -> Option<&'t T> {
        if from.is_empty() { None } else { from.get(self.below(from.len() as u64) as usize) }
    }

    /// Mixes a list.
    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_has_the_same_numbers_whatever_was_asked_before() {
        let seed = Seed::new("test", Hash([7; 32]), -1);
        let mut first = seed.case(5);
        let (a, b) = (first.below(1 << 40), first.below(1 << 40));
        let mut again = Seed::new("test", Hash([7; 32]), -1).case(5);
        assert_eq!((again.below(1 << 40), again.below(1 << 40)), (a, b));
        assert_ne!(seed.case(6).below(1 << 40), a);
        assert_ne!(Seed::new("test", Hash([7; 32]), 1).case(5).below(1 << 40), a);
    }

    #[test]
    fn numbers_are_chacha8_of_the_documented_key() {
        // Calculated apart from the library: a change of it, of the stream or the key would make old
        // runs impossible to have again.
        let numbers: Vec<u64> = {
            let mut numbers = Seed::new("eu_2023_1542", Hash([0; 32]), 42).case(3);
            (0..3).map(|_| numbers.below(1 << 32)).collect()
        };
        assert_eq!(numbers, [699_964_172, 547_095_131, 4_293_557_121]);
    }
}
