//! How strings and integers are spelled.

use super::MAX_INTEGER;
use super::escape::{Escape, plain_length};

/// Appends `s` as a canonical JSON string, quotes included.
pub fn write_string(s: &str, out: &mut Vec<u8>) {
    out.reserve(s.len() + 2);
    out.push(b'"');
    write_content(s.as_bytes(), out);
    out.push(b'"');
}

/// Appends `n` in decimal.
///
/// The caller has made sure that it is within ±[`MAX_INTEGER`]; debug builds assert it.
pub fn write_integer(n: i64, out: &mut Vec<u8>) {
    debug_assert!(
        n.unsigned_abs() <= MAX_INTEGER.unsigned_abs(),
        "{n} is not exact in every JSON implementation"
    );
    out.extend_from_slice(itoa::Buffer::new().format(n).as_bytes());
}

/// Appends UTF-8 string content without quotes.
pub(super) fn write_content(content: &[u8], out: &mut Vec<u8>) {
    let mut rest = content;
    loop {
        let (plain, after) = rest.split_at(plain_length(rest));
        out.extend_from_slice(plain);
        let Some((&byte, after)) = after.split_first() else {
            return;
        };
        out.extend_from_slice(Escape::of(byte).as_bytes());
        rest = after;
    }
}
