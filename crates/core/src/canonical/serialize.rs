//! Writes serializable values canonically.
//!
//! Going through `serde_json` would turn NaN into `null` and let floats pass, so this is a
//! serializer of its own. The shapes are those of `serde_json`: enum variants are tagged
//! externally, bytes are arrays of integers, `None` and unit are `null`.

mod containers;
mod key;

use std::fmt;

use serde::ser::{self, Serialize};

use self::containers::{Fields, Items};
use super::error::{JsonError, JsonErrorKind};
use super::text::CanonicalJson;
use super::write::{write_integer, write_string};
use super::writer::Writer;
use super::{MAX_DEPTH, MAX_INTEGER};

/// Writes any serializable value canonically.
///
/// Map keys may be strings, characters, integers (written as strings), unit variants, and newtypes
/// of these.
///
/// # Errors
///
/// Refuses every float, integers beyond ±[`MAX_INTEGER`], repeated keys, nesting beyond
/// [`MAX_DEPTH`], keys of other types, and values that refuse to be serialized.
pub fn to_canonical<T: Serialize + ?Sized>(value: &T) -> Result<CanonicalJson, JsonError> {
    let mut encoder = Encoder { writer: Writer::with_capacity(TYPICAL_LENGTH), depth: 0, refused: None };
    let _remembered = encoder.value(value);
    match encoder.refused {
        None => Ok(CanonicalJson::from_trusted(encoder.writer.out)),
        Some(refused) => Err(refused),
    }
}

/// Room for an everyday payload, so that writing one does not grow the buffer step by step.
const TYPICAL_LENGTH: usize = 256;

struct Encoder {
    writer: Writer,
    depth: usize,
    /// The first refusal. It is kept because a `Serialize` implementation may swallow it and go
    /// on, leaving half a value behind.
    refused: Option<JsonError>,
}

/// Why a value was refused; `at` is missing where it is simply the end of what was written.
#[derive(Debug, Clone, Copy)]
struct Refusal {
    kind: JsonErrorKind,
    at: Option<usize>,
}

impl Refusal {
    fn here(kind: JsonErrorKind) -> Self {
        Self { kind, at: None }
    }
}

impl Encoder {
    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refusal> {
        let outcome = value.serialize(&mut *self);
        self.remember(outcome)
    }

    fn remember(&mut self, outcome: Result<(), Refusal>) -> Result<(), Refusal> {
        if let Err(refusal) = outcome {
            let end = self.writer.out.len();
            self.refused.get_or_insert_with(|| JsonError::new(refusal.kind, refusal.at.unwrap_or(end)));
        }
        outcome
    }

    /// Nothing is finished on top of a value that was refused.
    fn refuse_to_go_on(&self) -> Result<(), Refusal> {
        match &self.refused {
            None => Ok(()),
            Some(refused) => Err(Refusal::here(refused.kind)),
        }
    }

    fn text(&mut self, text: &str) {
        write_string(text, &mut self.writer.out);
    }

    fn punctuation(&mut self, byte: u8) {
        self.writer.out.push(byte);
    }

    fn word(&mut self, word: &str) -> Result<(), Refusal> {
        self.writer.out.extend_from_slice(word.as_bytes());
        Ok(())
    }

    fn integer<N: TryInto<i64>>(&mut self, n: N) -> Result<(), Refusal> {
        match n.try_into() {
            Ok(n) if (-MAX_INTEGER..=MAX_INTEGER).contains(&n) => {
                write_integer(n, &mut self.writer.out);
                Ok(())
            }
            _ => Err(Refusal::here(JsonErrorKind::NumberOutOfRange)),
        }
    }

    fn enter(&mut self) -> Result<(), Refusal> {
        if self.depth >= MAX_DEPTH {
            return Err(Refusal::here(JsonErrorKind::TooDeep));
        }
        self.depth += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Opens the object with a single member that tags an enum variant with its name.
    fn open_variant(&mut self, variant: &str) -> Result<(), Refusal> {
        self.enter()?;
        self.punctuation(b'{');
        self.text(variant);
        self.punctuation(b':');
        Ok(())
    }

    fn close_variant(&mut self) {
        self.punctuation(b'}');
        self.leave();
    }
}

/// Floats are refused even where they happen to be whole, so that acceptance does not depend on
/// the value of the day.
fn refuse_float(n: f64) -> Refusal {
    Refusal::here(if n.is_finite() {
        JsonErrorKind::NumberNotInteger
    } else {
        JsonErrorKind::NumberNotFinite
    })
}

/// `serde_json` passes raw text and numbers of arbitrary precision to its own serializer under
/// these names. Here they would come out as objects that nobody meant.
fn refuse_private_protocol(name: &str) -> Result<(), Refusal> {
    if name.starts_with("$serde_json::private::") {
        return Err(Refusal::here(JsonErrorKind::Unsupported));
    }
    Ok(())
}

impl<'a> ser::Serializer for &'a mut Encoder {
    type Ok = ();
    type Error = Refusal;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Fields<'a>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Fields<'a>;

    fn serialize_bool(self, v: bool) -> Result<(), Refusal> {
        self.word(if v { "true" } else { "false" })
    }

    fn serialize_i8(self, v: i8) -> Result<(), Refusal> {
        self.integer(v)
    }

    fn serialize_i16(self, v: i16) -> Result<(), Refusal> {
        self.integer(v)
    }

    fn serialize_i32(self, v: i32) -> Result<(), Refusal> {
        self.integer(v)
    }

    fn serialize_i64(self, v: i64) -> Result<(), Refusal> {
        self.integer(v)
    }

    fn serialize_i128(self, v: i128) -> Result<(), Refusal> {
        self.integer(v)
    }

    fn serialize_u8(self, v: u8) -> Result<(), Refusal> {
        self.integer(v)
    }

    fn serialize_u16(self, v: u16) -> Result<(), Refusal> {
        self.integer(v)
    }

    fn serialize_u32(self, v: u32) -> Result<(), Refusal> {
        self.integer(v)
    }

    fn serialize_u64(self, v: u64) -> Result<(), Refusal> {
        self.integer(v)
    }

    fn serialize_u128(self, v: u128) -> Result<(), Refusal> {
        self.integer(v)
    }

    fn serialize_f32(self, v: f32) -> Result<(), Refusal> {
        Err(refuse_float(v.into()))
    }

    fn serialize_f64(self, v: f64) -> Result<(), Refusal> {
        Err(refuse_float(v))
    }

    fn serialize_char(self, v: char) -> Result<(), Refusal> {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, v: &str) -> Result<(), Refusal> {
        self.text(v);
        Ok(())
    }

    fn serialize_bytes(self, v: &[u8]) -> Result<(), Refusal> {
        self.collect_seq(v)
    }

    fn serialize_none(self) -> Result<(), Refusal> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Refusal> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Refusal> {
        self.word("null")
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Refusal> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), Refusal> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Refusal> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Refusal> {
        self.open_variant(variant)?;
        self.value(value)?;
        self.close_variant();
        Ok(())
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Items<'a>, Refusal> {
        Items::open(self)
    }

    fn serialize_tuple(self, _len: usize) -> Result<Items<'a>, Refusal> {
        Items::open(self)
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Items<'a>, Refusal> {
        Items::open(self)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Items<'a>, Refusal> {
        Items::open_in_variant(self, variant)
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Fields<'a>, Refusal> {
        Fields::open(self)
    }

    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Fields<'a>, Refusal> {
        refuse_private_protocol(name)?;
        Fields::open(self)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Fields<'a>, Refusal> {
        Fields::open_in_variant(self, variant)
    }
}

impl ser::Error for Refusal {
    fn custom<T: fmt::Display>(_message: T) -> Self {
        Self::here(JsonErrorKind::Unsupported)
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}
