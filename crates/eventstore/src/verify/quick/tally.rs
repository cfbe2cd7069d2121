//! What came of following streams.

use super::keys::Keys;
use super::live::{Begun, LiveStreams};
use super::suspects::Suspects;

/// What was seen of the streams that were followed.
pub struct Tally {
    /// What wants an exact look.
    pub suspects: Suspects,
    /// Streams above this did not fit: the events are to be read again for them.
    pub followed_to: u64,
    begun: Begun,
    keys: Keys,
}

impl Tally {
    pub(super) fn new<H: Copy + Default>(live: LiveStreams<H>, mut suspects: Suspects, keys: Keys) -> Self {
        let followed_to = *live.range().end();
        let begun = live.into_begun();
        suspects.all |= begun.has_twins();
        Tally { suspects, followed_to, begun, keys }
    }

    /// Streams up to a fingerprint that began and are no suspects, and how many of them are jobs.
    pub fn streams_and_jobs(&self, up_to: u64) -> (u64, u64) {
        let (mut streams, mut jobs) = self.begun.count(up_to);
        for stream in self.suspects.streams.keys() {
            // The exact look counts them.
            let fingerprint = self.keys.stream(stream.0.into_bytes());
            if let Some(is_job) = self.begun.is_job(fingerprint).filter(|_| fingerprint.bits() <= up_to) {
                streams -= 1;
                jobs -= u64::from(is_job);
            }
        }
        (streams, jobs)
    }
}
