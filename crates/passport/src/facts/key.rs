//! How facts are named.

use super::problem::Problem;
use super::schema::FactSchema;

/// The most bytes of a key.
pub const MAX_KEY_LENGTH: usize = 512;

/// A key that is none of this type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a key of this type is {expected}, not {found:?}")]
pub struct KeyError {
    /// The form that keys of this type have.
    pub expected: String,
    /// The key.
    pub found: String,
}

impl KeyError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "KEY_INVALID"
    }

    pub(super) fn problem(self) -> Problem {
        Problem::new("KEY_INVALID", "", self.expected, self.found)
    }
}

impl FactSchema {
    /// The key of these segments, each written with [`escape_segment`].
    #[must_use]
    pub fn key(&self, segments: &[&str]) -> String {
        let segments: Vec<_> = segments.iter().map(|segment| escape_segment(segment)).collect();
        format!("{}:{}", self.key_prefix, segments.join("/"))
    }

    /// Whether a key has the form of this type.
    ///
    /// # Errors
    ///
    /// Refuses other prefixes, too many or too few segments, empty ones, and characters that
    /// [`escape_segment`] would have written otherwise.
    pub fn check_key(&self, key: &str) -> Result<(), KeyError> {
        let segments = key.strip_prefix(self.key_prefix).and_then(|rest| rest.strip_prefix(':'));
        let segment_is_fine =
            |segment: &str| !segment.is_empty() && escape_segment(&unescape(segment)) == segment;
        let fine = key.len() <= MAX_KEY_LENGTH
            && segments.is_some_and(|segments| {
                segments.split('/').count() == self.key_segments.len()
                    && segments.split('/').all(segment_is_fine)
            });
        if fine { Ok(()) } else { Err(KeyError { expected: self.key_form(), found: key.to_owned() }) }
    }

    /// The form of keys of this type, for people: `pcf:<sku>/<facility>`.
    #[must_use]
    pub fn key_form(&self) -> String {
        let segments: Vec<_> = self.key_segments.iter().map(|segment| format!("<{segment}>")).collect();
        format!("{}:{}", self.key_prefix, segments.join("/"))
    }
}

/// Writes any text as one segment of a key: letters, digits and `-._~:` as they are, every other
/// byte of its UTF-8 as `%XX`.
#[must_use]
pub fn escape_segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The texts that [`escape_segment`] wrote into a key.
pub(super) fn segments(key: &str) -> Vec<String> {
    let rest = key.split_once(':').map_or(key, |(_, rest)| rest);
    rest.split('/').map(unescape).collect()
}

fn unescape(segment: &str) -> String {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment;
    while let Some((plain, after)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        let escaped = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(b'%'));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte)
}
