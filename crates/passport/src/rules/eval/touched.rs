//! A set of facts.

/// A set of facts. Most batteries have few facts, so the first 64 need no room of their own.
#[derive(Clone, Default)]
pub(super) struct Touched {
    first: u64,
    more: Vec<u64>,
}

impl Touched {
    pub(super) fn add(&mut self, index: u32) {
        let (word, bit) = (index as usize / 64, index % 64);
        let Some(word) = word.checked_sub(1) else {
            self.first |= 1 << bit;
            return;
        };
        if word >= self.more.len() {
            self.more.resize(word + 1, 0);
        }
        self.more[word] |= 1 << bit;
    }

    pub(super) fn extend(&mut self, other: &Touched) {
        self.first |= other.first;
        if other.more.len() > self.more.len() {
            self.more.resize(other.more.len(), 0);
        }
        for (word, more) in self.more.iter_mut().zip(&other.more) {
            *word |= more;
        }
    }

    pub(super) fn indexes(&self) -> Vec<u32> {
        let mut indexes = Vec::new();
        for (at, word) in std::iter::once(&self.first).chain(&self.more).enumerate() {
            let mut left = *word;
            while left != 0 {
                indexes.push(at as u32 * 64 + left.trailing_zeros());
                left &= left - 1;
            }
        }
        indexes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_in_it_once_and_in_order() {
        let (mut one, mut other) = (Touched::default(), Touched::default());
        [200, 3, 64, 3].iter().for_each(|index| one.add(*index));
        [63, 127].iter().for_each(|index| other.add(*index));
        other.extend(&one);
        assert_eq!(other.indexes(), [3, 63, 64, 127, 200]);
        assert_eq!(one.indexes(), [3, 64, 200]);
    }
}
