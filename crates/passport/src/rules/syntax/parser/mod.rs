//! The grammar. Words come from [`super::token`]; from there one word decides what to read next.
//!
//! A mistake ends the item it is in. Reading goes on with the next item, so one run reports what
//! is wrong in each of them.

mod cursor;
mod exprs;
mod items;
mod rules;
mod tests;
mod types;

use std::collections::BTreeMap;

use crate::rules::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::rules::source::{Sources, Span};

use super::ast::{Name, Package};
use super::token::tokens;
use cursor::Cursor;

/// Reads a package from its sources.
///
/// # Errors
///
/// All that is wrong with the text, in the order of the text.
pub fn parse(sources: &Sources) -> Result<Package, Diagnostics> {
    let nowhere = || Name { text: String::new(), span: Span::default() };
    let mut package = Package {
        sources: sources.clone(),
        name: nowhere(),
        version: nowhere(),
        effective: nowhere(),
        until: None,
        datapoints: None,
        enums: Vec::new(),
        types: Vec::new(),
        consts: Vec::new(),
        tables: Vec::new(),
        defs: Vec::new(),
        rules: Vec::new(),
        emits: Vec::new(),
        tests: Default::default(),
    };
    let mut wrong = Vec::new();
    for (file, source) in sources.files().iter().enumerate() {
        let (words, no_words) = tokens(file as u32, &source.text);
        let mut cursor = Cursor::new(&source.text, words);
        items::items(&mut cursor, &mut package);
        // What follows on a line from something that is no word is not worth telling.
        let line = |span: Span| source.text.get(..span.start as usize).and_then(|text| text.rfind('\n'));
        let mut first: BTreeMap<Option<usize>, u32> = BTreeMap::new();
        for no_word in no_words.iter().rev() {
            first.insert(line(no_word.span), no_word.span.start);
        }
        cursor.wrong.retain(|one| first.get(&line(one.span)).is_none_or(|start| one.span.start < *start));
        wrong.append(&mut cursor.wrong);
        wrong.extend(no_words);
    }
    if package.name.text.is_empty() && wrong.is_empty() {
        wrong.push(
            Diagnostic::new(Code::RuleParseError, Span::default(), "the package has no header")
                .help("one of its files begins `package NAME version 1.0.0 effective 2027-02-18`"),
        );
    }
    if wrong.is_empty() { Ok(package) } else { Err(Diagnostics(wrong).sorted()) }
}
