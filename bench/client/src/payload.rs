//! The payload that every system of the comparison carries, and the clock it is stamped by.

use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

const PAD_BYTES: usize = 170;

/// About 200 bytes of JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Payload {
    /// When enqueue was called, in nanoseconds; 0 where latency is not measured.
    pub t: u64,
    /// A number of its own.
    pub id: u64,
    /// Bytes.
    pub pad: String,
}

impl Payload {
    /// The payload of the n-th job.
    pub fn new(id: u64, t: u64) -> Self {
        Payload { t, id, pad: "x".repeat(PAD_BYTES) }
    }
}

/// `CLOCK_MONOTONIC` in nanoseconds: the same clock in every process of the machine, which `Instant` does not show.
pub fn now() -> u64 {
    let at = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has this clock");
    at.tv_sec() as u64 * 1_000_000_000 + at.tv_nsec() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_about_200_bytes() {
        let bytes = serde_json::to_string(&Payload::new(99_999, now())).unwrap().len();
        assert!((190..=230).contains(&bytes), "{bytes}");
    }
}
