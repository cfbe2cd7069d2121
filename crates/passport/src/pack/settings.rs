//! What the process was told about passports.

use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use bpc_secrets::KeySource;

use super::PackError;
use crate::compile::{MAX_PAYLOAD_BYTES, MAX_PROOF_BYTES, MAX_RECEIPT_BYTES};
use crate::receipt::SigningKey;

/// Settings of the pack.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Seals and opens the salt keys of snapshots.
    pub secrets: KeySource,
    /// Where the private key comes from.
    pub signing_key: SigningKeySource,
    /// The key that new passports are compiled for; the one at hand if not said.
    pub signing_key_id: Option<String>,
    /// Names the build that compiles.
    pub build_id: String,
    /// What web links of passports begin with.
    pub link_base: String,
    /// The most bytes of a payload.
    pub payload_bytes_max: usize,
    /// The most bytes of a proof.
    pub proof_bytes_max: usize,
    /// The most bytes of a receipt.
    pub receipt_bytes_max: usize,
}

/// Where the private key comes from.
#[derive(Clone)]
pub enum SigningKeySource {
    /// Nowhere: this process signs nothing.
    None,
    /// The seed in base64.
    Base64(String),
    /// A file that holds it, which only its owner may read.
    File(PathBuf),
}

impl Settings {
    /// What web links begin with unless told otherwise.
    pub const LINK_BASE: &'static str = "https://pass.example";

    /// The build that is compiled in.
    pub const BUILD_ID: &'static str = concat!("bpc-", env!("CARGO_PKG_VERSION"));

    /// Defaults, with no key to sign with.
    pub fn new(secrets: KeySource) -> Self {
        Settings {
            secrets,
            signing_key: SigningKeySource::None,
            signing_key_id: None,
            build_id: Self::BUILD_ID.to_owned(),
            link_base: Self::LINK_BASE.to_owned(),
            payload_bytes_max: MAX_PAYLOAD_BYTES,
            proof_bytes_max: MAX_PROOF_BYTES,
            receipt_bytes_max: MAX_RECEIPT_BYTES,
        }
    }

    /// The private key.
    pub fn signing_key(&self) -> Result<SigningKey, PackError> {
        let text = match &self.signing_key {
            SigningKeySource::None => {
                let message = "there is no signing key: set BPC_SIGNING_ED25519_PRIVATE_KEY_BASE64 \
                               (openssl rand -base64 32) or BPC_SIGNING_KEY_FILE for the worker";
                return Err(PackError::refused("SIGNING_KEY_MISSING", message));
            }
            SigningKeySource::Base64(text) => text.clone(),
            SigningKeySource::File(path) => key_file(path)?,
        };
        SigningKey::from_base64(&text).map_err(|error| PackError::refused(error.code(), error.to_string()))
    }

    /// Id of the key that new passports are compiled for.
    pub fn signing_key_id(&self) -> Result<String, PackError> {
        match &self.signing_key_id {
            Some(id) => Ok(id.clone()),
            None => Ok(self.signing_key()?.id()),
        }
    }
}

fn key_file(path: &Path) -> Result<String, PackError> {
    let name = path.display();
    let invalid = |message: String| PackError::refused("INVALID_SIGNING_KEY", message);
    let mode = match std::fs::metadata(path) {
        Ok(file) => file.permissions().mode(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let message = format!("there is no signing key file {name}: BPC_SIGNING_KEY_FILE names it");
            return Err(PackError::refused("SIGNING_KEY_MISSING", message));
        }
        Err(error) => return Err(invalid(format!("the signing key file {name} cannot be read: {error}"))),
    };
    if mode & 0o077 != 0 {
        let mode = mode & 0o777;
        let message =
            format!("the signing key file {name} may be read by others (mode {mode:03o}): chmod 600 it");
        return Err(invalid(message));
    }
    std::fs::read_to_string(path)
        .map_err(|error| invalid(format!("the signing key file {name} cannot be read: {error}")))
}

/// Never shows the key.
impl fmt::Debug for SigningKeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SigningKeySource::None => f.write_str("None"),
            SigningKeySource::Base64(_) => f.write_str("Base64(..)"),
            SigningKeySource::File(path) => write!(f, "File({})", path.display()),
        }
    }
}
