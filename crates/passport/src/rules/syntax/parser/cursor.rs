//! A place among the words, and what is expected there.

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::source::Span;
use crate::rules::syntax::ast::Name;
use crate::rules::syntax::token::{Kind, Symbol, Token};

/// The item could not be read; what is wrong with it has been noted.
pub(super) struct Failed;

pub(super) type Parsed<T> = Result<T, Failed>;

/// How deep expressions and types may nest, so that no text can exhaust the stack.
const DEPTH_MAX: usize = 48;

pub(super) struct Cursor<'s> {
    text: &'s str,
    words: Vec<Token<'s>>,
    at: usize,
    depth: usize,
    pub(super) wrong: Vec<Diagnostic>,
}

impl<'s> Cursor<'s> {
    pub(super) fn new(text: &'s str, words: Vec<Token<'s>>) -> Self {
        Self { text, words, at: 0, depth: 0, wrong: Vec::new() }
    }

    pub(super) fn peek(&self) -> Token<'s> {
        self.words[self.at.min(self.words.len() - 1)]
    }

    /// The word after the next.
    pub(super) fn peek_second(&self) -> Token<'s> {
        self.words[(self.at + 1).min(self.words.len() - 1)]
    }

    pub(super) fn next(&mut self) -> Token<'s> {
        let word = self.peek();
        self.at = (self.at + 1).min(self.words.len() - 1);
        word
    }

    /// The end of the word before.
    pub(super) fn last_span(&self) -> Span {
        self.words[self.at.saturating_sub(1)].span
    }

    pub(super) fn is(&self, symbol: Symbol) -> bool {
        self.peek().kind == Kind::Symbol(symbol)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.peek().kind == Kind::Name && self.peek().text == word
    }

    pub(super) fn eat(&mut self, symbol: Symbol) -> bool {
        let is = self.is(symbol);
        if is {
            self.next();
        }
        is
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.next();
        }
        is
    }

    pub(super) fn expect(&mut self, symbol: Symbol) -> Parsed<Span> {
        if self.is(symbol) { Ok(self.next().span) } else { self.fail(&format!("`{}`", symbol.as_str())) }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Parsed<Span> {
        if self.is_word(word) { Ok(self.next().span) } else { self.fail(&format!("`{word}`")) }
    }

    pub(super) fn expect_kind(&mut self, kind: Kind, what: &str) -> Parsed<Name> {
        if self.peek().kind != kind {
            return self.fail(what);
        }
        let word = self.next();
        Ok(Name { text: word.text.to_owned(), span: word.span })
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        self.expect_kind(Kind::Name, what)
    }

    pub(super) fn date(&mut self) -> Parsed<Name> {
        self.expect_kind(Kind::Date, "a date such as 2027-02-18")
    }

    /// A text without its quotes.
    pub(super) fn quoted(&mut self, what: &str) -> Parsed<(String, Span)> {
        let word = self.expect_kind(Kind::Text, what)?;
        Ok((word.text[1..word.text.len() - 1].to_owned(), word.span))
    }

    pub(super) fn integer(&mut self, what: &str) -> Parsed<(i64, Span)> {
        let word = self.peek();
        match word.text.parse::<i64>() {
            Ok(number) if word.kind == Kind::Number => {
                self.next();
                Ok((number, word.span))
            }
            _ => self.fail(what),
        }
    }

    /// `point 1`, after the word `point`.
    pub(super) fn point(&mut self) -> Parsed<u8> {
        match self.peek().text {
            "1" | "2" | "3" | "4" => Ok(self.next().text.as_bytes()[0] - b'0'),
            _ => self.fail("the number of a point of Annex XIII, 1 to 4"),
        }
    }

    /// Elements with commas between them up to a closing symbol, which is read too. A comma
    /// before it is allowed.
    pub(super) fn list<T>(
        &mut self,
        close: Symbol,
        mut element: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut elements = Vec::new();
        loop {
            if self.eat(close) {
                return Ok(elements);
            }
            elements.push(element(self)?);
            if !self.eat(Symbol::Comma) {
                if self.eat(close) {
                    return Ok(elements);
                }
                return self.fail(&format!("`,` or `{}`", close.as_str()));
            }
        }
    }

    /// Reads something nested, unless it is nested too deep.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH_MAX {
            let span = self.peek().span;
            self.wrong.push(
                Diagnostic::new(Code::RuleParseError, span, format!("nested more than {DEPTH_MAX} deep"))
                    .help("give parts of it a name with `let` or `def`"),
            );
            return Err(Failed);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Something else was expected here.
    pub(super) fn fail<T>(&mut self, expected: &str) -> Parsed<T> {
        let word = self.peek();
        let found = match word.kind {
            Kind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", word.text),
        };
        let wrong =
            Diagnostic::new(Code::RuleParseError, word.span, format!("expected {expected}, found {found}"))
                .label(format!("expected {expected}"));
        self.report(wrong)
    }

    pub(super) fn report<T>(&mut self, wrong: Diagnostic) -> Parsed<T> {
        self.wrong.push(wrong);
        Err(Failed)
    }

    /// Skips to the next line that begins with one of these words, or with any word that is not
    /// indented, or to the end.
    pub(super) fn skip_to_line(&mut self, words: &[&str]) {
        self.depth = 0;
        while self.peek().kind != Kind::End {
            let indent = self.indent();
            let known = indent.is_some() && words.contains(&self.peek().text);
            if self.peek().kind == Kind::Name && (known || indent == Some(0)) {
                return;
            }
            self.next();
        }
    }

    /// Skips behind the next semicolon, but not out of the braces around it.
    pub(super) fn skip_row(&mut self) {
        self.depth = 0;
        while !self.is(Symbol::CloseBrace) && self.peek().kind != Kind::End && !self.eat(Symbol::Semicolon) {
            self.next();
        }
    }

    /// How far the next word is indented, if it is the first of its line. Looks only at what
    /// stands between the words, so skipping stays linear on lines of any length.
    fn indent(&self) -> Option<usize> {
        let start = self.peek().span.start as usize;
        let before = self.at.checked_sub(1).map_or(0, |last| self.words[last].span.end as usize);
        let blank = &self.text[before..start];
        match blank.rfind('\n') {
            Some(newline) => Some(blank.len() - newline - 1),
            None if before == 0 => Some(start),
            None => None,
        }
    }
}
