//! Why a text or a value was refused.

use std::fmt;

/// What is wrong, and at which byte.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} at byte {at}; {}", kind.problem(), kind.remedy())]
pub struct JsonError {
    /// Which rule was broken.
    pub kind: JsonErrorKind,
    /// Offset of the offending byte. For a text it counts from the start of that text; for a
    /// serialized value it counts the bytes written before the value was refused.
    pub at: usize,
}

impl JsonError {
    pub(super) fn new(kind: JsonErrorKind, at: usize) -> Self {
        Self { kind, at }
    }
}

/// The rules a text or a value can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JsonErrorKind {
    /// Not JSON.
    Syntax,
    /// A number with a fraction or an exponent, or any finite float.
    NumberNotInteger,
    /// An integer beyond ±(2^53 − 1).
    NumberOutOfRange,
    /// The number `-0`.
    NumberNegativeZero,
    /// A float that is NaN or infinite.
    NumberNotFinite,
    /// The same key twice in one object, however it was spelled.
    DuplicateKey,
    /// Bytes that are not UTF-8, or half of a surrogate pair.
    InvalidUnicode,
    /// More than [`MAX_DEPTH`](super::MAX_DEPTH) nested arrays and objects.
    TooDeep,
    /// JSON, as far as it was read, but not in its canonical spelling.
    NotCanonical,
    /// A value that has no JSON form here, such as a map keyed by something that is not text.
    Unsupported,
}

impl JsonErrorKind {
    /// The stable name of this rule, for machines.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Syntax => "JSON_SYNTAX",
            Self::NumberNotInteger => "JSON_NUMBER_NOT_INTEGER",
            Self::NumberOutOfRange => "JSON_NUMBER_OUT_OF_RANGE",
            Self::NumberNegativeZero => "JSON_NUMBER_NEGATIVE_ZERO",
            Self::NumberNotFinite => "JSON_NUMBER_NOT_FINITE",
            Self::DuplicateKey => "JSON_DUPLICATE_KEY",
            Self::InvalidUnicode => "JSON_INVALID_UNICODE",
            Self::TooDeep => "JSON_TOO_DEEP",
            Self::NotCanonical => "JSON_NOT_CANONICAL",
            Self::Unsupported => "JSON_UNSUPPORTED",
        }
    }

    fn problem(self) -> &'static str {
        match self {
            Self::Syntax => "the text is not valid JSON",
            Self::NumberNotInteger => "the number is not a plain integer",
            Self::NumberOutOfRange => "the integer is beyond ±9007199254740991",
            Self::NumberNegativeZero => "the number is -0",
            Self::NumberNotFinite => "the number is NaN or infinite",
            Self::DuplicateKey => "the object repeats a key",
            Self::InvalidUnicode => "the text is not valid Unicode",
            Self::TooDeep => "arrays and objects nest deeper than 64",
            Self::NotCanonical => "the text is not in canonical form",
            Self::Unsupported => "the value has no JSON form",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::Syntax => {
                "send strict JSON: no comments, trailing commas, byte order mark, \
                 leading zeros or raw control characters"
            }
            Self::NumberNotInteger | Self::NumberOutOfRange => "send it as a string",
            Self::NumberNegativeZero => "send 0, or send it as a string",
            Self::NumberNotFinite => "leave it out, or send it as a string",
            Self::DuplicateKey => "send each key once (escaped spellings count as the same key)",
            Self::InvalidUnicode => "send UTF-8, and escape surrogates only as complete pairs",
            Self::TooDeep => "flatten it, or send the inner part as a string",
            Self::NotCanonical => "canonicalize it first",
            Self::Unsupported => "key maps by strings or integers and check that the value can be serialized",
        }
    }
}

impl fmt::Display for JsonErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
