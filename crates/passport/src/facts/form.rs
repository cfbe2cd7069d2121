//! What texts must look like.

use super::schema::TextForm;
use crate::value::{is_cas, is_country, is_ec, is_gtin};

/// The most bytes of one text.
const TEXT_MAX: usize = 4096;

impl TextForm {
    /// Whether the text has this form.
    #[must_use]
    pub fn admits(self, text: &str) -> bool {
        let free = !text.is_empty() && text.len() <= TEXT_MAX && !text.chars().any(char::is_control);
        free && match self {
            TextForm::Free => text.trim() == text,
            TextForm::Url => is_url(text),
            TextForm::Cas => is_cas(text),
            TextForm::Ec => is_ec(text),
            TextForm::Gtin => is_gtin(text),
            TextForm::Country => is_country(text),
            TextForm::Language => is_language(text),
            TextForm::Sha256 => {
                text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            }
            TextForm::NotifiedBody => text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit()),
            TextForm::HazardCode => is_hazard_code(text),
        }
    }

    /// The stable name of the rule that a text of another form breaks.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            TextForm::Free => "TEXT_INVALID",
            TextForm::Url => "URL_INVALID",
            TextForm::Cas => "CAS_INVALID",
            TextForm::Ec => "EC_INVALID",
            TextForm::Gtin => "GTIN_INVALID",
            TextForm::Country => "COUNTRY_INVALID",
            TextForm::Language => "LANGUAGE_INVALID",
            TextForm::Sha256 => "SHA256_INVALID",
            TextForm::NotifiedBody => "NOTIFIED_BODY_INVALID",
            TextForm::HazardCode => "HAZARD_CODE_INVALID",
        }
    }

    pub(super) fn expected(self) -> &'static str {
        match self {
            TextForm::Free => "text of 1 to 4096 bytes, no control characters, no spaces around it",
            TextForm::Url => "a web address such as https://example.com/report.pdf",
            TextForm::Cas => "a CAS number with its check digit such as 7439-93-2",
            TextForm::Ec => "an EC number with its check digit such as 231-102-5",
            TextForm::Gtin => "a GTIN of 8, 12, 13 or 14 digits with its check digit",
            TextForm::Country => "a country code of ISO 3166-1 such as DE",
            TextForm::Language => "a language tag such as de or pt-BR",
            TextForm::Sha256 => "64 digits of lowercase hex",
            TextForm::NotifiedBody => "the four digits of a notified body such as 0123",
            TextForm::HazardCode => "a hazard code such as H350 or EUH066",
        }
    }
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or(""));
    host.is_some_and(|host| !host.is_empty()) && !text.contains(char::is_whitespace)
}

fn is_language(text: &str) -> bool {
    let mut parts = text.split('-');
    let first = parts.next().unwrap_or("");
    let primary = (2..=3).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_lowercase());
    let part =
        |part: &str| (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    primary && parts.all(part)
}

/// `H` and three digits, or `EUH` and three digits, with the letters that CLP appends.
fn is_hazard_code(text: &str) -> bool {
    let rest = text.strip_prefix("EUH").or_else(|| text.strip_prefix('H')).unwrap_or("");
    // Not `split_at`: the third byte may lie inside a character.
    let (Some(digits), Some(letters)) = (rest.get(..3), rest.get(3..)) else { return false };
    digits.bytes().all(|byte| byte.is_ascii_digit())
        && letters.len() <= 3
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
}
