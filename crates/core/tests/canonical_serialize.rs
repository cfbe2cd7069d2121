//! Serializable values written canonically.

use std::collections::{BTreeMap, HashMap};

use bpc_core::canonical::{
    CanonicalJson, JsonErrorKind, MAX_INTEGER, canonicalize, to_canonical, write_integer, write_string,
};
use serde::Serialize;
use serde::ser::{Error, SerializeMap, SerializeSeq, SerializeStruct, Serializer};

#[derive(Serialize)]
struct Everything<'a> {
    zebra: i64,
    text: &'a str,
    nothing: Option<u8>,
    something: Option<u8>,
    unit: (),
    marker: Marker,
    wrapped: Wrapped,
    pair: Pair,
    letter: char,
    bytes: Bytes<'a>,
    by_number: BTreeMap<i16, u8>,
    by_shape: HashMap<Wrapped, Shape>,
    shapes: [Shape; 4],
    wide: (u128, i128, u64),
    #[serde(flatten)]
    rest: BTreeMap<&'a str, bool>,
}

#[derive(Serialize)]
struct Marker;

#[derive(Serialize, PartialEq, Eq, Hash)]
struct Wrapped(&'static str);

#[derive(Serialize)]
struct Pair(u8, bool);

#[derive(Serialize, PartialEq, Eq, Hash)]
enum Shape {
    Point,
    Circle(u32),
    Line(i8, i8),
    Box { width: u16, height: u16 },
}

struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

fn everything() -> Everything<'static> {
    Everything {
        zebra: -MAX_INTEGER,
        text: "tab\t \"quoted\" \u{1} é 😀",
        nothing: None,
        something: Some(7),
        unit: (),
        marker: Marker,
        wrapped: Wrapped("inner"),
        pair: Pair(1, true),
        letter: 'ß',
        bytes: Bytes(&[0, 255]),
        by_number: BTreeMap::from([(-5, 1), (10, 2), (9, 3)]),
        by_shape: HashMap::from([(Wrapped("b"), Shape::Point), (Wrapped("a"), Shape::Circle(1))]),
        shapes: [Shape::Point, Shape::Circle(3), Shape::Line(-1, 1), Shape::Box { width: 2, height: 1 }],
        wide: (1, -1, MAX_INTEGER as u64),
        rest: BTreeMap::from([("aardvark", true), ("zzz", false)]),
    }
}

#[test]
fn every_shape_is_written_as_serde_json_would_and_then_sorted() {
    let expected = canonicalize(&serde_json::to_vec(&everything()).unwrap()).unwrap();
    assert_eq!(to_canonical(&everything()), Ok(expected));
}

#[test]
fn variants_are_tagged_externally() {
    let shapes = everything().shapes;
    assert_eq!(
        to_canonical(&shapes).unwrap().as_str(),
        r#"["Point",{"Circle":3},{"Line":[-1,1]},{"Box":{"height":1,"width":2}}]"#
    );
}

#[test]
fn unit_variants_are_keys() {
    let by_shape = HashMap::from([(Shape::Point, 1)]);
    assert_eq!(to_canonical(&by_shape).unwrap().as_str(), r#"{"Point":1}"#);
}

#[test]
fn keys_may_be_integers_of_any_size() {
    let by_number = BTreeMap::from([(u128::MAX, 1), (2, 2)]);
    assert_eq!(
        to_canonical(&by_number).unwrap().as_str(),
        r#"{"2":2,"340282366920938463463374607431768211455":1}"#
    );
}

#[test]
fn unsized_values_are_accepted() {
    assert_eq!(to_canonical("text").unwrap().as_str(), "\"text\"");
    assert_eq!(to_canonical(&[1, 2][..]).unwrap().as_str(), "[1,2]");
}

#[derive(Serialize)]
struct Reading {
    sensor: &'static str,
    value: f64,
}

fn refused<T: Serialize + ?Sized>(value: &T) -> (&'static str, usize) {
    let refused = to_canonical(value).expect_err("accepted");
    (refused.kind.code(), refused.at)
}

#[test]
fn a_nan_nested_in_a_struct_is_refused_and_never_null() {
    let nested = |value| vec![Reading { sensor: "s", value }];
    let at = r#"[{"sensor":"s","value":"#.len();
    assert_eq!(refused(&nested(f64::NAN)), ("JSON_NUMBER_NOT_FINITE", at));
    assert_eq!(refused(&nested(f64::INFINITY)), ("JSON_NUMBER_NOT_FINITE", at));
    assert_eq!(refused(&nested(f64::NEG_INFINITY)), ("JSON_NUMBER_NOT_FINITE", at));
    assert_eq!(refused(&f32::NAN), ("JSON_NUMBER_NOT_FINITE", 0));
}

#[test]
fn every_finite_float_is_refused_even_a_whole_one() {
    for float in [0.0, -0.0, 1.0, 0.5, 1e300] {
        assert_eq!(refused(&float), ("JSON_NUMBER_NOT_INTEGER", 0));
    }
    assert_eq!(refused(&serde_json::json!({"a": 1.0})), ("JSON_NUMBER_NOT_INTEGER", 5));
}

#[test]
fn integers_beyond_two_to_the_fifty_third_are_refused() {
    assert_eq!(to_canonical(&MAX_INTEGER).unwrap().as_str(), "9007199254740991");
    assert_eq!(refused(&(MAX_INTEGER + 1)), ("JSON_NUMBER_OUT_OF_RANGE", 0));
    assert_eq!(refused(&(-MAX_INTEGER - 1)), ("JSON_NUMBER_OUT_OF_RANGE", 0));
    assert_eq!(refused(&i64::MIN), ("JSON_NUMBER_OUT_OF_RANGE", 0));
    assert_eq!(refused(&u64::MAX), ("JSON_NUMBER_OUT_OF_RANGE", 0));
    assert_eq!(refused(&i128::MIN), ("JSON_NUMBER_OUT_OF_RANGE", 0));
    assert_eq!(refused(&(1, u128::MAX)), ("JSON_NUMBER_OUT_OF_RANGE", 3));
}

struct Entries<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Entries<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[test]
fn a_repeated_key_is_refused_where_it_is_repeated() {
    let twice = Entries(vec![("b", 1), ("a", 2), ("b", 3)]);
    assert_eq!(refused(&twice), ("JSON_DUPLICATE_KEY", r#"{"b":1,"a":2,"#.len()));
}

#[derive(Serialize)]
struct Clashing {
    name: u8,
    #[serde(flatten)]
    rest: BTreeMap<&'static str, u8>,
}

#[test]
fn a_flattened_field_that_clashes_is_refused() {
    let clashing = Clashing { name: 1, rest: BTreeMap::from([("name", 2)]) };
    assert_eq!(refused(&clashing).0, "JSON_DUPLICATE_KEY");
}

#[test]
fn keys_that_are_not_text_are_refused() {
    assert_eq!(refused(&Entries(vec![(true, 1)])), ("JSON_UNSUPPORTED", 1));
    assert_eq!(refused(&Entries(vec![((), 1)])), ("JSON_UNSUPPORTED", 1));
    assert_eq!(refused(&Entries(vec![(None::<u8>, 1)])), ("JSON_UNSUPPORTED", 1));
    assert_eq!(refused(&Entries(vec![([1, 2], 1)])), ("JSON_UNSUPPORTED", 1));
    assert_eq!(refused(&Entries(vec![(1.0, 1)])), ("JSON_NUMBER_NOT_INTEGER", 1));
    assert_eq!(refused(&Entries(vec![(f64::NAN, 1)])), ("JSON_NUMBER_NOT_FINITE", 1));
}

struct Nested(usize);

impl Serialize for Nested {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            0 => serializer.serialize_unit(),
            depth => serializer.serialize_newtype_variant("Nested", 0, "n", &Nested(depth - 1)),
        }
    }
}

#[test]
fn sixty_four_levels_are_written_and_sixty_five_are_not() {
    assert!(to_canonical(&Nested(64)).is_ok());
    assert_eq!(refused(&Nested(65)), ("JSON_TOO_DEEP", 64 * r#"{"n":"#.len()));
}

#[test]
fn levels_are_given_back_as_containers_close() {
    let wide: Vec<[Shape; 4]> = (0..200).map(|_| everything().shapes).collect();
    assert!(to_canonical(&wide).is_ok());
}

struct Reluctant;

impl Serialize for Reluctant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("half", "done")?;
        Err(S::Error::custom("no"))
    }
}

#[test]
fn a_value_that_refuses_to_be_serialized_is_unsupported() {
    assert_eq!(refused(&Reluctant), ("JSON_UNSUPPORTED", r#"{"half":"done""#.len()));
}

struct Careless<T>(T);

impl<T: Serialize> Serialize for Careless<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(None)?;
        let _swallowed = sequence.serialize_element(&self.0);
        sequence.end()
    }
}

struct CarelessKey;

impl Serialize for CarelessKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let _swallowed = map.serialize_entry(&true, &1);
        let _swallowed = map.serialize_entry(&false, &1);
        map.end()
    }
}

#[test]
fn a_swallowed_refusal_still_counts() {
    assert_eq!(refused(&Careless(Reluctant)).0, "JSON_UNSUPPORTED");
    assert_eq!(refused(&Careless(f64::NAN)), ("JSON_NUMBER_NOT_FINITE", 1));
    assert_eq!(refused(&CarelessKey), ("JSON_UNSUPPORTED", 1));
}

/// Announces keys and values in the given order: `k` or `v`.
struct OutOfTurn(&'static str);

impl Serialize for OutOfTurn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for turn in self.0.chars() {
            let _swallowed = match turn {
                'k' => map.serialize_key("key"),
                _ => map.serialize_value("value"),
            };
        }
        map.end()
    }
}

#[test]
fn keys_and_values_out_of_turn_are_refused() {
    assert!(to_canonical(&OutOfTurn("kv")).is_ok());
    for turns in ["v", "k", "kk", "kkv", "kvv", "kvk"] {
        assert_eq!(refused(&OutOfTurn(turns)).0, "JSON_UNSUPPORTED", "for {turns}");
    }
}

struct Disguised;

impl Serialize for Disguised {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_struct("$serde_json::private::RawValue", 0).and_then(SerializeStruct::end)
    }
}

#[test]
fn raw_json_does_not_turn_into_an_object_with_a_private_name() {
    assert_eq!(refused(&Disguised), ("JSON_UNSUPPORTED", 0));
}

#[test]
fn hand_written_text_is_what_the_serializer_writes() {
    let mut text = b"{".to_vec();
    write_string("n\u{1}", &mut text);
    text.push(b':');
    write_integer(-42, &mut text);
    text.push(b'}');
    let written = CanonicalJson::from_trusted(text);
    assert_eq!(to_canonical(&Entries(vec![("n\u{1}", -42)])), Ok(written));
}

#[test]
fn canonical_text_shows_itself() {
    let object = canonicalize(b"{\"a\": [1]}").unwrap();
    assert_eq!(format!("{object:?}"), r#"{"a":[1]}"#);
    assert_eq!((object.as_str(), object.as_bytes()), (r#"{"a":[1]}"#, &br#"{"a":[1]}"#[..]));
    assert_eq!((object.is_object(), object.len()), (true, 9));
    assert_eq!(object.into_bytes(), br#"{"a":[1]}"#);
    assert!(!canonicalize(b"[{}]").unwrap().is_object());
    assert_eq!(CanonicalJson::empty_object(), to_canonical(&serde_json::json!({})).unwrap());
}

#[test]
#[should_panic(expected = "UTF-8")]
#[cfg(not(debug_assertions))]
fn trusted_bytes_that_are_not_text_panic() {
    let _ = CanonicalJson::from_trusted(vec![0xFF]);
}

#[test]
fn codes_are_unique() {
    use JsonErrorKind::*;
    let kinds = [
        Syntax,
        NumberNotInteger,
        NumberOutOfRange,
        NumberNegativeZero,
        NumberNotFinite,
        DuplicateKey,
        InvalidUnicode,
        TooDeep,
        NotCanonical,
        Unsupported,
    ];
    let codes: std::collections::HashSet<_> = kinds.map(JsonErrorKind::code).into();
    assert_eq!(codes.len(), kinds.len());
}
