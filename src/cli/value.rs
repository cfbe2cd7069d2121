//! Values that arguments can have.

use std::time::Duration;

use bpc_core::note::VerifierKey;
use bpc_core::{JobId, Status, StreamId, Timestamp, Version};
use bpc_passport::disclosure::Role;
use bpc_passport::facts::FactType;
use bpc_passport::import::{DocumentKind, Format};
use bpc_passport::value::Date;
use uuid::Uuid;

/// A number of at least one.
pub fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..) => Ok(number),
        _ => Err("expected a whole number of at least 1".to_owned()),
    }
}

/// A length of time: a whole number and its unit; a bare number is seconds.
pub fn span(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a time such as 500ms, 10s, 5m, 2h or 1d".to_owned();
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let millis = match unit {
        "ms" => 1,
        "s" | "" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(wrong()),
    };
    number.checked_mul(millis).map(Duration::from_millis).ok_or_else(wrong)
}

/// A UTC time with or without a fraction. The log has one spelling; people may use the shorter one.
pub fn moment(text: &str) -> Result<Timestamp, String> {
    let wrong = || "expected a UTC time such as 2026-11-16T19:48:31Z".to_owned();
    let text = text.strip_suffix('Z').ok_or_else(wrong)?;
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if fraction.is_empty() {
        return Err(wrong());
    }
    format!("{seconds}.{fraction:0<6}Z").parse().map_err(|_| wrong())
}

/// A job's id as the other commands print it.
pub fn job_id(text: &str) -> Result<JobId, String> {
    text.parse().map_err(|_| "expected a job id such as 0193a6b2-7c41-7e11-9d0c-2f6a1b8e4c55".to_owned())
}

/// A stream's id as the other commands print it.
pub fn stream_id(text: &str) -> Result<StreamId, String> {
    text.parse().map_err(|_| "expected a stream id such as 0193a6b2-7c41-7e11-9d0c-2f6a1b8e4c55".to_owned())
}

/// A version: 1, 2, 3 and so on.
pub fn version(text: &str) -> Result<Version, String> {
    match text.parse() {
        Ok(number @ 1..) => Ok(Version(number)),
        _ => Err("expected a version: a whole number of at least 1".to_owned()),
    }
}

/// A key that notes are checked with.
pub fn verifier_key(text: &str) -> Result<VerifierKey, String> {
    text.trim().parse().map_err(|error: bpc_core::note::KeyError| format!("{error} ({})", error.code()))
}

/// An id as the other commands print it.
pub fn uuid(text: &str) -> Result<Uuid, String> {
    text.parse().map_err(|_| "expected an id such as 5f0c1d2e-7c41-8e11-9d0c-2f6a1b8e4c55".to_owned())
}

/// A kind of document: `due-diligence` for DUE_DILIGENCE.
pub fn document_kind(text: &str) -> Result<DocumentKind, String> {
    let name = text.to_ascii_uppercase().replace('-', "_");
    name.parse().map_err(|_| "expected bom, pcf, due-diligence or other".to_owned())
}

/// A format of documents.
pub fn document_format(text: &str) -> Result<Format, String> {
    text.parse().map_err(|_| "expected native, catenax, batterypass or auto".to_owned())
}

/// A type of facts.
pub fn fact_type(text: &str) -> Result<String, String> {
    let names: Vec<&str> = FactType::ALL.iter().map(|one| one.name()).collect();
    let known = FactType::from_name(text).map(|one| one.name().to_owned());
    known.ok_or_else(|| format!("expected one of {}", names.join(", ")))
}

/// A day.
pub fn day(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| "expected a day such as 2027-02-18".to_owned())
}

/// Who asks for a passport.
pub fn role(text: &str) -> Result<Role, String> {
    text.parse().map_err(|_| "expected public, legitimate-interest or authority".to_owned())
}

/// Words that somebody can read later.
pub fn reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("expected a reason in words".to_owned()) } else { Ok(text.to_owned()) }
}

/// A status as it is written everywhere.
pub fn status(text: &str) -> Result<Status, String> {
    let names = || Status::ALL.map(Status::as_str).join(", ");
    Status::parse(&text.to_ascii_uppercase()).ok_or_else(|| format!("expected one of {}", names()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        let millis = |text: &str| span(text).map(|span| span.as_millis());
        for (text, expected) in
            [("500ms", 500), ("10s", 10_000), ("10", 10_000), ("5m", 300_000), ("2h", 7_200_000)]
        {
            assert_eq!(millis(text), Ok(expected), "{text}");
        }
        for text in ["", "s", "-1s", "1.5s", "1w", "10 s", "99999999999999999999s", "99999999999999999d"] {
            assert!(span(text).is_err(), "{text}");
        }
    }

    #[test]
    fn moments() {
        for (text, expected) in [
            ("2026-11-16T19:48:31Z", "2026-11-16T19:48:31.000000Z"),
            ("2026-11-16T19:48:31.5Z", "2026-11-16T19:48:31.500000Z"),
            ("2026-11-16T19:48:31.000001Z", "2026-11-16T19:48:31.000001Z"),
        ] {
            assert_eq!(moment(text).map(|at| at.to_string()), Ok(expected.to_owned()));
        }
        for text in
            ["", "Z", "2026-11-16", "2026-11-16T19:48:31", "2026-11-16T19:48:31.Z", "2026-02-30T00:00:00Z"]
        {
            assert!(moment(text).is_err(), "{text}");
        }
        for text in ["2026-11-16T19:48:31ZZ", "2026-11-16T19:48:31.1234567Z", "2026-11-16T19:48:31+01:00"] {
            assert!(moment(text).is_err(), "{text}");
        }
    }
}
