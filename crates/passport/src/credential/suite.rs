//! `eddsa-jcs-2022`: adding and checking a proof.

use bpc_core::canonical::JsonError;

use super::multibase::{decoded, encoded, key_from_did};
use crate::hash::sha256;
use crate::json::Json;
use crate::receipt::SigningKey;

/// Why a document was not secured, or a secured one not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// Not an object, or one that has a proof already.
    #[error("expected an object without a proof")]
    NotUnsecured,
    /// A number that is no integer, or too deep.
    #[error("the document has no canonical form here")]
    NotCanonical(#[from] JsonError),
    /// The proof is missing, of another kind, or malformed.
    #[error("expected a proof of the suite eddsa-jcs-2022: {0}")]
    Proof(
        /// What is wrong with it.
        &'static str,
    ),
    /// The signature is not over this document.
    #[error("the signature is not that of this key over this document")]
    Signature,
}

impl CredentialError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotUnsecured | Self::Proof(_) => "CREDENTIAL_MALFORMED",
            Self::NotCanonical(error) => error.kind.code(),
            Self::Signature => "SIGNATURE_INVALID",
        }
    }
}

/// The document with a proof by this key. `created` is an RFC 3339 time.
///
/// # Errors
///
/// If the document is no object, has a proof already, or has no canonical form.
pub fn secure(
    document: &Json,
    created: &str,
    verification_method: &str,
    key: &SigningKey,
) -> Result<Json, CredentialError> {
    let Json::Object(members) = document else { return Err(CredentialError::NotUnsecured) };
    if members.contains_key("proof") {
        return Err(CredentialError::NotUnsecured);
    }
    let mut options = Json::object([
        ("type", Json::text("DataIntegrityProof")),
        ("cryptosuite", Json::text("eddsa-jcs-2022")),
        ("created", Json::text(created)),
        ("verificationMethod", Json::text(verification_method)),
        ("proofPurpose", Json::text("assertionMethod")),
    ]);
    if let (Some(context), Json::Object(options)) = (members.get("@context"), &mut options) {
        options.insert("@context".to_owned(), context.clone());
    }
    let signature = key.sign_bytes(&signed_bytes(document, &options)?);
    let mut secured = members.clone();
    if let Json::Object(mut proof) = options {
        proof.insert("proofValue".to_owned(), Json::text(encoded(&signature)));
        secured.insert("proof".to_owned(), Json::Object(proof));
    }
    Ok(Json::Object(secured))
}

/// Checks a secured document whose proof names its key as `did:key`; returns the key. Whether that
/// key is to be believed is for the caller to say.
///
/// # Errors
///
/// If the proof is malformed or not over this document.
pub fn verify(secured: &Json) -> Result<[u8; 32], CredentialError> {
    let Json::Object(members) = secured else { return Err(CredentialError::Proof("not an object")) };
    let mut document = members.clone();
    let Some(Json::Object(mut options)) = document.remove("proof") else {
        return Err(CredentialError::Proof("no proof"));
    };
    let Some(Json::String(value)) = options.remove("proofValue") else {
        return Err(CredentialError::Proof("no proofValue"));
    };
    for (name, expected) in [
        ("type", "DataIntegrityProof"),
        ("cryptosuite", "eddsa-jcs-2022"),
        ("proofPurpose", "assertionMethod"),
    ] {
        if options.get(name) != Some(&Json::text(expected)) {
            return Err(CredentialError::Proof("another type, suite or purpose"));
        }
    }
    // The options carry the context that the document begins with, or none.
    if options.get("@context") != document.get("@context") {
        return Err(CredentialError::Proof("another @context"));
    }
    let Some(Json::String(method)) = options.get("verificationMethod") else {
        return Err(CredentialError::Proof("no verificationMethod"));
    };
    let public_key =
        key_from_did(method).ok_or(CredentialError::Proof("a verificationMethod that is no did:key"))?;
    let signature: [u8; 64] = decoded(&value)
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or(CredentialError::Proof("a proofValue that is no signature"))?;
    let bytes = signed_bytes(&Json::Object(document), &Json::Object(options))?;
    crate::receipt::verify_bytes(&bytes, &public_key, &signature).map_err(|_| CredentialError::Signature)?;
    Ok(public_key)
}

/// The hash of the options, then the hash of the document.
fn signed_bytes(document: &Json, options: &Json) -> Result<Vec<u8>, JsonError> {
    let hash = |json: &Json| json.canonical().map(|bytes| sha256(&[bytes.as_bytes()]).0);
    Ok([hash(options)?, hash(document)?].concat())
}
