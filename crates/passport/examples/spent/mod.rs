//! What a measurement took.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Time on a processor, where the system tells (a machine may have other things to do); else the time
/// that went by.
pub fn spent() -> Duration {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| BEGAN.elapsed(), Duration::from_nanos)
}
