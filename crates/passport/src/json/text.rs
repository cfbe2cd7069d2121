//! Bytes to text.

use std::borrow::Cow;

/// The text of these bytes without its byte order mark: UTF-8, or UTF-16 of either byte order if a
/// byte order mark says so. `None` if they are no such text.
#[must_use]
pub fn to_utf8(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes).map(Cow::Owned),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes).map(Cow::Owned),
        [0xEF, 0xBB, 0xBF, rest @ ..] => std::str::from_utf8(rest).ok().map(Cow::Borrowed),
        rest => std::str::from_utf8(rest).ok().map(Cow::Borrowed),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let text = char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect::<Result<_, _>>();
    if rest.is_empty() { text.ok() } else { None }
}
