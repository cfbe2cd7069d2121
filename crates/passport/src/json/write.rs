//! JSON values as canonical bytes.

use bpc_core::CanonicalJson;
use bpc_core::canonical::{JsonError, to_canonical};
use serde::ser::{Error, Serialize, Serializer};

use super::Json;

impl Json {
    /// The one spelling of this value.
    ///
    /// # Errors
    ///
    /// Refuses numbers that are not integers within ±(2^53 - 1), and nesting beyond 64.
    pub fn canonical(&self) -> Result<CanonicalJson, JsonError> {
        to_canonical(self)
    }

    /// Reads canonical bytes, which are always JSON.
    #[must_use]
    pub fn from_canonical(bytes: &CanonicalJson) -> Self {
        Self::read(bytes.as_bytes()).expect("canonical JSON is JSON, and nests no deeper than we read")
    }

    /// A string.
    pub fn text(text: impl Into<String>) -> Self {
        Json::String(text.into())
    }

    /// A non-negative integer.
    #[must_use]
    pub fn number(number: u64) -> Self {
        Json::Number(number.to_string())
    }

    /// An object of these members.
    pub fn object<const N: usize>(members: [(&str, Json); N]) -> Self {
        Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(truth) => serializer.serialize_bool(*truth),
            // Only what is spelled as an integer: `1.0` and `1e3` are other texts.
            Json::Number(text) => match text.parse::<i64>() {
                Ok(integer) if *text == integer.to_string() => serializer.serialize_i64(integer),
                _ => Err(S::Error::custom("not an integer")),
            },
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(items) => items.serialize(serializer),
            Json::Object(members) => members.serialize(serializer),
        }
    }
}
