//! The credential form of a passport.

use bpc_core::{CanonicalJson, Hash};
use uuid::Uuid;

use super::multibase::did_key;
use crate::json::Json;

/// The credential of a passport version: its receipt, whole, and the attributes that everybody may
/// see. Unsecured; [`secure`](super::secure) adds the proof.
#[must_use]
pub fn passport_credential(
    passport_version: Uuid,
    public_key: &[u8; 32],
    receipt: &CanonicalJson,
    receipt_hash: &Hash,
    public_attributes: Json,
) -> Json {
    let receipt = Json::from_canonical(receipt);
    let issued_at = match &receipt {
        Json::Object(members) => members.get("issued_at").cloned().unwrap_or(Json::Null),
        _ => Json::Null,
    };
    Json::object([
        ("@context", Json::Array(vec![Json::text("https://www.w3.org/ns/credentials/v2")])),
        ("id", Json::text(format!("urn:uuid:{passport_version}"))),
        ("type", Json::Array(vec![Json::text("VerifiableCredential"), Json::text("BatteryPassport")])),
        ("issuer", Json::text(did_key(public_key))),
        ("validFrom", issued_at),
        (
            "credentialSubject",
            Json::object([
                ("attributes", public_attributes),
                ("receipt", receipt),
                ("receipt_hash", Json::text(receipt_hash.to_string())),
            ]),
        ),
    ])
}
