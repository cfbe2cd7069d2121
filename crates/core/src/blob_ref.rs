//! Which blobs an event names.
//!
//! An object anywhere in a payload with a `sha256` and a `length` names a blob, whatever the event. Beside that a
//! pack says which fields of its events are hashes of blobs ([`BlobFields`]).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Envelope, Hash};

/// A blob as an event names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlobRef {
    /// SHA-256 of its bytes.
    pub sha256: Hash,
    /// How many they are, if the event says so.
    pub length: Option<u64>,
}

/// Fields of payloads that hold the hash of a blob, or a list of such, by event type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlobFields(BTreeMap<&'static str, Vec<&'static str>>);

impl BlobFields {
    /// Say so of a field of an event.
    pub fn add(&mut self, event_type: &'static str, field: &'static str) {
        self.0.entry(event_type).or_default().push(field);
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.0.iter().flat_map(|(event_type, fields)| fields.iter().map(|field| (*event_type, *field)))
    }

    /// Could these bytes of an event name a blob? Says no to nearly everything without reading it.
    pub fn may_name_one(&self, event_bytes: &[u8]) -> bool {
        contains(event_bytes, b"\"sha256\":\"")
            || event_type(event_bytes).is_some_and(|event_type| self.0.contains_key(event_type))
    }

    /// The blobs that an event names.
    pub fn named_by(&self, envelope: &Envelope<'_>) -> Vec<BlobRef> {
        let Ok(payload) = serde_json::from_slice::<Value>(envelope.payload) else {
            return Vec::new();
        };
        let mut named = Vec::new();
        gather(&payload, &mut named);
        for field in self.0.get(&*envelope.event_type).into_iter().flatten() {
            let hashes = match payload.get(field) {
                Some(Value::Array(hashes)) => hashes.iter().filter_map(hash).collect(),
                Some(value) => hash(value).into_iter().collect(),
                None => Vec::new(),
            };
            for sha256 in hashes {
                if !named.iter().any(|known: &BlobRef| known.sha256 == sha256) {
                    named.push(BlobRef { sha256, length: None });
                }
            }
        }
        named
    }
}

fn gather(value: &Value, named: &mut Vec<BlobRef>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather(item, named)),
        Value::Object(members) => {
            members.values().for_each(|member| gather(member, named));
            let length = members.get("length").and_then(Value::as_u64);
            if let (Some(sha256), Some(length)) = (members.get("sha256").and_then(hash), length) {
                named.push(BlobRef { sha256, length: Some(length) });
            }
        }
        _ => {}
    }
}

/// 64 digits of lowercase hex.
fn hash(value: &Value) -> Option<Hash> {
    let text = value.as_str().filter(|text| text.len() == 64)?.as_bytes();
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(Hash(bytes))
}

/// What the first key of that name says: in an event only the actor and ids stand before it.
fn event_type(event_bytes: &[u8]) -> Option<&str> {
    let key = b"\"event_type\":\"";
    let at = event_bytes.windows(key.len()).position(|window| window == key)?;
    let value = event_bytes[at + key.len()..].split(|byte| *byte == b'"').next()?;
    std::str::from_utf8(value).ok()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventId, StreamId, TenantId, Timestamp, Version};

    fn named(fields: &BlobFields, payload: &str) -> Vec<(String, Option<u64>)> {
        let at = Timestamp::from_micros(1_794_858_511_000_000);
        let envelope = Envelope {
            actor: "system".into(),
            causation_id: None,
            correlation_id: None,
            event_id: EventId::fresh(at, [0; 10]),
            event_type: "COMPILED".into(),
            occurred_at: at,
            payload: payload.as_bytes(),
            schema: 1,
            stream_id: StreamId::derived("test", "a"),
            stream_type: "Passport".into(),
            tenant_id: TenantId::from_slug("acme"),
            version: Version(1),
        };
        let mut bytes = Vec::new();
        envelope.write(&mut bytes);
        let named = fields.named_by(&envelope);
        assert!(named.is_empty() || fields.may_name_one(&bytes), "{payload}");
        named.into_iter().map(|it| (it.sha256.to_string()[..2].to_owned(), it.length)).collect()
    }

    #[test]
    fn a_hash_with_a_length_names_a_blob_and_so_does_a_field_that_a_pack_names() {
        let hash = |digits: &str| format!("\"{}\"", digits.repeat(32));
        let nested = format!("{{\"files\":[{{\"length\":7,\"sha256\":{}}}],\"n\":1}}", hash("ab"));
        let field = format!("{{\"proof\":{}}}", hash("cd"));
        let list = format!("{{\"proof\":[{},{},1]}}", hash("cd"), hash("ef"));
        let mut fields = BlobFields::default();
        assert_eq!(named(&fields, &nested), [("ab".to_owned(), Some(7))]);
        assert_eq!(named(&fields, &field), []);
        fields.add("COMPILED", "proof");
        fields.add("OTHER", "n");
        assert_eq!(named(&fields, &field), [("cd".to_owned(), None)]);
        assert_eq!(named(&fields, &list), [("cd".to_owned(), None), ("ef".to_owned(), None)]);
        for none in [
            format!("{{\"sha256\":{}}}", hash("ab")),
            format!("{{\"length\":7,\"sha256\":{}}}", hash("AB")),
            "{\"length\":7,\"sha256\":\"ab\"}".to_owned(),
            "{\"proof\":7}".to_owned(),
        ] {
            assert_eq!(named(&fields, &none), [], "{none}");
        }
    }
}
