//! Times as the log spells them, read without writing them again.

use bpc_core::Timestamp;

/// Reads exactly what [`Timestamp`] reads, which a property test holds it to. Neighbouring events are of the
/// same day, so the day is looked up once.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    date: [u8; DATE_LEN],
    /// Microseconds at its beginning.
    midnight: i64,
}

const DATE_LEN: usize = 11;
/// The length of a time.
pub(super) const TIME_LEN: usize = 27;

impl Default for Clock {
    fn default() -> Self {
        Clock { date: *b"1970-01-01T", midnight: 0 }
    }
}

impl Clock {
    /// A time such as `2026-11-16T19:48:31.000001Z`.
    pub(super) fn read(&mut self, text: &[u8]) -> Option<Timestamp> {
        let (date, time): (&[u8; DATE_LEN], _) = text.split_first_chunk()?;
        let time: &[u8; 16] = time.try_into().ok()?;
        if *date != self.date {
            let midnight = [&date[..], b"00:00:00.000000Z"].concat();
            let midnight: Timestamp = std::str::from_utf8(&midnight).ok()?.parse().ok()?;
            (self.date, self.midnight) = (*date, midnight.as_micros());
        }
        if [time[2], time[5], time[8], time[15]] != *b"::.Z" {
            return None;
        }
        let mut bad = 0;
        let mut digits = |range: std::ops::Range<usize>| {
            time[range].iter().fold(0_i64, |sum, c| {
                let digit = c.wrapping_sub(b'0');
                bad |= u8::from(digit > 9);
                sum * 10 + i64::from(digit)
            })
        };
        let (hour, minute, second, micros) = (digits(0..2), digits(3..5), digits(6..8), digits(9..15));
        if bad != 0 || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        Some(Timestamp::from_micros(
            self.midnight + ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros,
        ))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn agrees(clock: &mut Clock, text: &[u8]) -> bool {
        let careful = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        clock.read(text) == careful
    }

    #[test]
    fn odd_times_are_read_as_they_always_are() {
        let mut clock = Clock::default();
        for text in [
            "",
            "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0019:48:31.000000Z",
            "1970-01-01T19:48:31.000000Z",
            "2026-11-16T19:48:31.000000Z",
            "2026-11-16T24:00:00.000000Z",
            "2026-11-16T23:60:00.000000Z",
            "2026-11-16T23:59:60.000000Z",
            "2026-02-29T00:00:00.000000Z",
            "2024-02-29T00:00:00.000000Z",
            "1969-12-31T23:59:59.999999Z",
            "9999-12-31T23:59:59.999999Z",
            "2026-11-16t19:48:31.000000Z",
            "2026-11-16T19:48:31.000000z",
            "2026-11-16T19:48:31.00000:Z",
        ] {
            assert!(agrees(&mut clock, text.as_bytes()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn times_are_read_as_they_always_are(
            micros in proptest::collection::vec(0..253_402_300_800_000_000_i64, 1..4),
            place: prop::sample::Index,
            byte: u8
        ) {
            let mut clock = Clock::default();
            for micros in micros {
                let mut text = Timestamp::from_micros(micros).to_string().into_bytes();
                prop_assert!(agrees(&mut clock, &text) && agrees(&mut clock, &text));
                let place = place.index(text.len());
                text[place] = byte;
                prop_assert!(agrees(&mut clock, &text));
            }
        }
    }
}
