//! What the codes say.

use std::fmt;
use std::str::FromStr;

use bpc_core::Hash;
use data_encoding::BASE32_NOPAD;
use uuid::Uuid;

/// How long a link may be to make a small code that scanners read from a distance.
pub const MAX_LINK_LENGTH: usize = 50;

/// `BPC1|pv=<uuid>|ph=<b32>|pr=<b32>|rh=<b32>`: what a printed code binds its bearer to. Hashes are
/// base32 (RFC 4648) without padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProofCode {
    /// The passport version.
    pub passport_version: Uuid,
    /// The hash of its payload.
    pub payload_hash: Hash,
    /// The root of its proof.
    pub proof_root: Hash,
    /// The hash of its receipt.
    pub receipt_hash: Hash,
}

/// The text is no proof code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected BPC1|pv=<uuid>|ph=<base32>|pr=<base32>|rh=<base32>")]
pub struct ProofCodeError;

impl fmt::Display for ProofCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [payload, proof, receipt] =
            [self.payload_hash, self.proof_root, self.receipt_hash].map(|hash| BASE32_NOPAD.encode(&hash.0));
        write!(f, "BPC1|pv={}|ph={payload}|pr={proof}|rh={receipt}", self.passport_version)
    }
}

impl FromStr for ProofCode {
    type Err = ProofCodeError;

    fn from_str(text: &str) -> Result<Self, ProofCodeError> {
        let mut parts = text.split('|');
        let mut part =
            |prefix: &str| parts.next().and_then(|part| part.strip_prefix(prefix)).ok_or(ProofCodeError);
        part("BPC1")?;
        let code = Self {
            passport_version: part("pv=")?.parse().map_err(|_| ProofCodeError)?,
            payload_hash: hash(part("ph=")?)?,
            proof_root: hash(part("pr=")?)?,
            receipt_hash: hash(part("rh=")?)?,
        };
        // Other spellings of the same values (capitals, further parts) are not ours.
        if code.to_string() == text { Ok(code) } else { Err(ProofCodeError) }
    }
}

/// The address of a passport under a base such as `https://p.example`: the version's id in base32,
/// 26 characters, behind it. [`MAX_LINK_LENGTH`] holds for bases of up to 23 characters.
#[must_use]
pub fn web_link(base: &str, passport_version: Uuid) -> String {
    format!("{}/{}", base.trim_end_matches('/'), BASE32_NOPAD.encode(passport_version.as_bytes()))
}

fn hash(text: &str) -> Result<Hash, ProofCodeError> {
    let bytes = BASE32_NOPAD.decode(text.as_bytes()).map_err(|_| ProofCodeError)?;
    Hash::from_slice(&bytes).ok_or(ProofCodeError)
}
