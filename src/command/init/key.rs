//! The log's key: private in a file, public in the log.

use bpc_eventstore::{Store, add_log_key, log_keys};
use serde::Serialize;

use crate::call::Call;
use crate::error::Failure;

/// The key that speaks for the log. The names are part of the contract.
#[derive(Serialize)]
pub struct LogKey {
    pub origin: String,
    pub public_key: String,
    /// Where the private key is, if it is there.
    pub key_file: Option<String>,
    pub created: bool,
}

/// Find the log's key, or make one.
///
/// The file comes first and is synced before the log names its key: a crash in between leaves a file
/// that the next call takes up, never a log whose key nobody has.
pub async fn ensure(call: &Call<'_>, store: &Store) -> Result<LogKey, Failure> {
    let file = call.key_file();
    let known = log_keys(store).await?;
    let held = file.read()?;
    if let Some(newest) = known.last() {
        // A log that has a key gets no second one just because init is called from another place.
        let own = held.and_then(|key| known.iter().find(|it| it.public_key == key.public_hex()));
        let meant = own.unwrap_or(newest);
        return Ok(LogKey {
            origin: meant.origin.clone(),
            public_key: meant.public_key.clone(),
            key_file: own.map(|_| file.name()),
            created: false,
        });
    }
    let key = match held {
        Some(key) => key,
        None => file.create()?,
    };
    let (origin, public_key) = (key.origin(), key.public_hex().to_owned());
    add_log_key(store, &origin, &public_key, &call.actor).await?;
    Ok(LogKey { origin, public_key, key_file: Some(file.name()), created: true })
}

impl LogKey {
    /// What to do about the private key.
    pub fn advice(&self) -> String {
        match &self.key_file {
            Some(file) if self.created => {
                format!(
                    "The private key is in {file}. Keep a copy in a safe place: nobody can make it again."
                )
            }
            Some(file) => format!("The private key is in {file}."),
            None => "The private key is not here; this log was initialised from another place.".to_owned(),
        }
    }
}
