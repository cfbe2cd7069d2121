//! The order of object keys.

use std::cmp::Ordering;

use super::escape::unescaped;

/// Compares two keys, given as canonically escaped UTF-8, by the UTF-16 code units they stand for.
///
/// UTF-8 bytes already sort by code point, and UTF-16 differs from that in one respect only:
/// surrogates (U+D800..U+DFFF), and so every character beyond U+FFFF, come before U+E000..U+FFFF.
/// Those two groups are told apart by their first byte, so ranking bytes is enough.
pub(super) fn compare_keys(left: &[u8], right: &[u8]) -> Ordering {
    let shared = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    let (Some(&l), Some(&r)) = (left.get(shared), right.get(shared)) else {
        return left.len().cmp(&right.len());
    };
    if r == b'\\' || left[..=shared].contains(&b'\\') {
        return unescaped(left).map(rank).cmp(unescaped(right).map(rank));
    }
    rank(l).cmp(&rank(r))
}

/// Moves the lead bytes of U+E000..U+FFFF behind those of the characters beyond.
fn rank(byte: u8) -> u8 {
    match byte {
        0xEE | 0xEF => byte + 0x10,
        _ => byte,
    }
}
