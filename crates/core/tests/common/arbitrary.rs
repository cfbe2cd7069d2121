//! Values that look for trouble.

use bpc_core::canonical::{MAX_INTEGER, canonicalize};
use bpc_core::{CanonicalJson, Timestamp};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde_json::Value;
use uuid::Uuid;

/// Failing seeds are printed, and kept beside the test so that they are tried first the next time.
pub fn cases(cases: u32) -> ProptestConfig {
    let seeds = FileFailurePersistence::WithSource("proptest-regressions");
    ProptestConfig { failure_persistence: Some(Box::new(seeds)), ..ProptestConfig::with_cases(cases) }
}

/// Any text, with much of what encoders get wrong: controls, quotes, escapes that look written out,
/// both sides of the surrogates, line separators, combining marks, characters beyond 16 bits.
pub fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => any::<char>().prop_map(String::from),
        2 => (0u8..0x80).prop_map(|byte| char::from(byte).to_string()),
        2 => prop::sample::select(vec![
            "\"", "\\", "\\u0041", "\\\"", "/", "\0", "\u{8}", "\t", "\n", "\u{c}", "\r", "\u{1f}", "\u{7f}",
            "\u{85}", "\u{d7ff}", "\u{e000}", "\u{2028}", "\u{2029}", "\u{fffe}", "\u{feff}", "\u{fffd}",
            "e\u{301}", "é", "😀", "\u{10ffff}", "{", "}", "[", "]", ",", ":", "null",
        ])
        .prop_map(str::to_owned),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Any moment that can be written.
pub fn moment() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(Timestamp::from_micros)
}

/// Any 128 bits.
pub fn uuid() -> impl Strategy<Value = Uuid> {
    any::<u128>().prop_map(Uuid::from_u128)
}

/// Any JSON that may be hashed.
pub fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-MAX_INTEGER..=MAX_INTEGER).prop_map(Value::from),
        prop::sample::select(vec![0, -1, MAX_INTEGER, -MAX_INTEGER]).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4).prop_map(Value::from_iter),
        ]
    })
}

/// Its one spelling.
pub fn canonical(value: Value) -> CanonicalJson {
    canonicalize(value.to_string().as_bytes()).expect("the value may be hashed")
}
