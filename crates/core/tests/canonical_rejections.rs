//! What canonical JSON refuses, by which name, and at which byte.

use bpc_core::canonical::{JsonError, JsonErrorKind, MAX_DEPTH, canonicalize, check};

/// Input, offending byte, code. No line depends on another.
#[rustfmt::skip]
const REFUSED: &[(&[u8], usize, &str)] = &[
    (b"9007199254740992",              0, "JSON_NUMBER_OUT_OF_RANGE"),
    (b"9007199254740993",              0, "JSON_NUMBER_OUT_OF_RANGE"),
    (b"-9007199254740992",             0, "JSON_NUMBER_OUT_OF_RANGE"),
    (b"[18446744073709551617]",        1, "JSON_NUMBER_OUT_OF_RANGE"),
    (b"100000000000000000000000000",   0, "JSON_NUMBER_OUT_OF_RANGE"),
    (b"1.0",                           0, "JSON_NUMBER_NOT_INTEGER"),
    (b"0.5",                           0, "JSON_NUMBER_NOT_INTEGER"),
    (b"-0.0",                          0, "JSON_NUMBER_NOT_INTEGER"),
    (b"1e3",                           0, "JSON_NUMBER_NOT_INTEGER"),
    (b"1E+3",                          0, "JSON_NUMBER_NOT_INTEGER"),
    (b"{\"a\":1.5e-3}",                5, "JSON_NUMBER_NOT_INTEGER"),
    (b"-0",                            0, "JSON_NUMBER_NEGATIVE_ZERO"),
    (b"[0,-0]",                        3, "JSON_NUMBER_NEGATIVE_ZERO"),
    (b"01",                            1, "JSON_SYNTAX"),
    (b"-01",                           2, "JSON_SYNTAX"),
    (b"00",                            1, "JSON_SYNTAX"),
    (b"+1",                            0, "JSON_SYNTAX"),
    (b"-",                             1, "JSON_SYNTAX"),
    (b".5",                            0, "JSON_SYNTAX"),
    (b"1.",                            2, "JSON_SYNTAX"),
    (b"1e",                            2, "JSON_SYNTAX"),
    (b"1e+",                           3, "JSON_SYNTAX"),
    (b"0x10",                          1, "JSON_SYNTAX"),
    (b"NaN",                           0, "JSON_SYNTAX"),
    (b"Infinity",                      0, "JSON_SYNTAX"),
    (b"-Infinity",                     1, "JSON_SYNTAX"),
    (b"",                              0, "JSON_SYNTAX"),
    (b" ",                             1, "JSON_SYNTAX"),
    (b"\xef\xbb\xbf{}",                0, "JSON_SYNTAX"),
    (b"{} {}",                         3, "JSON_SYNTAX"),
    (b"{}x",                           2, "JSON_SYNTAX"),
    (b"nul",                           0, "JSON_SYNTAX"),
    (b"nullx",                         4, "JSON_SYNTAX"),
    (b"True",                          0, "JSON_SYNTAX"),
    (b"'a'",                           0, "JSON_SYNTAX"),
    (b"[1,]",                          3, "JSON_SYNTAX"),
    (b"[,1]",                          1, "JSON_SYNTAX"),
    (b"[1 2]",                         3, "JSON_SYNTAX"),
    (b"[1",                            2, "JSON_SYNTAX"),
    (b"]",                             0, "JSON_SYNTAX"),
    (b"[}",                            1, "JSON_SYNTAX"),
    (b"{\"a\":1,}",                    7, "JSON_SYNTAX"),
    (b"{\"a\":1, }",                   8, "JSON_SYNTAX"),
    (b"{,}",                           1, "JSON_SYNTAX"),
    (b"{\"a\"}",                       4, "JSON_SYNTAX"),
    (b"{\"a\" 1}",                     5, "JSON_SYNTAX"),
    (b"{\"a\":}",                      5, "JSON_SYNTAX"),
    (b"{\"a\":1",                      6, "JSON_SYNTAX"),
    (b"{a:1}",                         1, "JSON_SYNTAX"),
    (b"{1:1}",                         1, "JSON_SYNTAX"),
    (b"[1]// no comments",             3, "JSON_SYNTAX"),
    (b"[1,/**/2]",                     3, "JSON_SYNTAX"),
    (b"[1,\x0c2]",                     3, "JSON_SYNTAX"),
    (b"[1,\xc2\xa02]",                 3, "JSON_SYNTAX"),
    (b"\"a",                           2, "JSON_SYNTAX"),
    (b"\"a\\",                         3, "JSON_SYNTAX"),
    (b"\"a\nb\"",                      2, "JSON_SYNTAX"),
    (b"\"a\tb\"",                      2, "JSON_SYNTAX"),
    (b"\"\x00\"",                      1, "JSON_SYNTAX"),
    (b"\"eight by\x1f\"",              9, "JSON_SYNTAX"),
    (b"\"\\x41\"",                     2, "JSON_SYNTAX"),
    (b"\"\\'\"",                       2, "JSON_SYNTAX"),
    (b"\"\\u12\"",                     5, "JSON_SYNTAX"),
    (b"\"\\u12g4\"",                   5, "JSON_SYNTAX"),
    (b"\"\\U0041\"",                   2, "JSON_SYNTAX"),
    (b"\"\\ud83d\\u\"",                9, "JSON_SYNTAX"),
    (b"\"\\ud800\"",                   1, "JSON_INVALID_UNICODE"),
    (b"\"\\udc00\"",                   1, "JSON_INVALID_UNICODE"),
    (b"\"\\uDBFFx\"",                  1, "JSON_INVALID_UNICODE"),
    (b"\"\\ud800\\n\"",                1, "JSON_INVALID_UNICODE"),
    (b"\"\\ud800\\u0041\"",            1, "JSON_INVALID_UNICODE"),
    (b"\"\\ud800\\ud800\"",            1, "JSON_INVALID_UNICODE"),
    (b"\"\\udc00\\ud800\"",            1, "JSON_INVALID_UNICODE"),
    (b"{\"\\ud800\":1}",               2, "JSON_INVALID_UNICODE"),
    (b"\"\xc0\xaf\"",                  1, "JSON_INVALID_UNICODE"),
    (b"\"\xe0\x80\xaf\"",              1, "JSON_INVALID_UNICODE"),
    (b"\"\xf0\x80\x80\xaf\"",          1, "JSON_INVALID_UNICODE"),
    (b"\"\xed\xa0\x80\"",              1, "JSON_INVALID_UNICODE"),
    (b"\"\xf4\x90\x80\x80\"",          1, "JSON_INVALID_UNICODE"),
    (b"\"ab\x80\"",                    3, "JSON_INVALID_UNICODE"),
    (b"\"ab\xe2\x82\"",                3, "JSON_INVALID_UNICODE"),
    (b"\xff\xfe[\x00]\x00",            0, "JSON_INVALID_UNICODE"),
    (b"{\"a\":1,\"a\":1}",             7, "JSON_DUPLICATE_KEY"),
    (b"{\"a\":1,\"\\u0061\":2}",       7, "JSON_DUPLICATE_KEY"),
    (b"{\"\\u0061\":1,\"a\":2}",      12, "JSON_DUPLICATE_KEY"),
    (b"{\"a\":1,\"b\":2, \"a\":3}",   14, "JSON_DUPLICATE_KEY"),
    (b"{\"b\":1,\"a\":2,\"b\":3}",    13, "JSON_DUPLICATE_KEY"),
    (b"{\"b\":1,\"a\":1,\"b\":1,\"a\":1}", 13, "JSON_DUPLICATE_KEY"),
    (b"{\"\":1,\"\":1}",               6, "JSON_DUPLICATE_KEY"),
    (b"{\"/\":1,\"\\/\":1}",           7, "JSON_DUPLICATE_KEY"),
    (b"{\"\\n\":1,\"\\u000A\":1}",     8, "JSON_DUPLICATE_KEY"),
    (b"{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":1}", 18, "JSON_DUPLICATE_KEY"),
    (b"{\"x\":[{\"a\":1,\"a\":1}]}",  13, "JSON_DUPLICATE_KEY"),
];

#[test]
fn every_refused_text_names_the_rule_and_the_byte() {
    for (text, at, code) in REFUSED {
        let shown = text.escape_ascii();
        let refused = canonicalize(text).expect_err(&format!("accepted {shown}"));
        assert_eq!((refused.kind.code(), refused.at), (*code, *at), "for {shown}");
        assert!(check(text).is_err(), "check accepted {shown}");
    }
}

/// Input, first byte that is not canonical.
#[rustfmt::skip]
const NOT_CANONICAL: &[(&[u8], usize)] = &[
    (b" 1",                          0),
    (b"1\n",                         1),
    (b"{ }",                         1),
    (b"[1, 2]",                      3),
    (b"[ 1]",                        1),
    (b"[1 ]",                        2),
    (b"{\"a\" :1}",                  4),
    (b"{\"a\": 1}",                  5),
    (b"{\"a\":1 }",                  6),
    (b"{\"a\":1, \"b\":2}",          7),
    (b"{\"b\":1,\"a\":2}",           7),
    (b"{\"aa\":1,\"a\":2}",          8),
    (b"\"a\\/b\"",                   2),
    (b"\"\\u0061\"",                 1),
    (b"\"\\u000a\"",                 1),
    (b"\"\\u001F\"",                 1),
    (b"\"\\u007f\"",                 1),
    (b"\"\\u00e9\"",                 1),
    (b"\"\\u2028\"",                 1),
    (b"\"\\ud83d\\ude00\"",          1),
    (b"{\"\\n\":1,\"\\t\":1}",       8),
    (b"{\"a\":1,\"\\n\":1}",         7),
];

#[test]
fn valid_text_in_another_spelling_is_canonicalized_but_does_not_pass_the_check() {
    for (text, at) in NOT_CANONICAL {
        let shown = text.escape_ascii();
        let expected = JsonError { kind: JsonErrorKind::NotCanonical, at: *at };
        assert_eq!(check(text), Err(expected), "for {shown}");
        let canonical = canonicalize(text).expect("valid JSON");
        assert_eq!(check(canonical.as_bytes()), Ok(()), "for {shown}");
    }
}

/// Input, canonical form.
#[rustfmt::skip]
const ACCEPTED: &[(&str, &str)] = &[
    ("9007199254740991",                   "9007199254740991"),
    ("-9007199254740991",                  "-9007199254740991"),
    ("[0, -1]",                            "[0,-1]"),
    (" null ",                             "null"),
    ("{ }",                                "{}"),
    ("\t[\r\n]",                           "[]"),
    ("{\"b\":[true,false],\"a\":{}}",      "{\"a\":{},\"b\":[true,false]}"),
    ("{\"a\":1,\"\":2}",                   "{\"\":2,\"a\":1}"),
    ("{\"10\":1,\"9\":2}",                 "{\"10\":1,\"9\":2}"),
    (r#""\u0022\u005C\/\u0008\u000C""#,    r#""\"\\/\b\f""#),
    (r#""\u001F\u007F\u00e9""#,            "\"\\u001f\u{7f}é\""),
    (r#""\uD83D\uDE00""#,                  "\"😀\""),
    ("\"e\u{301} \u{feff}\u{2028}\"",      "\"e\u{301} \u{feff}\u{2028}\""),
    (r#"{"é":1,"e\u0301":2}"#,             "{\"e\u{301}\":2,\"é\":1}"),
    ("{\"c\":3,\"b\":{\"z\":1,\"y\":2},\"a\":1}", "{\"a\":1,\"b\":{\"y\":2,\"z\":1},\"c\":3}"),
];

#[test]
fn every_accepted_text_has_its_one_canonical_form() {
    for (text, canonical) in ACCEPTED {
        let written = canonicalize(text.as_bytes()).expect(text);
        assert_eq!(written.as_str(), *canonical, "for {text}");
    }
}

#[test]
fn sixty_four_levels_are_accepted_and_sixty_five_are_not() {
    let arrays = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let objects = |depth: usize| "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth);
    for (nested, width) in [(arrays as fn(usize) -> String, 1), (objects, 5)] {
        let deepest = nested(MAX_DEPTH);
        assert_eq!(check(deepest.as_bytes()), Ok(()));
        assert!(canonicalize(format!(" {deepest}").as_bytes()).is_ok());

        let too_deep = nested(MAX_DEPTH + 1);
        let at = MAX_DEPTH * width;
        let refused = |at| JsonError { kind: JsonErrorKind::TooDeep, at };
        assert_eq!(check(too_deep.as_bytes()).unwrap_err(), refused(at));
        assert_eq!(canonicalize(format!(" {too_deep}").as_bytes()).unwrap_err(), refused(at + 1));
    }
}

#[test]
fn the_second_mention_is_the_one_refused_however_many_follow() {
    let text = format!("{{{}}}", vec!["\"b\":1,\"a\":1"; 50].join(","));
    let refused = canonicalize(text.as_bytes()).expect_err("accepted repeated keys");
    assert_eq!(refused, JsonError { kind: JsonErrorKind::DuplicateKey, at: r#"{"b":1,"a":1,"#.len() });
}

#[test]
fn a_bomb_of_a_million_brackets_is_refused_without_overflowing_the_stack() {
    let refused = canonicalize(&b"[".repeat(1_000_000)).expect_err("accepted a bomb");
    assert_eq!(refused, JsonError { kind: JsonErrorKind::TooDeep, at: MAX_DEPTH });
}

#[test]
fn an_error_reads_as_one_sentence_with_a_way_out() {
    let refused = canonicalize(b"{\"amount\": 0.1}").expect_err("accepted a fraction");
    assert_eq!(refused.to_string(), "the number is not a plain integer at byte 11; send it as a string");
}
