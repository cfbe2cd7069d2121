//! Numbers that carry a check digit, so that a wrong one is found before it is signed.

/// Whether this is a CAS Registry Number: `7439-93-2`, check digit included.
#[must_use]
pub fn is_cas(text: &str) -> bool {
    let Some([first, second, check]) = three_parts(text) else { return false };
    let shape = (2..=7).contains(&first.len()) && second.len() == 2 && check.len() == 1;
    let leading_zero = first.starts_with('0');
    let digits = first.bytes().chain(second.bytes()).rev().map(digit);
    let sum: u32 = digits.zip(1..).map(|(digit, weight)| digit * weight).sum();
    shape && !leading_zero && sum % 10 == digit(check.as_bytes()[0])
}

/// Whether this is an EC (EINECS, ELINCS, NLP) number: `231-102-5`, check digit included.
#[must_use]
pub fn is_ec(text: &str) -> bool {
    let Some([first, second, check]) = three_parts(text) else { return false };
    let shape = first.len() == 3 && second.len() == 3 && check.len() == 1;
    let digits = first.bytes().chain(second.bytes()).map(digit);
    let sum: u32 = digits.zip(1..).map(|(digit, weight)| digit * weight).sum();
    // A remainder of 10 would need a second digit; no number is given out for it.
    shape && sum % 11 == digit(check.as_bytes()[0])
}

/// Whether this is a GTIN of 8, 12, 13 or 14 digits with its check digit.
#[must_use]
pub fn is_gtin(text: &str) -> bool {
    matches!(text.len(), 8 | 12 | 13 | 14) && has_gs1_check_digit(text)
}

/// Whether this is a GLN: 13 digits with their check digit.
#[must_use]
pub fn is_gln(text: &str) -> bool {
    text.len() == 13 && has_gs1_check_digit(text)
}

fn has_gs1_check_digit(text: &str) -> bool {
    let weights = [1, 3].into_iter().cycle();
    let all_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    all_digits && text.bytes().rev().map(digit).zip(weights).map(|(d, w)| d * w).sum::<u32>() % 10 == 0
}

/// Three groups of digits with hyphens between them, none of them empty.
fn three_parts(text: &str) -> Option<[&str; 3]> {
    let mut parts = text.split('-');
    let three = [parts.next()?, parts.next()?, parts.next()?];
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (parts.next().is_none() && three.iter().all(|part| digits(part))).then_some(three)
}

fn digit(byte: u8) -> u32 {
    u32::from(byte.wrapping_sub(b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_tell_right_from_wrong() {
        type Case = (fn(&str) -> bool, &'static [&'static str], &'static [&'static str]);
        let cases: [Case; 4] = [
            (
                is_cas,
                &["7439-93-2", "7732-18-5", "21324-40-3", "96-49-1", "50-00-0"],
                &[
                    "7439-93-3",
                    "201-004-7",
                    "37-70-2",
                    "7439-93-2 ",
                    "07439-93-2",
                    "7439932",
                    "-1-1",
                    "1-1-1",
                ],
            ),
            (is_ec, &["201-004-7", "231-102-5", "200-001-8"], &["201-004-8", "7439-93-2", "231-102", ""]),
            (
                is_gtin,
                &["09521234010012", "4712345060507", "96385074", "036000291452"],
                &["09521234010013", "4712345060508", "952123401001", "0952123401001x", "é9521234010012"],
            ),
            (is_gln, &["9521234000006", "9521234000013"], &["9521234000007", "09521234000006", ""]),
        ];
        for (check, right, wrong) in cases {
            assert!(right.iter().all(|text| check(text)), "{right:?}");
            for text in wrong {
                assert!(!check(text), "{text}");
            }
        }
    }
}
