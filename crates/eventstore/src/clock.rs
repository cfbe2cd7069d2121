//! Whose clock counts.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bpc_core::Timestamp;

use crate::database::Conn;
use crate::error::StoreError;

/// The clock by which leases and due times are judged: the database's, or one that a test moves.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// PostgreSQL's clock; on SQLite, which has none of its own, this host's.
    #[default]
    Database,
    /// Stands still until moved.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// A clock that stands at `at` until moved.
    pub fn manual(at: Timestamp) -> Self {
        Clock::Manual(Arc::new(AtomicI64::new(at.as_micros())))
    }

    /// Move a manual clock.
    pub fn advance(&self, by: Duration) {
        match self {
            Clock::Manual(micros) => micros.fetch_add(by.as_micros() as i64, Ordering::SeqCst),
            Clock::Database => panic!("the database's clock cannot be moved"),
        };
    }

    /// The time to use instead of PostgreSQL's own, if any.
    pub fn fixed(&self) -> Option<Timestamp> {
        match self {
            Clock::Database => None,
            Clock::Manual(micros) => Some(Timestamp::from_micros(micros.load(Ordering::SeqCst))),
        }
    }

    /// The time by this host's clock, for SQLite, which runs in this process.
    pub fn host(&self) -> Timestamp {
        self.fixed().unwrap_or_else(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Timestamp::from_micros(since.as_micros() as i64)
        })
    }
}

/// What the database's clock said lately, so that not everybody has to ask it.
#[derive(Clone, Debug, Default)]
pub struct Heard(Arc<Mutex<Option<Answer>>>);

/// The time in an answer, and when that came by the two clocks of this host.
#[derive(Clone, Copy, Debug)]
struct Answer {
    said: Timestamp,
    came: Instant,
    came_by_wall: SystemTime,
}

/// Clocks that run apart by a thousandth are a millisecond apart by then.
const LATELY: Duration = Duration::from_secs(1);
/// Two clocks of one host that are further apart: it slept, or somebody set one of them.
const JUMP: Duration = Duration::from_millis(50);

impl Heard {
    /// The time now by what was heard lately. Behind the database's clock by as much as the answer took to come, and
    /// ahead of it only if that was set back since: what is due now is due at once.
    pub(crate) fn now(&self) -> Option<Timestamp> {
        let answer = (*self.lock())?;
        let age = answer.came.elapsed();
        let by_wall = answer.came_by_wall.elapsed().ok()?;
        let is_good = age < LATELY && age.abs_diff(by_wall) < JUMP;
        is_good.then(|| Timestamp::from_micros(answer.said.as_micros() + age.as_micros() as i64))
    }

    /// The answer to somebody who asked then. One that was long on its way says little about now.
    pub(crate) fn hear(&self, said: Timestamp, asked: Instant) {
        let before = self.now();
        let answer = Answer { said, came: Instant::now(), came_by_wall: SystemTime::now() };
        // An answer that was a little quicker puts nobody before those who asked before.
        let said = before.filter(|before| before.since(said) < JUMP).map_or(said, |before| before.max(said));
        *self.lock() = (asked.elapsed() < JUMP).then_some(Answer { said, ..answer });
    }

    fn lock(&self) -> MutexGuard<'_, Option<Answer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time by the clock that counts, on a connection already at hand.
pub async fn now_on(conn: &mut Conn<'_>, clock: &Clock) -> Result<Timestamp, StoreError> {
    match (conn, clock.fixed()) {
        (Conn::Postgres(conn), None) => {
            let micros = sqlx::query_scalar(crate::postgres::CLOCK).fetch_one(&mut **conn).await?;
            Ok(Timestamp::from_micros(micros))
        }
        _ => Ok(clock.host()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_heard_goes_on_and_is_forgotten() {
        let heard = Heard::default();
        assert_eq!(heard.now(), None);
        let said = Timestamp::from_micros(1_000_000);
        heard.hear(said, Instant::now());
        let now = heard.now().expect("heard just now");
        assert!(now >= said && now.since(said) < LATELY, "{now}");
        heard.hear(Timestamp::from_micros(990_000), Instant::now());
        assert!(heard.now().is_some_and(|then| then >= now), "a slower answer does not set the time back");
        let (came, came_by_wall) = (Instant::now(), SystemTime::now());
        let old = Answer { said, came: came - LATELY, came_by_wall: came_by_wall - LATELY };
        let slept = Answer { said, came, came_by_wall: came_by_wall - 2 * JUMP };
        heard.hear(said, came - JUMP);
        assert_eq!(heard.now(), None, "it was long on its way");
        for answer in [old, slept] {
            *heard.lock() = Some(answer);
            assert_eq!(heard.now(), None, "{answer:?}");
        }
    }
}
