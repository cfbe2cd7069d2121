//! How many jobs to hold ready beyond those running: as many as are finished in a tenth of a second.
//! Fast jobs are leased in large batches; slow ones are left for other workers.

use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_millis(500);
const AHEAD: Duration = Duration::from_millis(100);
/// The shortest time from which to judge.
const AGE_MIN: Duration = Duration::from_millis(20);

/// Jobs finished lately, forgotten exponentially.
#[derive(Debug)]
pub(super) struct Pace {
    jobs_in_window: f64,
    at: Instant,
    /// Since when there is something to remember.
    since: Instant,
}

impl Pace {
    pub(super) fn new(at: Instant) -> Self {
        Pace { jobs_in_window: 0.0, at, since: at }
    }

    /// So many more are finished.
    pub(super) fn finished(&mut self, jobs: usize, at: Instant) {
        self.jobs_in_window = self.recent(at) + jobs as f64;
        self.at = at;
    }

    /// Work begins again. If the work before is forgotten, the first jobs count as what was done since now, not
    /// as what was done in a whole window: a queue that fills up is at full speed after tens of milliseconds.
    pub(super) fn begin(&mut self, at: Instant) {
        if self.recent(at) < 1.0 {
            *self = Pace::new(at);
        }
    }

    /// Jobs to hold ready, at most `most`.
    pub(super) fn ahead(&self, at: Instant, most: usize) -> usize {
        let age = at.saturating_duration_since(self.since).max(AGE_MIN).as_secs_f64();
        let seen = WINDOW.as_secs_f64() * -(-age / WINDOW.as_secs_f64()).exp_m1();
        let jobs = self.recent(at) * AHEAD.as_secs_f64() / seen;
        (jobs as usize).min(most)
    }

    fn recent(&self, at: Instant) -> f64 {
        let passed = at.saturating_duration_since(self.at).as_secs_f64();
        self.jobs_in_window * (-passed / WINDOW.as_secs_f64()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_a_second_of(jobs_per_second: usize) -> usize {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        let step = Duration::from_millis(10);
        for n in 1..=100 {
            pace.finished(jobs_per_second / 100, start + step * n);
        }
        pace.ahead(start + step * 100, 1000)
    }

    #[test]
    fn fast_jobs_are_held_ready_in_large_numbers_and_slow_ones_are_not() {
        assert!((6..=10).contains(&after_a_second_of(100)));
        assert!((400..600).contains(&after_a_second_of(5_000)));
        assert_eq!(after_a_second_of(100_000), 1000);
    }

    #[test]
    fn work_that_begins_is_judged_by_the_time_since_then() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        let begun = start + Duration::from_secs(60);
        pace.begin(begun);
        pace.finished(64, begun + Duration::from_millis(20));
        assert!((250..400).contains(&pace.ahead(begun + Duration::from_millis(20), 1000)));
        pace.finished(64, begun + Duration::from_secs(10));
        assert!((10..20).contains(&pace.ahead(begun + Duration::from_secs(10), 1000)));
    }

    #[test]
    fn a_burst_is_forgotten() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        pace.finished(10_000, start);
        assert_eq!(pace.ahead(start + Duration::from_secs(5), 1000), 0);
    }
}
