//! Are these bytes exactly canonical? Answered in one pass and without allocating.

use std::cmp::Ordering;

use super::cursor::{Cursor, is_whitespace};
use super::error::{JsonError, JsonErrorKind};
use super::escape::{Escape, is_plain};
use super::order::compare_keys;

/// Confirms that `bytes` are exactly what [`canonicalize`](super::canonicalize) would return for
/// them.
///
/// # Errors
///
/// Reports the first byte that is not canonical. Any kind other than
/// [`NotCanonical`](JsonErrorKind::NotCanonical) is what `canonicalize` would say too;
/// `NotCanonical` says nothing about the bytes after it.
pub fn check(bytes: &[u8]) -> Result<(), JsonError> {
    check_inside(bytes, 0)
}

/// The same of a value that will stand inside `depth` arrays and objects, which count for
/// [`MAX_DEPTH`](super::MAX_DEPTH).
///
/// # Errors
///
/// As [`check`].
pub fn check_inside(bytes: &[u8], depth: usize) -> Result<(), JsonError> {
    let mut reader = Checker { cursor: Cursor::over(bytes)? };
    reader.value(depth)?;
    match reader.cursor.peek() {
        None => Ok(()),
        Some(_) => Err(reader.unexpected()),
    }
}

struct Checker<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Checker<'a> {
    fn value(&mut self, depth: usize) -> Result<(), JsonError> {
        match self.cursor.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(drop),
            Some(byte) if is_whitespace(byte) => Err(self.unexpected()),
            _ => self.cursor.scalar(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<(), JsonError> {
        self.cursor.open(depth)?;
        if self.cursor.take(b'}') {
            return Ok(());
        }
        let mut previous = self.member(depth)?;
        while self.cursor.take(b',') {
            let start = self.cursor.at();
            let key = self.key()?;
            let refused = match compare_keys(previous, key) {
                Ordering::Less => None,
                Ordering::Equal => Some(JsonErrorKind::DuplicateKey),
                Ordering::Greater => Some(JsonErrorKind::NotCanonical),
            };
            if let Some(kind) = refused {
                return Err(JsonError::new(kind, start));
            }
            self.value(depth + 1)?;
            previous = key;
        }
        self.expect(b'}')
    }

    fn member(&mut self, depth: usize) -> Result<&'a [u8], JsonError> {
        let key = self.key()?;
        self.value(depth + 1)?;
        Ok(key)
    }

    fn key(&mut self) -> Result<&'a [u8], JsonError> {
        let key = self.string()?;
        self.expect(b':')?;
        Ok(key)
    }

    fn array(&mut self, depth: usize) -> Result<(), JsonError> {
        self.cursor.open(depth)?;
        if self.cursor.take(b']') {
            return Ok(());
        }
        self.value(depth + 1)?;
        while self.cursor.take(b',') {
            self.value(depth + 1)?;
        }
        self.expect(b']')
    }

    /// Returns what stands between the quotes, still escaped.
    fn string(&mut self) -> Result<&'a [u8], JsonError> {
        self.expect(b'"')?;
        let start = self.cursor.at();
        loop {
            self.cursor.plain_run();
            match self.cursor.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                _ => return Err(self.cursor.error(JsonErrorKind::Syntax)),
            }
        }
        let content = self.cursor.since(start);
        self.expect(b'"')?;
        Ok(content)
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        let start = self.cursor.at();
        let character = self.cursor.escape()?;
        let canonical = u8::try_from(character)
            .is_ok_and(|byte| !is_plain(byte) && Escape::of(byte).as_bytes() == self.cursor.since(start));
        if canonical { Ok(()) } else { Err(JsonError::new(JsonErrorKind::NotCanonical, start)) }
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.cursor.take(byte) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> JsonError {
        self.cursor.error(match self.cursor.peek() {
            Some(byte) if is_whitespace(byte) => JsonErrorKind::NotCanonical,
            _ => JsonErrorKind::Syntax,
        })
    }
}
