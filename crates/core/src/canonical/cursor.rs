//! A position in JSON text, and the tokens that read the same whether or not the text is
//! canonical.

use super::error::{JsonError, JsonErrorKind};
use super::escape::plain_length;
use super::{MAX_DEPTH, MAX_INTEGER};

/// How many digits [`MAX_INTEGER`] has.
const MAX_INTEGER_DIGITS: usize = 16;

/// Reads UTF-8 bytes from left to right.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte, having checked that all of them are UTF-8.
    pub(super) fn over(bytes: &'a [u8]) -> Result<Self, JsonError> {
        match std::str::from_utf8(bytes) {
            Ok(_) => Ok(Self { bytes, at: 0 }),
            Err(broken) => Err(JsonError::new(JsonErrorKind::InvalidUnicode, broken.valid_up_to())),
        }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Everything read since `start`.
    pub(super) fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.at]
    }

    /// An error about the byte at hand.
    pub(super) fn error(&self, kind: JsonErrorKind) -> JsonError {
        JsonError::new(kind, self.at)
    }

    /// Steps over `byte` if it is at hand.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Steps over an opening bracket at `depth` brackets already open.
    pub(super) fn open(&mut self, depth: usize) -> Result<(), JsonError> {
        if depth >= MAX_DEPTH {
            return Err(self.error(JsonErrorKind::TooDeep));
        }
        self.at += 1;
        Ok(())
    }

    pub(super) fn skip_whitespace(&mut self) {
        while self.peek().is_some_and(is_whitespace) {
            self.at += 1;
        }
    }

    /// Steps over string content up to a quote, an escape or a control character.
    #[inline]
    pub(super) fn plain_run(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let run = &rest[..plain_length(rest)];
        self.at += run.len();
        run
    }

    /// Steps over the escape whose backslash is at hand.
    pub(super) fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        self.at += 1;
        let character = match self.peek() {
            Some(same @ (b'"' | b'\\' | b'/')) => char::from(same),
            Some(b'b') => '\u{8}',
            Some(b't') => '\t',
            Some(b'n') => '\n',
            Some(b'f') => '\u{c}',
            Some(b'r') => '\r',
            Some(b'u') => return self.unicode_escape(start),
            _ => return Err(self.error(JsonErrorKind::Syntax)),
        };
        self.at += 1;
        Ok(character)
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, JsonError> {
        self.at += 1;
        let first = self.four_hex_digits()?;
        let is_high_surrogate = (0xD800..0xDC00).contains(&first);
        let character = if is_high_surrogate && self.bytes[self.at..].starts_with(b"\\u") {
            self.at += 2;
            let second = self.four_hex_digits()?;
            char::decode_utf16([first, second]).next().and_then(Result::ok)
        } else {
            char::from_u32(u32::from(first))
        };
        character.ok_or(JsonError::new(JsonErrorKind::InvalidUnicode, start))
    }

    fn four_hex_digits(&mut self) -> Result<u16, JsonError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let digit = digit.ok_or_else(|| self.error(JsonErrorKind::Syntax))?;
            unit = unit << 4 | digit as u16;
            self.at += 1;
        }
        Ok(unit)
    }

    /// Steps over `null`, `true`, `false` or an integer. All of them have a single spelling, so
    /// whatever is accepted here is canonical as it stands.
    pub(super) fn scalar(&mut self) -> Result<(), JsonError> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.integer(),
            Some(b'n') => self.word(b"null"),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            _ => Err(self.error(JsonErrorKind::Syntax)),
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), JsonError> {
        if !self.bytes[self.at..].starts_with(word) {
            return Err(self.error(JsonErrorKind::Syntax));
        }
        self.at += word.len();
        Ok(())
    }

    fn integer(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        let negative = self.take(b'-');
        let magnitude = self.magnitude()?;
        let refused = if self.fraction_or_exponent()? {
            JsonErrorKind::NumberNotInteger
        } else if magnitude > MAX_INTEGER.unsigned_abs() {
            JsonErrorKind::NumberOutOfRange
        } else if negative && magnitude == 0 {
            JsonErrorKind::NumberNegativeZero
        } else {
            return Ok(());
        };
        Err(JsonError::new(refused, start))
    }

    /// Reads digits without a leading zero. What has too many of them comes back as the largest
    /// `u64`, which is out of range all the same.
    fn magnitude(&mut self) -> Result<u64, JsonError> {
        if self.take(b'0') {
            return match self.peek() {
                Some(b'0'..=b'9') => Err(self.error(JsonErrorKind::Syntax)),
                _ => Ok(0),
            };
        }
        let start = self.at;
        let mut magnitude: u64 = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            magnitude = magnitude.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        match self.at - start {
            0 => Err(self.error(JsonErrorKind::Syntax)),
            1..=MAX_INTEGER_DIGITS => Ok(magnitude),
            _ => Ok(u64::MAX),
        }
    }

    /// Reads on only so that `1.5` is told apart from `1.`, which is no number at all.
    fn fraction_or_exponent(&mut self) -> Result<bool, JsonError> {
        let fraction = self.take(b'.');
        if fraction {
            self.digits()?;
        }
        let exponent = self.take(b'e') || self.take(b'E');
        if exponent {
            let _sign = self.take(b'-') || self.take(b'+');
            self.digits()?;
        }
        Ok(fraction || exponent)
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.error(JsonErrorKind::Syntax));
        }
        Ok(())
    }
}

/// The four bytes JSON allows between tokens.
pub(super) fn is_whitespace(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
