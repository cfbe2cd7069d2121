//! Who asks.

use std::fmt;
use std::str::FromStr;

use crate::facts::Access;
use crate::proof::Point;

/// Who asks for a passport, by Article 77(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Everybody: point 1.
    Public,
    /// A person with a legitimate interest: points 1, 2 and 4.
    LegitimateInterest,
    /// A notified body, a market surveillance authority or the Commission: points 1, 2 and 3.
    Authority,
}

impl Role {
    /// All of them.
    pub const ALL: [Role; 3] = [Role::Public, Role::LegitimateInterest, Role::Authority];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Role::Public => "public",
            Role::LegitimateInterest => "legitimate-interest",
            Role::Authority => "authority",
        }
    }

    /// Whether attributes of that point are shown.
    #[must_use]
    pub const fn may_see(self, point: Point) -> bool {
        match self {
            Role::Public => matches!(point, Point::One),
            Role::LegitimateInterest => matches!(point, Point::One | Point::Two | Point::Four),
            Role::Authority => matches!(point, Point::One | Point::Two | Point::Three),
        }
    }

    /// Whether values of that access are shown.
    #[must_use]
    pub const fn may_read(self, access: Access) -> bool {
        match access {
            Access::Public => true,
            Access::Restricted => self.may_see(Point::Two),
            Access::Authority => self.may_see(Point::Three),
            Access::Interest => self.may_see(Point::Four),
            Access::Internal => false,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No such role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected public, legitimate-interest or authority")]
pub struct UnknownRole;

impl FromStr for Role {
    type Err = UnknownRole;
    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        Self::ALL.into_iter().find(|role| role.name() == text).ok_or(UnknownRole)
    }
}
