//! Refusals that no further attempt would change.

use std::ops::RangeInclusive;

use bpc_worker::HandlerError;

/// The payload decodes, and asks for something that is not to be had.
pub(crate) fn invalid(message: impl Into<String>) -> HandlerError {
    HandlerError::permanent("VALIDATION_ERROR", message)
}

/// Is a number of the payload within its limits?
pub(crate) fn within(field: &str, value: u64, allowed: RangeInclusive<u64>) -> Result<(), HandlerError> {
    if allowed.contains(&value) {
        return Ok(());
    }
    let (least, most) = allowed.into_inner();
    Err(invalid(format!("{field} is {value}: it can be {least} to {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_belong_to_what_is_allowed() {
        assert_eq!(within("ms", 0, 0..=10), Ok(()));
        assert_eq!(within("ms", 10, 0..=10), Ok(()));
        assert_eq!(within("ms", 11, 0..=10), Err(invalid("ms is 11: it can be 0 to 10")));
    }
}
