//! Reads any JSON text strictly and writes it canonically in the same pass.

use super::cursor::Cursor;
use super::error::{JsonError, JsonErrorKind};
use super::text::CanonicalJson;
use super::write::write_content;
use super::writer::{OpenObject, RepeatedKey, Writer};

pub(super) fn rewrite(text: &[u8]) -> Result<CanonicalJson, JsonError> {
    let mut rewriter = Rewriter { cursor: Cursor::over(text)?, writer: Writer::with_capacity(text.len()) };
    rewriter.value(0)?;
    match rewriter.next() {
        None => Ok(CanonicalJson::from_trusted(rewriter.writer.out)),
        Some(_) => Err(rewriter.cursor.error(JsonErrorKind::Syntax)),
    }
}

struct Rewriter<'a> {
    cursor: Cursor<'a>,
    writer: Writer,
}

impl Rewriter<'_> {
    fn value(&mut self, depth: usize) -> Result<(), JsonError> {
        match self.next() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string(),
            _ => self.scalar(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<(), JsonError> {
        self.cursor.open(depth)?;
        let object = self.writer.open_object();
        if self.next() != Some(b'}') {
            self.member(&object, depth)?;
            while self.take(b',') {
                self.member(&object, depth)?;
            }
        }
        self.expect(b'}')?;
        self.writer
            .close_object(object)
            .map_err(|RepeatedKey { at }| JsonError::new(JsonErrorKind::DuplicateKey, at))
    }

    fn member(&mut self, object: &OpenObject, depth: usize) -> Result<(), JsonError> {
        self.cursor.skip_whitespace();
        self.writer.start_member(object, Some(self.cursor.at()));
        self.string()?;
        self.writer.end_key();
        self.expect(b':')?;
        self.value(depth + 1)?;
        self.writer.end_member();
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Result<(), JsonError> {
        self.cursor.open(depth)?;
        self.writer.out.push(b'[');
        if self.next() != Some(b']') {
            self.value(depth + 1)?;
            while self.take(b',') {
                self.writer.out.push(b',');
                self.value(depth + 1)?;
            }
        }
        self.writer.out.push(b']');
        self.expect(b']')
    }

    fn string(&mut self) -> Result<(), JsonError> {
        self.expect(b'"')?;
        self.writer.out.push(b'"');
        loop {
            self.writer.out.extend_from_slice(self.cursor.plain_run());
            match self.cursor.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    let character = self.cursor.escape()?;
                    let mut utf8 = [0; 4];
                    let content = character.encode_utf8(&mut utf8).as_bytes();
                    write_content(content, &mut self.writer.out);
                }
                _ => return Err(self.cursor.error(JsonErrorKind::Syntax)),
            }
        }
        self.writer.out.push(b'"');
        self.expect(b'"')
    }

    fn scalar(&mut self) -> Result<(), JsonError> {
        let start = self.cursor.at();
        self.cursor.scalar()?;
        self.writer.out.extend_from_slice(self.cursor.since(start));
        Ok(())
    }

    /// The first byte of the next token.
    fn next(&mut self) -> Option<u8> {
        self.cursor.skip_whitespace();
        self.cursor.peek()
    }

    fn take(&mut self, byte: u8) -> bool {
        self.cursor.skip_whitespace();
        self.cursor.take(byte)
    }

    fn expect(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.take(byte) { Ok(()) } else { Err(self.cursor.error(JsonErrorKind::Syntax)) }
    }
}
