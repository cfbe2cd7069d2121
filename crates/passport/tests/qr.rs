//! Both codes, scanned back by a decoder that nobody here wrote.

use bpc_core::Hash;
use bpc_passport::qr::{MAX_LINK_LENGTH, ProofCode, QrCode, web_link};
use proptest::prelude::*;
use uuid::Uuid;

fn code(seed: u8) -> ProofCode {
    ProofCode {
        passport_version: Uuid::from_bytes([seed; 16]),
        payload_hash: Hash([seed; 32]),
        proof_root: Hash([seed ^ 0x55; 32]),
        receipt_hash: Hash([seed.wrapping_mul(7); 32]),
    }
}

fn scan(png: &[u8]) -> Vec<String> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().expect("a PNG");
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    assert_eq!((reader.info().bit_depth, width), (png::BitDepth::One, height));
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut pixels).expect("a picture");
    let row_bytes = width.div_ceil(8);
    let light = |x: usize, y: usize| pixels[y * row_bytes + x / 8] >> (7 - x % 8) & 1 == 1;
    let mut image =
        rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| if light(x, y) { 255 } else { 0 });
    image.detect_grids().iter().map(|grid| grid.decode().expect("a code").1).collect()
}

#[test]
fn the_proof_code_scans_back() {
    let text = code(1).to_string();
    // As Python's base64.b32encode writes 32 bytes of 01, 54 and 07.
    let expected = [
        "BPC1",
        "pv=01010101-0101-0101-0101-010101010101",
        "ph=AEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQ",
        "pr=KRKFIVCUKRKFIVCUKRKFIVCUKRKFIVCUKRKFIVCUKRKFIVCUKRKA",
        "rh=A4DQOBYHA4DQOBYHA4DQOBYHA4DQOBYHA4DQOBYHA4DQOBYHA4DQ",
    ];
    assert_eq!(text, expected.join("|"));
    let png = QrCode::new(&text).expect("a code").png().expect("a picture");
    assert_eq!(scan(&png), [text]);
}

#[test]
fn the_web_link_is_short_and_scans_back() {
    let link = web_link("https://p.example/", Uuid::from_u128(0x550e_8400_e29b_41d4_a716_4466_5544_0000));
    assert_eq!(link, "https://p.example/KUHIIAHCTNA5JJYWIRTFKRAAAA");
    assert!(link.len() <= MAX_LINK_LENGTH);
    let code = QrCode::new(&link).expect("a code");
    assert_eq!(code.modules(), 29, "version 3, the smallest that carries it at level M");
    assert_eq!(scan(&code.png().expect("a picture")), [link]);
}

#[test]
fn a_picture_has_ten_pixels_a_module_and_a_quiet_zone_of_four() {
    let code = QrCode::new("BPC").expect("a code");
    let png = code.png().expect("a picture");
    let reader = png::Decoder::new(std::io::Cursor::new(&png[..])).read_info().expect("a PNG");
    assert_eq!(reader.info().width as usize, (code.modules() + 8) * 10);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let error = QrCode::new(&"x".repeat(3000)).err().expect("refused");
    assert_eq!(error.code(), "QR_ENCODE_FAILED");
}

#[test]
fn only_the_one_spelling_is_a_proof_code() {
    let text = code(9).to_string();
    assert_eq!(text.parse(), Ok(code(9)));
    for other in [
        String::new(),
        text.to_lowercase(),
        text.replace("BPC1", "BPC2"),
        format!("{text}|x=1"),
        text.replace("pv=0909", "pv=zzzz"),
        text[..text.len() - 1].to_owned(),
        text.replace('|', "||"),
    ] {
        assert!(other.parse::<ProofCode>().is_err(), "{other}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_proof_code_scans_back(bytes in any::<[u8; 32]>(), id in any::<u128>()) {
        let code = ProofCode {
            passport_version: Uuid::from_u128(id),
            payload_hash: Hash(bytes),
            proof_root: Hash(bytes.map(|byte| byte.wrapping_mul(31))),
            receipt_hash: Hash(bytes.map(|byte| !byte)),
        };
        let text = code.to_string();
        prop_assert_eq!(text.parse(), Ok(code));
        let png = QrCode::new(&text).expect("a code").png().expect("a picture");
        prop_assert_eq!(scan(&png), [text]);
    }
}
