//! Do the runs of each stream follow each other?

use std::ops::RangeInclusive;

use super::keys::Keys;
use super::live::{HeadPrint, Live, LiveStreams};
use super::runs::{Origin, Run, Runs};
use super::suspects::Suspects;
use super::tally::Tally;

/// Streams looked up together: about as many reads as a core has under way.
const AT_ONCE: usize = 16;

/// Puts runs together, stretch by stretch in the order of the log.
pub struct Follower {
    keys: Keys,
    live: LiveStreams<HeadPrint>,
    suspects: Suspects,
}

impl Follower {
    /// Follows streams whose fingerprints are in `range`, on at most so much memory.
    pub fn new(keys: Keys, range: RangeInclusive<u64>, bytes_max: usize) -> Self {
        Follower { keys, live: LiveStreams::new(range, bytes_max), suspects: Suspects::default() }
    }

    /// The runs of the next stretch.
    pub fn take(&mut self, runs: &Runs) {
        self.suspects.all |= runs.has_unreadable;
        for some in runs.runs.chunks(AT_ONCE) {
            self.live.fetch(some.iter().map(|run| run.fingerprint));
            for run in some {
                if self.live.follows(run.fingerprint) && self.follow(run, runs).is_none() {
                    self.suspects.add_stream(run.stream);
                }
            }
        }
    }

    /// What was seen, once everything was taken.
    pub fn finish(self) -> Tally {
        Tally::new(self.live, self.suspects, self.keys)
    }

    /// `None` if it does not follow, or cannot be judged here.
    fn follow(&mut self, run: &Run, runs: &Runs) -> Option<()> {
        if run.is_suspect {
            return None;
        }
        let Run { fingerprint, head, last: version, owner, is_job, .. } = *run;
        match run.origin {
            Origin::Begins { job } => {
                if self.live.get(fingerprint).is_some() {
                    return None;
                }
                let live = (!job.is_over()).then_some(Live { head, version, owner, job });
                self.live.begin(fingerprint, is_job, live);
            }
            Origin::GoesOn { after, steps } => {
                let live = self.live.get(fingerprint)?;
                if live.version.checked_add(1) != Some(run.first) || live.owner != owner || live.head != after
                {
                    return None;
                }
                let job = runs.state_after(live.job, steps)?;
                *live = Live { head, version, owner, job };
                if job.is_over() {
                    self.live.remove(fingerprint);
                }
            }
        }
        Some(())
    }
}
