//! Names and choices that do not collide with those of another test.

/// Sixteen hexadecimal digits nobody else has drawn.
pub(crate) fn hex() -> String {
    format!("{:016x}", number())
}

/// A number drawn from the system's random source.
pub(crate) fn number() -> u64 {
    getrandom::u64().expect("the system provides random numbers")
}
