//! Arrays and objects of a serialized value.

use serde::ser::{self, Serialize};

use super::super::error::JsonErrorKind;
use super::super::writer::{OpenObject, RepeatedKey};
use super::key::KeyEncoder;
use super::{Encoder, Refusal};

/// An open array.
pub(super) struct Items<'a> {
    encoder: &'a mut Encoder,
    is_empty: bool,
    in_variant: bool,
}

impl<'a> Items<'a> {
    pub(super) fn open(encoder: &'a mut Encoder) -> Result<Self, Refusal> {
        encoder.enter()?;
        encoder.punctuation(b'[');
        Ok(Self { encoder, is_empty: true, in_variant: false })
    }

    pub(super) fn open_in_variant(encoder: &'a mut Encoder, variant: &str) -> Result<Self, Refusal> {
        encoder.open_variant(variant)?;
        Ok(Self { in_variant: true, ..Self::open(encoder)? })
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refusal> {
        if !self.is_empty {
            self.encoder.punctuation(b',');
        }
        self.is_empty = false;
        self.encoder.value(value)
    }

    fn close(self) -> Result<(), Refusal> {
        self.encoder.punctuation(b']');
        self.encoder.leave();
        if self.in_variant {
            self.encoder.close_variant();
        }
        Ok(())
    }
}

/// An open object.
pub(super) struct Fields<'a> {
    encoder: &'a mut Encoder,
    object: OpenObject,
    awaits_value: bool,
    in_variant: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn open(encoder: &'a mut Encoder) -> Result<Self, Refusal> {
        encoder.enter()?;
        let object = encoder.writer.open_object();
        Ok(Self { encoder, object, awaits_value: false, in_variant: false })
    }

    pub(super) fn open_in_variant(encoder: &'a mut Encoder, variant: &str) -> Result<Self, Refusal> {
        encoder.open_variant(variant)?;
        Ok(Self { in_variant: true, ..Self::open(encoder)? })
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Refusal> {
        self.encoder.writer.start_member(&self.object, None);
        self.encoder.text(name);
        self.encoder.writer.end_key();
        self.encoder.value(value)?;
        self.encoder.writer.end_member();
        Ok(())
    }

    /// A map that announces two keys in a row, or a value without a key, breaks serde's contract;
    /// writing on would produce text that is not JSON.
    fn expect_turn(&mut self, awaits_value: bool) -> Result<(), Refusal> {
        if self.awaits_value == awaits_value {
            return Ok(());
        }
        let broken = Err(Refusal::here(JsonErrorKind::Unsupported));
        self.encoder.remember(broken)
    }

    fn close(mut self) -> Result<(), Refusal> {
        self.expect_turn(false)?;
        self.encoder.refuse_to_go_on()?;
        self.encoder
            .writer
            .close_object(self.object)
            .map_err(|RepeatedKey { at }| Refusal { kind: JsonErrorKind::DuplicateKey, at: Some(at) })?;
        self.encoder.leave();
        if self.in_variant {
            self.encoder.close_variant();
        }
        Ok(())
    }
}

impl ser::SerializeMap for Fields<'_> {
    type Ok = ();
    type Error = Refusal;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Refusal> {
        self.expect_turn(false)?;
        self.encoder.writer.start_member(&self.object, None);
        let outcome = key.serialize(KeyEncoder(&mut self.encoder.writer.out));
        self.encoder.remember(outcome)?;
        self.encoder.writer.end_key();
        self.awaits_value = true;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refusal> {
        self.expect_turn(true)?;
        self.encoder.value(value)?;
        self.encoder.writer.end_member();
        self.awaits_value = false;
        Ok(())
    }

    fn end(self) -> Result<(), Refusal> {
        self.close()
    }
}

impl ser::SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = Refusal;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Refusal> {
        self.field(name, value)
    }

    fn end(self) -> Result<(), Refusal> {
        self.close()
    }
}

impl ser::SerializeStructVariant for Fields<'_> {
    type Ok = ();
    type Error = Refusal;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Refusal> {
        self.field(name, value)
    }

    fn end(self) -> Result<(), Refusal> {
        self.close()
    }
}

impl ser::SerializeSeq for Items<'_> {
    type Ok = ();
    type Error = Refusal;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refusal> {
        self.item(value)
    }

    fn end(self) -> Result<(), Refusal> {
        self.close()
    }
}

impl ser::SerializeTuple for Items<'_> {
    type Ok = ();
    type Error = Refusal;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refusal> {
        self.item(value)
    }

    fn end(self) -> Result<(), Refusal> {
        self.close()
    }
}

impl ser::SerializeTupleStruct for Items<'_> {
    type Ok = ();
    type Error = Refusal;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refusal> {
        self.item(value)
    }

    fn end(self) -> Result<(), Refusal> {
        self.close()
    }
}

impl ser::SerializeTupleVariant for Items<'_> {
    type Ok = ();
    type Error = Refusal;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refusal> {
        self.item(value)
    }

    fn end(self) -> Result<(), Refusal> {
        self.close()
    }
}
