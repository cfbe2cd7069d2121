//! Which bytes of a string must be escaped, and the one way RFC 8785 spells each.

/// Whether a byte of string content stands for itself.
pub(super) fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

/// How many bytes from the start stand for themselves in a string: no quotes, backslashes or control characters.
/// Whether they are UTF-8 is not looked at.
#[inline]
#[must_use]
pub fn plain_length(content: &[u8]) -> usize {
    let (words, tail) = content.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let found = not_plain(u64::from_le_bytes(*word));
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let in_tail = tail.iter().position(|&byte| !is_plain(byte));
    content.len() - tail.len() + in_tail.unwrap_or(tail.len())
}

/// Marks bytes that are not plain by their top bit, eight at a time. A borrow can mark bytes above
/// the lowest mark wrongly, so only the lowest one counts.
fn not_plain(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    let below = |limit: u64, word: u64| word.wrapping_sub(ONES * limit) & !word & TOPS;
    let equal = |byte: u8| below(1, word ^ (ONES * u64::from(byte)));
    below(0x20, word) | equal(b'"') | equal(b'\\')
}

/// The canonical spelling of a byte that is not plain.
pub(super) struct Escape {
    bytes: [u8; 6],
    length: usize,
}

impl Escape {
    pub(super) fn of(byte: u8) -> Self {
        match byte {
            b'"' | b'\\' => Self::short(byte),
            0x08 => Self::short(b'b'),
            b'\t' => Self::short(b't'),
            b'\n' => Self::short(b'n'),
            0x0C => Self::short(b'f'),
            b'\r' => Self::short(b'r'),
            _ => Self::long(byte),
        }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn short(letter: u8) -> Self {
        Self { bytes: [b'\\', letter, 0, 0, 0, 0], length: 2 }
    }

    fn long(byte: u8) -> Self {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let [high, low] = [byte >> 4, byte & 0xF].map(|digit| HEX[usize::from(digit)]);
        Self { bytes: [b'\\', b'u', b'0', b'0', high, low], length: 6 }
    }
}

/// The bytes that canonically escaped string content stands for. Canonical escapes only ever stand
/// for one ASCII byte.
pub(super) fn unescaped(content: &[u8]) -> impl Iterator<Item = u8> {
    let mut rest = content.iter().copied();
    std::iter::from_fn(move || {
        let byte = rest.next()?;
        if byte != b'\\' {
            return Some(byte);
        }
        match rest.next()? {
            b'b' => Some(0x08),
            b't' => Some(b'\t'),
            b'n' => Some(b'\n'),
            b'f' => Some(0x0C),
            b'r' => Some(b'\r'),
            b'u' => {
                let high = hex_value(rest.nth(2)?);
                let low = hex_value(rest.next()?);
                Some(high << 4 | low)
            }
            same => Some(same),
        }
    })
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit - b'0',
    }
}
