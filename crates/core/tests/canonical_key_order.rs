//! Keys are sorted by UTF-16 code units, which is neither byte order nor code point order.

use std::cmp::Ordering;

use bpc_core::canonical::{JsonErrorKind, canonicalize, check, write_string};

#[test]
fn characters_beyond_u_ffff_come_before_the_end_of_the_basic_plane() {
    let astral_first = "{\"\u{10000}\":1,\"\u{e000}\":2,\"\u{ffff}\":3}";
    let bytes_first = "{\"\u{e000}\":2,\"\u{ffff}\":3,\"\u{10000}\":1}";
    assert_eq!(check(astral_first.as_bytes()), Ok(()));
    assert_eq!(check(bytes_first.as_bytes()).unwrap_err().kind, JsonErrorKind::NotCanonical);
    assert_eq!(canonicalize(bytes_first.as_bytes()).unwrap().as_str(), astral_first);
}

#[test]
fn the_sorting_example_of_rfc_8785_comes_out_as_printed_there() {
    let text = r#"{
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis"
    }"#;
    let sorted = [
        r#"{"\r":"Carriage Return""#,
        r#""1":"One""#,
        "\"\u{80}\":\"Control\"",
        r#""ö":"Latin Small Letter O With Diaeresis""#,
        r#""€":"Euro Sign""#,
        r#""😀":"Emoji: Grinning Face""#,
        "\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}",
    ];
    assert_eq!(canonicalize(text.as_bytes()).unwrap().as_str(), sorted.join(","));
}

#[test]
fn any_two_keys_are_ordered_as_their_utf_16_code_units() {
    let keys = tricky_keys();
    for left in &keys {
        for right in &keys {
            let order = left.encode_utf16().cmp(right.encode_utf16());
            let text = object_of(left, right);
            match order {
                Ordering::Less => assert_eq!(check(&text), Ok(()), "{left:?} {right:?}"),
                Ordering::Equal => {
                    assert_eq!(check(&text).unwrap_err().kind, JsonErrorKind::DuplicateKey)
                }
                Ordering::Greater => {
                    assert_eq!(check(&text).unwrap_err().kind, JsonErrorKind::NotCanonical);
                    let sorted = canonicalize(&text).unwrap();
                    assert_eq!(sorted.as_bytes(), object_of(right, left), "{left:?} {right:?}");
                }
            }
        }
    }
}

/// Characters from around every border that UTF-8, UTF-16 or escaping draws, alone and behind others.
fn tricky_keys() -> Vec<String> {
    let characters = "\0\u{1}\u{8}\t\n\u{b}\u{c}\r\u{1f} !\"#/0A[\\]bu\u{7f}\u{80}\u{7ff}\u{800}\u{d7ff}\
        \u{e000}\u{efff}\u{f000}\u{ffff}\u{10000}\u{10001}\u{fffff}\u{10ffff}";
    let prefixes = ["", "a", "\n", "\\", "\u{1}", "\u{e000}", "\u{10000}"];
    let last = characters.chars().map(String::from).chain([String::new()]);
    last.flat_map(|last| prefixes.map(|prefix| format!("{prefix}{last}"))).collect()
}

fn object_of(first: &str, second: &str) -> Vec<u8> {
    let mut text = b"{".to_vec();
    write_string(first, &mut text);
    text.extend_from_slice(b":1,");
    write_string(second, &mut text);
    text.extend_from_slice(b":1}");
    text
}

#[test]
fn large_objects_in_any_order_come_out_sorted() {
    let count = 1000;
    let shuffled = (0..count).map(|n| format!("\"{:03}\":{n}", n * 617 % count));
    let text = format!("{{{}}}", shuffled.collect::<Vec<_>>().join(","));
    let canonical = canonicalize(text.as_bytes()).unwrap();
    assert_eq!(check(canonical.as_bytes()), Ok(()));
    assert_eq!(canonical.len(), text.len());
}
