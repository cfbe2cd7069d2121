//! Settings by environment. Their names are part of the contract; anything wrong with one stops the
//! process at start with a sentence that names it.

use std::str::FromStr;
use std::time::Duration;

use bpc_worker::{RabbitOptions, WakeOptions, WorkerOptions};
use tracing::level_filters::LevelFilter;

use crate::error::Failure;
use crate::pack_settings::PackSettings;

/// Everything that the environment says.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `BPC_DATABASE_URL`.
    pub database_url: String,
    /// `BPC_TENANT`: slug or id.
    pub tenant: String,
    /// `BPC_WORKER_ID`.
    pub worker_id: Option<String>,
    /// `BPC_JOBS_POLL_INTERVAL_MS`.
    pub poll_interval: Duration,
    /// `BPC_JOBS_LEASE_SECONDS`.
    pub lease_ttl: Duration,
    /// `BPC_JOBS_LEASE_RENEW_SECONDS`.
    pub renew_interval: Duration,
    /// `BPC_JOBS_CONCURRENCY`.
    pub concurrency: Option<usize>,
    /// `BPC_QUEUE_*`: the RabbitMQ trigger, if enabled.
    pub rabbit: Option<RabbitOptions>,
    /// `BPC_LOG_LEVEL`.
    pub log_level: Option<LevelFilter>,
    /// `BPC_LOG_JSON`.
    pub log_json: bool,
    /// Those of the packs.
    pub packs: PackSettings,
}

impl Settings {
    /// What this process was started with.
    pub fn from_env() -> Result<Settings, Failure> {
        Settings::read(|name| match std::env::var(name) {
            Ok(value) => Ok(Some(value)),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => Err(Failure::config(name, "is not UTF-8 text")),
        })
    }

    /// The same from any source; an empty value counts as not set.
    fn read(variable: impl Fn(&str) -> Result<Option<String>, Failure>) -> Result<Settings, Failure> {
        let env = Env { variable: &variable };
        let lease_seconds = env.number("BPC_JOBS_LEASE_SECONDS")?.unwrap_or(60);
        let renew_seconds = match env.number("BPC_JOBS_LEASE_RENEW_SECONDS")? {
            Some(renew) if renew * 5 > lease_seconds * 4 => {
                let problem = format!(
                    "is {renew}, but must be at most four fifths of BPC_JOBS_LEASE_SECONDS, which is {lease_seconds}"
                );
                return Err(Failure::config("BPC_JOBS_LEASE_RENEW_SECONDS", problem));
            }
            Some(renew) => renew,
            None if lease_seconds < 2 => {
                let problem =
                    format!("is {lease_seconds}, but a lease needs 2 seconds to be renewed in time");
                return Err(Failure::config("BPC_JOBS_LEASE_SECONDS", problem));
            }
            None => (lease_seconds / 2).clamp(1, 30),
        };
        Ok(Settings {
            database_url: env.database_url()?,
            tenant: env.text("BPC_TENANT")?.unwrap_or_else(|| "default".to_owned()),
            worker_id: env.worker_id()?,
            poll_interval: Duration::from_millis(env.number("BPC_JOBS_POLL_INTERVAL_MS")?.unwrap_or(1000)),
            lease_ttl: Duration::from_secs(lease_seconds),
            renew_interval: Duration::from_secs(renew_seconds),
            concurrency: env.number("BPC_JOBS_CONCURRENCY")?.map(|number| number as usize),
            rabbit: env.rabbit()?,
            log_level: env.log_level()?,
            log_json: env.switch("BPC_LOG_JSON")?,
            packs: PackSettings::read(&env)?,
        })
    }

    /// A worker as the environment wants it, named by `BPC_WORKER_ID` or `default_id`.
    pub fn worker(&self, default_id: String) -> WorkerOptions {
        let options = WorkerOptions::named(self.worker_id.clone().unwrap_or(default_id));
        WorkerOptions {
            concurrency: self.concurrency.unwrap_or(options.concurrency),
            lease_ttl: self.lease_ttl,
            renew_interval: self.renew_interval,
            poll_interval: self.poll_interval,
            wake: WakeOptions { rabbit: self.rabbit.clone(), ..options.wake },
            ..options
        }
    }
}

/// The environment, with what a value must look like.
pub struct Env<'a> {
    variable: &'a dyn Fn(&str) -> Result<Option<String>, Failure>,
}

/// More than this is a mistake in any of the numbers, and less than this many seconds fits a timestamp.
const NUMBER_MAX: u64 = 1_000_000;

const WORKER_ID_BYTES_MAX: usize = 100;

impl Env<'_> {
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        let value = (self.variable)(name)?;
        Ok(value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()))
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Failure> {
        let Some(value) = self.text(name)? else { return Ok(None) };
        match value.parse() {
            Ok(number @ 1..=NUMBER_MAX) => Ok(Some(number)),
            _ => {
                let problem = format!("is {value:?}, but must be a whole number from 1 to {NUMBER_MAX}");
                Err(Failure::config(name, problem))
            }
        }
    }

    pub(crate) fn switch(&self, name: &str) -> Result<bool, Failure> {
        match self.text(name)?.as_deref() {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(value) => {
                Err(Failure::config(name, format!("is {value:?}, but must be true, false, 1 or 0")))
            }
        }
    }

    /// It stands in events as `worker:ID`, whose length is limited.
    fn worker_id(&self) -> Result<Option<String>, Failure> {
        let name = "BPC_WORKER_ID";
        match self.text(name)? {
            Some(id) if id.len() > WORKER_ID_BYTES_MAX => {
                let problem = format!("has {} bytes, but may have at most {WORKER_ID_BYTES_MAX}", id.len());
                Err(Failure::config(name, problem))
            }
            id => Ok(id),
        }
    }

    fn database_url(&self) -> Result<String, Failure> {
        let name = "BPC_DATABASE_URL";
        let Some(url) = self.text(name)? else { return Ok("sqlite://bpc.db".to_owned()) };
        let known = ["sqlite:", "postgres://", "postgresql://"];
        if known.iter().any(|scheme| url.starts_with(scheme)) {
            return Ok(url);
        }
        // The value is not repeated: it may hold a password.
        Err(Failure::config(name, "is not a database URL: use sqlite://FILE or postgres://USER@HOST/NAME"))
    }

    fn rabbit(&self) -> Result<Option<RabbitOptions>, Failure> {
        let url = self.text("BPC_QUEUE_URL")?;
        if url.as_ref().is_some_and(|url| !url.starts_with("amqp://") && !url.starts_with("amqps://")) {
            return Err(Failure::config("BPC_QUEUE_URL", "is not a RabbitMQ URL: use amqp://USER@HOST"));
        }
        if !self.switch("BPC_QUEUE_ENABLED")? {
            return Ok(None);
        }
        let missing = || Failure::config("BPC_QUEUE_URL", "is not set, but BPC_QUEUE_ENABLED asks for it");
        Ok(Some(RabbitOptions {
            url: url.ok_or_else(missing)?,
            exchange: self.text("BPC_QUEUE_EXCHANGE")?.unwrap_or_else(|| "bpc".to_owned()),
            routing_key: self.text("BPC_QUEUE_ROUTING_KEY")?.unwrap_or_else(|| "jobs.trigger".to_owned()),
        }))
    }

    fn log_level(&self) -> Result<Option<LevelFilter>, Failure> {
        let name = "BPC_LOG_LEVEL";
        let Some(value) = self.text(name)? else { return Ok(None) };
        match LevelFilter::from_str(&value) {
            // It would read numbers, too, and those are easily meant the other way round.
            Ok(level) if value.parse::<u8>().is_err() => Ok(Some(level)),
            _ => {
                let problem = format!("is {value:?}, but must be off, error, warn, info, debug or trace");
                Err(Failure::config(name, problem))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, Failure> {
        let value = |name: &str| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned());
        Settings::read(|name| Ok(value(name)))
    }

    #[test]
    fn nothing_set_gives_the_documented_defaults() {
        let settings = read(&[]).unwrap();
        assert_eq!(
            (settings.database_url.as_str(), settings.tenant.as_str()),
            ("sqlite://bpc.db", "default")
        );
        assert_eq!(settings.poll_interval, Duration::from_secs(1));
        assert_eq!((settings.lease_ttl.as_secs(), settings.renew_interval.as_secs()), (60, 30));
        assert!(settings.rabbit.is_none() && !settings.log_json);
    }

    #[test]
    fn a_bad_setting_names_its_variable() {
        for (pairs, variable) in [
            (&[("BPC_JOBS_POLL_INTERVAL_MS", "soon")][..], "BPC_JOBS_POLL_INTERVAL_MS"),
            (&[("BPC_JOBS_CONCURRENCY", "0")], "BPC_JOBS_CONCURRENCY"),
            (&[("BPC_JOBS_LEASE_SECONDS", "-1")], "BPC_JOBS_LEASE_SECONDS"),
            (&[("BPC_JOBS_LEASE_SECONDS", "1")], "BPC_JOBS_LEASE_SECONDS"),
            (&[("BPC_JOBS_LEASE_RENEW_SECONDS", "60")], "BPC_JOBS_LEASE_RENEW_SECONDS"),
            (&[("BPC_QUEUE_ENABLED", "yes")], "BPC_QUEUE_ENABLED"),
            (&[("BPC_QUEUE_ENABLED", "true")], "BPC_QUEUE_URL"),
            (&[("BPC_QUEUE_URL", "http://localhost")], "BPC_QUEUE_URL"),
            (&[("BPC_DATABASE_URL", "mysql://localhost")], "BPC_DATABASE_URL"),
            (&[("BPC_LOG_LEVEL", "loud")], "BPC_LOG_LEVEL"),
            (&[("BPC_LOG_LEVEL", "3")], "BPC_LOG_LEVEL"),
            (&[("BPC_WORKER_ID", &"w".repeat(101))], "BPC_WORKER_ID"),
            (&[("BPC_LOG_JSON", "maybe")], "BPC_LOG_JSON"),
        ] {
            let failure = read(pairs).unwrap_err();
            assert_eq!(failure.code, "CONFIG_INVALID");
            assert!(failure.message.starts_with(variable), "{failure:?}");
        }
    }

    #[test]
    fn a_short_lease_is_renewed_in_time_by_default() {
        assert_eq!(read(&[("BPC_JOBS_LEASE_SECONDS", "10")]).unwrap().renew_interval.as_secs(), 5);
    }
}
