//! A set of facts.

/// A set of facts.
#[derive(Clone, Default)]
pub(super) struct Touched(Vec<u64>);

impl Touched {
    pub(super) fn add(&mut self, index: u32) {
        let (word, bit) = (index as usize / 64, index % 64);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << bit;
    }

    pub(super) fn extend(&mut self, other: &Touched) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    pub(super) fn indexes(&self) -> Vec<u32> {
        let words = self.0.iter().enumerate();
        words
            .flat_map(|(at, word)| {
                (0..64u32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at as u32 * 64 + bit)
            })
            .collect()
    }
}
