//! How much of the log counts.

use bpc_core::Timestamp;

/// Where a replay ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Until {
    /// At the end of the source. In a database that is the newest committed event, sealed or not.
    #[default]
    Newest,
    /// At a moment: of each stream, everything before the first event that happened later.
    Moment(Timestamp),
    /// Behind so many events of the sealed order.
    Size(u64),
}

impl Until {
    /// Does an event that happened then still count?
    pub fn includes(self, at: Timestamp) -> bool {
        match self {
            Until::Moment(moment) => at <= moment,
            Until::Newest | Until::Size(_) => true,
        }
    }
}
