//! A table by fingerprint whose places lie in one piece, so that a look costs one wait for memory, and many can be
//! waited for at once.
//!
//! The tables of the standard library wait twice, for the byte that says whether a place is taken and for the place.
//! With a million open streams these waits were a sixth of the time of checking an archive.

use super::live::Fingerprint;

/// What stands at fingerprints.
pub(super) struct Table<T> {
    places: Vec<Place<T>>,
    taken: usize,
}

/// Aligned, so that no place lies across the border of two lines of the cache.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Place<T> {
    /// Zero, or a fingerprint with the lowest bit set, which fingerprints do not use.
    key: [u32; 2],
    value: T,
}

/// The fewest places of a table that has any.
const PLACES_MIN: usize = 16;

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table { places: Vec::new(), taken: 0 }
    }
}

impl<T: Copy + Default> Table<T> {
    pub(super) fn get(&mut self, fingerprint: Fingerprint) -> Option<&mut T> {
        let at = self.find(fingerprint)?;
        Some(&mut self.places[at].value)
    }

    /// Put something where nothing is yet.
    pub(super) fn insert(&mut self, fingerprint: Fingerprint, value: T) {
        // Three quarters full at most: beyond that, looks get long.
        if (self.taken + 1) * 4 > self.places.len() * 3 {
            self.resize((self.places.len() + self.places.len() / 2).max(PLACES_MIN));
        }
        self.put(key(fingerprint), value);
    }

    pub(super) fn remove(&mut self, fingerprint: Fingerprint) {
        let Some(mut hole) = self.find(fingerprint) else { return };
        self.taken -= 1;
        // Those behind it that would not be found across a hole move up.
        let mut next = self.behind(hole);
        while self.places[next].key != [0; 2] {
            if self.distance(self.home(self.places[next].key), next) >= self.distance(hole, next) {
                self.places[hole] = self.places[next];
                hole = next;
            }
            next = self.behind(next);
        }
        self.places[hole] = Place::default();
    }

    /// The same memory with nothing in it.
    pub(super) fn clear(&mut self) {
        self.places.fill(Place::default());
        self.taken = 0;
    }

    /// Keep some, on as little memory as possible.
    pub(super) fn retain(&mut self, is_kept: impl Fn(u64) -> bool) {
        let kept = |place: &Place<T>| place.key != [0; 2] && is_kept(bits(place.key) & !1);
        let count = self.places.iter().filter(|place| kept(place)).count();
        let before = std::mem::take(&mut self.places);
        self.taken = 0;
        if count > 0 {
            self.places = vec![Place::default(); (count * 4).div_ceil(3).max(PLACES_MIN)];
        }
        before.into_iter().filter(kept).for_each(|place| self.put(place.key, place.value));
    }

    /// Read something of the place where a look begins. What is read means nothing; but once it was, the look
    /// need not wait.
    pub(super) fn touch(&self, fingerprint: Fingerprint) -> u32 {
        self.places.get(self.home(key(fingerprint))).map_or(0, |place| place.key[0])
    }

    pub(super) fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<Place<T>>()
    }

    fn find(&self, fingerprint: Fingerprint) -> Option<usize> {
        if self.places.is_empty() {
            return None;
        }
        let key = key(fingerprint);
        let mut at = self.home(key);
        while self.places[at].key != key {
            if self.places[at].key == [0; 2] {
                return None;
            }
            at = self.behind(at);
        }
        Some(at)
    }

    fn put(&mut self, key: [u32; 2], value: T) {
        let mut at = self.home(key);
        while self.places[at].key != [0; 2] {
            at = self.behind(at);
        }
        self.places[at] = Place { key, value };
        self.taken += 1;
    }

    fn resize(&mut self, places: usize) {
        let before = std::mem::replace(&mut self.places, vec![Place::default(); places]);
        self.taken = 0;
        let taken = before.into_iter().filter(|place| place.key != [0; 2]);
        taken.for_each(|place| self.put(place.key, place.value));
    }

    /// Where a look begins. Fingerprints of one table may have their upper and lower bits in common, so all are mixed.
    fn home(&self, key: [u32; 2]) -> usize {
        let mixed = bits(key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((u128::from(mixed) * self.places.len() as u128) >> 64) as usize
    }

    fn behind(&self, at: usize) -> usize {
        if at + 1 == self.places.len() { 0 } else { at + 1 }
    }

    /// Steps from one place to another.
    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from { to - from } else { to + self.places.len() - from }
    }
}

fn key(fingerprint: Fingerprint) -> [u32; 2] {
    let bits = fingerprint.bits() | 1;
    [(bits >> 32) as u32, bits as u32]
}

fn bits(key: [u32; 2]) -> u64 {
    u64::from(key[0]) << 32 | u64::from(key[1])
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    /// Few fingerprints, some of which begin their looks at the same place, whatever the size of the table.
    fn fingerprint() -> impl Strategy<Value = Fingerprint> {
        prop_oneof![(0..40_u64).prop_map(|n| n << 1), (0..8_u64).prop_map(|n| n << 62 | 0x1000)]
            .prop_map(Fingerprint::new)
    }

    proptest! {
        #[test]
        fn a_table_holds_what_a_map_holds(steps in proptest::collection::vec((fingerprint(), 0..4_u8), 1..400)) {
            let (mut table, mut map) = (Table::<u32>::default(), HashMap::<u64, u32>::new());
            for (number, (fingerprint, kind)) in steps.into_iter().enumerate() {
                let number = number as u32;
                match kind {
                    0 | 1 if !map.contains_key(&fingerprint.bits()) => {
                        map.insert(fingerprint.bits(), number);
                        table.insert(fingerprint, number);
                    }
                    2 => {
                        map.remove(&fingerprint.bits());
                        table.remove(fingerprint);
                    }
                    3 if number.is_multiple_of(101) => {
                        map.clear();
                        table.clear();
                    }
                    3 if number.is_multiple_of(50) => {
                        map.retain(|bits, _| bits % 3 > 0);
                        table.retain(|bits| bits % 3 > 0);
                    }
                    _ => {}
                }
                table.touch(fingerprint);
                prop_assert_eq!(table.get(fingerprint).copied(), map.get(&fingerprint.bits()).copied());
                prop_assert_eq!(table.taken, map.len());
            }
            for (bits, number) in map {
                prop_assert_eq!(table.get(Fingerprint::new(bits)).copied(), Some(number));
            }
        }
    }

    #[test]
    fn an_entry_takes_half_a_line_of_the_cache_or_a_whole_one() {
        assert_eq!(size_of::<Place<[u32; 6]>>(), 32);
        assert_eq!(size_of::<Place<[u32; 12]>>(), 64);
    }
}
