//! Jobs that come round by themselves.

use std::time::Duration;

use bpc_core::Timestamp;

use crate::enqueue::{Due, Enqueue};

/// A job every so often. Every worker keeps all schedules; the key of a tick makes it one job however
/// many workers there are, and a tick missed while all were down is not made up for.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Names it, for ever.
    pub name: &'static str,
    /// How often. Ticks are whole multiples of this since 1970.
    pub every: Duration,
    /// The job.
    pub job: Enqueue,
}

impl Schedule {
    /// The job of the tick that `now` belongs to.
    pub(crate) fn job_at(&self, now: Timestamp) -> Enqueue {
        let every = (self.every.as_micros() as i64).max(1_000_000);
        let tick = Timestamp::from_micros(now.as_micros() / every * every);
        self.job.clone().key(format!("schedule:{}:{tick}", self.name)).due(Due::At(tick))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_has_one_key_all_the_way_through() {
        let job = Enqueue::from_json("T", b"{}").unwrap();
        let schedule = Schedule { name: "hourly", every: Duration::from_secs(3600), job };
        let key = |text: &str| schedule.job_at(text.parse().unwrap()).key;
        assert_eq!(key("2026-11-16T19:00:00.000000Z"), key("2026-11-16T19:59:59.999999Z"));
        assert_ne!(key("2026-11-16T19:59:59.999999Z"), key("2026-11-16T20:00:00.000000Z"));
    }
}
