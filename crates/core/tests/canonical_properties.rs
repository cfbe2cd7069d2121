//! Properties of canonical JSON, held against an independent implementation of RFC 8785.

use std::collections::HashSet;

use bpc_core::canonical::{JsonErrorKind, MAX_INTEGER, canonicalize, check, to_canonical};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde::ser::{Serialize, Serializer};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_accepted_reads_as_another_implementation_writes_it(json in any_json(), style in any_style()) {
        let text = spell(&json, style);
        match canonicalize(text.as_bytes()) {
            Ok(canonical) => prop_assert_eq!(canonical.as_str(), other_implementation(text.as_bytes()).unwrap()),
            Err(refused) => {
                prop_assert_eq!(refused.kind, JsonErrorKind::DuplicateKey);
                prop_assert!(json.repeats_a_key());
            }
        }
    }

    #[test]
    fn a_text_is_refused_if_and_only_if_it_repeats_a_key(json in any_json(), style in any_style()) {
        let text = spell(&json, style);
        prop_assert_eq!(canonicalize(text.as_bytes()).is_err(), json.repeats_a_key());
    }

    #[test]
    fn canonicalizing_twice_changes_nothing(json in unique_json(), style in any_style()) {
        let once = canonicalize(spell(&json, style).as_bytes()).unwrap();
        prop_assert_eq!(check(once.as_bytes()), Ok(()));
        prop_assert_eq!(&canonicalize(once.as_bytes()).unwrap(), &once);
        prop_assert_eq!(&the_long_way(once.as_bytes()).unwrap(), once.as_bytes());
    }

    #[test]
    fn the_spelling_of_a_value_does_not_show(json in unique_json(), one in any_style(), other in any_style()) {
        let [one, other] = [one, other].map(|style| canonicalize(spell(&json, style).as_bytes()));
        prop_assert_eq!(one, other);
    }

    #[test]
    fn the_check_passes_exactly_the_texts_that_canonicalize_to_themselves(json in any_json(), style in any_style()) {
        check_agrees(spell(&json, style).as_bytes())?;
    }

    #[test]
    fn the_check_notices_any_changed_byte_that_matters(
        json in unique_json(),
        changes in vec((any::<Index>(), any_change()), 20),
    ) {
        let canonical = to_canonical(&json).unwrap().into_bytes();
        for (index, change) in changes {
            let mut text = canonical.clone();
            change.apply(&mut text, index);
            check_agrees(&text)?;
        }
    }

    #[test]
    fn bytes_that_look_like_json_are_judged_alike(
        text in vec(select(&b"{}[]:,\"\"\\\\u0019adeEn-.+ \n\xC3\xA9\xF0"[..]), 0..12),
    ) {
        check_agrees(&text)?;
    }

    #[test]
    fn a_serialized_value_is_its_canonicalized_text(json in any_json()) {
        let text = serde_json::to_vec(&json).unwrap();
        let [direct, by_text] = [to_canonical(&json), canonicalize(&text)]
            .map(|outcome| outcome.map_err(|refused| refused.kind));
        prop_assert_eq!(direct, by_text);
    }

    #[test]
    fn a_serialized_value_is_what_another_implementation_writes(json in unique_json()) {
        let written = to_canonical(&json).unwrap();
        let value: serde_json::Value = serde_json::from_slice(written.as_bytes()).unwrap();
        prop_assert_eq!(written.as_str(), serde_json_canonicalizer::to_string(&value).unwrap());
        prop_assert_eq!(to_canonical(&value).unwrap(), written);
    }
}

#[test]
fn every_character_is_spelled_as_another_implementation_spells_it() {
    let all: String = ('\0'..=char::MAX).collect();
    let expected = serde_json_canonicalizer::to_string(&all).unwrap();
    assert!(to_canonical(&all).unwrap().as_str() == expected);
    assert!(canonicalize(format!(" {expected}").as_bytes()).unwrap().as_str() == expected);
    assert_eq!(check(expected.as_bytes()), Ok(()));
}

#[test]
fn a_character_that_needs_an_escape_is_found_at_any_position() {
    for special in ["\"", "\\", "\n", "\u{1f}"] {
        for before in 0..20 {
            for after in 0..20 {
                let text = "é".repeat(before) + special + &"~".repeat(after);
                let written = to_canonical(&text).unwrap();
                assert_eq!(written.as_str(), serde_json_canonicalizer::to_string(&text).unwrap());
            }
        }
    }
}

/// `check` must agree with `canonicalize` forced to rewrite (it trusts `check` otherwise), and
/// nothing canonical may look different to the other implementation.
fn check_agrees(text: &[u8]) -> Result<(), TestCaseError> {
    let rewritten = the_long_way(text);
    let is_canonical = rewritten.as_deref() == Ok(text);
    let checked = check(text);
    prop_assert_eq!(checked.is_ok(), is_canonical, "for {}", text.escape_ascii());
    prop_assert_eq!(canonicalize(text).is_ok(), rewritten.is_ok(), "for {}", text.escape_ascii());
    if is_canonical {
        let other = other_implementation(text);
        prop_assert_eq!(other.as_deref().map(str::as_bytes), Some(text));
    }
    if let (Err(refused), Err(kind)) = (checked, rewritten)
        && refused.kind != JsonErrorKind::NotCanonical
        && refused.kind != JsonErrorKind::DuplicateKey
    {
        prop_assert_eq!(refused.kind, kind, "for {}", text.escape_ascii());
    }
    Ok(())
}

/// Canonicalizes without the short cut for text that is canonical already.
fn the_long_way(text: &[u8]) -> Result<Vec<u8>, JsonErrorKind> {
    let spaced = [b" ", text].concat();
    canonicalize(&spaced).map(|canonical| canonical.into_bytes()).map_err(|refused| refused.kind)
}

fn other_implementation(text: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(text).ok()?;
    serde_json_canonicalizer::to_string(&value).ok()
}

#[derive(Debug, Clone)]
enum Json {
    Null,
    Bool(bool),
    Integer(i64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn repeats_a_key(&self) -> bool {
        match self {
            Self::Array(items) => items.iter().any(Self::repeats_a_key),
            Self::Object(members) => {
                let mut seen = HashSet::new();
                members.iter().any(|(key, value)| !seen.insert(key) || value.repeats_a_key())
            }
            _ => false,
        }
    }

    fn without_repeated_keys(self) -> Self {
        match self {
            Self::Array(items) => Self::Array(items.into_iter().map(Self::without_repeated_keys).collect()),
            Self::Object(members) => {
                let mut seen = HashSet::new();
                let first_mentions = members.into_iter().filter(|(key, _)| seen.insert(key.clone()));
                Self::Object(
                    first_mentions.map(|(key, value)| (key, value.without_repeated_keys())).collect(),
                )
            }
            scalar => scalar,
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(members) => serializer.collect_map(members.iter().map(|(key, value)| (key, value))),
        }
    }
}

fn unique_json() -> impl Strategy<Value = Json> {
    any_json().prop_map(Json::without_repeated_keys)
}

fn any_json() -> impl Strategy<Value = Json> {
    let scalar = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any_integer().prop_map(Json::Integer),
        any_text().prop_map(Json::Text),
    ];
    scalar.prop_recursive(6, 48, 8, |inner| {
        prop_oneof![
            1 => vec(inner.clone(), 0..6).prop_map(Json::Array),
            3 => vec((any_text(), inner), 0..8).prop_map(Json::Object),
        ]
    })
}

fn any_integer() -> impl Strategy<Value = i64> {
    prop_oneof![
        -20_i64..20,
        -MAX_INTEGER..=MAX_INTEGER,
        select(vec![MAX_INTEGER, -MAX_INTEGER, MAX_INTEGER - 1, 1_000_000_000_000_000]),
    ]
}

/// Mostly short, from few characters, so that keys share prefixes and sometimes repeat.
fn any_text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => proptest::char::range('a', 'c'),
        2 => select("\"\\/\0\u{1}\u{8}\t\n\u{b}\u{c}\r\u{1f} \u{7f}".chars().collect::<Vec<_>>()),
        2 => select("\u{80}é\u{301}\u{7ff}\u{800}€\u{2028}\u{d7ff}\u{feff}".chars().collect::<Vec<_>>()),
        2 => select("\u{e000}\u{efff}\u{f000}\u{fffd}\u{ffff}\u{10000}😀\u{10ffff}".chars().collect::<Vec<_>>()),
        1 => any::<char>(),
    ];
    prop_oneof![4 => vec(character.clone(), 0..4), 1 => vec(character, 4..24)]
        .prop_map(|characters| characters.into_iter().collect())
}

#[derive(Debug, Clone)]
enum Change {
    Replace(u8),
    Flip(u8),
    Insert(u8),
    Remove,
    Swap,
}

impl Change {
    fn apply(self, text: &mut Vec<u8>, index: Index) {
        let at = index.index(text.len());
        match self {
            Self::Replace(byte) => text[at] = byte,
            Self::Flip(bit) => text[at] ^= 1 << bit,
            Self::Insert(byte) => text.insert(at, byte),
            Self::Remove => drop(text.remove(at)),
            Self::Swap => text.swap(at, at.saturating_sub(1)),
        }
    }
}

fn any_change() -> impl Strategy<Value = Change> {
    let telling = || select(b"{}[]:,\"\\/ \n\t019-.eEabcfnrtu\x00\x1f\x7f\x80\xEE\xF0".to_vec());
    prop_oneof![
        any::<u8>().prop_map(Change::Replace),
        telling().prop_map(Change::Replace),
        (0..8_u8).prop_map(Change::Flip),
        telling().prop_map(Change::Insert),
        Just(Change::Remove),
        Just(Change::Swap),
    ]
}

/// Free choices of spelling, used up one by one and then started over.
fn any_style() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![1 => Just(vec![0]), 4 => vec(any::<u8>(), 1..40)]
}

fn spell(json: &Json, style: Vec<u8>) -> String {
    let mut speller = Speller { choices: style.into_iter().cycle(), text: String::new() };
    speller.gap();
    speller.value(json);
    speller.gap();
    speller.text
}

/// Writes valid JSON with whatever whitespace and escapes the choices lead to.
struct Speller<C> {
    choices: C,
    text: String,
}

impl<C: Iterator<Item = u8>> Speller<C> {
    fn value(&mut self, json: &Json) {
        match json {
            Json::Null => self.text.push_str("null"),
            Json::Bool(value) => self.text.push_str(&value.to_string()),
            Json::Integer(value) => self.text.push_str(&value.to_string()),
            Json::Text(value) => self.string(value),
            Json::Array(items) => self.list('[', items, ']', Self::value),
            Json::Object(members) => self.list('{', members, '}', |speller, (key, value)| {
                speller.string(key);
                speller.token(':');
                speller.value(value);
            }),
        }
    }

    fn list<T>(&mut self, open: char, items: &[T], close: char, write: impl Fn(&mut Self, &T)) {
        self.token(open);
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.token(',');
            }
            write(self, item);
        }
        self.token(close);
    }

    fn token(&mut self, token: char) {
        self.gap();
        self.text.push(token);
        self.gap();
    }

    fn gap(&mut self) {
        let gap = match self.choice() % 16 {
            1 => " ",
            2 => "\n  ",
            3 => "\t\r\n",
            _ => "",
        };
        self.text.push_str(gap);
    }

    fn string(&mut self, value: &str) {
        self.text.push('"');
        for character in value.chars() {
            self.character(character);
        }
        self.text.push('"');
    }

    fn character(&mut self, character: char) {
        let short = match character {
            '"' | '\\' | '/' => Some(character),
            '\u{8}' => Some('b'),
            '\t' => Some('t'),
            '\n' => Some('n'),
            '\u{c}' => Some('f'),
            '\r' => Some('r'),
            _ => None,
        };
        let must_escape = character < ' ' || character == '"' || character == '\\';
        match (self.choice() % 8, short) {
            (1, _) => self.units(character, |unit| format!("\\u{unit:04x}")),
            (2, _) => self.units(character, |unit| format!("\\u{unit:04X}")),
            (3, Some(letter)) => self.text.extend(['\\', letter]),
            (_, Some(letter)) if must_escape => self.text.extend(['\\', letter]),
            _ if must_escape => self.units(character, |unit| format!("\\u{unit:04x}")),
            _ => self.text.push(character),
        }
    }

    fn units(&mut self, character: char, spell: impl Fn(u16) -> String) {
        self.text.extend(character.encode_utf16(&mut [0; 2]).iter().map(|unit| spell(*unit)));
    }

    fn choice(&mut self) -> u8 {
        self.choices.next().unwrap_or_default()
    }
}
