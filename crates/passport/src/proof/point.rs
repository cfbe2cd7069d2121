//! The four points of Annex XIII.

use std::fmt;

/// A point of Annex XIII: who may see an attribute. Four sections, not levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// Everybody.
    One,
    /// Legitimate interest, authorities and the Commission.
    Two,
    /// Authorities and the Commission.
    Three,
    /// Legitimate interest.
    Four,
}

impl Point {
    /// All of them, in order.
    pub const ALL: [Point; 4] = [Point::One, Point::Two, Point::Three, Point::Four];

    /// 1 to 4.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.index() as u8 + 1
    }

    /// The point of that number, if it is 1 to 4.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|point| u64::from(point.number()) == number)
    }

    /// 0 to 3.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Point::One => 0,
            Point::Two => 1,
            Point::Three => 2,
            Point::Four => 3,
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "point {}", self.number())
    }
}
