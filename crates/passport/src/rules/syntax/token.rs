//! The words of the language.

use winnow::ascii::{digit1, multispace1, till_line_ending};
use winnow::combinator::{alt, not, opt, peek, repeat, terminated};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location};
use winnow::token::{any, one_of, take_while};

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::source::Span;

/// What a word is. What it says is the text of its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `b`, `Battery`, `re-used`, `kgCO2e/kWh`: letters, digits and `_`; a hyphen between letters
    /// belongs to the name, so subtraction is written with spaces.
    Name,
    /// `PCF.STAGE_SUM`: capitals with at least one dot.
    RuleId,
    /// `16`, `0.05`.
    Number,
    /// `2027-02-18`.
    Date,
    /// `2027-02`.
    Month,
    /// `1.0.0`.
    Version,
    /// `"..."`, without escapes, on one line.
    Text,
    /// `/battery/category`.
    Pointer,
    /// Punctuation.
    Symbol(Symbol),
    /// After the last word.
    End,
}

macro_rules! symbols {
    ($($name:ident $text:literal)*) => {
        /// Punctuation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Symbol { $(#[doc = concat!("`", $text, "`")] $name),* }

        impl Symbol {
            /// How it is written.
            pub fn as_str(self) -> &'static str {
                match self { $(Symbol::$name => $text),* }
            }

            /// Longer ones first, so that `<=` is not read as `<`.
            const ALL: &[Symbol] = &[$(Symbol::$name),*];
        }
    };
}

symbols! {
    Arrow "->" FatArrow "=>" Equal "==" NotEqual "!=" AtMost "<=" AtLeast ">=" Range ".."
    Open "(" Close ")" OpenBrace "{" CloseBrace "}" OpenBracket "[" CloseBracket "]"
    Comma "," Semicolon ";" Colon ":" Dot "." Less "<" Greater ">" Assign "=" Plus "+" Minus "-" Times "*" Bar "|"
}

/// A word and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'s> {
    /// What it is.
    pub kind: Kind,
    /// What it says.
    pub text: &'s str,
    /// Where.
    pub span: Span,
}

/// All words of a text, the last being [`Kind::End`]. What is no word is reported and left out.
pub fn tokens(file: u32, text: &str) -> (Vec<Token<'_>>, Vec<Diagnostic>) {
    let mut input = LocatingSlice::new(text);
    let (mut words, mut wrong) = (Vec::new(), Vec::<Diagnostic>::new());
    let span = |start: usize, end: usize| Span { file, start: start as u32, end: end as u32 };
    loop {
        let _ = blank(&mut input);
        let start = input.current_token_start();
        if start >= text.len() {
            words.push(Token { kind: Kind::End, text: "", span: span(text.len(), text.len()) });
            return (words, wrong);
        }
        if let Ok(kind) = word.parse_next(&mut input) {
            let end = input.current_token_start();
            words.push(Token { kind, text: &text[start..end], span: span(start, end) });
            continue;
        }
        let _: Result<&str, ()> =
            take_while(1.., in_name).parse_next(&mut input).or_else(|()| any.take().parse_next(&mut input));
        wrong.push(no_word(&text[start..], span(start, input.current_token_start())));
    }
}

type In<'s> = LocatingSlice<&'s str>;

fn blank(input: &mut In<'_>) -> Result<(), ()> {
    repeat(0.., alt((multispace1.void(), ('#', till_line_ending).void()))).parse_next(input)
}

fn word(input: &mut In<'_>) -> Result<Kind, ()> {
    alt((
        date.value(Kind::Date),
        month.value(Kind::Month),
        version.value(Kind::Version),
        number.value(Kind::Number),
        rule_id.value(Kind::RuleId),
        name.value(Kind::Name),
        text.value(Kind::Text),
        pointer.value(Kind::Pointer),
        symbol.map(Kind::Symbol),
    ))
    .parse_next(input)
}

fn digits<'s>(count: usize) -> impl Parser<In<'s>, &'s str, ()> {
    take_while(count, |letter: char| letter.is_ascii_digit())
}

fn no_more(input: &mut In<'_>) -> Result<(), ()> {
    not(one_of(in_name)).parse_next(input)
}

fn date(input: &mut In<'_>) -> Result<(), ()> {
    (digits(4), '-', digits(2), '-', digits(2), no_more).void().parse_next(input)
}

fn month(input: &mut In<'_>) -> Result<(), ()> {
    (digits(4), '-', digits(2), no_more).void().parse_next(input)
}

fn version(input: &mut In<'_>) -> Result<(), ()> {
    (digit1, '.', digit1, '.', digit1, no_more).void().parse_next(input)
}

fn number(input: &mut In<'_>) -> Result<(), ()> {
    (digit1, opt(('.', digit1)), no_more).void().parse_next(input)
}

fn rule_id(input: &mut In<'_>) -> Result<(), ()> {
    let segment = || {
        take_while(1.., |letter: char| {
            letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_'
        })
    };
    (peek(one_of('A'..='Z')), segment(), repeat::<_, _, (), _, _>(1.., ('.', segment())), no_more)
        .void()
        .parse_next(input)
}

fn name(input: &mut In<'_>) -> Result<(), ()> {
    let letters = || take_while(1.., in_name);
    let unit = terminated(alt(("kgCO2e/kWh", "gCO2e/kWh", "A/Ah", "pct/month", "W/Wh")), no_more).void();
    let joined = repeat::<_, _, (), _, _>(
        0..,
        ('-', peek(one_of(|letter: char| letter.is_ascii_alphabetic())), letters()),
    );
    let plain =
        (peek(one_of(|letter: char| letter.is_ascii_alphabetic() || letter == '_')), letters(), joined)
            .void();
    alt((unit, plain)).parse_next(input)
}

fn text(input: &mut In<'_>) -> Result<(), ()> {
    ('"', take_while(0.., |letter: char| letter != '"' && letter != '\n' && letter != '\r'), '"')
        .void()
        .parse_next(input)
}

fn pointer(input: &mut In<'_>) -> Result<(), ()> {
    let segment = (
        '/',
        take_while(1.., |letter: char| {
            letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_'
        }),
    );
    (repeat::<_, _, (), _, _>(1.., segment), no_more).void().parse_next(input)
}

fn symbol(input: &mut In<'_>) -> Result<Symbol, ()> {
    let found = Symbol::ALL.iter().find(|symbol| input.starts_with(symbol.as_str())).ok_or(())?;
    found.as_str().value(*found).parse_next(input)
}

fn in_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

fn no_word(rest: &str, span: Span) -> Diagnostic {
    let first = rest.chars().next().unwrap_or(' ');
    let wrong = Diagnostic::new(Code::RuleParseError, span, format!("`{first}` is no word of the language"));
    match first {
        '"' => Diagnostic { message: "a text must end with `\"` on the line it began".to_owned(), ..wrong },
        '/' => wrong.help("there is no division sign; write `div(a, b, scale, HALF_EVEN)`"),
        '%' => wrong.help("write `5 pct` or `5 pct of x`").suggest(span, " pct"),
        '&' => wrong.help("write `and`"),
        '!' => wrong.help("write `not`"),
        '0'..='9' => Diagnostic { message: "a number must not run into letters".to_owned(), ..wrong }
            .help("write a space between number and unit: `2 kWh`"),
        _ => wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        let (words, wrong) = tokens(0, text);
        assert!(wrong.is_empty(), "{wrong:?}");
        words.iter().filter(|word| word.kind != Kind::End).map(|word| (word.kind, word.text)).collect()
    }

    #[test]
    fn numbers_dates_and_ranges_are_told_apart() {
        assert_eq!(
            kinds("2027-02-18..2027-02 1.0.0 0.05 16..18"),
            [
                (Kind::Date, "2027-02-18"),
                (Kind::Symbol(Symbol::Range), ".."),
                (Kind::Month, "2027-02"),
                (Kind::Version, "1.0.0"),
                (Kind::Number, "0.05"),
                (Kind::Number, "16"),
                (Kind::Symbol(Symbol::Range), ".."),
                (Kind::Number, "18"),
            ]
        );
    }

    #[test]
    fn names_may_have_hyphens_and_units_a_slash() {
        assert_eq!(
            kinds("re-used a - b SCOPE.77_1 b.v_min /battery/v_min 5 kgCO2e/kWh Obligation.M E_X"),
            [
                (Kind::Name, "re-used"),
                (Kind::Name, "a"),
                (Kind::Symbol(Symbol::Minus), "-"),
                (Kind::Name, "b"),
                (Kind::RuleId, "SCOPE.77_1"),
                (Kind::Name, "b"),
                (Kind::Symbol(Symbol::Dot), "."),
                (Kind::Name, "v_min"),
                (Kind::Pointer, "/battery/v_min"),
                (Kind::Number, "5"),
                (Kind::Name, "kgCO2e/kWh"),
                (Kind::Name, "Obligation"),
                (Kind::Symbol(Symbol::Dot), "."),
                (Kind::Name, "M"),
                (Kind::Name, "E_X"),
            ]
        );
    }

    #[test]
    fn comments_end_with_the_line() {
        assert_eq!(kinds("a # b \"\nc"), [(Kind::Name, "a"), (Kind::Name, "c")]);
    }

    #[test]
    fn what_is_no_word_is_reported_and_reading_goes_on() {
        let (words, wrong) = tokens(0, "a % b \"open\nc 5kg ü");
        assert_eq!(wrong.len(), 4, "{wrong:?}");
        assert!(words.iter().any(|word| word.text == "c"));
    }
}
