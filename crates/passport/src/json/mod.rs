//! JSON as documents hold it: any spelling, numbers kept as the text they were written in.
//!
//! Numbers never pass through floating point: `0.1` is one tenth, and a number of 300 digits is
//! refused by whoever reads it, not rounded here.

mod node;
mod text;
mod write;

use std::collections::BTreeMap;

use json_event_parser::{JsonEvent, SliceJsonParser};

pub use node::Node;
pub use text::to_utf8;

/// How deep arrays and objects may nest.
pub const MAX_DEPTH: usize = 64;

/// One JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it was written.
    Number(String),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(BTreeMap<String, Json>),
}

/// Why a text was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The bytes are no text.
    #[error("the bytes are neither UTF-8 nor UTF-16 with a byte order mark")]
    Encoding,
    /// The text is not JSON.
    #[error("not JSON: {reason}")]
    Syntax {
        /// What the parser said, with line and column.
        reason: String,
    },
    /// An object repeats a key.
    #[error("the key at {pointer} stands there twice")]
    DuplicateKey {
        /// Where.
        pointer: String,
    },
    /// Nested deeper than [`MAX_DEPTH`].
    #[error("arrays and objects nest deeper than {MAX_DEPTH}")]
    TooDeep,
}

impl ReadError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Encoding => "ENCODING_INVALID",
            Self::Syntax { .. } => "JSON_SYNTAX",
            Self::DuplicateKey { .. } => "JSON_DUPLICATE_KEY",
            Self::TooDeep => "JSON_TOO_DEEP",
        }
    }
}

impl Json {
    /// Reads one JSON value and nothing else, in UTF-8 or in UTF-16 with a byte order mark. Takes
    /// time linear in the bytes (times the logarithm of the keys of an object) and no recursion.
    ///
    /// # Errors
    ///
    /// Whatever is not JSON, repeats a key, or nests too deep.
    pub fn read(bytes: &[u8]) -> Result<Json, ReadError> {
        let text = to_utf8(bytes).ok_or(ReadError::Encoding)?;
        let mut parser = SliceJsonParser::new(text.as_bytes());
        let mut builder = Builder::default();
        loop {
            let event =
                parser.parse_next().map_err(|error| ReadError::Syntax { reason: error.to_string() })?;
            if matches!(event, JsonEvent::Eof) {
                return builder.done.ok_or_else(|| ReadError::Syntax { reason: "the text is empty".into() });
            }
            builder.take(event)?;
        }
    }

    /// What kind of value it is, for people.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "true or false",
            Json::Number(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }

    /// The value as people may recognise it in their document.
    #[must_use]
    pub fn excerpt(&self) -> String {
        match self {
            Json::Bool(truth) => truth.to_string(),
            Json::Number(text) => text.clone(),
            Json::String(text) => format!("{text:?}"),
            other => other.kind().to_owned(),
        }
    }
}

/// Puts events together without recursion, so that no document overflows the stack.
#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    done: Option<Json>,
}

enum Open {
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>, Option<String>),
}

impl Builder {
    fn take(&mut self, event: JsonEvent<'_>) -> Result<(), ReadError> {
        match event {
            JsonEvent::String(text) => self.put(Json::String(text.into_owned())),
            JsonEvent::Number(text) => self.put(Json::Number(text.into_owned())),
            JsonEvent::Boolean(truth) => self.put(Json::Bool(truth)),
            JsonEvent::Null => self.put(Json::Null),
            JsonEvent::StartArray => self.open(Open::Array(Vec::new()))?,
            JsonEvent::StartObject => self.open(Open::Object(BTreeMap::new(), None))?,
            JsonEvent::EndArray | JsonEvent::EndObject => match self.open.pop() {
                Some(Open::Array(items)) => self.put(Json::Array(items)),
                Some(Open::Object(members, _)) => self.put(Json::Object(members)),
                None => {}
            },
            JsonEvent::ObjectKey(name) => return self.key(name.into_owned()),
            JsonEvent::Eof => {}
        }
        Ok(())
    }

    fn open(&mut self, container: Open) -> Result<(), ReadError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(ReadError::TooDeep);
        }
        self.open.push(container);
        Ok(())
    }

    fn key(&mut self, name: String) -> Result<(), ReadError> {
        let repeated = match self.open.last_mut() {
            Some(Open::Object(members, waiting)) => {
                let repeated = members.contains_key(&name);
                *waiting = Some(name);
                repeated
            }
            _ => false,
        };
        if repeated { Err(ReadError::DuplicateKey { pointer: self.pointer() }) } else { Ok(()) }
    }

    fn put(&mut self, value: Json) {
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some(Open::Array(items)) => items.push(value),
            Some(Open::Object(members, waiting)) => {
                if let Some(name) = waiting.take() {
                    members.insert(name, value);
                }
            }
        }
    }

    /// Where the next value would stand.
    fn pointer(&self) -> String {
        let step = |open: &Open| match open {
            Open::Array(items) => format!("/{}", items.len()),
            Open::Object(_, Some(name)) => format!("/{}", escape_pointer(name)),
            Open::Object(_, None) => String::new(),
        };
        self.open.iter().map(step).collect()
    }
}

/// One step of a JSON pointer (RFC 6901).
#[must_use]
pub fn escape_pointer(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}
