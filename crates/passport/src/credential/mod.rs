//! Passports as W3C Verifiable Credentials, secured with the Data Integrity suite `eddsa-jcs-2022`.
//!
//! The suite signs 64 bytes, the hash of the proof's options and the hash of the document, both in
//! canonical JSON; our own signature is over the receipt's hash. Both are made by one key in one job,
//! so exporting a credential later needs no key.

mod document;
mod multibase;
mod suite;

pub use document::passport_credential;
pub use multibase::{did_key, key_from_did, verification_method};
pub use suite::{CredentialError, secure, verify};
