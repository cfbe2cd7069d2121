//! What the environment says about passports and webhooks.

use std::path::PathBuf;
use std::time::Duration;

use bpc_passport::compile::{MAX_PAYLOAD_BYTES, MAX_PROOF_BYTES, MAX_RECEIPT_BYTES};
use bpc_passport::pack::{Settings as PassportSettings, SigningKeySource};
use bpc_secrets::{KeySource, SecretsKey};
use bpc_webhooks::Settings as WebhookSettings;

use crate::call::sqlite_file;
use crate::config::Env;
use crate::error::Failure;

/// Of a log that is not a file here.
const SECRETS_FILE: &str = "bpc-secrets.key";

/// As the environment has it; where the secrets key is may follow from the database.
#[derive(Clone, Debug)]
pub struct PackSettings {
    /// `BPC_SECRETS_KEY_BASE64` or `BPC_SECRETS_KEY_FILE`.
    secrets: Option<KeySource>,
    /// `BPC_SIGNING_ED25519_PRIVATE_KEY_BASE64` or `BPC_SIGNING_KEY_FILE`.
    signing_key: SigningKeySource,
    /// `BPC_SIGNING_KEY_ID`.
    signing_key_id: Option<String>,
    /// `BPC_COMPILER_BUILD_ID`.
    build_id: String,
    /// `BPC_PASSPORT_LINK_BASE`.
    link_base: String,
    /// `BPC_PAYLOAD_MAX_BYTES`.
    payload_bytes_max: usize,
    /// `BPC_PROOF_MAX_BYTES`.
    proof_bytes_max: usize,
    /// `BPC_RECEIPT_MAX_BYTES`.
    receipt_bytes_max: usize,
    /// `BPC_WEBHOOK_ALLOW_PRIVATE`.
    allow_private: bool,
    /// `BPC_WEBHOOK_ALLOW_HTTP`.
    allow_http: bool,
    /// `BPC_WEBHOOK_TIMEOUT_SECONDS`.
    webhook_timeout: Duration,
}

impl PackSettings {
    pub(crate) fn read(env: &Env<'_>) -> Result<Self, Failure> {
        let size = |name: &str, most: usize| match env.number(name)? {
            Some(number) if number as usize > most => {
                Err(Failure::config(name, format!("is {number}, but the format allows at most {most}")))
            }
            number => Ok(number.map_or(most, |number| number as usize)),
        };
        let timeout = env.number("BPC_WEBHOOK_TIMEOUT_SECONDS")?.map(Duration::from_secs);
        Ok(PackSettings {
            secrets: secrets(env)?,
            signing_key: signing_key(env)?,
            signing_key_id: env.text("BPC_SIGNING_KEY_ID")?,
            build_id: env
                .text("BPC_COMPILER_BUILD_ID")?
                .unwrap_or_else(|| PassportSettings::BUILD_ID.to_owned()),
            link_base: link_base(env)?,
            payload_bytes_max: size("BPC_PAYLOAD_MAX_BYTES", MAX_PAYLOAD_BYTES)?,
            proof_bytes_max: size("BPC_PROOF_MAX_BYTES", MAX_PROOF_BYTES)?,
            receipt_bytes_max: size("BPC_RECEIPT_MAX_BYTES", MAX_RECEIPT_BYTES)?,
            allow_private: env.switch("BPC_WEBHOOK_ALLOW_PRIVATE")?,
            allow_http: env.switch("BPC_WEBHOOK_ALLOW_HTTP")?,
            webhook_timeout: timeout.unwrap_or(WebhookSettings::TIMEOUT),
        })
    }

    /// For passports on that database.
    pub fn passports(&self, database: &str) -> PassportSettings {
        PassportSettings {
            secrets: self.secrets(database),
            signing_key: self.signing_key.clone(),
            signing_key_id: self.signing_key_id.clone(),
            build_id: self.build_id.clone(),
            link_base: self.link_base.clone(),
            payload_bytes_max: self.payload_bytes_max,
            proof_bytes_max: self.proof_bytes_max,
            receipt_bytes_max: self.receipt_bytes_max,
        }
    }

    /// For webhooks on that database.
    pub fn webhooks(&self, database: &str) -> WebhookSettings {
        WebhookSettings {
            secrets: self.secrets(database),
            allow_private: self.allow_private,
            allow_http: self.allow_http,
            timeout: self.webhook_timeout,
        }
    }

    /// The same, signing with this key; for a tour that makes its own.
    pub fn signing_with(mut self, file: PathBuf) -> Self {
        self.signing_key = SigningKeySource::File(file);
        self.signing_key_id = None;
        self
    }

    /// Beside the database file and named after it, as the log's key is.
    fn secrets(&self, database: &str) -> KeySource {
        self.secrets.clone().unwrap_or_else(|| {
            let beside = sqlite_file(database).map(|file| {
                let mut name = file.into_os_string();
                name.push(".secrets");
                PathBuf::from(name)
            });
            KeySource::File(beside.unwrap_or_else(|| PathBuf::from(SECRETS_FILE)))
        })
    }
}

fn secrets(env: &Env<'_>) -> Result<Option<KeySource>, Failure> {
    let name = "BPC_SECRETS_KEY_BASE64";
    if let Some(text) = env.text(name)? {
        let key = SecretsKey::from_base64(&text)
            .ok_or_else(|| Failure::config(name, "is not 32 bytes in base64: openssl rand -base64 32"))?;
        return Ok(Some(KeySource::Key(key)));
    }
    Ok(env.text("BPC_SECRETS_KEY_FILE")?.map(|file| KeySource::File(file.into())))
}

/// A malformed key fails the jobs that need it and not the process, which may run others.
fn signing_key(env: &Env<'_>) -> Result<SigningKeySource, Failure> {
    if let Some(text) = env.text("BPC_SIGNING_ED25519_PRIVATE_KEY_BASE64")? {
        return Ok(SigningKeySource::Base64(text));
    }
    let file = env.text("BPC_SIGNING_KEY_FILE")?;
    Ok(file.map_or(SigningKeySource::None, |file| SigningKeySource::File(file.into())))
}

fn link_base(env: &Env<'_>) -> Result<String, Failure> {
    let name = "BPC_PASSPORT_LINK_BASE";
    match env.text(name)? {
        None => Ok(PassportSettings::LINK_BASE.to_owned()),
        Some(base) if base.starts_with("https://") && base.len() > 8 => Ok(base),
        Some(base) => Err(Failure::config(name, format!("is {base:?}, but must begin with https://"))),
    }
}
