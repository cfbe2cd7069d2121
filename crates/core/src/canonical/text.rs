//! Bytes known to be canonical.

use std::fmt;

use super::check::check;

/// Canonical JSON text: equal values are equal bytes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CanonicalJson(String);

#[expect(
    clippy::len_without_is_empty,
    reason = "canonical JSON is never empty, so asking would be a mistake"
)]
impl CanonicalJson {
    /// The value `{}`.
    #[must_use]
    pub fn empty_object() -> Self {
        Self("{}".to_owned())
    }

    /// Wraps bytes that the caller wrote canonically or has [checked](super::check()).
    ///
    /// # Panics
    ///
    /// If the bytes are not UTF-8. In debug builds, also if they are not canonical.
    #[must_use]
    pub fn from_trusted(bytes: Vec<u8>) -> Self {
        debug_assert_eq!(check(&bytes), Ok(()), "trusted bytes are not canonical");
        Self(String::from_utf8(bytes).expect("trusted canonical JSON is UTF-8"))
    }

    /// The bytes to hash and to store.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The same bytes as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Gives up the bytes.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    /// How many bytes the text has; never zero.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Debug for CanonicalJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
