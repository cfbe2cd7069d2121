//! How many jobs to hold ready beyond those running: as many as its handlers can run in a tenth of a second.
//! Fast jobs are leased in large batches; slow ones are left for other workers.

use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_millis(500);
/// How long the handlers of a worker may be kept busy by what it holds ready.
const AHEAD: Duration = Duration::from_millis(100);
/// Jobs may finish more slowly than handlers run: they wait for the database, or for other workers on the same cores.
/// What is held ready is never more than was finished in so long.
const FINISHED_IN: Duration = Duration::from_secs(1);
/// The shortest time from which to judge.
const AGE_MIN: Duration = Duration::from_millis(20);

/// Jobs finished lately, forgotten exponentially.
#[derive(Debug)]
pub(super) struct Pace {
    jobs_in_window: f64,
    /// How long the handlers of those ran, in seconds.
    run_in_window: f64,
    at: Instant,
    /// Since when there is something to remember.
    since: Instant,
}

impl Pace {
    pub(super) fn new(at: Instant) -> Self {
        Pace { jobs_in_window: 0.0, run_in_window: 0.0, at, since: at }
    }

    /// So many more are finished, whose handlers ran for so long one after the other.
    pub(super) fn finished(&mut self, jobs: usize, run: Duration, at: Instant) {
        let kept = self.kept(at);
        self.jobs_in_window = self.jobs_in_window * kept + jobs as f64;
        self.run_in_window = self.run_in_window * kept + run.as_secs_f64();
        self.at = at;
    }

    /// Work begins again. If the work before is forgotten, the first jobs count as what was done since now, not
    /// as what was done in a whole window: a queue that fills up is at full speed after tens of milliseconds.
    pub(super) fn begin(&mut self, at: Instant) {
        if self.jobs_in_window * self.kept(at) < 1.0 {
            *self = Pace::new(at);
        }
    }

    /// Jobs to hold ready, at most `most`, by a worker with so many places.
    pub(super) fn ahead(&self, at: Instant, places: usize, most: usize) -> usize {
        let age = at.saturating_duration_since(self.since).max(AGE_MIN).as_secs_f64();
        let seen = WINDOW.as_secs_f64() * -(-age / WINDOW.as_secs_f64()).exp_m1();
        let finished = self.jobs_in_window * self.kept(at) * FINISHED_IN.as_secs_f64() / seen;
        let runnable =
            places as f64 * AHEAD.as_secs_f64() * self.jobs_in_window / self.run_in_window.max(1e-9);
        (finished.min(runnable) as usize).min(most)
    }

    fn kept(&self, at: Instant) -> f64 {
        let passed = at.saturating_duration_since(self.at).as_secs_f64();
        (-passed / WINDOW.as_secs_f64()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By a worker with 64 places.
    fn after_a_second_of(jobs_per_second: usize, each_takes: Duration) -> usize {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        let step = Duration::from_millis(10);
        for n in 1..=100 {
            let jobs = jobs_per_second / 100;
            pace.finished(jobs, each_takes * jobs as u32, start + step * n);
        }
        pace.ahead(start + step * 100, 64, 1000)
    }

    #[test]
    fn as_many_are_held_ready_as_handlers_can_run_in_a_tenth_of_a_second_and_no_more_than_finish_in_a_second()
    {
        for (jobs_per_second, each_takes_ms, ahead) in [
            (100_000, 0, 1000..=1000),
            (100, 0, 90..=110),
            (6_400, 10, 600..=680),
            (100, 640, 9..=11),
            (3_200, 100, 60..=68),
        ] {
            let held = after_a_second_of(jobs_per_second, Duration::from_millis(each_takes_ms));
            assert!(ahead.contains(&held), "{jobs_per_second}/s of {each_takes_ms} ms: {held}");
        }
    }

    #[test]
    fn work_that_begins_is_judged_by_the_time_since_then() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        let begun = start + Duration::from_secs(60);
        pace.begin(begun);
        pace.finished(64, Duration::ZERO, begun + Duration::from_millis(20));
        assert!((2500..4000).contains(&pace.ahead(begun + Duration::from_millis(20), 64, 10_000)));
        pace.finished(64, Duration::ZERO, begun + Duration::from_secs(10));
        assert!((100..200).contains(&pace.ahead(begun + Duration::from_secs(10), 64, 10_000)));
    }

    #[test]
    fn a_burst_is_forgotten() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        pace.finished(10_000, Duration::ZERO, start);
        assert!(pace.ahead(start + Duration::from_secs(10), 64, 1000) < 1);
    }
}
