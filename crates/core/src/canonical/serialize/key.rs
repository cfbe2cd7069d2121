//! Keys of a serialized map.

use std::fmt::Display;

use serde::ser::{self, Impossible, Serialize};

use super::super::error::JsonErrorKind;
use super::super::write::write_string;
use super::{Refusal, refuse_float};

/// Writes one key. Only what has an obvious spelling as text is accepted: guessing one for, say, a
/// boolean would let two different keys meet.
pub(super) struct KeyEncoder<'a>(pub(super) &'a mut Vec<u8>);

type NoContainer = Impossible<(), Refusal>;

impl KeyEncoder<'_> {
    fn text(self, text: &str) -> Result<(), Refusal> {
        write_string(text, self.0);
        Ok(())
    }

    /// A key is text, so its number may be of any size.
    fn integer(self, digits: impl itoa::Integer) -> Result<(), Refusal> {
        self.text(itoa::Buffer::new().format(digits))
    }
}

fn refuse<T>() -> Result<T, Refusal> {
    Err(Refusal::here(JsonErrorKind::Unsupported))
}

impl ser::Serializer for KeyEncoder<'_> {
    type Ok = ();
    type Error = Refusal;
    type SerializeSeq = NoContainer;
    type SerializeTuple = NoContainer;
    type SerializeTupleStruct = NoContainer;
    type SerializeTupleVariant = NoContainer;
    type SerializeMap = NoContainer;
    type SerializeStruct = NoContainer;
    type SerializeStructVariant = NoContainer;

    fn serialize_str(self, v: &str) -> Result<(), Refusal> {
        self.text(v)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Refusal> {
        self.text(&value.to_string())
    }

    fn serialize_char(self, v: char) -> Result<(), Refusal> {
        self.text(v.encode_utf8(&mut [0; 4]))
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), Refusal> {
        self.text(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Refusal> {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Refusal> {
        value.serialize(self)
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

    fn serialize_bool(self, _v: bool) -> Result<(), Refusal> {
        refuse()
    }

    fn serialize_bytes(self, _v: &[u8]) -> Result<(), Refusal> {
        refuse()
    }

    fn serialize_none(self) -> Result<(), Refusal> {
        refuse()
    }

    fn serialize_unit(self) -> Result<(), Refusal> {
        refuse()
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Refusal> {
        refuse()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<(), Refusal> {
        refuse()
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<NoContainer, Refusal> {
        refuse()
    }

    fn serialize_tuple(self, _len: usize) -> Result<NoContainer, Refusal> {
        refuse()
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<NoContainer, Refusal> {
        refuse()
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<NoContainer, Refusal> {
        refuse()
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<NoContainer, Refusal> {
        refuse()
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<NoContainer, Refusal> {
        refuse()
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<NoContainer, Refusal> {
        refuse()
    }
}
