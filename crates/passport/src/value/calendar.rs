//! Days, months and moments.

use std::fmt;
use std::str::FromStr;

use bpc_core::Timestamp;
use chrono::{DateTime, Datelike, Days, FixedOffset, NaiveDate, Timelike};
use serde::{Serialize, Serializer};

/// A moment, to the microsecond, always UTC, written as in the log.
pub type Instant = Timestamp;

/// A text that is no day, month or moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum CalendarError {
    /// Not `YYYY-MM-DD`, or no day of the calendar.
    #[error("expected a day of the calendar such as 2027-02-18")]
    Date,
    /// Not `YYYY-MM`, or no month.
    #[error("expected a month such as 2027-02")]
    Month,
    /// Not RFC 3339, a leap second, or outside 1970 to 9999.
    #[error("expected a moment such as 2027-02-18T00:00:00Z")]
    Instant,
}

impl CalendarError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Date => "DATE_INVALID",
            Self::Month => "MONTH_INVALID",
            Self::Instant => "INSTANT_INVALID",
        }
    }
}

/// A day of the calendar, from year 1 to year 9999. Written `2027-02-18`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(NaiveDate);

impl Date {
    /// That day, if the calendar has it.
    #[must_use]
    pub fn new(year: i32, month: u32, day: u32) -> Option<Self> {
        if !(1..=9999).contains(&year) {
            return None;
        }
        NaiveDate::from_ymd_opt(year, month, day).map(Self)
    }

    /// The day of a moment, in UTC.
    #[must_use]
    pub fn of(instant: Instant) -> Self {
        instant.to_string()[..10].parse().expect("a moment begins with its day")
    }

    /// The year.
    #[must_use]
    pub fn year(self) -> i32 {
        self.0.year()
    }

    /// The month it lies in.
    #[must_use]
    pub fn month(self) -> Month {
        Month { year: self.0.year(), month: self.0.month() }
    }

    /// So many days later, or earlier if negative; `None` beyond the years 1 to 9999.
    #[must_use]
    pub fn plus_days(self, days: i64) -> Option<Self> {
        let span = Days::new(days.unsigned_abs());
        let moved = if days < 0 { self.0.checked_sub_days(span) } else { self.0.checked_add_days(span) }?;
        Self::new(moved.year(), moved.month(), moved.day())
    }
}

impl FromStr for Date {
    type Err = CalendarError;
    fn from_str(text: &str) -> Result<Self, CalendarError> {
        let parts = digits(text, [4, 2, 2]).ok_or(CalendarError::Date)?;
        Self::new(parts[0] as i32, parts[1], parts[2]).ok_or(CalendarError::Date)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0.year(), self.0.month(), self.0.day())
    }
}

/// A month of a year, from year 1 to year 9999. Written `2027-02`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    year: i32,
    month: u32,
}

impl Month {
    /// That month, if there is one.
    #[must_use]
    pub fn new(year: i32, month: u32) -> Option<Self> {
        ((1..=9999).contains(&year) && (1..=12).contains(&month)).then_some(Self { year, month })
    }

    /// The year.
    #[must_use]
    pub fn year(self) -> i32 {
        self.year
    }

    /// Its first day.
    #[must_use]
    pub fn first_day(self) -> Date {
        Date::new(self.year, self.month, 1).expect("every month has a first day")
    }
}

impl FromStr for Month {
    type Err = CalendarError;
    fn from_str(text: &str) -> Result<Self, CalendarError> {
        let parts = digits(text, [4, 2]).ok_or(CalendarError::Month)?;
        Self::new(parts[0] as i32, parts[1]).ok_or(CalendarError::Month)
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

/// Reads any RFC 3339 time, whatever its offset and number of fractional digits, to the
/// microsecond. Documents have many spellings; stored bytes have the one of [`Instant`].
///
/// # Errors
///
/// [`CalendarError::Instant`], also for leap seconds, which have no microsecond count.
pub fn parse_instant(text: &str) -> Result<Instant, CalendarError> {
    let moment: DateTime<FixedOffset> =
        DateTime::parse_from_rfc3339(text).map_err(|_| CalendarError::Instant)?;
    let micros = moment.timestamp_micros();
    let instant = Instant::from_micros(micros);
    let kept = moment.nanosecond() < 1_000_000_000 && instant.as_micros() == micros;
    if kept { Ok(instant) } else { Err(CalendarError::Instant) }
}

/// Numbers of fixed widths with hyphens between them and nothing else.
fn digits<const N: usize>(text: &str, widths: [usize; N]) -> Option<[u32; N]> {
    let mut parts = text.split('-');
    let mut numbers = [0; N];
    for (number, width) in numbers.iter_mut().zip(widths) {
        let part = parts.next().filter(|part| part.len() == width)?;
        *number = part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(numbers)
}

macro_rules! text_form {
    ($($kind:ty),*) => {$(
        impl fmt::Debug for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )*};
}

text_form!(Date, Month);
