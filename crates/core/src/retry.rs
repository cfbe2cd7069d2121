//! How long to wait after a failed attempt, and how many attempts there are.

use std::time::Duration;

/// Retry rules of a job type. The number of attempts in all is the job's own (`max_attempts`,
/// recorded when it was enqueued); this says how they are spaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// After attempt n the delay is `base^n` seconds.
    pub base: u32,
    /// The longest delay, before jitter.
    pub cap: Duration,
    /// How the delay is spread so that retries do not arrive as one wave.
    pub jitter: Jitter,
}

/// Spread of a delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jitter {
    /// Up to 10 % longer, never shorter.
    Upward,
    /// Anything from half to one and a half times.
    TwoSided,
    /// None.
    Exact,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy { base: 2, cap: Duration::from_secs(1024), jitter: Jitter::Upward }
    }
}

/// Attempts in all, unless the job or its type says otherwise.
pub const DEFAULT_MAX_ATTEMPTS: u32 = 5;

impl RetryPolicy {
    /// The wait after failed attempt `attempt` (1, 2, ...). `chance` is uniform over 0..=u16::MAX and
    /// comes from outside.
    pub fn delay(&self, attempt: u32, chance: u16) -> Duration {
        let cap_ms = u64::try_from(self.cap.as_millis()).unwrap_or(u64::MAX / 1000);
        let ideal_ms = u64::from(self.base).saturating_pow(attempt).saturating_mul(1000).min(cap_ms);
        let chance = u64::from(chance);
        let full = u64::from(u16::MAX);
        let ms = match self.jitter {
            Jitter::Exact => ideal_ms,
            Jitter::Upward => ideal_ms + ideal_ms.saturating_mul(chance) / full / 10,
            Jitter::TwoSided => ideal_ms / 2 + ideal_ms.saturating_mul(chance) / full,
        };
        Duration::from_millis(ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_waits_2_4_8_16_seconds_and_never_over_1024() {
        let policy = RetryPolicy { jitter: Jitter::Exact, ..RetryPolicy::default() };
        let seconds: Vec<_> = (1..=4).map(|n| policy.delay(n, 0).as_secs()).collect();
        assert_eq!(seconds, [2, 4, 8, 16]);
        assert_eq!(policy.delay(10, 0).as_secs(), 1024);
        assert_eq!(policy.delay(4_000_000_000, 0).as_secs(), 1024);
    }

    #[test]
    fn upward_jitter_adds_at_most_a_tenth() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.delay(1, 0).as_millis(), 2000);
        assert_eq!(policy.delay(1, u16::MAX).as_millis(), 2200);
    }

    #[test]
    fn two_sided_jitter_stays_between_half_and_one_and_a_half() {
        let policy = RetryPolicy { jitter: Jitter::TwoSided, ..RetryPolicy::default() };
        assert_eq!(policy.delay(2, 0).as_millis(), 2000);
        assert_eq!(policy.delay(2, u16::MAX).as_millis(), 6000);
    }
}
