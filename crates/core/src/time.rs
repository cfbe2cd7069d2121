//! Moments as microseconds since 1970, and the one text form they have in the log.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment, to the microsecond, always UTC. Written `2026-11-16T19:48:31.000001Z`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// Length of the text form.
pub const TEXT_LEN: usize = 27;

/// 9999-12-31T23:59:59.999999Z, the last moment with a four-digit year.
const MAX_MICROS: i64 = 253_402_300_799_999_999;
const MICROS_PER_DAY: i64 = 86_400_000_000;

/// The text is not a moment of the form `YYYY-MM-DDTHH:MM:SS.ffffffZ`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a UTC time such as 2026-11-16T19:48:31.000000Z")]
pub struct TimestampError;

impl Timestamp {
    /// From microseconds since 1970; moments outside 1970-9999 are moved to the nearest end,
    /// because they cannot be written.
    pub const fn from_micros(micros: i64) -> Self {
        if micros < 0 {
            Timestamp(0)
        } else if micros > MAX_MICROS {
            Timestamp(MAX_MICROS)
        } else {
            Timestamp(micros)
        }
    }

    /// Microseconds since 1970.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// That much later.
    pub fn plus(self, span: Duration) -> Self {
        let span = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        Self::from_micros(self.0.saturating_add(span))
    }

    /// Time from `earlier` until this moment; zero if that is later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0).max(0) as u64)
    }

    /// Append the text form.
    pub fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.text());
    }

    fn text(self) -> [u8; TEXT_LEN] {
        let (days, rest) = (self.0 / MICROS_PER_DAY, self.0 % MICROS_PER_DAY);
        let (year, month, day) = civil_from_days(days);
        let (seconds, micros) = (rest / 1_000_000, rest % 1_000_000);
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        digits(&mut text[0..4], year);
        digits(&mut text[5..7], month);
        digits(&mut text[8..10], day);
        digits(&mut text[11..13], seconds / 3600);
        digits(&mut text[14..16], seconds / 60 % 60);
        digits(&mut text[17..19], seconds % 60);
        digits(&mut text[20..26], micros);
        text
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(std::str::from_utf8(&self.text()).expect("digits are ASCII"))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    /// Reads only the exact form that [`Timestamp::write`] writes, so a stored time has one spelling.
    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let text: &[u8; TEXT_LEN] = text.as_bytes().try_into().map_err(|_| TimestampError)?;
        let field = |from: usize, to: usize| number(&text[from..to]);
        let (year, month, day) = (field(0, 4)?, field(5, 7)?, field(8, 10)?);
        let (hour, minute, second) = (field(11, 13)?, field(14, 16)?, field(17, 19)?);
        let micros = field(20, 26)?;
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 59 {
            return Err(TimestampError);
        }
        let seconds = (days_from_civil(year, month, day) * 24 + hour) * 3600 + minute * 60 + second;
        let moment = Timestamp(seconds * 1_000_000 + micros);
        // Separators and days such as 31 February are caught by writing it again.
        if moment.0 < 0 || &moment.text() != text { Err(TimestampError) } else { Ok(moment) }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = Timestamp;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{TimestampError}")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Timestamp, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

fn digits(out: &mut [u8], mut value: i64) {
    for digit in out.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

fn number(text: &[u8]) -> Result<i64, TimestampError> {
    text.iter().try_fold(0, |sum, c| match c {
        b'0'..=b'9' => Ok(sum * 10 + i64::from(c - b'0')),
        _ => Err(TimestampError),
    })
}

/// Days since 1970 to (year, month, day), by eras of 400 years whose year begins in March so that
/// the leap day comes last.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_moments() {
        for (micros, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400_000_001, "2000-02-29T00:00:00.000001Z"),
            (1_794_858_511_000_000, "2026-11-16T19:48:31.000000Z"),
            (MAX_MICROS, "9999-12-31T23:59:59.999999Z"),
        ] {
            assert_eq!(Timestamp::from_micros(micros).to_string(), text);
            assert_eq!(text.parse(), Ok(Timestamp::from_micros(micros)));
        }
    }

    #[test]
    fn only_the_one_spelling_is_read() {
        for text in [
            "",
            "2026-11-16",
            "2026-11-16T19:48:31Z",
            "2026-11-16t19:48:31.000000Z",
            "2026-11-16T19:48:31.000000z",
            "2026-11-16T19:48:31.000000+",
            "2026-02-29T00:00:00.000000Z",
            "2026-13-01T00:00:00.000000Z",
            "2026-00-01T00:00:00.000000Z",
            "2026-01-01T24:00:00.000000Z",
            "2026-01-01T00:00:60.000000Z",
            "1969-12-31T23:59:59.999999Z",
            "2026-11-16T19:48:31.00000éZ",
        ] {
            assert_eq!(text.parse::<Timestamp>(), Err(TimestampError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_moment_reads_back(micros in 0..=MAX_MICROS) {
            let moment = Timestamp::from_micros(micros);
            prop_assert_eq!(moment.to_string().parse(), Ok(moment));
        }
    }
}
