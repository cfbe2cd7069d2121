//! Cohorts: jobs that were enqueued together and are alike but for what each carries.
//!
//! What happens to all of them alike can be written once for all of them. Nothing that is hashed knows of cohorts: each
//! event has its own bytes, its own hash, and its own leaf.

use std::ops::{BitOr, Sub};

use crate::id::StreamId;

/// Most jobs of a cohort: one bit of a word each.
pub const COHORT_MAX: usize = 64;

/// Some of the jobs of a cohort, counted by their place in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Members(pub u64);

impl Members {
    /// The first `count` places.
    pub fn first(count: usize) -> Members {
        Members(if count >= COHORT_MAX { u64::MAX } else { (1 << count) - 1 })
    }

    /// One place.
    pub fn only(place: usize) -> Members {
        Members(1 << place)
    }

    /// Is this place among them?
    pub fn contains(self, place: usize) -> bool {
        place < COHORT_MAX && self.0 >> place & 1 == 1
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// None at all?
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The places, in order.
    pub fn places(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let place = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(place)
        })
    }

    /// The first `count` of them.
    pub fn take(self, count: usize) -> Members {
        self.places().take(count).fold(Members::default(), |taken, place| taken | Members::only(place))
    }
}

impl BitOr for Members {
    type Output = Members;

    fn bitor(self, other: Members) -> Members {
        Members(self.0 | other.0)
    }
}

/// Those that are not among the others.
impl Sub for Members {
    type Output = Members;

    fn sub(self, other: Members) -> Members {
        Members(self.0 & !other.0)
    }
}

/// May these two follow each other in a cohort? Ids ascend, and all were made in one millisecond: so where a job's events
/// are can be told from its id, within a few rows.
pub fn may_follow(before: StreamId, next: StreamId) -> bool {
    before < next
        && first_of_millisecond(before) == first_of_millisecond(next)
        && may_be_in_cohort(before)
        && may_be_in_cohort(next)
}

/// The lowest id of the millisecond that an id was made in: cohorts with this job begin between there and the job itself.
pub fn first_of_millisecond(id: StreamId) -> StreamId {
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&id.0.as_bytes()[..6]);
    StreamId(uuid::Uuid::from_bytes(bytes))
}

/// Ids that are derived from keys begin with no time, so they are in none.
pub fn may_be_in_cohort(id: StreamId) -> bool {
    id.0.get_version_num() == 7
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{JobId, TenantId};
    use crate::time::Timestamp;

    fn id(millis: i64, entropy: u8) -> StreamId {
        JobId::fresh(Timestamp::from_micros(millis * 1000), [entropy; 10]).into()
    }

    #[test]
    fn members_are_taken_from_the_front() {
        for (members, count, taken) in [
            (0b1011, 0, 0),
            (0b1011, 1, 0b0001),
            (0b1011, 2, 0b0011),
            (0b1011, 3, 0b1011),
            (0b1011, 9, 0b1011),
            (u64::MAX, 64, u64::MAX),
        ] {
            assert_eq!(Members(members).take(count), Members(taken), "{members:b} {count}");
        }
        assert_eq!(Members::first(64), Members(u64::MAX));
        assert_eq!(Members::first(3), Members(0b111));
        assert_eq!(Members(0b1011) - Members(0b0011), Members(0b1000));
        assert_eq!(Members(0b1011).places().collect::<Vec<_>>(), [0, 1, 3]);
        assert!(Members::only(63).contains(63) && !Members::only(63).contains(64));
    }

    #[test]
    fn a_cohort_ascends_within_a_millisecond() {
        assert!(may_follow(id(5, 1), id(5, 2)));
        assert!(!may_follow(id(5, 2), id(5, 2)));
        assert!(!may_follow(id(5, 2), id(5, 1)));
        assert!(!may_follow(id(5, 1), id(6, 2)));
        let keyed: StreamId = JobId::from_key(TenantId::SYSTEM, "T", "k").into();
        assert!(!may_follow(first_of_millisecond(keyed), keyed));
        assert_eq!(first_of_millisecond(id(5, 9)), first_of_millisecond(id(5, 1)));
        assert!(first_of_millisecond(id(5, 0)) <= id(5, 0));
    }
}
