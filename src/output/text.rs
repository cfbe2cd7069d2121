//! Numbers and times for people.

use std::time::Duration;

use bpc_core::Timestamp;

/// `1234567` as `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A moment without its fraction: `2026-11-16T19:48:31Z`.
pub fn moment(at: Timestamp) -> String {
    format!("{}Z", &at.to_string()[..19])
}

/// A length of time, to three digits or so.
pub fn span(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    match seconds {
        ..0.001 => format!("{:.0} µs", seconds * 1e6),
        ..1.0 => format!("{:.0} ms", seconds * 1e3),
        ..10.0 => format!("{seconds:.2} s"),
        ..120.0 => format!("{seconds:.1} s"),
        _ => format!("{:.0} min {:.0} s", (seconds / 60.0).floor(), seconds % 60.0),
    }
}

/// How many per second; of nothing in no time, none.
pub fn per_second(number: u64, span: Duration) -> f64 {
    if span.is_zero() { 0.0 } else { number as f64 / span.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_for_people() {
        let counts = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        counts.iter().for_each(|(number, text)| assert_eq!(count(*number), *text));
        assert_eq!(moment("2026-11-16T19:48:31.000001Z".parse().unwrap()), "2026-11-16T19:48:31Z");
        let spans = [(120, "120 µs"), (12_000, "12 ms"), (1_234_000, "1.23 s"), (125_000_000, "2 min 5 s")];
        spans.iter().for_each(|(micros, text)| assert_eq!(span(Duration::from_micros(*micros)), *text));
    }
}
